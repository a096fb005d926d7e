//! How failures reach people: what, why, what next; and the exit code.

#![expect(clippy::print_stderr, reason = "this is where errors are printed")]

use std::error::Error as _;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind};

use crate::output::json_line;
use crate::terminal::escape;

/// The exit code for an error of that kind.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Busy | ErrorKind::Conflict | ErrorKind::NoSpace | ErrorKind::Unavailable => 3,
        ErrorKind::Damaged => 4,
        ErrorKind::Internal => 70,
        _ => 2,
    }
}

/// Prints an error and gives its exit code.
pub(crate) fn report(error: &Error, json: bool) -> ExitCode {
    if json {
        let line = Json::object()
            .with("v", 1)
            .with("type", "error")
            .with("kind", error.kind().word())
            .with("message", full_text(error))
            .with("hint", error.hint());
        eprintln!("{}", json_line(&line));
    } else {
        eprintln!("error: {}", escape(&error.to_string()));
        for reason in reasons(error) {
            eprintln!("  because {}", escape(&reason));
        }
        if let Some(hint) = error.hint() {
            eprintln!("hint: {}", escape(hint));
        }
    }
    ExitCode::from(code(error.kind()))
}

/// Prints a warning.
pub(crate) fn warn(error: &Error) {
    eprintln!("warning: {}", escape(&error.to_string()));
    for reason in reasons(error) {
        eprintln!("  because {}", escape(&reason));
    }
    if let Some(hint) = error.hint() {
        eprintln!("hint: {}", escape(hint));
    }
}

/// Says something on stderr that is no answer.
pub(crate) fn say(text: &str) {
    eprintln!("{}", escape(text));
}

/// Prints what is wrong with the command line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Help and version are answers, not errors; clap knows which stream each belongs to.
    let code = if error.use_stderr() { 2 } else { 0 };
    if error.print().is_err() {
        return ExitCode::from(code);
    }
    ExitCode::from(code)
}

fn reasons(error: &Error) -> Vec<String> {
    let mut out: Vec<String> = error.reason().map(str::to_owned).into_iter().collect();
    let mut source = error.source();
    while let Some(cause) = source {
        out.push(cause.to_string());
        source = cause.source();
    }
    out
}

fn full_text(error: &Error) -> String {
    let mut text = error.to_string();
    for reason in reasons(error) {
        text.push_str(": ");
        text.push_str(&reason);
    }
    text
}
