//! Parses arguments with clap's deferred subcommands: only the subcommand that is called is built.
//!
//! Describing fifty commands to the parser is most of the cost of starting. So `--version` is
//! answered first, then the line is parsed by a grammar that knows only the names of commands until
//! it meets one; what that grammar cannot answer, help and mistakes, is parsed again by the whole
//! grammar.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::Args;
use crate::error_report;
use crate::help::{self, Page};

/// What was asked for; else how the program ends, for all that needs no command.
pub(crate) fn read(line: &[OsString]) -> Result<Args, ExitCode> {
    if asks_version(line) {
        // The reader closed the stream and does not want the answer.
        let _ = std::io::stdout()
            .write_all(concat!("boswell ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
        return Err(ExitCode::SUCCESS);
    }
    if let Some(page) = asks_help(line) {
        let page = help::page(whole(), page);
        let _ = std::io::stdout().write_all(page.as_bytes());
        return Err(ExitCode::SUCCESS);
    }
    if let Ok(args) = parse(Args::command(), line) {
        return Ok(args);
    }
    parse(whole(), line).map_err(|error| error_report::usage(&error, asks_json(line)))
}

/// The grammar with every command in it, for those who show or complete it.
pub(crate) fn whole() -> clap::Command {
    let mut command = Args::command();
    command.build();
    command
}

fn asks_help(line: &[OsString]) -> Option<Page> {
    match line {
        [_, word] if *word == OsStr::new("-h") => Some(Page::First),
        [_, word] if *word == OsStr::new("--help") || *word == OsStr::new("help") => {
            Some(Page::All)
        }
        _ => None,
    }
}

fn asks_version(line: &[OsString]) -> bool {
    matches!(line, [_, word] if *word == OsStr::new("--version") || *word == OsStr::new("-V"))
}

/// Whether errors are wanted as JSON. The line could not be parsed, so the word alone must say so.
fn asks_json(line: &[OsString]) -> bool {
    let mut options = line
        .iter()
        .skip(1)
        .take_while(|word| *word != OsStr::new("--"));
    options.any(|word| word == OsStr::new("--json"))
}

fn parse(mut command: clap::Command, line: &[OsString]) -> Result<Args, clap::Error> {
    let found = command.try_get_matches_from_mut(line);
    found
        .and_then(|mut found| Args::from_arg_matches_mut(&mut found))
        .map_err(|error| error.format(&mut command))
}
