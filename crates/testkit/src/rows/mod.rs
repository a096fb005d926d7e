//! A backend whose logs are rows: a position is a sequence number, not a byte offset.
//!
//! It checks that the traits also work for a table of records keyed by (session, sequence). Objects
//! whose key ends with `.jsonl`, or will once they are visible, are logs; others are bytes, as in
//! an object store. A log's lines are rows with their line ends; the first row has the number 1, so
//! no code can rely on a log starting at position 0. Reading from a number continues into the rows
//! after it.
//!
//! Writing works like a database, one statement per call (`tables.rs`): an append compares the end
//! of the log and the epoch of the lease in the statement that adds the rows. A lease expires by a
//! clock that a test advances, or that moves while a thread waits.

mod appender;
mod backend;
mod catalog;
mod reader;
mod tables;

pub use backend::RowBackend;
pub use tables::{Commit, FailAt};
