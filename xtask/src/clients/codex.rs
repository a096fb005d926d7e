//! Codex, a native program in a package for the platform. It is downloaded from npm into
//! `target/clients/codex`; no install script is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, workspace};

const PACKAGE: &str = "@openai/codex";
pub(super) const VERSION: &str = "0.166.0";

/// Returns the installed program.
pub(super) fn codex() -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("BOSWELL_CODEX") {
        println!("xtask: Codex is taken from BOSWELL_CODEX");
        return Ok(PathBuf::from(given));
    }
    let folder = workspace::target()?.join("clients").join("codex");
    // Written last, so that an interrupted install is not treated as complete.
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        println!("xtask: Codex {VERSION} is already installed");
        return program(&folder);
    }
    println!(
        "xtask: installing {PACKAGE} {VERSION} from npm into target/clients/codex (no install scripts)"
    );
    std::fs::create_dir_all(&folder)?;
    super::npm_install(&folder, &format!("{PACKAGE}@{VERSION}"))?;
    let program = program(&folder)?;
    let mut version = Command::new(&program);
    version.arg("--version").stdin(Stdio::null());
    workspace::must_succeed(&mut version)?;
    std::fs::write(&stamp, VERSION)?;
    Ok(program)
}

/// The program is in `vendor/TARGET/bin` of the package that npm chose for this platform.
fn program(folder: &Path) -> Outcome<PathBuf> {
    let packages = std::fs::read_dir(folder.join("node_modules").join("@openai"))?;
    for package in packages {
        let Ok(targets) = std::fs::read_dir(package?.path().join("vendor")) else {
            continue;
        };
        for target in targets {
            let name = format!("codex{}", std::env::consts::EXE_SUFFIX);
            let program = target?.path().join("bin").join(name);
            if program.is_file() {
                return Ok(program);
            }
        }
    }
    Err("the package of Codex has no program for this platform".into())
}
