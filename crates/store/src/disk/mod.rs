//! The seam between the store and the operating system.
//!
//! Everything that the store does to files goes through these calls, so that a disk in
//! memory can take their place in tests: one that keeps data, length and folder entries of
//! every file as separate unsynced facts and loses any of them at a crash, one that fails,
//! one that lies about syncing.

mod below;
pub mod durable;
mod listing;
mod memory;
mod processes;
mod real;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use memory::MemoryDisk;
pub use processes::{ProcessState, Processes, process_state};
pub use real::RealDisk;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is; links are followed.
    pub kind: StatKind,
    /// Length in bytes.
    pub len: u64,
    /// Nanoseconds since 1970 of its last change of content.
    pub modified: i128,
    /// Nanoseconds since 1970 of its last change of any kind.
    pub changed: i128,
    /// Device and number of the file: two paths with the same are one file.
    pub identity: (u64, u64),
    /// Permission bits.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that leads out of the folder in which it was looked for. Nothing is
    /// known of what is there.
    Outside,
    /// Anything else.
    Other,
}

/// Of a link that leads nowhere: it is there, and it is nothing that can be opened.
const NOTHING: Stat = Stat {
    kind: StatKind::Other,
    len: 0,
    modified: 0,
    changed: 0,
    identity: (0, 0),
    mode: 0,
    links: 0,
};

/// Why a path was not opened: a symbolic link on the way leads out of the folder that
/// the path must stay in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadsOutside {
    /// The path.
    pub path: PathBuf,
    /// Where it leads, without links.
    pub target: PathBuf,
}

impl LeadsOutside {
    /// The reason, if this is why a call failed.
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
    /// For reading; it must be there.
    Read,
    /// For reading and appending; it must be there. A symbolic link as the last part is refused.
    Append,
    /// For reading and appending; it must not be there yet. Only the owner may read it.
    CreateNew,
    /// As a lock: made if it is not there. Only word of its holder, or about what it
    /// locks, is written to it.
    Lock,
    /// As a lock that somebody made; it must be there.
    ExistingLock,
}

/// How an OS lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Nobody else may hold it.
    Exclusive,
    /// Others may hold it shared.
    Shared,
}

/// A disk: the calls that change or read files and folders.
///
/// What the system tells about the processes that use the files, and waiting for them, are traits
/// of their own; a disk comes with both, because a disk in a test has processes and a time of its
/// own too.
pub trait Disk: Processes + Sleep {
    /// Opens a regular file, without blocking on what is none.
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>>;

    /// The same, with what it is then: a disk that looks at what it opens need not do so twice.
    fn open_seen(&self, path: &Path, how: OpenMode) -> io::Result<(Box<dyn DiskFile>, Stat)> {
        let file = self.open(path, how)?;
        let stat = file.stat()?;
        Ok((file, stat))
    }

    /// What stands at a path; none if nothing does. Links are followed.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;

    /// Whether the last part of a path is itself a symbolic link. A disk that
    /// knows no links says no.
    fn is_link(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// The path without links on the way. A disk that knows no links gives the same path.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// Names in a folder with what they lead to, in any order; names that are not
    /// Unicode are left out.
    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>>;

    /// Opens a file below a folder for reading, as [`open`](Disk::open) does. A symbolic link that
    /// leads out of the folder is not followed ([`LeadsOutside`]); one that stays inside is, and
    /// the folder itself may be one. A disk that has no links opens the path.
    fn open_below(&self, root: &Path, below: &str) -> io::Result<Box<dyn DiskFile>> {
        self.open(&root.join(below), OpenMode::Read)
    }

    /// [`stat`](Disk::stat) of what is below a folder. A link that leads out of it is
    /// [`StatKind::Outside`].
    fn stat_below(&self, root: &Path, below: &str) -> io::Result<Option<Stat>> {
        self.stat(&root.join(below))
    }

    /// [`list`](Disk::list) of a folder below a folder. A link that leads out of it is
    /// [`StatKind::Outside`].
    fn list_below(&self, root: &Path, below: &str) -> io::Result<Vec<(String, Stat)>> {
        self.list(&root.join(below))
    }

    /// Makes one folder that only the owner may enter; it must not be there yet.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file or folder another name; a file of that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name, which must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Takes a name away from a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Writes bytes that stand in a file once more where they stand, if the path still leads to
    /// that file and they still stand there. A sync that comes after it covers them, also where the
    /// system took them for synced and they were not.
    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()>;
}

/// Lets time pass. A disk in a test may have a time of its own.
pub trait Sleep {
    /// Returns once that time has passed.
    fn sleep(&self, time: Duration);
}

/// An open file. Dropping it closes it and gives up its lock.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// What it is now, whatever its path leads to.
    fn stat(&self) -> io::Result<Stat>;

    /// Reads at a position; fewer bytes than asked for are possible, none at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;

    /// Appends at the end in one call; fewer bytes than given may be taken.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Where the last append through this handle ended. A disk that does not know gives the length
    /// of the file, which is the same unless somebody else appended since.
    fn appended_to(&self) -> io::Result<u64> {
        self.stat().map(|stat| stat.len)
    }

    /// Cuts the file to a length.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Makes data and length durable. The name is the folder's business.
    fn sync(&self) -> io::Result<()>;

    /// Sets permission bits and the time of the last change of content.
    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()>;

    /// Takes the OS lock without waiting; false if somebody else holds it.
    fn try_lock(&self, mode: LockMode) -> io::Result<bool>;

    /// Gives the OS lock up and keeps the file open. Where that is not to be had,
    /// closing it does the same.
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
