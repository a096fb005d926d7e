//! Tests of the `boswell` program: the real binary in a temporary environment.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod agent_desk;
mod agents_context;
mod agents_running;
mod agents_writing;
mod archive;
mod atif;
mod bad_input;
mod bench;
mod blame;
mod blame_repositories;
#[cfg(all(unix, feature = "serve"))]
mod browser;
mod check_archived;
mod choosing;
mod claude_alarms;
mod claude_bad_input;
mod claude_context;
mod claude_desk;
mod claude_files;
mod claude_kept;
mod claude_moved;
mod claude_repaired;
mod claude_together;
mod claude_writing;
mod codex_context;
mod codex_desk;
mod codex_forks;
mod codex_writing;
mod continue_last;
mod contract;
mod convert;
mod convert_importers;
mod corpus;
mod damage;
mod demo;
mod digest;
mod exclusion;
mod export;
#[cfg(target_os = "linux")]
mod faults;
mod find_bench;
mod find_hardship;
mod find_search;
mod find_stats;
mod first_index;
mod front_stores;
mod fronts;
#[cfg(unix)]
mod golden_home;
mod help;
mod honest_answers;
#[cfg(unix)]
mod hosts;
mod import;
mod import_context;
mod import_side_files;
mod keep;
#[cfg(unix)]
mod keep_interrupted;
mod leftovers;
mod links;
mod listing;
mod live_markup;
mod longer_branch;
mod manners;
#[cfg(all(unix, feature = "mcp"))]
mod mcp;
mod moving;
mod myagents;
mod myagents_operations;
mod odd_ids;
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
mod planted_links;
mod profiles;
mod purge;
mod readme;
mod redaction;
mod reference;
mod repair;
mod repair_plans;
#[cfg(unix)]
mod scaling;
#[cfg(all(unix, feature = "screen"))]
mod screen;
mod scrub;
#[cfg(all(unix, feature = "serve"))]
mod serve;
#[cfg(all(unix, feature = "serve"))]
mod serve_killed;
mod silence;
mod startup;
mod statusline;
mod streaming;
mod together;
mod tour;
mod traces;
mod undo;
mod unreadable;
mod writing;
#[cfg(target_os = "linux")]
mod xcsh_live;
