//! `cargo xtask soak`: tests that take too long for every change. For now: injected faults.

mod faults;
mod options;

use std::process::ExitCode;

use crate::Outcome;

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments.split_first() {
        Some((what, rest)) if what == "faults" => faults::run(&options::Options::parse(rest)?),
        Some((other, _)) => {
            Err(format!("there is no soak `{other}`; there is `cargo xtask soak faults`").into())
        }
        None => Err("say what to soak: `cargo xtask soak faults`".into()),
    }
}
