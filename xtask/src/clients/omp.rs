//! oh-my-pi, run by bun from its own sources. Both are downloaded from npm into
//! `target/clients/omp`; no install script is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, workspace};

const PACKAGE: &str = "@oh-my-pi/pi-coding-agent";
/// The newest version whose own packages are all available.
pub(super) const VERSION: &str = "18.2.3";
const BUN_VERSION: &str = "1.4.4";

/// Returns the folder of the installed package, and bun.
pub(super) fn omp() -> Outcome<(PathBuf, PathBuf)> {
    let given = |variable| std::env::var_os(variable).map(PathBuf::from);
    if let (Some(package), Some(bun)) = (given("BOSWELL_OMP_PACKAGE"), given("BOSWELL_BUN")) {
        println!("xtask: oh-my-pi is taken from BOSWELL_OMP_PACKAGE");
        return Ok((package, bun));
    }
    let folder = workspace::target()?.join("clients").join("omp");
    let package = folder.join("node_modules").join(PACKAGE);
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        println!("xtask: oh-my-pi {VERSION} is already installed");
        return Ok((package, bun(&folder)?));
    }
    println!(
        "xtask: installing {PACKAGE} {VERSION} and bun from npm into target/clients/omp (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new("npm");
    command.arg("install").arg("--prefix").arg(&folder).args([
        "--ignore-scripts",
        "--omit=dev",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        "--loglevel=error",
    ]);
    command
        .arg(format!("bun@{BUN_VERSION}"))
        .arg(format!("{PACKAGE}@{VERSION}"))
        .stdin(Stdio::null());
    workspace::must_succeed(&mut command)?;
    let bun = bun(&folder)?;
    check_import(&bun, &package)?;
    std::fs::write(&stamp, VERSION)?;
    Ok((package, bun))
}

/// Without its install script, bun's program stays in the package for this platform.
fn bun(folder: &Path) -> Outcome<PathBuf> {
    let platforms = std::fs::read_dir(folder.join("node_modules").join("@oven"))?;
    let programs = platforms.filter_map(|entry| Some(entry.ok()?.path().join("bin").join("bun")));
    programs
        .into_iter()
        .find(|program| program.is_file())
        .ok_or_else(|| "bun has no program for this platform".into())
}

fn check_import(bun: &Path, package: &Path) -> Outcome {
    let module = package
        .join("src")
        .join("session")
        .join("session-manager.ts");
    let script = "import(process.argv[1]).then((m) => { \
                  if (typeof m.SessionManager?.open !== 'function') throw new Error('no SessionManager.open'); })";
    let mut command = Command::new(bun);
    command
        .arg("-e")
        .arg(script)
        .arg(module)
        .stdin(Stdio::null());
    workspace::must_succeed(&mut command)
}
