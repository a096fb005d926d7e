//! An embeddable session store for coding agents: a session is an append-only log that survives
//! whatever the agent does not.
//!
//! ```
//! use boswell_store::{Draft, NewSession, Outcome, Store};
//!
//! # fn main() -> boswell_store::Result<()> {
//! let store = Store::in_memory()?; // or `Store::open("folder")`, which makes it if it is not there
//! let writer = store.create(NewSession::in_project("/proj/demo"))?; // holds the session's lease
//! let asked = writer.append(Draft::user("why is the build red?"))?; // returns when it is durable
//! let ticket = writer.submit(Draft::assistant("a test is flaky"))?; // does not wait
//! ticket.wait()?; // now it is acknowledged
//! writer.branch(&asked.entry)?; // goes back to the question
//! writer.append(Draft::assistant("the lock file is stale"))?;
//! let session = writer.session()?; // a snapshot
//! let context = session.context(session.tip()?)?; // what a model would be sent
//! assert_eq!(context.items.len(), 2);
//! writer.finish(Outcome::Completed)
//! # }
//! ```
//!
//! `examples/quickstart.rs` is this on disk; `examples/agent.rs` is a whole agent loop that can be
//! killed at any moment.
//!
//! # What it is not
//!
//! It is not a database, not a server and not a search engine. It does no work in the background,
//! opens no connection, prints nothing and does not look at the environment (discovery takes it as
//! an argument). It calls no model and starts no agent. Sessions are files in a format that others
//! read too; nothing here hides them.
//!
//! # What it guarantees
//!
//! A [`Receipt`] says what its entry survives. There is no weaker one.
//!
//! | | [`Durability::Os`] | [`Durability::Fsync`] (the default) |
//! |---|---|---|
//! | the process panics, is killed, runs out of memory | kept | kept |
//! | the machine loses power | may be lost | kept |
//! | the session's file had just been made | its name may be lost | its name is kept too |
//! | a crash cuts a batch before its receipts | whole entries from its start may be there; the same ids again complete it | the same |
//! | the same id and content twice | one entry, `deduplicated` | one entry, `deduplicated` |
//! | a write or sync fails | the writer stops and names what is in doubt | the same |
//! | a torn last line is found | kept, on a line of its own | the same |
//! | two processes want to drive | one has the lease, the other learns who | the same |
//!
//! Reading takes no lock and writes no byte. A [`Session`] is a snapshot: it does
//! not change under you.
//!
//! # Where things are
//!
//! * Stores: [`Store`] is a dialect on a [`Backend`]; [`Stores`] is every store of a machine at
//!   once, with ids resolved across them. [`Summary`] is what a list shows, [`check()`] what is
//!   wrong with a session.
//! * Writing: [`SessionWriter`], its [`Receipt`]s and [`Ticket`]s, [`Expect`] and
//!   [`Wait`]; [`Store::switch`] goes from one session to another. With the feature
//!   `tokio` there is `AsyncWriter`.
//! * Reading on: [`Follower`] hands out entries as others write them; [`SessionCache`]
//!   keeps what was used last.
//! * For the agent: [`checkpoint`] (files before an edit), [`memory`] (pages of a project),
//!   [`prompts`] (what was asked), [`blobs`] and [`attachments`] (large things), [`launch`] (new,
//!   resumed or forked), [`breadcrumb`] (which session a terminal was used for).
//! * Keeping order: [`Notes`] say what a format cannot hold, the [`Vault`] keeps copies, a
//!   [`Runner`] changes several files as one [`Operation`] that can be undone, [`locks`] are those
//!   that other agents know.
//! * Underneath: [`disk`] is the seam to the operating system, where tests put a disk that fails;
//!   [`IdSource`] is time ([`Clock`]) and randomness; a [`LogBackend`] is where lines land when
//!   they do not land in files.

mod agent_activity;
#[cfg(feature = "tokio")]
mod async_writer;
pub mod attachments;
mod backend;
pub mod blobs;
pub mod breadcrumb;
mod check;
mod checkout;
pub mod checkpoint;
mod context_reader;
mod custom_entry;
pub mod disk;
mod exclusion;
mod execute;
mod follow;
mod home;
mod import;
mod journal;
mod keep_policy;
mod lease;
mod leftovers;
mod links;
pub mod locks;
pub mod memory;
mod message_part;
mod native_store;
mod notes;
mod open_writer;
mod operations;
pub mod prompts;
mod repair;
mod resolve;
mod runner;
mod session;
mod session_cache;
mod sha256;
mod store;
mod summary;
mod switch;
mod system_ids;
mod vault;
mod writer;

#[cfg(feature = "tokio")]
pub use async_writer::{AsyncTicket, AsyncWriter, Reply};
pub use attachments::Attachments;
pub use backend::{
    AppendError, AppendResult, Lease, LogAppender, LogBackend, LogClaim, LogName, OpenLog, SyncWork,
};
pub use backend::{Backend, FsBackend, MemoryBackend, ObjectReader, is_packed};
pub use blobs::{BlobId, Blobs};
pub use check::{Report, check, hurt, repair_of};
pub use checkout::main_checkout;
pub use checkpoint::Checkpoints;
pub use exclusion::Exclusion;
pub use execute::Executed;
pub use follow::{Follower, NewEntry, News};
pub use home::Home;
pub use import::{ImportLimits, Imported, LeftBehind};
pub use journal::{DamagedLine, LineChange};
pub use keep_policy::{KeepRun, KeepWhich, is_secret};
pub use lease::Wait;
pub use leftovers::{Leftovers, StaleLock};
pub use links::{Conversation, Drift, LinkGraph, LinkTable, LinkedElsewhere, drift};
pub use locks::Owner;
pub use memory::Memories;
pub use notes::{Note, NoteKind, Notes, SessionNotes};
pub use operations::{
    CopyChange, LateLines, ListedOperation, Purging, RestoredCleanup, Scrubbed, Scrubbing,
};
pub use prompts::Prompts;
pub use repair::{LateTable, RepairPlan, RepairRequest, RepairStep, Repaired, StillLost};
pub use resolve::{Resolved, Selector, Side};
pub use runner::{FileChange, FileFacts, Operation, Recovered, RecoveryOutcome, Runner, Watcher};
pub use session::{Entries, Entry, RenderedMessage, Session};
pub use session_cache::SessionCache;
pub use sha256::{Digest, Hasher};
pub use store::{
    Listing, Partly, Store, StoreId, StoreLocation, StoredSession, Stores, Summaries, unlisted,
};
pub use summary::Summary;
pub use switch::{Cursor, Switched};
pub use system_ids::SystemIds;
pub use vault::{
    ChunkedCopies, ChunkedCopy, Expired, Keeping, Purged, Reason, Retention, Vault, VaultRecord,
};
pub use writer::{Durability, Expect, Outcome, Receipt, SessionWriter, Ticket};

pub use boswell_dialect::launch;
pub use boswell_dialect::{
    AssistantMessage, Body, ChatMessage, Clock, Draft, IdSource, NewSession, Parent, Part, Role,
    Visibility,
};

pub use boswell_dialect as dialect;
pub use boswell_model as model;
pub use boswell_model::{Error, ErrorKind, Result, SessionRef};
