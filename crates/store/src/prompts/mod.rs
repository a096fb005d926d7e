//! The prompts of all sessions, newest last.
//!
//! `prompts.jsonl` has one line of JSON per prompt. Adding never waits for a lock and is not
//! synced: losing the last prompt in a crash is better than an agent that blocks, and the session
//! itself has it too. Reading goes backwards from the end, so that the cost of recent prompts does
//! not depend on the length of the history.

mod history;
mod reverse_lines;

pub use history::{Added, FoundPrompt, Prompt, Prompts};

/// The largest number of prompts that one call returns.
pub const MOST: usize = 1000;
