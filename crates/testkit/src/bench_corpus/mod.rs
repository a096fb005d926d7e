//! Large corpora for benchmarks: sessions in Claude's format with known markers, and single
//! sessions of a gigabyte.
//!
//! Proportions are those of real folders: log-normal sizes, short prompts, tool output as most of
//! the bytes, three results in a hundred very long. The words follow Zipf's law. The manifest
//! contains how often each marker occurs, so that recall can be checked.

mod big;
mod claude_lines;
mod corpus;
mod pi_lines;
mod vocabulary;

pub use big::{BigKind, BigSession, big_session};
pub use corpus::{Manifest, generate};
pub use vocabulary::Vocabulary;

/// In user text of exactly three sessions.
pub const RARE: &str = "zyxquorum";
/// In a tool's output of exactly two sessions.
pub const RARE_TOOL: &str = "qwortzblatt";
/// In about one session of twenty.
pub const MIDDLE: &str = "deadlock";
/// In about one session of a hundred.
pub const PHRASE: &str = "flaky websocket reconnect";
/// In about one session of fifty.
pub const CJK: &str = "会话恢复";
/// In nearly every session.
pub const COMMON: &str = "error";
