//! Access to the operating system outside the store: small files, processes, time spans.

#![expect(
    clippy::disallowed_methods,
    reason = "settings, scripts and reports of the user are not session files"
)]

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::{ProcessState, RealDisk, durable, process_state};

/// Measures elapsed time.
#[derive(Debug)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts the measurement.
    pub fn start() -> Stopwatch {
        Stopwatch(std::time::Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }
}

/// Returns a function that is true until `limit` has passed.
pub fn until(limit: std::time::Duration) -> impl Fn() -> bool + Sync {
    let start = std::time::Instant::now();
    move || start.elapsed() < limit
}

/// Whether the process `pid` runs and has this start time; on systems without start times only the
/// pid counts.
pub fn runs_since(pid: u32, start: Option<&str>) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    match (stat, start) {
        // The name of a program may contain any character, so fields are counted after it.
        (Ok(stat), Some(start)) => {
            let numbers = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            numbers
                .split_whitespace()
                .nth(19)
                .is_none_or(|began| began == start)
        }
        (Ok(_), None) => true,
        (Err(_), _) => !cfg!(target_os = "linux") && process_state(pid) == ProcessState::Yes,
    }
}

/// Returns the path of this program.
pub fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| Error::io("boswell", "find the program", error))
}

/// Returns how many threads may read concurrently.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get().min(8))
}

/// Reads a small file of the user as text.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

/// Creates a folder and its missing parents.
pub fn make_folders(path: &Path) -> Result<()> {
    durable::make_folders(&RealDisk, path)
}

/// Creates a new file that only its owner can read.
pub fn new_file(path: &Path) -> Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::new(
            ErrorKind::Invalid,
            format!("there is a file `{}` already", path.display()),
        )
        .advising("give another name, or remove it first"),
        _ => Error::io(path.display(), "make the file", error),
    })
}

/// Replaces a derived file, and makes its folder if it is missing. A crash may lose it.
pub(crate) fn put_derived(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let temporary = durable::temp_sibling(path, &std::process::id().to_string());
    std::fs::write(&temporary, bytes)?;
    std::fs::rename(&temporary, path)
}

/// Creates a new script that its owner can run.
pub fn new_script(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut file = new_file(path)?;
    let written = file.write_all(text.as_bytes());
    #[cfg(unix)]
    let written = written
        .and_then(|()| file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700)));
    written.map_err(|error| Error::io(path.display(), "write the script", error))
}

/// Returns the free bytes of the file system of a path, which need not exist; `None` if the system
/// does not report it.
#[cfg(unix)]
pub fn free_space(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|it| it.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns `None`: not supported on this system.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Whether a path does not exist, or is an empty folder.
pub fn is_new_or_empty(path: &Path) -> Result<bool> {
    match std::fs::read_dir(path) {
        Ok(mut inside) => Ok(inside.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Error::io(path.display(), "look into the folder", error)),
    }
}
