//! `cargo xtask web`: builds the page of the server from `web/` into `crates/serve/dist`.
//!
//! The result is committed, so that cargo alone builds the program. `--check` builds it again in a
//! temporary folder and compares bytes. `SOURCE` in it is a hash of `web/`, which a test compares
//! without node.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use boswell_testkit::sha256;

use crate::{Outcome, sources, workspace};

/// The files of the page.
pub(crate) const FILES: [&str; 4] = ["app.css", "app.js", "icon.svg", "index.html"];

/// The folder of the committed page.
pub(crate) fn dist() -> PathBuf {
    workspace::root().join("crates/serve/dist")
}

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments {
        [] => {
            build(&dist())?;
            std::fs::write(dist().join("SOURCE"), source_hash()?)?;
            Ok(ExitCode::SUCCESS)
        }
        [option] if option == "--check" => check(),
        _ => Err("usage: cargo xtask web [--check]".into()),
    }
}

fn check() -> Outcome<ExitCode> {
    let folder = workspace::root().join("target/web-check");
    build(&folder)?;
    let mut different = Vec::new();
    for name in FILES {
        if std::fs::read(folder.join(name))? != std::fs::read(dist().join(name))? {
            different.push(name);
        }
    }
    if different.is_empty() {
        println!("crates/serve/dist is what web/ builds");
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "these differ, run `cargo xtask web`: {}",
        different.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

fn build(out: &Path) -> Outcome {
    let web = workspace::root().join("web");
    run_in(
        &web,
        "npm",
        &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    )?;
    run_in(
        &web,
        "node",
        &["node_modules/typescript/bin/tsc", "--noEmit"],
    )?;
    let out = out.display().to_string();
    run_in(&web, "node", &["build.mjs", &out])
}

fn run_in(folder: &Path, program: &str, arguments: &[&str]) -> Outcome {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .status()
        .map_err(|error| format!("cannot start {program}, which builds the page: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{program} {} failed", arguments.join(" ")).into())
}

/// Returns a hash of the files of `web/`: their names and contents, in order.
pub(crate) fn source_hash() -> Outcome<String> {
    let mut files: Vec<PathBuf> = sources::all();
    files.retain(|file| file.starts_with("web"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        let bytes = std::fs::read(workspace::root().join(&file))?;
        all.extend_from_slice(format!("{name} {}\n", sha256::hex(&bytes)).as_bytes());
    }
    Ok(format!("{}\n", sha256::hex(&all)))
}
