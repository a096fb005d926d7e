//! The native addon of the Node package `boswell-store`.
//!
//! It offers the store, its writers and its readers, and nothing of any framework: adapters are
//! TypeScript above it (`js/`), because their interfaces change more often than this addon should.
//!
//! * Structured values cross the border as JSON text, which both sides parse faster than they could
//!   build each other's objects; records cross it as bytes. `js/` makes classes of them.
//! * Every call that may block runs on a thread of libuv's pool (`call.rs`).
//! * An append, and every other call of a writer, is handed to the one waiter thread of its store
//!   (`reply.rs`), so that appends which are awaited together share one `fsync`.
//! * Errors carry kind, reason and hint as JSON (`error.rs`); `js/errors.ts` makes classes of them.

mod blob_store;
mod call;
mod draft_item;
mod entry_page;
mod error;
mod follower;
mod receipt;
mod reply;
mod session;
mod store;
mod writer;
