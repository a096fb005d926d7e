//! `cargo xtask node`: builds the Node package and runs its tests and the published suite.
//!
//! Everything is below `target/node`. The package is packed and installed in a new project there,
//! so that tests and examples use what a user would install. The addon is a workspace of its own,
//! so that the tests of the main one need nothing but Rust.
//!
//! The programs of the Claude Agent SDK have 200 MB and are optional dependencies, as are those of
//! vitest, which are needed. So the SDK alone is in the outer folder, without them; node finds
//! packages in both.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::bindings::{Build, Counts, Suites, build_folder, program};
use crate::{Outcome, clients, workspace};

/// The oldest major version of node that the package supports.
const OLDEST: u32 = 20;
const PACKAGE: &str = "bindings/node";
/// What the published suite and the tests import, pinned.
const PINNED: &str = "bindings/node/suites/package.json";
const LOCKED: &str = "bindings/node/suites/package-lock.json";
const CLAUDE: &str = "@anthropic-ai/claude-agent-sdk@0.3.325";
/// What the package is made of.
const SOURCES: [&str; 5] = [
    "README.md",
    "js",
    "package.json",
    "scripts",
    "tsconfig.json",
];

struct Environment {
    node: PathBuf,
    /// The folder with the SDK, and all that is made.
    outer: PathBuf,
    /// The folder with the pinned packages.
    inner: PathBuf,
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    Ok(counted(Suites::parse(arguments, "node")?, &[])?.report())
}

/// Whether there is a node that is new enough.
pub(crate) fn can_run() -> bool {
    clients::usable_node(OLDEST).is_some()
}

/// Runs everything, which takes a minute; returns how many tests passed and failed.
pub(crate) fn sample(variables: &[(&'static str, PathBuf)]) -> Outcome<(u64, u64)> {
    let counts = counted(Suites::All, variables)?;
    Ok((counts.passed, counts.failed))
}

/// Runs the endurance tests alone, with variables that say how long.
pub(crate) fn endurance(variables: &[(&'static str, PathBuf)], counts: &mut Counts) -> Outcome {
    let environment = Environment::prepared()?;
    let project = environment.installed(Build::Tested)?;
    let mut tests = Command::new(&environment.node);
    tests.current_dir(&project).envs(variables.iter().cloned());
    tests.args(["--test", "--test-reporter=tap"]);
    counts.stream(tests.arg(project.join("tests/endurance.test.mjs")))
}

/// Builds the package for measurements. Returns node, and a project that has the package.
pub(crate) fn measured() -> Outcome<(PathBuf, PathBuf)> {
    let environment = Environment::prepared()?;
    let project = environment.installed(Build::Measured)?;
    Ok((environment.node, project))
}

fn counted(suites: Suites, variables: &[(&'static str, PathBuf)]) -> Outcome<Counts> {
    let environment = Environment::prepared()?;
    let project = environment.installed(Build::Tested)?;
    environment.compile_examples(&project)?;
    let mut counts = Counts::default();
    environment.own_tests(&project, variables, &mut counts)?;
    if suites == Suites::All {
        environment.published(&project, &mut counts)?;
    }
    Ok(counts)
}

impl Environment {
    /// Installs what is pinned; a second run changes nothing.
    fn prepared() -> Outcome<Environment> {
        let node = clients::usable_node(OLDEST)
            .ok_or("there is no node 20 or newer with npm; name one with BOSWELL_NODE")?;
        let outer = workspace::target()?.join("node");
        let inner = outer.join("packed");
        std::fs::create_dir_all(&inner)?;
        let environment = Environment { node, outer, inner };
        let lock = std::fs::read_to_string(workspace::root().join(LOCKED))?;
        let wanted = format!("{CLAUDE}\n{lock}");
        let installed = environment.outer.join("installed.txt");
        if std::fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
            return Ok(environment);
        }
        copy(&workspace::root().join(PINNED), &environment.inner)?;
        copy(&workspace::root().join(LOCKED), &environment.inner)?;
        // Not `ci`: it demands programs of every platform, which some registries lack.
        environment.npm(&environment.inner, &["install"])?;
        std::fs::write(
            environment.outer.join("package.json"),
            "{\"private\":true}\n",
        )?;
        let sdk = ["install", "--omit=optional", "--no-save", CLAUDE];
        environment.npm(&environment.outer, &sdk)?;
        std::fs::write(installed, wanted)?;
        Ok(environment)
    }

    fn npm(&self, folder: &Path, arguments: &[&str]) -> Outcome {
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(arguments).args([
            // The peers that the frameworks state are pinned here; some are not in every registry.
            "--legacy-peer-deps",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--prefer-offline",
            "--loglevel=error",
        ]);
        workspace::must_succeed(npm.stdin(Stdio::null()))
    }

    fn script(&self, folder: &Path, script: &Path) -> Command {
        let mut command = Command::new(&self.node);
        command.current_dir(folder).arg(script);
        command
    }

    fn tsc(&self) -> PathBuf {
        self.inner.join("node_modules/typescript/bin/tsc")
    }

    /// Builds and packs the package, and installs it in a new project.
    fn installed(&self, build: Build) -> Outcome<PathBuf> {
        self.project(&self.packed(&self.addon(build)?)?)
    }

    fn addon(&self, build: Build) -> Outcome<PathBuf> {
        let folder = build_folder()?;
        let mut cargo = workspace::cargo();
        cargo.args(["build", "--locked"]).args(build.arguments());
        cargo.arg("--manifest-path");
        cargo.arg(Path::new(PACKAGE).join("Cargo.toml"));
        workspace::must_succeed(cargo.arg("--target-dir").arg(&folder))?;
        let name = format!(
            "{}boswell_store_node{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        );
        Ok(folder.join(build.folder()).join(name))
    }

    /// Compiles the package and packs it as it would be published.
    fn packed(&self, addon: &Path) -> Outcome<PathBuf> {
        let stage = self.inner.join("stage");
        fresh(&stage)?;
        for source in SOURCES {
            copy(&workspace::root().join(PACKAGE).join(source), &stage)?;
        }
        let mut build = self.script(&stage, Path::new("scripts/build.mjs"));
        workspace::must_succeed(build.arg(self.tsc()).arg(addon))?;
        self.npm(&stage, &["pack", "--pack-destination", ".."])?;
        Ok(self
            .inner
            .join(format!("boswell-store-{}.tgz", env!("CARGO_PKG_VERSION"))))
    }

    /// Makes a new project with the packed package, the tests and the examples.
    fn project(&self, packed: &Path) -> Outcome<PathBuf> {
        let project = self.inner.join("project");
        fresh(&project)?;
        let stated = "{ \"private\": true, \"type\": \"module\" }\n";
        std::fs::write(project.join("package.json"), stated)?;
        self.npm(&project, &["install", &packed.to_string_lossy()])?;
        for folder in ["tests", "suites"] {
            copy(&workspace::root().join(PACKAGE).join(folder), &project)?;
        }
        let examples = project.join("examples");
        std::fs::create_dir(&examples)?;
        copy(&workspace::root().join("examples/node"), &examples)?;
        Ok(project)
    }

    /// Compiles the examples against the types of the package.
    fn compile_examples(&self, project: &Path) -> Outcome {
        let mut tsc = self.script(project, &self.tsc());
        workspace::must_succeed(tsc.args(["-p", "examples/node/tsconfig.json"]))
    }

    fn own_tests(
        &self,
        project: &Path,
        variables: &[(&'static str, PathBuf)],
        counts: &mut Counts,
    ) -> Outcome {
        println!("xtask: running the tests of the Node package");
        let mut tests = Command::new(&self.node);
        tests.current_dir(project).envs(variables.iter().cloned());
        tests.args(["--test", "--test-reporter=tap"]);
        let mut files: Vec<PathBuf> = std::fs::read_dir(project.join("tests"))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
            .collect();
        files.sort();
        tests.args(files);
        // Some tests read with the program, or with Python, what Node wrote.
        tests.env("BOSWELL_PROGRAM", program()?);
        let python = workspace::target()?.join("python/venv/bin/python");
        if python.is_file() {
            tests.env("BOSWELL_PYTHON_PACKAGE", python);
        }
        counts.stream(&mut tests)
    }

    fn published(&self, project: &Path, counts: &mut Counts) -> Outcome {
        println!("xtask: running the validation suite of LangGraph's checkpointers");
        let vitest = self.inner.join("node_modules/vitest/vitest.mjs");
        let mut suite = self.script(project, &vitest);
        suite.args(["run", "--config", "suites/vitest.config.mjs"]);
        suite.env("NO_COLOR", "1");
        counts.stream(&mut suite)
    }
}

/// Makes a folder that is empty.
fn fresh(folder: &Path) -> Outcome {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(std::fs::create_dir_all(folder)?)
}

/// Copies a file or a folder into a folder.
fn copy(from: &Path, into: &Path) -> Outcome {
    let name = from.file_name().ok_or("a path without a name")?;
    let to = into.join(name);
    if !from.is_dir() {
        std::fs::copy(from, to)?;
        return Ok(());
    }
    std::fs::create_dir_all(&to)?;
    for entry in std::fs::read_dir(from)?.flatten() {
        copy(&entry.path(), &to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let text = std::fs::read_to_string(workspace::root().join(PACKAGE).join("package.json"));
        let wanted = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(text.unwrap().contains(&wanted));
    }
}
