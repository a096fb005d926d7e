//! Crash-safe file changes: after a crash the old state or the new one is on disk.
//!
//! * Replace ([`put`]): temporary file, sync, rename, sync of the folder.
//! * Create ([`create`]): temporary file, sync, hard link to the final name (which fails if it is
//!   taken), sync of the folder.
//! * Append ([`append_lines`]): newline after a torn last line, write, sync.
//!
//! A sync of a file does not make its name durable: that needs a sync of the folder, and of the
//! folders above if they are new.

use std::io;
use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};

use super::{Disk, DiskFile, OpenMode, Stat, StatKind, read_full};

/// How many folders above a new name are synced again: the process that made them may have died
/// before it did so.
const SYNCED_AGAIN: usize = 3;

/// Makes a folder and the missing ones above it, each durable in its parent.
pub fn make_folders(disk: &dyn Disk, path: &Path) -> Result<()> {
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        match disk.stat(at) {
            Ok(Some(Stat {
                kind: StatKind::Folder,
                ..
            })) => break,
            Ok(Some(_)) => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("`{}` is a file where a folder is needed", at.display()),
                )
                .advising("name another folder, or move the file away"));
            }
            Ok(None) => missing.push(at),
            Err(error) => return Err(Error::io(at.display(), "look at", error)),
        }
        match at.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => at = parent,
            None => break,
        }
    }
    for there in at
        .ancestors()
        .take(SYNCED_AGAIN)
        .filter(|there| there.parent().is_some())
    {
        sync_above(disk, there)?;
    }
    for folder in missing.into_iter().rev() {
        match disk.make_folder(folder) {
            Ok(()) => {}
            // Another process made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(folder.display(), "make the folder", error)),
        }
        sync_parent(disk, folder)?;
    }
    Ok(())
}

/// Replaces a file as a whole. The mode of the old file is kept. `unique` keeps the temporary files
/// of two writers apart.
pub fn put(disk: &dyn Disk, path: &Path, bytes: &[u8], unique: &str) -> Result<()> {
    let fault = |error| Error::io(path.display(), "replace", error);
    let temp = temp_sibling(path, unique);
    let file = disk.open(&temp, OpenMode::CreateNew).map_err(fault)?;
    let written = fill(file.as_ref(), bytes, disk.stat(path).ok().flatten());
    drop(file);
    if let Err(error) = written.and_then(|()| disk.rename(&temp, path)) {
        // A temporary file that cannot be removed is garbage and loses nothing.
        let _ = disk.remove(&temp);
        return Err(fault(error));
    }
    sync_parent(disk, path)
}

/// As [`put`], for bytes that `feed` passes in pieces, so that the file need not fit into memory.
pub(crate) fn put_with(
    disk: &dyn Disk,
    path: &Path,
    unique: &str,
    feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<()>,
) -> Result<()> {
    let fault = |error| Error::io(path.display(), "replace", error);
    let temp = temp_sibling(path, unique);
    let file = disk.open(&temp, OpenMode::CreateNew).map_err(fault)?;
    let written = feed(&mut |chunk| append_all(file.as_ref(), chunk))
        .and_then(|()| finish(file.as_ref(), disk.stat(path).ok().flatten()).map_err(fault))
        .and_then(|()| disk.rename(&temp, path).map_err(fault));
    drop(file);
    if let Err(error) = written {
        // A temporary file that cannot be removed is garbage and loses nothing.
        let _ = disk.remove(&temp);
        return Err(error);
    }
    sync_parent(disk, path)
}

fn fill(file: &dyn DiskFile, bytes: &[u8], like: Option<Stat>) -> io::Result<()> {
    append_all(file, bytes)?;
    finish(file, like)
}

/// Gives a new file the mode of the one that it replaces, and syncs it.
fn finish(file: &dyn DiskFile, like: Option<Stat>) -> io::Result<()> {
    if let Some(old) = like {
        let now = file.stat()?.modified;
        file.set_mode_and_time(old.mode, now)?;
    }
    file.sync()
}

/// Creates a file that must not exist: whole and durable with its name, or not at all.
///
/// It is written under a temporary name and hard-linked to its own, which fails if that is taken; a
/// rename would replace the file that is there.
pub fn create(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let fault = |error| Error::io(path.display(), "make", error);
    let temp = temp_sibling(path, &format!("new{}", std::process::id()));
    let file = match disk.open(&temp, OpenMode::CreateNew) {
        // A process with the same id died here before.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            disk.remove(&temp).map_err(fault)?;
            disk.open(&temp, OpenMode::CreateNew)
        }
        other => other,
    }
    .map_err(fault)?;
    let made = fill(file.as_ref(), bytes, None).and_then(|()| disk.link(&temp, path));
    drop(file);
    let removed = disk.remove(&temp);
    made.and(removed).map_err(fault)?;
    sync_parent(disk, path)
}

/// Appends lines to a file, made if it is missing, and makes them durable. A torn last line stays,
/// on a line of its own.
///
/// The caller holds a lock, so no other process appends meanwhile. Lines that could not be made
/// durable are cut off again, so that the next reader does not take them for acknowledged.
pub fn append_lines(disk: &dyn Disk, path: &Path, lines: &[u8]) -> Result<()> {
    let fault = |error| Error::io(path.display(), "append to", error);
    let file = match disk.open(path, OpenMode::Append) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match disk.open(path, OpenMode::CreateNew) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    disk.open(path, OpenMode::Append)
                }
                other => other,
            }
        }
        other => other,
    }
    .map_err(fault)?;
    let mut bytes = Vec::with_capacity(lines.len() + 1);
    if !ends_with_newline(file.as_ref()).map_err(fault)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(lines);
    let end = file.stat().map_err(fault)?.len;
    let durable = append_all(file.as_ref(), &bytes)
        .and_then(|()| file.sync())
        .map_err(fault);
    // Also if the file existed: the process that made it may have died before its name was durable.
    let durable = durable.and_then(|()| sync_parent(disk, path));
    if durable.is_err() {
        // Best effort, and not synced: after a crash the lines may be there or not, and both are
        // right for lines that were not acknowledged.
        let _ = file.truncate(end);
    }
    durable
}

/// Returns whether a file is empty or its last byte is a newline.
pub fn ends_with_newline(file: &dyn DiskFile) -> io::Result<bool> {
    let len = file.stat()?.len;
    let Some(last) = len.checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0];
    let read = read_full(file, &mut byte, last)?;
    Ok(read == 0 || byte == [b'\n'])
}

/// Appends all bytes, also if a call takes only some of them.
pub fn append_all(file: &dyn DiskFile, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match file.append(rest) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::WriteZero,
                    "nothing more was taken",
                ));
            }
            Ok(count) => rest = rest.get(count..).unwrap_or(b""),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a whole file; `None` if it is missing.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>> {
    whole(disk.open(path, OpenMode::Read), path)
}

/// As [`read`], for a file below `root`; a symbolic link out of `root` is refused.
pub fn read_below(disk: &dyn Disk, root: &Path, below: &str) -> Result<Option<Vec<u8>>> {
    whole(disk.open_below(root, below), &root.join(below))
}

fn whole(opened: io::Result<Box<dyn DiskFile>>, path: &Path) -> Result<Option<Vec<u8>>> {
    let fault = |error| Error::io(path.display(), "read", error);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
    };
    let len = file.stat().map_err(fault)?.len;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    let done = read_full(file.as_ref(), &mut bytes, 0).map_err(fault)?;
    bytes.truncate(done);
    Ok(Some(bytes))
}

/// Makes the name of a file durable.
pub fn sync_parent(disk: &dyn Disk, path: &Path) -> Result<()> {
    let parent = parent_of(path);
    disk.sync_folder(parent)
        .map_err(|error| Error::io(parent.display(), "sync the folder", error))
}

/// As [`sync_parent`], for a folder that may belong to others: one above the home, or above an
/// agent's store.
///
/// If the folder may not be opened, or its file system cannot sync folders (a read-only system
/// image), the name existed before and is not boswell's to make durable. Any other failure counts:
/// a process may have made the folder a moment ago and died before it was durable, and everything
/// acknowledged below it would be lost with it.
pub fn sync_above(disk: &dyn Disk, path: &Path) -> Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    let parent = parent_of(path);
    match disk.sync_folder(parent) {
        Err(error)
            if matches!(
                error.kind(),
                PermissionDenied | ReadOnlyFilesystem | Unsupported | InvalidInput
            ) =>
        {
            Ok(())
        }
        synced => synced.map_err(|error| Error::io(parent.display(), "sync the folder", error)),
    }
}

fn parent_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// As [`sync_parent`], for a name that was removed. If the folder is gone too, there is nothing to
/// sync.
pub(crate) fn sync_removal(disk: &dyn Disk, path: &Path) -> Result<()> {
    match sync_parent(disk, path) {
        Err(error) if error.is_not_found() => Ok(()),
        synced => synced,
    }
}

/// Returns a hidden temporary name next to a file. `unique` keeps two writers apart.
pub fn temp_sibling(path: &Path, unique: &str) -> PathBuf {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    path.with_file_name(format!(".{name}.{unique}.tmp"))
}

pub(crate) fn remove_if_there(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.remove(path) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(Error::io(path.display(), "remove", error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::RealDisk;
    use super::*;

    #[test]
    fn replaced_files_keep_their_mode_and_leave_no_temp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/file");
        make_folders(&RealDisk, path.parent().unwrap()).unwrap();
        create(&RealDisk, &path, b"one").unwrap();
        assert!(
            create(&RealDisk, &path, b"two").is_err(),
            "a new file replaces nothing"
        );
        let file = RealDisk.open(&path, OpenMode::Append).unwrap();
        file.set_mode_and_time(0o640, 0).unwrap();
        put(&RealDisk, &path, b"three", "1").unwrap();
        assert_eq!(read(&RealDisk, &path).unwrap().unwrap(), b"three");
        assert_eq!(RealDisk.stat(&path).unwrap().unwrap().mode, 0o640);
        assert_eq!(RealDisk.list(path.parent().unwrap()).unwrap().len(), 1);
    }

    #[test]
    fn lines_after_a_torn_one_start_on_their_own_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append_lines(&RealDisk, &path, b"{\"a\":1}\n").unwrap();
        let file = RealDisk.open(&path, OpenMode::Append).unwrap();
        append_all(file.as_ref(), b"{\"torn").unwrap();
        append_lines(&RealDisk, &path, b"{\"b\":2}\n").unwrap();
        assert_eq!(
            read(&RealDisk, &path).unwrap().unwrap(),
            b"{\"a\":1}\n{\"torn\n{\"b\":2}\n"
        );
        assert_eq!(read(&RealDisk, &folder.path().join("none")).unwrap(), None);
    }
}
