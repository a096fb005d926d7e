//! `cargo xtask python`: builds the Python package and runs its tests and the published suites.
//!
//! Everything is below `target/python`: a virtual environment with maturin and the pinned suites,
//! the wheel, and the sources of suites that are not installed. The package is a workspace of its
//! own, so that the tests of the main one need nothing but Rust.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::{Outcome, workspace};

/// The interpreter must be at least this one: the wheel is built for its stable interface.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 10))";
const PACKAGE: &str = "bindings/python";
const REQUIREMENTS: &str = "bindings/python/suites/requirements.txt";
/// The tools that the runner itself needs.
const TOOLS: [&str; 1] = ["maturin>=1.9,<2"];

/// Which suites are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suites {
    All,
    /// Only those that take seconds.
    Short,
}

/// Counts of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    /// Adds the last line of pytest (`12 passed, 1 skipped in 3.00s`) or of a suite of ours
    /// (`suite claude: 14 passed, 0 failed`).
    fn add(&mut self, line: &str) {
        let line = line.trim().trim_matches('=').trim();
        let counts = match line.strip_prefix("suite ") {
            Some(rest) => rest.split_once(": ").map_or("", |(_, counts)| counts),
            None if line.contains(" in ") => line,
            None => return,
        };
        for part in counts.split(", ") {
            let mut words = part.split(' ');
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
}

struct Environment {
    /// The folder of all that is made.
    folder: PathBuf,
    python: PathBuf,
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let suites = match arguments {
        [] => Suites::All,
        [short] if short == "--short" => Suites::Short,
        _ => return Err("usage: cargo xtask python [--short]".into()),
    };
    let counts = counted(suites)?;
    println!("{} passed, {} failed", counts.passed, counts.failed);
    Ok(if counts.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Whether there is an interpreter that is new enough.
pub(crate) fn can_run() -> bool {
    interpreter().is_some()
}

/// Runs what takes seconds; returns how many tests passed and failed.
pub(crate) fn sample() -> Outcome<(u64, u64)> {
    let counts = counted(Suites::Short)?;
    Ok((counts.passed, counts.failed))
}

fn counted(suites: Suites) -> Outcome<Counts> {
    let environment = Environment::prepared()?;
    environment.install_wheel()?;
    let mut counts = Counts::default();
    environment.own_tests(&mut counts)?;
    environment.suite("claude_suite.py", &[], &mut counts)?;
    environment.suite("langgraph_suite.py", &[], &mut counts)?;
    if suites == Suites::All {
        let sources = environment.folder.join("sources");
        environment.suite("openai_suite.py", &[&sources], &mut counts)?;
    }
    Ok(counts)
}

/// Finds an interpreter that is new enough.
fn interpreter() -> Option<PathBuf> {
    let given = std::env::var_os("BOSWELL_PYTHON").map(PathBuf::from);
    let found = given.or_else(|| workspace::on_path("python3"))?;
    let status = Command::new(&found).args(["-c", OLDEST]).status();
    status.is_ok_and(|status| status.success()).then_some(found)
}

impl Environment {
    /// Makes the virtual environment, and installs what is pinned; a second run changes nothing.
    fn prepared() -> Outcome<Environment> {
        let interpreter = interpreter()
            .ok_or("there is no Python 3.10 or newer; name one with BOSWELL_PYTHON")?;
        let folder = workspace::target()?.join("python");
        let python = folder.join("venv/bin/python");
        if !python.is_file() {
            let mut venv = Command::new(interpreter);
            venv.args(["-m", "venv"]).arg(folder.join("venv"));
            workspace::must_succeed(&mut venv)?;
        }
        let environment = Environment { folder, python };
        let wanted = std::fs::read_to_string(workspace::root().join(REQUIREMENTS))?;
        let wanted = format!("{wanted}{}", TOOLS.join("\n"));
        let installed = environment.folder.join("installed.txt");
        if std::fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
            return Ok(environment);
        }
        let mut pip = environment.module("pip");
        pip.args(["install", "--quiet", "--requirement", REQUIREMENTS]);
        workspace::must_succeed(pip.args(TOOLS))?;
        std::fs::write(installed, wanted)?;
        Ok(environment)
    }

    fn module(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.current_dir(workspace::root()).args(["-m", name]);
        command
    }

    /// Builds the wheel without optimisation, which takes a minute less, and installs it.
    fn install_wheel(&self) -> Outcome {
        let wheels = self.folder.join("wheels");
        if wheels.is_dir() {
            std::fs::remove_dir_all(&wheels)?;
        }
        let mut maturin = self.module("maturin");
        maturin
            .args(["build", "--quiet", "--profile", "dev", "--locked"])
            .arg("--manifest-path")
            .arg(Path::new(PACKAGE).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.folder.join("build"))
            .arg("--out")
            .arg(&wheels);
        workspace::must_succeed(&mut maturin)?;
        let wheel = std::fs::read_dir(&wheels)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|it| it == "whl"))
            .ok_or("maturin made no wheel")?;
        let mut pip = self.module("pip");
        pip.args(["install", "--quiet", "--no-deps", "--force-reinstall"]);
        workspace::must_succeed(pip.arg(wheel))
    }

    fn own_tests(&self, counts: &mut Counts) -> Outcome {
        let mut tests = self.module("pytest");
        tests.args(["-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-rs"]);
        tests.arg(Path::new(PACKAGE).join("tests"));
        // Some tests read with the program what Python wrote.
        let program = workspace::target()?.join("debug/boswell");
        if !program.is_file() {
            workspace::must_succeed(workspace::cargo().args(["build", "-p", "boswell"]))?;
        }
        tests.env("BOSWELL_PROGRAM", program);
        stream(tests, counts)
    }

    fn suite(&self, script: &str, arguments: &[&Path], counts: &mut Counts) -> Outcome {
        println!("xtask: running {script}");
        let mut suite = Command::new(&self.python);
        suite
            .current_dir(workspace::root())
            .arg(Path::new(PACKAGE).join("suites").join(script))
            .args(arguments);
        stream(suite, counts)
    }
}

/// Runs a command, passes its output on and adds up its counts. A failure without a count counts
/// as one.
fn stream(mut command: Command, counts: &mut Counts) -> Outcome {
    let before = counts.failed;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            println!("{line}");
            counts.add(&line);
        }
    }
    if !child.wait()?.success() && counts.failed == before {
        counts.failed += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_pytest_and_of_our_suites_are_read() {
        let mut counts = Counts::default();
        for line in [
            "12 passed, 1 skipped in 3.00s",
            "=== 2 failed, 10 passed, 1 error in 61.00s (0:01:01) ===",
            "suite claude: 14 passed, 0 failed",
            "suite openai: 197 passed, 17 failed",
            "all tests: 5 passed, 5 failed",
            "7 passed",
            "a line in the middle",
        ] {
            counts.add(line);
        }
        assert_eq!(
            counts,
            Counts {
                passed: 12 + 10 + 14 + 197,
                failed: 2 + 1 + 17
            }
        );
    }
}
