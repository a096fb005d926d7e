//! Claude Code: one log per session, whose lines are linked by parent, in one folder per project.
//!
//! Statements about "the client" were measured on Claude Code 2.1.325 as a black box: a file was
//! put into its store and resumed, and the request that reached the model was read. Where versions
//! differ, the newest one is followed.

mod attachment;
mod branch;
mod chain;
mod check;
mod client;
mod compaction;
mod context;
mod create;
mod delete;
mod dialect;
mod discover;
mod encode;
mod expected;
mod fork;
mod head;
mod image;
mod invalid_blocks;
mod javascript_sort;
mod lines;
mod losses;
mod meta;
mod metadata;
mod move_project;
mod native_index;
mod nearest;
mod odd_records;
mod orphans;
mod pairing;
mod parallel_calls;
mod plan;
mod prompt;
mod recognise;
mod render;
mod repair;
mod resume;
mod resumed_leaf;
mod sessions_index;
mod set_leaf;
mod side_files;
mod status_input;
mod subagents;
mod text_piece;
mod tip;
mod title_window;
mod unsent_records;
mod view;
mod walk;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod matrix;

pub mod active_processes;
pub mod file_history;
pub mod project_key;
pub mod settings;

pub use dialect::Claude;
pub use project_key::project_key;
pub use resume::RESUME_COMMANDS;
pub use status_input::StatusInput;
