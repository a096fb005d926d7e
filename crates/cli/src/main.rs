//! The `boswell` command: finds, searches, resumes, repairs and backs up the sessions of your
//! coding agents.

mod agent_command;
mod app;
mod args;
mod command;
mod confirm;
mod error_report;
mod help;
mod output;
mod pager;
mod parse;
mod plan_lines;
mod progress;
mod signals;
mod terminal;
mod words;

use std::process::ExitCode;

use boswell_app::time;

fn main() -> ExitCode {
    let line: Vec<_> = std::env::args_os().collect();
    let args = match parse::read(&line) {
        Ok(args) => args,
        Err(code) => return code,
    };
    words::remember(&args.global);
    signals::survive_file_size_limit();
    error_report::guard(|| match command::run(&args, &line) {
        Ok(code) => code,
        Err(error) => error_report::report(&error, args.global.json),
    })
}
