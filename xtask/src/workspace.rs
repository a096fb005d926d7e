//! Paths: the checkout, cargo's target folder, the programs on the path.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// Returns the root of the checkout that this program was built from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns the cargo that started us, or the one on the path.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Returns the workspace's own packages as `cargo metadata` lists them.
pub(crate) fn metadata() -> Outcome<serde_json::Value> {
    let output = cargo()
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
        .into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Downloads every package of the lock file, including those of optional features.
pub(crate) fn fetch() -> Outcome<()> {
    let status = cargo().args(["fetch", "--locked"]).status()?;
    if status.success() {
        Ok(())
    } else {
        Err("cargo fetch --locked failed".into())
    }
}

/// Returns cargo's target folder, wherever the configuration puts it.
pub(crate) fn target() -> Outcome<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata["target_directory"]
        .as_str()
        .ok_or("cargo metadata names no target folder")?;
    Ok(PathBuf::from(folder))
}

/// Finds a program as a shell would.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Whether this is a CI run, in which nothing may be skipped.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Runs a command with its output passed through, and fails with its name if it fails.
pub(crate) fn must_succeed(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("{name}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name} ended with {status}").into())
    }
}
