//! [`Backend`] for the files below a root folder.
//!
//! A store is a folder that other programs write to, so its content is not trusted. Only regular
//! files are opened: without blocking, and checked again after opening, so that a pipe or a device
//! in place of a log neither blocks nor supplies data. Keys never leave the root (`path_below`),
//! and symbolic links are followed only if they stay below it; a link that leads elsewhere is
//! recorded for reports and never opened.
//!
//! [`FsObject`] reads one file. It reads ahead for callers that read one record after the other.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use boswell_dialect::{FileIdentity, FileInfo, FileKind};
use boswell_model::{Advice, Error, ErrorKind, Instant, Line, Lines, Result};

use super::compressed::{LastUnpacked, is_packed, unpack};
use super::memory::MemoryObject;
use super::{Backend, ObjectReader, bytes_before, ends_of_bytes};
use crate::disk::{Disk, DiskFile, LeadsOutside, OpenMode, RealDisk, Stat, StatKind, read_full};

/// How many bytes one `read` asks for while lines are read.
const CHUNK: usize = 1 << 18;

/// Size of the first `read`, because a follower of a log often needs only a few lines.
const FIRST_CHUNK: usize = 1 << 13;

/// The largest buffer that is kept between calls, in bytes.
const LARGEST_KEPT: usize = 1 << 20;

/// How many bytes are read ahead for sequential reads of single records.
const AHEAD: usize = 1 << 17;

/// How many links out of the root are recorded: enough for a report, and a bound for a folder full
/// of them.
const MOST_OUTSIDE: usize = 1000;

/// A folder whose files are read as the objects of a store.
#[derive(Debug, Clone)]
pub struct FsBackend {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    unpacked: LastUnpacked<(PathBuf, Stat)>,
    /// Keys of links that were found and lead out of the folder.
    outside: Arc<Mutex<BTreeSet<String>>>,
}

impl FsBackend {
    /// Reads the files below `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        FsBackend::on(Arc::new(RealDisk), root)
    }

    /// Reads the files below `root` on `disk`.
    pub fn on(disk: Arc<dyn Disk>, root: impl Into<PathBuf>) -> Self {
        FsBackend {
            root: root.into(),
            disk,
            unpacked: LastUnpacked::default(),
            outside: Arc::default(),
        }
    }

    fn path(&self, key: &str) -> Result<PathBuf> {
        path_below(&self.root, key)
    }

    /// Records the first link on the way to a key that leads out of the folder.
    fn remember_outside(&self, key: &str) {
        let ends = key.match_indices('/').map(|(at, _)| at).chain([key.len()]);
        let seen = |part: &str| self.disk.stat_below(&self.root, part).ok().flatten();
        let leads_out = |part: &&str| seen(part).is_some_and(|stat| stat.kind == StatKind::Outside);
        let link = ends
            .filter_map(|end| key.get(..end))
            .find(leads_out)
            .unwrap_or(key);
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if outside.len() < MOST_OUTSIDE {
            outside.insert(link.to_owned());
        }
    }
}

/// Returns the path of a key, which never leaves the root.
pub(super) fn path_below(root: &Path, key: &str) -> Result<PathBuf> {
    let mut path = PathBuf::with_capacity(root.as_os_str().len() + key.len() + 2);
    path.push(root);
    match below(key)? {
        "" => {}
        below => path.push(below),
    }
    Ok(path)
}

/// Returns a key as a relative path without `..`.
fn below(key: &str) -> Result<&str> {
    let leaves =
        |part: &str| matches!(part, ".." | ".") || (cfg!(windows) && part.contains(['\\', ':']));
    if key.contains('\0') || key.split('/').any(leaves) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` leaves the store", key.escape_debug()),
        ));
    }
    // `PathBuf::push` of a path that begins with a separator would replace the root.
    Ok(key.trim_start_matches('/'))
}

impl Backend for FsBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.list_named(folder, &|_| true)
    }

    fn list_named(&self, folder: &str, fits: &dyn Fn(&str) -> bool) -> Result<Vec<FileInfo>> {
        let path = self.path(folder)?;
        let listed = self.disk.list_below_named(&self.root, below(folder)?, fits);
        let mut entries = match listed {
            Ok(entries) => entries,
            // Not an error: `outside_links` reports it, and one planted link must not make the rest
            // of the store unreadable.
            Err(error) if LeadsOutside::of(&error).is_some() => {
                self.remember_outside(folder);
                return Ok(Vec::new());
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => return Err(Error::io(path.display(), "list", error)),
        };
        // Sorted by name before keys are made, which would all begin with the same folder.
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let key = |name: String| match folder {
            "" => name,
            _ => [folder, &name].join("/"),
        };
        let found = entries.into_iter().map(|(name, stat)| {
            let key = key(name);
            // In the root folder people keep settings and notes of their own behind links; those
            // are not reported, unless they are asked for by name (`stat`, `open`).
            if stat.kind == StatKind::Outside && !folder.is_empty() {
                self.remember_outside(&key);
            }
            info(key, &stat)
        });
        Ok(found.collect())
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        let path = self.path(key)?;
        let stat = self.disk.stat_below(&self.root, below(key)?);
        let stat = stat.map_err(|error| Error::io(path.display(), "look at", error))?;
        if stat.is_some_and(|stat| stat.kind == StatKind::Outside) {
            self.remember_outside(key);
        }
        Ok(stat.map(|stat| info(key.to_owned(), &stat)))
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let path = self.path(key)?;
        match self.disk.open_below(&self.root, below(key)?) {
            Ok(file) if is_packed(key) => self.unpacked(FsObject::new(file.into(), path)),
            Ok(file) => Ok(Box::new(FsObject::new(file.into(), path))),
            Err(error) => {
                if LeadsOutside::of(&error).is_some() {
                    self.remember_outside(key);
                }
                Err(self.cannot_open(&path, error))
            }
        }
    }

    fn settings(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        let path = self.path(key)?;
        let fault = |error| Error::io(path.display(), "read", error);
        match self.disk.stat(&path).map_err(fault)? {
            Some(Stat {
                kind: StatKind::File,
                len,
                ..
            }) if len <= limit => {}
            _ => return Ok(None),
        }
        let file = self.disk.open(&path, OpenMode::Read).map_err(fault)?;
        FsObject::new(file.into(), path.as_path())
            .read(0, limit)
            .map(Some)
    }

    fn outside_links(&self) -> Vec<String> {
        self.outside
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }

    fn describe(&self, key: &str) -> String {
        let path = self
            .path(key)
            .unwrap_or_else(|_| self.root.clone())
            .into_os_string();
        path.into_string()
            .unwrap_or_else(|path| path.to_string_lossy().into_owned())
    }
}

impl FsBackend {
    /// Returns the decompressed content of a file that its agent compressed.
    fn unpacked(&self, packed: FsObject) -> Result<Box<dyn ObjectReader>> {
        let stat = packed.file.stat().map_err(|error| packed.fault(error))?;
        let bytes = self.unpacked.bytes((packed.path.to_path_buf(), stat), || {
            unpack(
                &packed.read(0, stat.len)?,
                &packed.path.display().to_string(),
            )
        })?;
        Ok(Box::new(MemoryObject::of(bytes)))
    }

    fn cannot_open(&self, path: &Path, error: io::Error) -> Error {
        if let Some(outside) = LeadsOutside::of(&error) {
            return leads_outside(&outside.path, &self.root);
        }
        match self.disk.stat(path) {
            Ok(Some(Stat { kind: StatKind::Folder, .. })) => {
                Error::new(ErrorKind::Invalid, format!("`{}` is a folder", path.display()))
            }
            Ok(Some(Stat { kind: StatKind::Other, .. })) => {
                Error::new(ErrorKind::Invalid, format!("`{}` is not a regular file", path.display())).because(
                    "boswell opens regular files only, so that a pipe or device in the place of a session cannot harm",
                )
            }
            _ => Error::io(path.display(), "open", error),
        }
    }
}

/// Returns the error for a path that a symbolic link leads out of `root`.
pub(crate) fn leads_outside(path: &Path, root: &Path) -> Error {
    Error::new(
        ErrorKind::Denied,
        format!("`{}` is behind a symbolic link that leads out of `{}`", path.display(), root.display()),
    )
    .because("a program that can write there could have planted it, to put a file of yours into a session")
    .advising(Advice::from("replace the link by what it leads to").or(Advice::NameStore { dialect: None }))
}

fn info(key: String, stat: &Stat) -> FileInfo {
    let kind = match stat.kind {
        StatKind::File => FileKind::File,
        StatKind::Folder => FileKind::Folder,
        StatKind::Outside => FileKind::Link,
        StatKind::Other => FileKind::Other,
    };
    let size = if kind == FileKind::File { stat.len } else { 0 };
    let millis = i64::try_from(stat.modified.div_euclid(1_000_000)).ok();
    let identity = FileIdentity {
        file: stat.identity,
        modified: stat.modified,
        changed: stat.changed,
    };
    FileInfo {
        key,
        kind,
        size,
        modified: millis.map(Instant::from_millis),
        identity: Some(identity),
    }
}

#[derive(Debug)]
/// An open file of the store.
pub(super) struct FsObject {
    file: Arc<dyn DiskFile>,
    path: Arc<Path>,
    ahead: RefCell<Ahead>,
    /// The buffer of the last `lines_before`, for the next one.
    block: RefCell<Vec<u8>>,
}

/// A read-ahead buffer: bytes that were read beyond the request, and where the last request ended.
#[derive(Debug, Default)]
struct Ahead {
    from: u64,
    bytes: Vec<u8>,
    next: Option<u64>,
}

impl Ahead {
    /// Returns a short piece from the buffer. If it is not there but follows the last request,
    /// calls `fill` to read ahead from `at`. Otherwise returns `None`.
    fn piece(
        &mut self,
        at: u64,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize>,
    ) -> Result<Option<Vec<u8>>> {
        // Consecutive records are one newline (or CR and LF) apart.
        let follows = self
            .next
            .and_then(|next| at.checked_sub(next))
            .is_some_and(|apart| apart <= 2);
        self.next = at.checked_add(len as u64);
        if let Some(piece) = self.held(at, len) {
            return Ok(Some(piece));
        }
        if !follows || len > AHEAD / 2 {
            return Ok(None);
        }
        self.bytes.resize(AHEAD, 0);
        self.from = at;
        let done = fill(&mut self.bytes);
        self.bytes.truncate(*done.as_ref().unwrap_or(&0));
        done?;
        Ok(self.held(at, len))
    }

    fn held(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        let start = usize::try_from(at.checked_sub(self.from)?).ok()?;
        self.bytes
            .get(start..start.checked_add(len)?)
            .map(<[u8]>::to_vec)
    }
}

impl FsObject {
    pub(super) fn new(file: Arc<dyn DiskFile>, path: impl Into<Arc<Path>>) -> FsObject {
        FsObject {
            file,
            path: path.into(),
            ahead: RefCell::default(),
            block: RefCell::default(),
        }
    }

    fn fault(&self, error: io::Error) -> Error {
        Error::io(self.path.display(), "read", error)
    }

    fn fill(&self, at: u64, buffer: &mut [u8]) -> Result<usize> {
        read_full(self.file.as_ref(), buffer, at).map_err(|error| self.fault(error))
    }
}

impl ObjectReader for FsObject {
    fn end(&self) -> Result<u64> {
        self.file
            .stat()
            .map(|stat| stat.len)
            .map_err(|error| self.fault(error))
    }

    fn identity(&self) -> Result<Option<(u64, u64)>> {
        self.file
            .stat()
            .map(|stat| Some(stat.identity))
            .map_err(|error| self.fault(error))
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        // `len` comes from a head or a listing, and the file may have shrunk since: a large buffer
        // is allocated only after a look at the current length.
        let len = if len <= CHUNK as u64 {
            len
        } else {
            len.min(self.end()?.saturating_sub(at))
        };
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if let Some(piece) = self
            .ahead
            .borrow_mut()
            .piece(at, len, |buffer| self.fill(at, buffer))?
        {
            return Ok(piece);
        }
        let mut buffer = vec![0; len];
        let done = self.fill(at, &mut buffer)?;
        buffer.truncate(done);
        Ok(buffer)
    }

    fn read_into(&self, buffer: &mut Vec<u8>, at: u64, len: u64) -> Result<()> {
        let len = if len <= LARGEST_KEPT as u64 {
            len
        } else {
            len.min(self.end()?.saturating_sub(at))
        };
        buffer.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        let done = self.fill(at, buffer)?;
        buffer.truncate(done);
        Ok(())
    }

    fn lines(&self, from: u64, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut lines = Lines::new(from, number);
        // The first read is small: a follower of a log asks for a few lines at a time.
        let mut buffer = vec![0; FIRST_CHUNK];
        let mut at = from;
        loop {
            let done = self.fill(at, &mut buffer)?;
            lines.push(buffer.get(..done).unwrap_or(b""), sink);
            at += done as u64;
            if done < buffer.len() {
                break;
            }
            buffer.resize(CHUNK, 0);
        }
        lines.finish(sink);
        Ok(at)
    }

    fn ends(&self, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<bool> {
        ends_of_bytes(self, window, sink)
    }

    fn lines_before(&self, to: u64, window: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<u64> {
        let mut block = self.block.take();
        let first = bytes_before(self, &mut block, to, window, sink);
        // One long line must not hold its memory while the file is open.
        if block.capacity() <= LARGEST_KEPT {
            self.block.replace(block);
        }
        first
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files by hand")]
mod tests;
