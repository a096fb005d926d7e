//! Qwen Code: a tree of records in lines, with messages in the form of Google's API.
//!
//! The format is described in `docs/dialects/qwen.md`.

mod append;
mod context;
mod dialect;
mod edit;
mod layout;
mod record;

pub use dialect::Qwen;
