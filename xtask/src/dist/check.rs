//! `cargo xtask dist --check`: installs and removes what was packed, each way in folders of its
//! own, and runs the installed program on sample sessions in an empty home.

mod ways;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::targets::{self, Target};
use crate::{Outcome, workspace};

/// A word that the sample sessions contain.
const WORD: &str = "二元";

/// Why a way was not tried: the program that it needs.
type Missing = Option<&'static str>;

/// The folders of one way to install.
pub(super) struct Place<'d> {
    /// The folder of the release.
    dist: &'d Path,
    version: &'d str,
    target: &'static Target,
    temp: tempfile::TempDir,
}

impl Place<'_> {
    /// A folder of this way.
    fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.temp.path().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A command with an empty home, and without the variables of the caller.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Outcome<Command> {
        let home = self.folder("home")?;
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.temp.path());
        command.env("HOME", &home).env("LC_ALL", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // The caller's settings name the mirrors of registries, where there are any.
        for (name, value) in std::env::vars_os() {
            let text = name.to_string_lossy().to_lowercase();
            if text.starts_with("pip_") || text.starts_with("npm_config_") {
                command.env(name, value);
            }
        }
        Ok(command)
    }

    /// Creates sample sessions with the installed program, and finds a word in them. `start` are
    /// the words that start it.
    fn try_out(&self, start: &[&str]) -> Outcome {
        let (program, arguments) = start.split_first().ok_or("there is no program")?;
        let mut version = self.command(program)?;
        let said = must_pass(version.args(arguments).arg("--version"))?;
        if !said.contains(self.version) {
            return Err(format!("{said:?} does not name {}", self.version).into());
        }
        let demo = self.temp.path().join("demo");
        let mut command = self.command(program)?;
        must_pass(command.args(arguments).arg("demo").arg(&demo))?;
        // The script runs the installed program.
        let found = must_pass(self.command(demo.join("try"))?.args(["search", WORD]))?;
        if !found.contains(WORD) {
            return Err(format!("`search {WORD}` found nothing: {found}").into());
        }
        // In the empty home there is nothing to find, which is an answer and not an error.
        let mut command = self.command(program)?;
        let output = command.args(arguments).args(["search", WORD]).output()?;
        if output.status.code() != Some(1) {
            return Err(format!("search in an empty home: {}", said_by(&output)).into());
        }
        Ok(())
    }

    /// Fails if files are left below a folder.
    fn must_be_empty(&self, folder: &Path) -> Outcome {
        if !folder.exists() {
            return Ok(());
        }
        let left = boswell_testkit::corpus::files(folder);
        if left.is_empty() {
            return Ok(());
        }
        Err(format!("left behind: {left:?}").into())
    }
}

fn said_by(output: &Output) -> String {
    format!(
        "{}: {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs a command and returns its standard output; its failure is an error with all it printed.
fn must_pass(command: &mut Command) -> Outcome<String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", said_by(&output)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Tries every way, reports each, and returns how many failed.
pub(super) fn failures(dist: &Path) -> Outcome<u32> {
    if !dist.join("SHA256SUMS").is_file() {
        return Err("nothing was packed; run `cargo xtask dist` first".into());
    }
    let release = super::release::Release::of_checkout()?;
    let mut failures = 0;
    for (name, way) in ways::WAYS {
        let place = Place {
            dist,
            version: &release.version,
            target: targets::host()?,
            temp: tempfile::tempdir()?,
        };
        match way(&place) {
            Ok(None) => println!("check: {name}: passed"),
            Ok(Some(program)) => {
                println!("check: {name}: SKIPPED, because {program} is not installed");
                failures += u32::from(workspace::in_ci());
            }
            Err(error) => {
                println!("check: {name}: FAILED: {error}");
                failures += 1;
            }
        }
    }
    Ok(failures)
}
