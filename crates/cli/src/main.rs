//! The `boswell` command: finds, reads, repairs and keeps the sessions of your coding agents.

mod agent_history;
mod agent_version;
mod app;
mod args;
mod command;
mod config;
mod config_edit;
mod confirm;
mod deleted;
mod demo;
mod error_report;
mod exclusion_args;
mod expiry;
mod export;
mod git_repository;
mod json_shape;
mod keep_config;
mod linked_transcript;
mod newest;
mod notes_overlay;
mod output;
mod pager;
mod parse;
mod profiles;
mod progress;
mod purge_copies;
mod session_index;
mod session_list;
mod summary;
mod terminal;
mod time;
mod timer;

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
