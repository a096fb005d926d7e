//! Generators of session files, one module per agent family.
//!
//! Each module has an enum of shapes with an `ALL` list and a function that creates the files of
//! one shape, so that a test can run over all of them.

pub mod chats;
pub mod claude;
pub mod clinvoker;
pub mod codex;
pub mod copilot;
pub mod databases;
pub mod gemini;
pub mod kimi;
pub mod myagents;
pub mod oas;
pub mod other_agents;
pub mod pi;
pub mod qwen;
mod value;

pub use value::{merge, money};
