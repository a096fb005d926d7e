//! The `boswell` command: finds, reads, repairs and keeps the sessions of your coding agents.

mod args;
mod checkout_of;
mod command;
mod config;
mod demo;
mod export;
mod failure;
mod fate;
mod ghosts;
mod history;
mod keep_state;
mod library;
mod machine;
mod noted;
mod output;
mod pager;
mod progress;
mod shape;
mod shelf;
mod summary;
mod terminal;
mod timer;
mod transcript;
mod when;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return failure::usage(&error),
    };
    failure::guard(|| match command::run(&args) {
        Ok(code) => code,
        Err(error) => failure::report(&error, args.global.json),
    })
}
