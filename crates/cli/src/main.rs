//! The `boswell` command: finds, reads, repairs and keeps the sessions of your coding agents.

mod agent_command;
mod app;
mod args;
mod command;
mod confirm;
mod error_report;
mod output;
mod pager;
mod parse;
mod progress;
mod terminal;
mod way_back;
mod words;

use std::process::ExitCode;

use boswell_app::sessions::index as session_index;
use boswell_app::{json_shape, purge_copies, time};

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
