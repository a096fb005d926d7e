//! `cargo xtask test`: every test of the workspace, with the real clients, and the totals at the
//! end.
//!
//! Clients come first because a single `cargo test` runs everything: the client tests are ordinary
//! tests that read environment variables.

use std::io::{BufRead, BufReader, Write};
use std::process::{ExitCode, Stdio};

use crate::clients::Clients;
use crate::{Outcome, clients, soak, workspace};

/// Variables with folders of real files; without them the tests that need them are skipped.
const FOLDERS: [(&str, &str); 2] = [
    ("BOSWELL_CORPUS", "tests over real session files"),
    ("BOSWELL_CAPTURES", "tests over captured client runs"),
];

/// The number of recorded damaged files that the real clients resume again in CI.
const RESUMED_AGAIN: usize = 40;

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    // Rules about dependencies call cargo without the network, also for features that no build here
    // uses.
    workspace::fetch()?;
    let clients = clients::prepare();
    let skipped = skipped(&clients);
    for line in &skipped {
        println!("xtask: SKIPPED: {line}");
    }
    let mut totals = cargo_test(arguments, &clients)?;
    for line in &skipped {
        println!("xtask: SKIPPED: {line}");
    }
    if workspace::in_ci() && !clients.missing.is_empty() {
        println!(
            "xtask: a CI run may not skip the real clients; each one that is missing counts as a failure"
        );
        totals.failed += clients.missing.len() as u64;
    }
    if workspace::in_ci() && clients.missing.is_empty() {
        let differing = soak::claude::sample(RESUMED_AGAIN)?;
        println!("xtask: {differing} recorded verdicts of real clients differ");
        totals.failed += differing as u64;
        let refused = soak::convert::sample()?;
        println!("xtask: {refused} converted sessions are not resumed by real programs");
        totals.failed += refused as u64;
    }
    println!("{} passed, {} failed", totals.passed, totals.failed);
    Ok(if totals.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn skipped(clients: &Clients) -> Vec<String> {
    let unset = FOLDERS
        .iter()
        .filter(|(variable, _)| std::env::var_os(variable).is_none());
    let folders = unset.map(|(variable, what)| format!("{what} do not run: {variable} is not set"));
    clients.missing.iter().cloned().chain(folders).collect()
}

/// Runs `cargo test`, passes its output on, and adds up the results of the test programs.
fn cargo_test(arguments: &[String], clients: &Clients) -> Outcome<Totals> {
    println!("xtask: running cargo test --workspace --no-fail-fast");
    let mut command = workspace::cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(arguments);
    command.envs(
        clients
            .environment
            .iter()
            .map(|(name, value)| (name, value)),
    );
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut totals = Totals::default();
    if let Some(stdout) = child.stdout.take() {
        stream(BufReader::new(stdout), &mut totals)?;
    }
    if !child.wait()?.success() {
        // A failed build or a killed test program prints no result line, and must count all the
        // same.
        totals.failed = totals.failed.max(1);
    }
    Ok(totals)
}

fn stream(mut from: impl BufRead, totals: &mut Totals) -> Outcome {
    let mut out = std::io::stdout().lock();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        out.write_all(&line)?;
        totals.add(&String::from_utf8_lossy(&line));
        line.clear();
    }
    out.flush()?;
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
}

impl Totals {
    fn add(&mut self, line: &str) {
        let Some(result) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        for part in counts.split(';') {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up_over_test_programs() {
        let mut totals = Totals::default();
        totals.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n");
        totals.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        assert_eq!(
            totals,
            Totals {
                passed: 15,
                failed: 2
            }
        );
    }

    #[test]
    fn other_lines_count_nothing() {
        let mut totals = Totals::default();
        for line in [
            "test 9 passed ... ok",
            "9 passed; 9 failed",
            "",
            "test result: ",
            "test result: ok",
        ] {
            totals.add(line);
        }
        assert_eq!(totals, Totals::default());
    }
}
