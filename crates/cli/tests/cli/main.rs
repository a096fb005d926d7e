//! The `boswell` program from the outside: its real binary in an environment of its own.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod archive;
mod bad_input;
mod bench;
mod choosing;
mod claude_bad_input;
mod claude_context;
mod claude_desk;
mod claude_files;
mod claude_kept;
mod claude_moved;
mod claude_repaired;
mod claude_together;
mod claude_writing;
mod corpus;
mod damage;
mod demo;
mod export;
mod front_stores;
mod fronts;
mod help;
mod import;
mod import_context;
mod keep;
mod leftovers;
mod links;
mod listing;
mod moving;
mod myagents;
mod output;
mod packed;
mod page;
mod pi_conformance;
mod pi_family;
mod pi_history;
mod pi_lab;
#[cfg(target_os = "linux")]
mod pi_late_lines;
mod pi_vectors;
mod reference;
mod repair;
mod silence;
mod startup;
mod streaming;
mod tour;
mod writing;
