//! The MyAgents store: an index array, flat transcripts, attachments; three generations with one
//! layout.
//!
//! Paths are below `~/.myagents`. Transcripts are linear; tool results are inside the assistant's
//! row, in a JSON array encoded as a string.

mod session;
mod store;
#[cfg(test)]
mod tests;

pub use session::{Era, MyAgentsSpec, index, mirror_of, session};
pub use store::{MyAgentsShape, store};
