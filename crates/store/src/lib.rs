//! An embeddable session store for coding agents: a session is an append-only log that survives
//! whatever the agent does not.
//!
//! ```
//! use boswell_store::{Draft, Home, NewSession, Outcome};
//!
//! # fn main() -> boswell_store::Result<()> {
//! let home = Home::in_memory()?; // or `Home::open("folder")`, which makes it if it is not there
//! let store = home.sessions()?;
//! let writer = store.create(NewSession::in_project("/proj/demo"))?; // holds the session's lease
//! let asked = writer.append(Draft::user("why is the build red?"))?; // returns when it is durable
//! let ticket = writer.submit(Draft::assistant("a test is flaky"))?; // does not wait
//! ticket.wait()?; // now it is acknowledged
//! writer.branch(&asked.entry)?; // goes back to the question
//! writer.append(Draft::assistant("the lock file is stale"))?;
//! let messages = writer.session()?.messages()?; // what a model would be sent
//! assert_eq!(messages.len(), 2);
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
//! Five types are enough for an agent: a [`Home`] is its folder, a [`WritableStore`] the sessions
//! in it (a [`Store`] only reads), a [`SessionWriter`] appends [`Draft`]s, and a [`Session`] is
//! what was written, read back with [`Session::messages`] and [`Session::entries`]. The other names
//! at the root are what these take and return.
//!
//! * [`store`]: all stores of a machine at once, ids resolved across them, lists, summaries.
//! * [`session`]: entries, what a [`Follower`] hands out, a cache, switching between sessions,
//!   which session a terminal was used for.
//! * [`writer`]: where a draft goes, and the writer for tokio (feature `tokio`).
//! * For the agent: [`checkpoint`] (files before an edit), [`memory`] (pages of a project),
//!   [`prompts`] (what was asked), [`blobs`] (large values, and files of a session).
//! * [`operations`] change several files as one operation that can be undone; the [`vault`] keeps
//!   copies, [`repair`] checks and repairs, [`notes`] say what a format cannot hold, [`links`] join
//!   sessions of one conversation, [`locks`] are those that other agents know.
//! * Underneath: [`disk`] is the seam to the operating system, where tests put a disk that fails,
//!   with its clock and random ids, [`backend`] where lines land when they do not land in files.

mod agents;
pub mod backend;
pub mod blobs;
pub mod checkpoint;
mod conversion;
pub mod disk;
mod home;
mod import;
mod journal;
pub mod links;
pub mod locks;
pub mod memory;
pub mod notes;
pub mod operations;
pub mod prompts;
pub mod repair;
mod runner;
pub mod session;
mod sha256;
pub mod store;
pub mod vault;
pub mod writer;

pub use home::Home;
pub use locks::Wait;
pub use session::Session;
pub use session::follow::Follower;
pub use store::{Store, WritableStore};
pub use writer::{Durability, Expect, Outcome, Receipt, SessionWriter, Ticket};

pub use boswell_dialect::{Body, ChatMessage, Draft, NewSession, Role};
// Sessions are answered in the words of the model: entries, kinds, views, JSON.
pub use boswell_model as model;
pub use boswell_model::{EntryId, Error, ErrorKind, Part, Result, Revision, SessionId};
