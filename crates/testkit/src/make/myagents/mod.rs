//! The MyAgents store: an index array, flat transcripts, attachments; three eras with one skeleton.
//!
//! Paths are below `~/.myagents`. Transcripts are linear; tool results live inside the assistant's
//! row, in a JSON array that is itself text.

mod session;
mod store;
#[cfg(test)]
mod tests;

pub use session::{Era, MyAgentsSpec, index, mirror_of, session};
pub use store::{MyAgentsShape, store};
