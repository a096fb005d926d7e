//! `cargo xtask soak bindings`: the endurance tests of the packages for Python and Node, with a
//! million calls and hundreds of kills instead of the few of a normal run.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::bindings::Counts;
use crate::{Outcome, node, python};

const KILLS: &str = "200";
const CALLS: &str = "1000000";
/// Appends of each thread of each process.
const WRITES: &str = "500";

/// Variables that make the tests long.
pub(crate) fn variables() -> Vec<(&'static str, PathBuf)> {
    let value = |name, default: &str| {
        let given = std::env::var_os(name).map(PathBuf::from);
        (name, given.unwrap_or_else(|| default.into()))
    };
    vec![
        value("BOSWELL_KILLS", KILLS),
        value("BOSWELL_CALLS", CALLS),
        value("BOSWELL_WRITES", WRITES),
    ]
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    if !arguments.is_empty() {
        return Err("usage: [BOSWELL_CALLS=N] [BOSWELL_KILLS=N] [BOSWELL_WRITES=N] cargo xtask soak bindings".into());
    }
    let mut counts = Counts::default();
    python::endurance(&variables(), &mut counts)?;
    node::endurance(&variables(), &mut counts)?;
    Ok(counts.report())
}
