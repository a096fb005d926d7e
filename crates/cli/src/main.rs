//! The `boswell` command: finds, reads, repairs and keeps the sessions of your coding agents.

mod agree;
mod args;
mod checkout_of;
mod command;
mod config;
mod config_edit;
mod demo;
mod excluded;
mod export;
mod failure;
mod fate;
mod ghosts;
mod history;
mod installed;
mod keep_state;
mod library;
mod machine;
mod newest;
mod noted;
mod output;
mod pager;
mod profiles;
mod progress;
mod purging;
mod shape;
mod shelf;
mod summary;
mod terminal;
mod timer;
mod transcript;
mod typed;
mod when;

use std::process::ExitCode;

fn main() -> ExitCode {
    let line: Vec<_> = std::env::args_os().collect();
    let args = match typed::read(&line) {
        Ok(args) => args,
        Err(code) => return code,
    };
    failure::guard(|| match command::run(&args) {
        Ok(code) => code,
        Err(error) => failure::report(&error, args.global.json),
    })
}
