//! Claude Code: a chain log per session in a folder per project.
//!
//! What is said here about "the client" was measured on Claude Code 2.1.325 as a black box: a file
//! was put into its store, resumed, and the request that reached the model was read. Where older
//! versions differ, the newest one counts.

mod attachment;
mod branch;
mod chain;
mod check;
mod compaction;
mod context;
mod create;
mod delete;
mod dialect;
mod discover;
mod encode;
mod meta;
mod fork;
mod head;
mod image;
mod metadata;
mod move_project;
mod native_index;
mod orphans;
mod pairing;
mod plan;
mod prompt;
mod recognise;
mod invalid_blocks;
mod render;
mod repair;
mod resume;
mod sessions_index;
mod parallel_calls;
mod side_files;
mod text_piece;
mod set_leaf;
mod subagents;
mod tip;
mod title_window;
mod view;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod matrix;

pub mod file_history;
pub mod active_processes;
pub mod project_key;
pub mod settings;

pub use dialect::Claude;
pub use project_key::project_key;
pub use resume::RESUME_COMMANDS;
