//! An embeddable session store for coding agents.
//!
//! A [`Store`] is a dialect on a [`Backend`]: what you open, list and read. [`Stores`] is every store of a machine at once,
//! with ids resolved across them and sessions that are one conversation joined. Reading needs no lock, never writes a byte,
//! and gives a [`Session`]: a snapshot that does not change under you.
//!
//! It is not a database, not a server and not a search engine: no background work, no network, no printing, no look at
//! the environment (discovery takes it as an argument).

pub mod attachments;
mod backend;
pub mod blobs;
pub mod breadcrumb;
mod chance;
mod check;
pub mod checkpoint;
mod custom;
mod digest;
pub mod disk;
mod fork;
mod journal;
pub mod launch;
mod lease;
mod links;
pub mod locks;
pub mod memory;
mod native;
mod notes;
mod operations;
pub mod prompts;
mod resolve;
mod runner;
mod session;
mod store;
mod stores;
mod summary;
mod vault;
mod writer;

pub use attachments::Attachments;
pub use backend::{Backend, FsBackend, MemoryBackend, ObjectReader};
pub use blobs::{BlobId, Blobs};
pub use chance::{Chance, SystemChance};
pub use check::{Report, check};
pub use checkpoint::Checkpoints;
pub use digest::Digest;
pub use journal::DamagedLine;
pub use launch::Launch;
pub use lease::Wait;
pub use links::Conversation;
pub use locks::Owner;
pub use memory::Memories;
pub use notes::{Note, NoteKind, Notes, SessionNotes};
pub use operations::{LateLines, ListedOperation};
pub use prompts::Prompts;
pub use resolve::{Resolved, Selector};
pub use runner::{FileChange, FileFacts, Operation, Recovered, RecoveryOutcome, Runner, Watcher};
pub use session::{Entry, RenderedMessage, Session};
pub use store::{Listing, Store};
pub use stores::{Place, StoreId, Stores, Summaries};
pub use summary::Summary;
pub use vault::{Expired, Purged, Reason, Retention, Vault, VaultRecord};
pub use writer::{Durability, Expect, Outcome, Receipt, SessionWriter, Ticket};

pub use boswell_dialect::{Answer, Body, Draft, NewSession, Parent, Part, Visible};

pub use boswell_dialect as dialect;
pub use boswell_model as model;
pub use boswell_model::{Error, ErrorKind, Result, SessionRef};
