//! `cargo xtask test`: every test of the workspace, with the real clients, and the totals at the
//! end.
//!
//! Clients come first because the client tests are ordinary tests that read environment variables.
//! Tests that compare CPU times run last and one at a time: another test on the second core takes
//! cache from the larger input first, and a linear command then looks worse than linear.

use std::io::{BufRead, BufReader, Write};
use std::process::{ExitCode, Stdio};

use crate::clients::Clients;
use crate::{Outcome, clients, dist, node, python, soak, workspace};

/// Variables with folders of real files; without them the tests that need them are skipped.
const FOLDERS: [(&str, &str); 2] = [
    ("BOSWELL_CORPUS", "tests over real session files"),
    ("BOSWELL_CAPTURES", "tests over captured client runs"),
];

/// The number of recorded damaged files that the real clients resume again in CI.
const RESUMED_AGAIN: usize = 40;

/// The module with the tests that compare CPU times, and the test program that it is in.
const TIMED: &str = "scaling::";
const TIMED_PROGRAM: [&str; 4] = ["-p", "boswell", "--test", "cli"];

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    // Rules about dependencies call cargo without the network, also for features that no build here
    // uses.
    workspace::fetch()?;
    let clients = clients::prepare();
    let skipped = skipped(&clients);
    for line in &skipped {
        println!("xtask: SKIPPED: {line}");
    }
    let mut totals = if arguments.is_empty() {
        let mut totals = cargo_test(&["--workspace", "--", "--skip", TIMED], &clients)?;
        let timed = [&TIMED_PROGRAM[..], &["--", TIMED, "--test-threads=1"]].concat();
        totals.include(cargo_test(&timed, &clients)?);
        totals
    } else {
        let arguments = arguments.iter().map(String::as_str);
        cargo_test(
            &["--workspace"]
                .into_iter()
                .chain(arguments)
                .collect::<Vec<_>>(),
            &clients,
        )?
    };
    for line in &skipped {
        println!("xtask: SKIPPED: {line}");
    }
    if arguments.is_empty() {
        totals.include(python_package()?);
        totals.include(node_package(&clients)?);
    }
    if workspace::in_ci() {
        totals.failed += sampled(&clients)?;
    }
    println!("{} passed, {} failed", totals.passed, totals.failed);
    Ok(if totals.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs samples of what takes too long as a whole; returns how many of them failed.
fn sampled(clients: &Clients) -> Outcome<u64> {
    let mut failed = clients.missing.len() as u64;
    if failed > 0 {
        println!(
            "xtask: a CI run may not skip the real clients; each one that is missing counts as a failure"
        );
    } else {
        let differing = soak::claude::sample(RESUMED_AGAIN)?;
        println!("xtask: {differing} recorded verdicts of real clients differ");
        let refused = soak::convert::sample()?;
        println!("xtask: {refused} converted sessions are not resumed by real programs");
        failed += (differing + refused) as u64;
    }
    let ways = dist::sample()?;
    println!("xtask: {ways} ways to install the packed program failed");
    Ok(failed + u64::from(ways))
}

/// Runs the tests of the Python package, and the published suites that take seconds.
fn python_package() -> Outcome<Totals> {
    if !workspace::in_ci() && !python::can_run() {
        println!("xtask: SKIPPED: the Python package is not tested: there is no Python 3.10");
        return Ok(Totals::default());
    }
    let (passed, failed) = python::sample()?;
    Ok(Totals { passed, failed })
}

/// Runs the tests of the Node package, and the published suite.
fn node_package(clients: &Clients) -> Outcome<Totals> {
    if !workspace::in_ci() && !node::can_run() {
        println!("xtask: SKIPPED: the Node package is not tested: there is no node 20 with npm");
        return Ok(Totals::default());
    }
    let (passed, failed) = node::sample(&clients.environment)?;
    Ok(Totals { passed, failed })
}

fn skipped(clients: &Clients) -> Vec<String> {
    let unset = FOLDERS
        .iter()
        .filter(|(variable, _)| std::env::var_os(variable).is_none());
    let folders = unset.map(|(variable, what)| format!("{what} do not run: {variable} is not set"));
    clients.missing.iter().cloned().chain(folders).collect()
}

/// Runs `cargo test`, passes its output on, and adds up the results of the test programs.
fn cargo_test(arguments: &[&str], clients: &Clients) -> Outcome<Totals> {
    println!(
        "xtask: running cargo test --no-fail-fast {}",
        arguments.join(" ")
    );
    let mut command = workspace::cargo();
    command.args(["test", "--no-fail-fast"]).args(arguments);
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
    fn include(&mut self, other: Totals) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

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
    fn the_tests_that_compare_cpu_times_are_where_the_second_run_looks_for_them() {
        let [_, package, _, program] = TIMED_PROGRAM;
        assert_eq!(package, "boswell");
        let folder = workspace::root().join("crates/cli/tests").join(program);
        let module = TIMED.trim_end_matches("::");
        let text = std::fs::read_to_string(folder.join(format!("{module}.rs"))).unwrap();
        assert!(text.contains("#[test]"));
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
