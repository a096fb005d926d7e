//! Example programs that tests start as other processes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the program that the writer tests start.
pub(crate) fn hammer() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| example("boswell-store", "hammer"))
}

/// Returns the path of an example program. It is built here if cargo was run for one test only.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment where it is"
)]
pub(crate) fn example(package: &str, name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().unwrap().parent().unwrap();
    let path = target.join("examples").join(name);
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--package", package, "--example", name]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
    }
    assert!(path.exists(), "{} is not built", path.display());
    path
}
