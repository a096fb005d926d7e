//! `cargo xtask python`: builds the Python package and runs its tests and the published suites.
//!
//! Everything is below `target/python`: a virtual environment with maturin and the pinned suites,
//! the wheel, and the sources of suites that are not installed. The package is a workspace of its
//! own, so that the tests of the main one need nothing but Rust.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::bindings::{Build, Counts, Suites, build_folder, program};
use crate::{Outcome, workspace};

/// The interpreter must be at least this one: the wheel is built for its stable interface.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 10))";
const PACKAGE: &str = "bindings/python";
const REQUIREMENTS: &str = "bindings/python/suites/requirements.txt";
/// The tools that the runner itself needs.
const TOOLS: [&str; 1] = ["maturin>=1.9,<2"];
/// The extras of the package that examples use, and what else they and their tests import.
const EXTRAS: &str = "[claude,langgraph,openai]";
const EXAMPLES_NEED: [&str; 3] = ["langgraph", "pydantic-ai-slim", "pytest"];

struct Environment {
    /// The folder of all that is made.
    folder: PathBuf,
    python: PathBuf,
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    Ok(counted(Suites::parse(arguments, "python")?)?.report())
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

/// Runs the endurance tests alone, with variables that say how long.
pub(crate) fn endurance(variables: &[(&'static str, PathBuf)], counts: &mut Counts) -> Outcome {
    let environment = Environment::prepared()?;
    environment.install_wheel()?;
    let mut tests = environment.tests("tests/test_endurance.py");
    // What they measured is printed too.
    counts.stream(tests.arg("-rP").envs(variables.iter().cloned()))
}

/// Builds the package for measurements. Returns the interpreter, and the folder of the package,
/// which belongs before all others.
pub(crate) fn measured() -> Outcome<(PathBuf, PathBuf)> {
    let environment = Environment::prepared()?;
    let wheel = environment.wheel(Build::Measured)?;
    let folder = environment.folder.join("measured");
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder)?;
    }
    let mut pip = environment.module("pip");
    pip.args(["install", "--quiet", "--no-deps", "--target"]);
    workspace::must_succeed(pip.arg(&folder).arg(wheel))?;
    Ok((environment.python, folder))
}

fn counted(suites: Suites) -> Outcome<Counts> {
    let environment = Environment::prepared()?;
    let wheel = environment.install_wheel()?;
    let mut counts = Counts::default();
    environment.own_tests(&mut counts)?;
    environment.suite("claude_suite.py", &[], &mut counts)?;
    environment.suite("langgraph_suite.py", &[], &mut counts)?;
    let sources = environment.folder.join("sources");
    environment.suite("strands_suite.py", &[&sources], &mut counts)?;
    if suites == Suites::All {
        environment.examples_of_a_new_install(&wheel, &mut counts)?;
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

    /// Builds the wheel and installs it. Returns it.
    fn install_wheel(&self) -> Outcome<PathBuf> {
        let wheel = self.wheel(Build::Tested)?;
        let mut pip = self.module("pip");
        pip.args(["install", "--quiet", "--no-deps", "--force-reinstall"]);
        workspace::must_succeed(pip.arg(&wheel))?;
        Ok(wheel)
    }

    fn wheel(&self, build: Build) -> Outcome<PathBuf> {
        let wheels = match build {
            Build::Tested => self.folder.join("wheels"),
            Build::Measured => self.folder.join("measured-wheels"),
        };
        if wheels.is_dir() {
            std::fs::remove_dir_all(&wheels)?;
        }
        let mut maturin = self.module("maturin");
        maturin
            .args(["build", "--quiet", "--locked"])
            .args(build.arguments())
            .arg("--manifest-path")
            .arg(Path::new(PACKAGE).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(build_folder()?)
            .arg("--out")
            .arg(&wheels);
        workspace::must_succeed(&mut maturin)?;
        std::fs::read_dir(&wheels)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|it| it == "whl"))
            .ok_or_else(|| "maturin made no wheel".into())
    }

    /// Installs the wheel and its extras in a new environment, as a user would, and runs every
    /// example there.
    fn examples_of_a_new_install(&self, wheel: &Path, counts: &mut Counts) -> Outcome {
        println!("xtask: running the examples in a new virtual environment");
        let venv = self.folder.join("new-venv");
        if venv.is_dir() {
            std::fs::remove_dir_all(&venv)?;
        }
        workspace::must_succeed(self.module("venv").arg(&venv))?;
        let user = Environment {
            folder: self.folder.clone(),
            python: venv.join("bin/python"),
        };
        let mut pip = user.module("pip");
        pip.args(["install", "--quiet", "--constraint", REQUIREMENTS]);
        pip.arg(format!("{}{EXTRAS}", wheel.display()));
        workspace::must_succeed(pip.args(EXAMPLES_NEED))?;
        counts.stream(&mut user.tests("tests/test_examples.py"))
    }

    fn tests(&self, path: &str) -> Command {
        let mut tests = self.module("pytest");
        tests.args(["-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-rs"]);
        tests.arg(Path::new(PACKAGE).join(path));
        tests
    }

    fn own_tests(&self, counts: &mut Counts) -> Outcome {
        let mut tests = self.tests("tests");
        // Some tests read with the program what Python wrote.
        tests.env("BOSWELL_PROGRAM", program()?);
        counts.stream(&mut tests)
    }

    fn suite(&self, script: &str, arguments: &[&Path], counts: &mut Counts) -> Outcome {
        println!("xtask: running {script}");
        let mut suite = Command::new(&self.python);
        suite
            .current_dir(workspace::root())
            .arg(Path::new(PACKAGE).join("suites").join(script))
            .args(arguments);
        counts.stream(&mut suite)
    }
}
