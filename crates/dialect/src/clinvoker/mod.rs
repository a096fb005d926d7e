//! clinvoker: one JSON document per session, and an index document.
//!
//! It keeps what is known *about* a conversation that a backend (claude, codex, gemini) holds, and
//! no message of it: the transcript is found through [`links`](crate::Dialect::links). The
//! documents are the truth. The index is a cache that the program itself overwrites with a single
//! row now and then, so it is compared and never believed.

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
