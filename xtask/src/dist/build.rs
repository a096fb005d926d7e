//! Builds the program for a target, with the compilers that it installs itself.
//!
//! Rust's own linker finds everything but a C compiler for SQLite: musl-gcc for Linux on this
//! processor, mingw for Windows, and zig (from PyPI) for other processors and for macOS.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sign;
use super::targets::Target;
use crate::{Outcome, clients, workspace};

/// Versions that are known to work together.
const ZIG_PACKAGES: [&str; 2] = ["ziglang==0.16.0", "cargo-zigbuild==0.23.4"];

/// What compiles C and links for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toolchain {
    Musl,
    Mingw,
    Zig,
}

impl Toolchain {
    /// The toolchain for a target on a machine with the processor `machine`.
    pub(super) fn of(target: &Target, machine: &str) -> Toolchain {
        if target.is_windows() {
            Toolchain::Mingw
        } else if target.triple.ends_with("-linux-musl") && target.triple.starts_with(machine) {
            Toolchain::Musl
        } else {
            Toolchain::Zig
        }
    }
}

/// Builds the program of a target and returns where it is.
pub(super) fn program(target: &Target) -> Outcome<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Err("releases are built on Linux; elsewhere use `cargo install`".into());
    }
    let toolchain = Toolchain::of(target, std::env::consts::ARCH);
    add_rust_target(target.triple)?;
    let zig = prepare(toolchain)?;
    println!("xtask: building for {}", target.triple);
    let mut build = workspace::cargo();
    match &zig {
        Some(folder) => build.arg("zigbuild").env("PATH", path_with(folder)?),
        None => build.arg("build"),
    };
    build.args(["--profile", "dist", "--locked"]);
    build.args(["--package", "boswell", "--target"]);
    build.arg(target.triple);
    // The build scripts of crates inherit the environment.
    for variable in sign::SECRETS {
        build.env_remove(variable);
    }
    // User and folder of the build must not be in the binary: the same sources give the same bytes.
    build.env("CARGO_ENCODED_RUSTFLAGS", same_everywhere()?.join("\u{1f}"));
    workspace::must_succeed(&mut build)?;
    Ok(target.built(&workspace::target()?))
}

/// Builds a program that runs here, to generate manual pages when no target does.
pub(super) fn for_this_machine() -> Outcome<PathBuf> {
    println!("xtask: building a program for this machine, to generate manual pages");
    let mut build = workspace::cargo();
    build.args(["build", "--locked", "--package", "boswell"]);
    for variable in sign::SECRETS {
        build.env_remove(variable);
    }
    workspace::must_succeed(&mut build)?;
    Ok(workspace::target()?.join("debug").join("boswell"))
}

/// Installs what a toolchain needs; returns the folder of zig's programs if it is zig.
fn prepare(toolchain: Toolchain) -> Outcome<Option<PathBuf>> {
    let (program, package) = match toolchain {
        Toolchain::Musl => ("musl-gcc", "musl-tools"),
        Toolchain::Mingw => ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
        Toolchain::Zig => return Ok(Some(zig()?)),
    };
    if workspace::on_path(program).is_none() {
        let instead = format!("{program} is needed (Debian: {package}); install it and run again");
        clients::install(&[package], &instead)?;
    }
    Ok(None)
}

/// Installs zig and its cargo command into a Python environment below the target folder.
fn zig() -> Outcome<PathBuf> {
    let folder = workspace::target()?.join("dist-tools");
    let stamp = folder.join("installed");
    let wanted = ZIG_PACKAGES.join(" ");
    // Written last, so that an interrupted install is not treated as complete.
    if !std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("xtask: installing {wanted} into {}", folder.display());
        workspace::must_succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin").join("python"));
        pip.args(["-m", "pip", "install", "--quiet"])
            .args(ZIG_PACKAGES);
        workspace::must_succeed(&mut pip)?;
        std::fs::write(&stamp, wanted)?;
    }
    Ok(folder.join("bin"))
}

fn path_with(folder: &Path) -> Outcome<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
}

/// Installs Rust's standard library for a target.
fn add_rust_target(triple: &str) -> Outcome {
    let installed = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .output()
        .map_err(|error| {
            format!("rustup: {error}; install Rust's standard library for {triple}, or rustup")
        })?;
    let installed = String::from_utf8_lossy(&installed.stdout);
    if installed.lines().any(|line| line == triple) {
        return Ok(());
    }
    println!("xtask: running `rustup target add {triple}`");
    workspace::must_succeed(Command::new("rustup").args(["target", "add", triple]))
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
