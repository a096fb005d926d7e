//! The program that stands for other processes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program that the tests start. Built here when cargo was asked for this test alone.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment where it is"
)]
pub(crate) fn hammer() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let path = test
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .join("examples")
            .join("hammer");
        if let Some(cargo) = std::env::var_os("CARGO") {
            let mut build = Command::new(cargo);
            build.args([
                "build",
                "--quiet",
                "--package",
                "boswell-store",
                "--example",
                "hammer",
            ]);
            if !cfg!(debug_assertions) {
                build.arg("--release");
            }
            assert!(build.status().unwrap().success());
        }
        assert!(path.exists(), "{} is not built", path.display());
        path
    })
}
