//! Transcripts of Claude Code and their side files, as the newest client and four older ones write
//! them.
//!
//! All paths are below the client's folder (`~/.claude`). The texts of the vendor's prompts are
//! replaced by short texts of our own.

mod key;
mod old;
mod session;
mod shape;
mod side;
#[cfg(test)]
mod tests;
mod today;

pub use key::project_key;
pub use session::{ClaudeSession, Style};
pub use shape::{ClaudeShape, file, fork_of, linked};
pub use side::{backup_name, history_line, live_registry, memory};

/// The version on lines of the newest client.
pub const TODAY: &str = "2.1.325";
