//! `cargo xtask dist`: the release: one static Linux binary, its manual pages and completions,
//! checksums, an installer.

mod package;
#[cfg(all(test, unix))]
mod tests;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Outcome, clients, workspace};

/// Maximum size of the binary; if it is larger, check what was added.
const LARGEST: u64 = 15 << 20;

pub(crate) fn run(_arguments: &[String]) -> Outcome<ExitCode> {
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    if !cfg!(target_os = "linux") {
        return Err(
            "the static binary is built on Linux; elsewhere use `cargo install --path crates/cli`"
                .into(),
        );
    }
    prepare(&triple)?;
    let target = workspace::target()?;
    let binary = build(&triple, &target)?;
    let size = std::fs::metadata(&binary)?.len();
    if size > LARGEST {
        return Err(format!("the binary has {size} bytes, more than {LARGEST}").into());
    }
    let dist = target.join("dist");
    let _ = std::fs::remove_dir_all(&dist);
    let name = format!("boswell-{}-{triple}", env!("CARGO_PKG_VERSION"));
    package::gather(&binary, &dist.join(&name))?;
    let packed = package::pack(&dist, &name)?;
    println!(
        "xtask: {} ({:.1} MB unpacked)",
        packed.archive.display(),
        size as f64 / 1e6
    );
    println!("xtask: sha256 {}", packed.sha256);
    println!(
        "xtask: try it with `PREFIX=/tmp/try sh {}`",
        dist.join("install.sh").display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Installs the compiler's library for the target, and a C compiler for SQLite.
fn prepare(triple: &str) -> Outcome {
    if workspace::on_path("musl-gcc").is_none() {
        clients::install(
            &["musl-tools"],
            "musl-gcc is needed (Debian: musl-tools); install it and run again",
        )?;
    }
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output().map_err(|error| {
        format!("rustup: {error}; install the standard library of Rust for {triple} by other means, or rustup")
    })?;
    if String::from_utf8_lossy(&installed.stdout)
        .lines()
        .any(|line| line == triple)
    {
        return Ok(());
    }
    println!("xtask: running `rustup target add {triple}`");
    workspace::must_succeed(Command::new("rustup").args(["target", "add", triple]))
}

fn build(triple: &str, target: &Path) -> Outcome<PathBuf> {
    println!("xtask: building the static binary for {triple}");
    let mut build = workspace::cargo();
    build.args([
        "build",
        "--release",
        "--locked",
        "--package",
        "boswell",
        "--target",
        triple,
    ]);
    // Symbol names would be a sixth of the binary.
    build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    // User and folder of the build must not be in the binary: the same sources give the same bytes.
    build.env("CARGO_ENCODED_RUSTFLAGS", same_everywhere()?.join("\u{1f}"));
    workspace::must_succeed(&mut build)?;
    Ok(target.join(triple).join("release").join("boswell"))
}

/// Returns flags that replace paths of this machine by names that are the same everywhere.
fn same_everywhere() -> Outcome<Vec<String>> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(home)
        .ok_or("neither CARGO_HOME nor HOME is set")?;
    Ok([(cargo, "/cargo"), (workspace::root(), "/boswell")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .into())
}
