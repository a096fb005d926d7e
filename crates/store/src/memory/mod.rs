//! Memory of agents: per project a folder of pages with an index.
//!
//! `MEMORY.md` is the index; its first 200 lines are sent with the context. Topics are files next
//! to it. Every change takes an OS lock and replaces a file as a whole, so that two agents of one
//! project do not lose each other's changes, and readers need no lock. Changes return the previous
//! text, so that they can be undone.

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

/// How many lines of the index are sent with the context.
pub const LOADED_LINES: usize = 200;
