//! `cargo xtask soak`: tests that take too long for every change. Injected faults, damaged files
//! and converted sessions in real clients, a database in bad weather, and the packages for Python
//! and Node over a million calls.

mod bindings;
pub(crate) mod claude;
pub(crate) mod convert;
mod faults;
mod options;
mod remote;

use std::process::ExitCode;

use crate::Outcome;

const KNOWN: &str = "there are `cargo xtask soak bindings`, `soak faults`, `soak claude`, `soak convert` and \
     `soak remote`";

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments.split_first() {
        Some((what, rest)) if what == "faults" => faults::run(&options::Options::parse(rest)?),
        Some((what, rest)) if what == "bindings" => bindings::run(rest),
        Some((what, rest)) if what == "claude" => claude::run(rest),
        Some((what, rest)) if what == "convert" => convert::run(rest),
        Some((what, rest)) if what == "remote" => remote::run(rest),
        Some((other, _)) => Err(format!("there is no soak `{other}`; {KNOWN}").into()),
        None => Err(format!("name what to soak; {KNOWN}").into()),
    }
}
