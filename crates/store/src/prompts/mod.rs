//! What was asked, in every session, newest last.
//!
//! A line of JSON per prompt in `prompts.jsonl`. Adding never waits for anybody and is not synced:
//! losing the last prompt of a crashed machine is better than an agent that hangs, and the session
//! itself has it too. Reading goes backwards from the end, so that recent prompts cost the same
//! however long the history is.

mod history;
mod reverse_lines;

pub use history::{Added, FoundPrompt, Prompt, Prompts};

/// The most prompts that are handed out at once.
pub const MOST: usize = 1000;
