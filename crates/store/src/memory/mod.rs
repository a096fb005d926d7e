//! What an agent remembers of a project: a folder of notes with an index page.
//!
//! `MEMORY.md` is the index; its first 200 lines are handed out with the context. Topics are files
//! beside it. Every change happens under a lock of the operating system and replaces a file as a
//! whole, so that two agents of one project lose nothing of each other, and readers need no lock.
//! Changes give back what was there before, so that they can be undone.

mod check;
mod key;
mod memories;
mod page;
mod project_memory;

pub use check::{MemoryProblem, check, missing_files};
pub use key::project_key;
pub use memories::{Changed, Memories, Memory};
pub use page::{Link, Page, checked_name};
pub use project_memory::ProjectMemory;

/// The index page.
pub const INDEX: &str = "MEMORY.md";

/// How many lines of the index are handed out with the context.
pub const LOADED_LINES: usize = 200;
