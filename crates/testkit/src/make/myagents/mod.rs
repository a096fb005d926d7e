//! The MyAgents store: an index array, flat transcripts, attachments; four generations with one
//! layout.
//!
//! Paths are below `~/.myagents`. Transcripts are linear; tool results are inside the assistant's
//! row, in a JSON array encoded as a string.

mod operations;
mod session;
mod store;
#[cfg(test)]
mod tests;

pub use operations::{OperationsLog, create, sealed};
pub use session::{Era, MyAgentsSpec, index, mirror_of, session};
pub use store::{MyAgentsShape, store};
