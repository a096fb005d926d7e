//! What the steps of both language packages share: where they are built, counts of tests, and
//! running a command whose output has them.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::{Outcome, workspace};

/// Which suites are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suites {
    All,
    /// Only what takes seconds.
    Short,
}

impl Suites {
    /// Reads the arguments of `cargo xtask python` and `cargo xtask node`.
    pub(crate) fn parse(arguments: &[String], command: &str) -> Outcome<Suites> {
        match arguments {
            [] => Ok(Suites::All),
            [short] if short == "--short" => Ok(Suites::Short),
            _ => Err(format!("usage: cargo xtask {command} [--short]").into()),
        }
    }
}

/// How a native part is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// Without optimisation, which takes a minute less.
    Tested,
    /// Optimised, without search and databases: for measurements of appends.
    Measured,
}

impl Build {
    /// Returns the folder below that of all builds.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Build::Tested => "debug",
            Build::Measured => "release",
        }
    }

    /// Returns the arguments of cargo and maturin.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Build::Tested => &["--profile", "dev"],
            Build::Measured => &["--release", "--no-default-features"],
        }
    }
}

/// Counts of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Counts {
    /// Adds a last line of pytest (`12 passed, 1 skipped in 3.00s`), of a suite of ours
    /// (`suite claude: 14 passed, 0 failed`), of node's runner (`# pass 12`) or of vitest
    /// (`Tests  717 passed | 1 skipped`).
    fn add(&mut self, line: &str) {
        let line = line.trim().trim_matches('=').trim();
        if let Some((word, Ok(number))) = line
            .strip_prefix("# ")
            .and_then(|rest| rest.split_once(' '))
            .map(|(word, number)| (word, number.parse::<u64>()))
        {
            match word {
                "pass" => self.passed += number,
                "fail" | "cancelled" => self.failed += number,
                _ => {}
            }
            return;
        }
        if let Some(counts) = line.strip_prefix("Tests ") {
            self.add_parts(counts.split('|'));
        } else if let Some(rest) = line.strip_prefix("suite ") {
            let counts = rest.split_once(": ").map_or("", |(_, counts)| counts);
            self.add_parts(counts.split(','));
        } else if line.contains(" in ") {
            self.add_parts(line.split(','));
        }
    }

    fn add_parts<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        for part in parts {
            let mut words = part.split_whitespace();
            let Some(Ok(number)) = words.next().map(str::parse::<u64>) else {
                return;
            };
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed" | "error" | "errors") => self.failed += number,
                _ => {}
            }
        }
    }

    /// Prints the counts, and returns whether nothing failed.
    pub(crate) fn report(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    /// Runs a command, passes its output on and adds up its counts. A failure without a count
    /// counts as one.
    pub(crate) fn stream(&mut self, command: &mut Command) -> Outcome {
        let before = self.failed;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line?;
                println!("{line}");
                self.add(&line);
            }
        }
        if !child.wait()?.success() && self.failed == before {
            self.failed += 1;
        }
        Ok(())
    }
}

/// The folder in which the native parts of both packages are built.
pub(crate) fn build_folder() -> Outcome<PathBuf> {
    Ok(workspace::target()?.join("bindings"))
}

/// The program, with which some tests read what a package wrote.
pub(crate) fn program() -> Outcome<PathBuf> {
    let program = workspace::target()?.join("debug/boswell");
    if !program.is_file() {
        workspace::must_succeed(workspace::cargo().args(["build", "-p", "boswell"]))?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(lines: &[&str]) -> (u64, u64) {
        let mut counts = Counts::default();
        for line in lines {
            counts.add(line);
        }
        (counts.passed, counts.failed)
    }

    #[test]
    fn counts_of_pytest_and_of_our_suites_are_read() {
        let lines = [
            "12 passed, 1 skipped in 3.00s",
            "=== 2 failed, 10 passed, 1 error in 61.00s (0:01:01) ===",
            "suite claude: 14 passed, 0 failed",
            "suite openai: 197 passed, 17 failed",
            "all tests: 5 passed, 5 failed",
            "7 passed",
            "a line in the middle",
        ];
        assert_eq!(counted(&lines), (12 + 10 + 14 + 197, 2 + 1 + 17));
    }

    #[test]
    fn counts_of_nodes_runner_and_of_vitest_are_read() {
        let lines = [
            "# tests 12",
            "# pass 10",
            "# fail 1",
            "# cancelled 1",
            "    # Subtest: pass 9",
            " Test Files  1 passed (1)",
            "      Tests  717 passed | 1 skipped (718)",
            "      Tests  2 failed | 3 passed (5)",
            "Tests of a kind",
        ];
        assert_eq!(counted(&lines), (10 + 717 + 3, 1 + 1 + 2));
    }
}
