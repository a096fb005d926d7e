//! The `boswell` command: finds, reads, repairs and keeps the sessions of your coding agents.

mod confirm;
mod args;
mod git_repository;
mod command;
mod config;
mod config_edit;
mod demo;
mod exclusion_args;
mod export;
mod error_report;
mod expiry;
mod deleted;
mod agent_history;
mod agent_version;
mod keep_config;
mod session_index;
mod app;
mod newest;
mod notes_overlay;
mod output;
mod pager;
mod profiles;
mod progress;
mod purge_copies;
mod json_shape;
mod session_list;
mod summary;
mod terminal;
mod timer;
mod linked_transcript;
mod parse;
mod time;

use std::process::ExitCode;

fn main() -> ExitCode {
    let line: Vec<_> = std::env::args_os().collect();
    let args = match parse::read(&line) {
        Ok(args) => args,
        Err(code) => return code,
    };
    error_report::guard(|| match command::run(&args) {
        Ok(code) => code,
        Err(error) => error_report::report(&error, args.global.json),
    })
}
