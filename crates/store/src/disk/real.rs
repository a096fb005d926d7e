//! [`RealDisk`]: the file system of the machine. The only file that uses `std::fs`.
//!
//! FIFOs, sockets and devices are not opened (`open_carefully`). New files have mode 0600, new
//! folders 0700.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the one place that touches the file system"
)]

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(target_os = "linux")]
use boswell_dialect::Environment;
#[cfg(target_os = "linux")]
use boswell_model::Instant;

use super::{
    Disk, DiskFile, LockMode, OpenMode, ProcessState, Processes, Sleep, Stat, StatKind,
    process_state, read_full,
};

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        if matches!(how, OpenMode::Lock | OpenMode::ExistingLock) {
            // No check needed: what is not a regular file cannot be read at a position.
            return Ok(Box::new(RealFile(open_carefully(
                &mut options(how),
                path,
                how,
            )?)));
        }
        self.open_seen(path, how).map(|(file, _)| file)
    }

    fn open_seen(&self, path: &Path, how: OpenMode) -> io::Result<(Box<dyn DiskFile>, Stat)> {
        regular(open_carefully(&mut options(how), path, how)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        match std::fs::metadata(path) {
            Ok(meta) => Ok(Some(stat(&meta))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        match std::fs::symlink_metadata(path) {
            Ok(meta) => Ok(meta.file_type().is_symlink()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        super::listing::list(path)
    }

    fn open_below(&self, root: &Path, below: &str) -> io::Result<Box<dyn DiskFile>> {
        let file = super::below::open(root, below, super::below::For::Reading)?;
        regular(file).map(|(file, _)| file)
    }

    fn stat_below(&self, root: &Path, below: &str) -> io::Result<Option<Stat>> {
        super::below::stat(root, below)
    }

    fn list_below(&self, root: &Path, below: &str) -> io::Result<Vec<(String, Stat)>> {
        super::listing::list_below(root, below, &|_| true)
    }

    fn list_below_named(
        &self,
        root: &Path,
        below: &str,
        fits: &dyn Fn(&str) -> bool,
    ) -> io::Result<Vec<(String, Stat)>> {
        super::listing::list_below(root, below, fits)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        #[cfg_attr(
            not(unix),
            expect(unused_mut, reason = "only Unix creates folders with a mode")
        )]
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        if cfg!(unix) {
            File::open(path)?.sync_all()
        } else {
            Ok(())
        }
    }

    fn sync_files(&self, files: &[&dyn DiskFile]) -> io::Result<()> {
        concurrently(files, |file| file.sync())
    }

    fn sync_folders(&self, paths: &[&Path]) -> io::Result<()> {
        concurrently(paths, |path| self.sync_folder(path))
    }

    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        // Not the appending handle: on some systems that appends, no matter at which position it
        // writes.
        let opened = RealFile(open_carefully(
            OpenOptions::new().read(true).write(true),
            path,
            OpenMode::Append,
        )?);
        let there = opened.stat()?;
        let mut now = vec![0; bytes.len()];
        // Agents rewrite their files without a lock: only bytes that are still there are written
        // over.
        let same = there.kind == StatKind::File && there.identity == file;
        if !same || read_full(&opened, &mut now, at)? < now.len() || now != bytes {
            return Err(io::ErrorKind::NotFound.into());
        }
        opened.write_at(bytes, at)
    }
}

impl Processes for RealDisk {
    fn process_state(&self, pid: u32) -> ProcessState {
        process_state(pid)
    }

    #[cfg(target_os = "linux")]
    fn writers_of(&self, file: (u64, u64)) -> Vec<u32> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| *pid != std::process::id() && has_open_for_writing(*pid, file))
            .collect()
    }

    #[cfg(target_os = "linux")]
    fn start_time(&self, pid: u32) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        super::processes::field_of_stat(&stat, 22).map(str::to_owned)
    }

    #[cfg(target_os = "linux")]
    fn is_this_program(&self, pid: u32) -> bool {
        let program = |of: &str| std::fs::read_link(format!("/proc/{of}/exe")).ok();
        program("self").is_some_and(|own| program(&pid.to_string()) == Some(own))
    }

    #[cfg(target_os = "linux")]
    fn started_at(&self, pid: u32) -> Option<Instant> {
        super::processes::started_at(pid)
    }

    #[cfg(target_os = "linux")]
    fn environment_of(&self, pid: u32) -> Option<Environment> {
        super::processes::environment_of(pid)
    }

    fn knows_start_times(&self) -> bool {
        cfg!(target_os = "linux")
    }

    fn knows_lock_holders(&self) -> bool {
        cfg!(target_os = "linux")
    }

    #[cfg(target_os = "linux")]
    fn lock_holder(&self, file: (u64, u64)) -> Option<(u32, String)> {
        let (device, number) = file;
        let place = format!(
            "{:02x}:{:02x}:{number}",
            rustix::fs::major(device),
            rustix::fs::minor(device)
        );
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        // A line such as `1: FLOCK  ADVISORY  WRITE 4821 fe:00:6505026 0 EOF`; a waiting process
        // has `->` behind its number.
        let holder = locks
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find_map(|words| match words.as_slice() {
                [_, "FLOCK", _, _, pid, at, ..] if *at == place => pid.parse().ok(),
                _ => None,
            })?;
        let program = std::fs::read_to_string(format!("/proc/{holder}/comm")).unwrap_or_default();
        Some((holder, program.trim().to_owned()))
    }
}

impl Sleep for RealDisk {
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Refuses what is not a regular file. Checked after opening: what was at the path a moment ago
/// proves nothing.
fn regular(file: File) -> io::Result<(Box<dyn DiskFile>, Stat)> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    Ok((Box::new(RealFile(file)), stat(&meta)))
}

fn options(how: OpenMode) -> OpenOptions {
    let mut options = OpenOptions::new();
    match how {
        OpenMode::Read => options.read(true),
        OpenMode::Append => options.read(true).append(true),
        OpenMode::CreateNew => options.read(true).append(true).create_new(true),
        OpenMode::Lock => options.read(true).write(true).create(true).truncate(false),
        OpenMode::ExistingLock => options.read(true).write(true),
    };
    options
}

/// How many threads sync files: each only waits, and a journaling file system commits together what
/// is requested while it commits.
const SYNCING: usize = 16;

/// Calls `sync` for each item on several threads; returns the first error.
fn concurrently<T: Copy + Sync>(
    items: &[T],
    sync: impl Fn(T) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let share = items.len().div_ceil(SYNCING).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = items
            .chunks(share)
            .map(|items| scope.spawn(|| items.iter().try_for_each(|item| sync(*item))))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread that synced files panicked")))
        })
    })
}

/// Searches the open files of a process. Files that may not be inspected count as not open.
#[cfg(target_os = "linux")]
fn has_open_for_writing(pid: u32, file: (u64, u64)) -> bool {
    use std::os::unix::fs::MetadataExt;
    let folder = format!("/proc/{pid}/fd");
    std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            let same =
                std::fs::metadata(entry.path()).is_ok_and(|meta| (meta.dev(), meta.ino()) == file);
            // The owner's permission bits of the link show how the file was opened.
            same && std::fs::symlink_metadata(entry.path())
                .is_ok_and(|link| link.mode() & 0o200 != 0)
        })
}

#[cfg(unix)]
fn open_carefully(options: &mut OpenOptions, path: &Path, how: OpenMode) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    let mut flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    if how != OpenMode::Read {
        // A planted link must not redirect writes.
        flags |= OFlags::NOFOLLOW;
    }
    options
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open_carefully(options: &mut OpenOptions, path: &Path, _how: OpenMode) -> io::Result<File> {
    options.open(path)
}

#[derive(Debug)]
struct RealFile(File);

impl RealFile {
    /// Writes at a position; the file must not have been opened for appending.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, at);
        #[cfg(windows)]
        return match std::os::windows::fs::FileExt::seek_write(&self.0, bytes, at)? {
            all if all == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        };
    }
}

impl DiskFile for RealFile {
    fn stat(&self) -> io::Result<Stat> {
        self.0.metadata().map(|meta| stat(&meta))
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.0, buffer, at);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.0, buffer, at);
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    /// The system leaves the file offset behind the appended bytes, and nothing else here moves it.
    #[cfg(unix)]
    fn appended_to(&self) -> io::Result<u64> {
        io::Seek::stream_position(&mut &self.0)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        #[cfg(unix)]
        self.0
            .set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        // Other systems have no modes.
        #[cfg(not(unix))]
        let _ = mode;
        self.0.set_modified(time(modified))
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let tried = match mode {
            LockMode::Exclusive => self.0.try_lock(),
            LockMode::Shared => self.0.try_lock_shared(),
        };
        match tried {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

pub(super) fn stat(meta: &Metadata) -> Stat {
    let kind = if meta.is_file() {
        StatKind::File
    } else if meta.is_dir() {
        StatKind::Folder
    } else {
        StatKind::Other
    };
    let modified = meta.modified().map_or(0, nanos);
    let (changed, identity, mode, links) = unix_facts(meta, modified);
    Stat {
        kind,
        len: meta.len(),
        modified,
        changed,
        identity,
        mode,
        links,
    }
}

#[cfg(unix)]
fn unix_facts(meta: &Metadata, _modified: i128) -> (i128, (u64, u64), u32, u64) {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
    (
        changed,
        (meta.dev(), meta.ino()),
        meta.mode() & 0o7777,
        meta.nlink(),
    )
}

#[cfg(not(unix))]
fn unix_facts(_meta: &Metadata, modified: i128) -> (i128, (u64, u64), u32, u64) {
    (modified, (0, 0), 0o600, 1)
}

fn nanos(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    }
}

fn time(nanos: i128) -> SystemTime {
    let span = |n: u128| Duration::from_nanos(u64::try_from(n).unwrap_or(u64::MAX));
    if nanos >= 0 {
        UNIX_EPOCH + span(nanos.unsigned_abs())
    } else {
        UNIX_EPOCH - span(nanos.unsigned_abs())
    }
}
