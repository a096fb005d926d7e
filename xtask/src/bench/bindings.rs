//! The packages for Python and Node beside the Rust library and the stores of frameworks: builds
//! them in release mode and runs `bindings/bench/bench.py`, which measures.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::group::Group;
use super::lab::Lab;
use super::table::{Row, rows};
use crate::bindings::{Build, build_folder};
use crate::{Outcome, node, python, workspace};

const FOLDER: &str = "bindings/bench";
/// Appends of a case in each round.
const EACH: &str = "20";
/// The program of the Rust library.
const RUST: &str = "append_lab";

pub(crate) struct BindingsGroup;

impl Group for BindingsGroup {
    fn name(&self) -> &'static str {
        "bindings"
    }

    fn about(&self) -> &'static str {
        "Durable appends from Python and Node, in turns with the Rust library; appends that are awaited together beside one by one; turns of frameworks beside their own stores on SQLite, which sync each commit too; wall time, median"
    }

    fn needs_release_build(&self) -> bool {
        false
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let (interpreter, package) = python::measured()?;
        let (node, project) = node::measured()?;
        let script = project.join("append.mjs");
        std::fs::copy(workspace::root().join(FOLDER).join("append.mjs"), &script)?;
        let mut bench = Command::new(interpreter);
        bench
            .arg(workspace::root().join(FOLDER).join("bench.py"))
            .args([&lab.repeats.to_string(), EACH])
            .env("PYTHONPATH", package)
            .env("BENCH_RUST", rust_program()?)
            .env("BENCH_NODE", node)
            .env("BENCH_APPEND", script)
            .env("BENCH_FOLDER", &lab.data);
        let output = bench.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("bench.py failed".into());
        }
        rows(&String::from_utf8(output.stdout)?)
    }
}

fn rust_program() -> Outcome<PathBuf> {
    let folder = build_folder()?;
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked"]);
    cargo.args(Build::Measured.arguments());
    cargo.arg("--manifest-path");
    cargo.arg(Path::new(FOLDER).join("Cargo.toml"));
    workspace::must_succeed(cargo.arg("--target-dir").arg(&folder))?;
    Ok(folder.join(Build::Measured.folder()).join(RUST))
}
