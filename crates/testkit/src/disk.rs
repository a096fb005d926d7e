//! The only module of the testkit with file access; it fails the test at the first error and names
//! the path.
#![expect(
    clippy::disallowed_methods,
    reason = "test folders are written and compared without a backend on purpose"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn must<T>(result: std::io::Result<T>, doing: &str, path: &Path) -> T {
    #[expect(clippy::panic, reason = "a test without its files cannot go on")]
    result.unwrap_or_else(|error| panic!("cannot {doing} {}: {error}", path.display()))
}

/// Writes a file and its parent folders.
pub fn write(path: &Path, bytes: &[u8]) {
    if let Some(parent) = path.parent() {
        must(fs::create_dir_all(parent), "make the folder of", path);
    }
    must(fs::write(path, bytes), "write", path);
}

/// Creates a folder and its parents.
pub fn make_dir(path: &Path) {
    must(fs::create_dir_all(path), "make the folder", path);
}

/// Reads a whole file.
pub fn read(path: &Path) -> Vec<u8> {
    must(fs::read(path), "read", path)
}

/// Lists a folder, sorted by name.
pub fn list(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = must(fs::read_dir(path), "list", path)
        .map(|entry| must(entry, "list", path).path())
        .collect();
    found.sort();
    found
}

/// Sets the permission bits, where the system has them.
pub fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        must(
            fs::set_permissions(path, fs::Permissions::from_mode(mode)),
            "set the mode of",
            path,
        );
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// Sets the modification time.
pub fn set_modified(path: &Path, ms: i64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(ms.max(0).unsigned_abs());
    let file = must(fs::OpenOptions::new().append(true).open(path), "open", path);
    must(file.set_modified(time), "set the time of", path);
}

/// Creates an empty folder for one test, below the system's temporary folder.
pub fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("boswell-testkit-{}-{name}", std::process::id()));
    if path.exists() {
        must(fs::remove_dir_all(&path), "clear", &path);
    }
    make_dir(&path);
    path
}

/// Removes a folder with everything in it.
pub fn remove(path: &Path) {
    must(fs::remove_dir_all(path), "remove", path);
}
