//! The interface between the store and the operating system: [`Disk`] and [`DiskFile`].
//!
//! Everything that the store does to files goes through these calls, so that tests can substitute a
//! disk in memory: one that tracks data, length and directory entries of every file as separate
//! unsynced facts and loses any of them in a crash, one that fails, one that reports a sync that it
//! did not make.
//!
//! The sequences of calls that make a change crash-safe are in [`durable`].

mod below;
pub mod durable;
mod listing;
mod memory;
mod processes;
mod real;
pub(crate) mod system_ids;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use memory::MemoryDisk;
pub use processes::{ProcessState, Processes, process_state};
pub use real::RealDisk;
pub use system_ids::{Clock, IdSource, SystemIds};

/// Metadata of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The type of the file; symbolic links are followed.
    pub kind: StatKind,
    /// Length in bytes.
    pub len: u64,
    /// Time of the last change of content (`mtime`), in nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last change of any kind (`ctime`), in nanoseconds since 1970.
    pub changed: i128,
    /// Device and inode: two paths with equal identity lead to one file.
    pub identity: (u64, u64),
    /// Permission bits.
    pub mode: u32,
    /// Number of hard links.
    pub links: u64,
}

/// The type of what a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that leads out of the folder in which the path was looked up. Nothing is
    /// known about its target.
    Outside,
    /// Anything else.
    Other,
}

/// The metadata of a dangling link: it exists, and cannot be opened.
const NOTHING: Stat = Stat {
    kind: StatKind::Other,
    len: 0,
    modified: 0,
    changed: 0,
    identity: (0, 0),
    mode: 0,
    links: 0,
};

/// The reason for not opening a path: a symbolic link on the way leads out of the folder that the
/// path must stay in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadsOutside {
    /// The path that was to be opened.
    pub path: PathBuf,
    /// The path that it leads to, with links resolved.
    pub target: PathBuf,
}

impl LeadsOutside {
    /// Returns the reason, if this is why a call failed.
    pub fn of(error: &io::Error) -> Option<&LeadsOutside> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for LeadsOutside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a symbolic link leads from `{}` to `{}`",
            self.path.display(),
            self.target.display()
        )
    }
}

impl std::error::Error for LeadsOutside {}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading; the file must exist.
    Read,
    /// For reading and appending; the file must exist. A symbolic link as the last component is
    /// refused.
    Append,
    /// For reading and appending; the file must not exist. Only the owner may read it.
    CreateNew,
    /// As a lock file, made if it is missing. Its content only names its holder or describes what
    /// it locks.
    Lock,
    /// As a lock file that must exist.
    ExistingLock,
}

/// How an OS lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// No other process may hold the lock.
    Exclusive,
    /// Other processes may hold the lock shared.
    Shared,
}

/// The calls that read and change files and folders.
///
/// What the system reports about processes that use the files, and waiting for them, are the traits
/// [`Processes`] and [`Sleep`]. Every disk implements both, because a disk in a test has processes
/// and a clock of its own.
pub trait Disk: Processes + Sleep {
    /// Opens a regular file, without blocking on a pipe or device.
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>>;

    /// As [`open`](Disk::open), and also returns the file's metadata, which an implementation may
    /// have read anyway.
    fn open_seen(&self, path: &Path, how: OpenMode) -> io::Result<(Box<dyn DiskFile>, Stat)> {
        let file = self.open(path, how)?;
        let stat = file.stat()?;
        Ok((file, stat))
    }

    /// Returns the metadata of a path; `None` if nothing is there. Symbolic links are followed.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;

    /// Returns whether the last component of a path is a symbolic link. A disk without links
    /// returns false.
    fn is_link(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Returns the path with links resolved. A disk without links returns the same path.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// Lists a folder: names with their metadata, in any order. Names that are not Unicode are left
    /// out.
    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>>;

    /// Opens a file below a folder for reading, as [`open`](Disk::open) does. A symbolic link that
    /// leads out of the folder is not followed ([`LeadsOutside`]); one that stays inside is, and
    /// the folder itself may be one. A disk without links opens the path.
    fn open_below(&self, root: &Path, below: &str) -> io::Result<Box<dyn DiskFile>> {
        self.open(&root.join(below), OpenMode::Read)
    }

    /// As [`stat`](Disk::stat), below a folder. A link that leads out of it is
    /// [`StatKind::Outside`].
    fn stat_below(&self, root: &Path, below: &str) -> io::Result<Option<Stat>> {
        self.stat(&root.join(below))
    }

    /// As [`list`](Disk::list), below a folder. A link that leads out of it is
    /// [`StatKind::Outside`].
    fn list_below(&self, root: &Path, below: &str) -> io::Result<Vec<(String, Stat)>> {
        self.list(&root.join(below))
    }

    /// As [`list_below`](Disk::list_below), only names that fit, without reading the metadata of
    /// the rest.
    fn list_below_named(
        &self,
        root: &Path,
        below: &str,
        fits: &dyn Fn(&str) -> bool,
    ) -> io::Result<Vec<(String, Stat)>> {
        let mut found = self.list_below(root, below)?;
        found.retain(|(name, _)| fits(name));
        Ok(found)
    }

    /// Makes one folder that only the owner may enter; it must not exist.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or folder; a file at `to` is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes a hard link; `to` must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name of a file (`unlink`).
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes the directory entries of a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes several files durable, as [`DiskFile::sync`] does for one. A disk may sync them
    /// concurrently, so that the file system commits them together.
    fn sync_files(&self, files: &[&dyn DiskFile]) -> io::Result<()> {
        files.iter().try_for_each(|file| file.sync())
    }

    /// As [`sync_folder`](Disk::sync_folder), for several folders.
    fn sync_folders(&self, paths: &[&Path]) -> io::Result<()> {
        paths.iter().try_for_each(|path| self.sync_folder(path))
    }

    /// Writes bytes over themselves at `at`, if the path still leads to `file` and the bytes are
    /// still there. The next sync then covers them, also if the system wrongly considers them
    /// synced.
    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()>;
}

/// Waiting. A disk in a test may have a clock of its own.
pub trait Sleep {
    /// Returns after that time.
    fn sleep(&self, time: Duration);
}

/// An open file. Dropping it closes it and releases its lock.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Returns the metadata of the open file, which its path may no longer lead to.
    fn stat(&self) -> io::Result<Stat>;

    /// Reads at a position. May return fewer bytes than requested; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;

    /// Appends in one call, which may take fewer bytes than given.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns where the last append through this handle ended. A disk that does not know returns
    /// the length of the file, which is equal unless another process has appended since.
    fn appended_to(&self) -> io::Result<u64> {
        self.stat().map(|stat| stat.len)
    }

    /// Truncates the file to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Makes data and length durable, but not the name: see [`Disk::sync_folder`].
    fn sync(&self) -> io::Result<()>;

    /// Sets permission bits and modification time.
    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()>;

    /// Takes the OS lock without waiting; returns false if another process holds it.
    fn try_lock(&self, mode: LockMode) -> io::Result<bool>;

    /// Releases the OS lock and keeps the file open. Where that is not supported, closing the file
    /// releases it.
    fn unlock(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Reads until the buffer is full or the file ends.
pub fn read_full(file: &dyn DiskFile, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
