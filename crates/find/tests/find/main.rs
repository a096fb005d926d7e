//! Tests of the public API of catalog, statistics and secrets. One test program, so that it is
//! linked once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agent_databases;
mod catalog;
mod forks;
mod listing_snapshot;
mod secrets;
mod shown_text;
