//! Large values in storage that is compatible with S3.
//!
//! Five calls are used: put if absent, get a range, head, list, delete (`client.rs`). Every object
//! is immutable and most are named after the hash of their content, so nothing is ever replaced and
//! a call that is sent twice does no harm. `exchange.rs` signs, sends, and repeats what passes;
//! `probe.rs` refuses a server that ignores conditions.

mod client;
mod exchange;
mod failure;
mod keys;
mod options;
mod probe;

pub use client::{ObjectInfo, ObjectPage, Objects, PutOutcome};
pub(crate) use keys::{blob_key, blob_of, blobs_of_tenant};
pub use options::ObjectsOptions;
