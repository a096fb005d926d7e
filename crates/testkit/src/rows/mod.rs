//! A backend whose logs are rows: a position is a sequence number, not a byte offset.
//!
//! It keeps the traits honest for a table of records keyed by (session, sequence). Logs are
//! what ends with `.jsonl`, or will once it may be seen; other objects are bytes, as they would
//! be in an object store. A log's lines are rows with their line ends; the first row has the
//! number 1, so nothing can rely on a log starting at position 0. Reading from a number runs on
//! into the rows after it.
//!
//! Writing is what a database would do, one statement a call (`tables.rs`): an append compares the
//! head of the log and the epoch of the lease in the statement that adds the rows. A lease runs out
//! by a clock that a test advances, or that moves while a thread waits.

mod appender;
mod backend;
mod reader;
mod tables;

pub use backend::RowBackend;
pub use tables::{Commit, FailAt};
