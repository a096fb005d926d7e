//! The C shim: compiled when it is needed, preloaded into the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::plan::InjectedFault;

const SOURCE: &str = include_str!("../../faults/shim.c");

/// A compiled shim.
#[derive(Debug, Clone)]
pub struct Shim {
    library: PathBuf,
}

impl Shim {
    /// Compiles it into a folder. The error contains the reason why this machine cannot build it.
    pub fn build(folder: &Path) -> Result<Shim, String> {
        if !cfg!(all(target_os = "linux", target_env = "gnu")) {
            return Err("a shim can be preloaded on Linux with glibc only".to_owned());
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        // Two test processes may build it concurrently: each uses its own name until it is
        // complete.
        let unique = format!("fault-shim-{}", std::process::id());
        let (source, built) = (
            folder.join(format!("{unique}.c")),
            folder.join(format!("{unique}.so")),
        );
        std::fs::write(&source, SOURCE)
            .map_err(|error| format!("{}: {error}", source.display()))?;
        let mut cc = Command::new("cc");
        cc.args([
            "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
        ])
        .arg(&built)
        .arg(&source);
        let output = cc
            .args(["-ldl", "-lpthread"])
            .output()
            .map_err(|error| format!("cc cannot be run: {error}"))?;
        let _ = std::fs::remove_file(&source);
        if !output.status.success() {
            return Err(format!(
                "cc failed: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        Ok(Shim { library: built })
    }

    /// Compiles the shim, or prints that the tests which need it are skipped; under `CI=true` that
    /// is a failure.
    #[expect(
        clippy::panic,
        clippy::print_stderr,
        reason = "a skipped group says so loudly and fails under CI"
    )]
    pub fn require_or_skip(folder: &Path) -> Option<Shim> {
        let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        match Shim::build(folder) {
            Ok(shim) => Some(shim),
            Err(error) if ci => panic!("fault injection cannot run: {error}"),
            Err(error) => {
                eprintln!(
                    "SKIPPED: fault injection through the real binary: {error}; `cargo xtask test` installs gcc"
                );
                None
            }
        }
    }

    /// Preloads the shim: calls below `root` are counted and logged, and one of them fails if a
    /// fault is given.
    pub fn preload(
        &self,
        command: &mut Command,
        root: &Path,
        log: &Path,
        fault: Option<InjectedFault>,
    ) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAULT_ROOT", root)
            .env("FAULT_LOG", log);
        if let Some(fault) = fault {
            command
                .env("FAULT_AT", fault.at.to_string())
                .env("FAULT_KIND", fault.kind.word());
        }
    }
}
