//! clinvoker: one JSON document per session, and an index document.
//!
//! It stores the metadata of a conversation that a backend (claude, codex, gemini) runs, and no
//! messages: the transcript is found through [`links`](crate::Runtime::links). The documents are
//! authoritative. The index is a cache that the program itself sometimes overwrites with a single
//! row, so it is compared and never trusted.

mod dialect;
mod document;
mod edit;
mod go_json;
mod index;
mod layout;
mod plan;
mod row;

pub mod display_name;
pub mod id;
pub mod status;

pub use dialect::Clinvoker;
