//! Reads the state of one file, and computes its bytes and facts after an edit.

use std::path::Path;

use boswell_dialect::{Modified, Patch, PatchPiece};
use boswell_model::{Advice, Error, ErrorKind, Result};

use crate::disk::{Disk, OpenMode, Stat, StatKind};
use crate::runner::change::{FileFacts, State};
use crate::runner::paths::shown;
use crate::sha256::{Digest, Hasher, chunks};

/// Returns what is at a path, without the hash. The file is opened as a writer would open it, which
/// refuses symbolic links, also dangling ones.
pub(crate) fn read_state(disk: &dyn Disk, path: &Path) -> Result<(State, Option<Stat>)> {
    let fault = |error| Error::io(path.display(), "open", error);
    if let Some(Stat {
        kind: StatKind::Folder,
        ..
    }) = disk.stat(path).map_err(fault)?
    {
        return Ok((State::Folder, None));
    }
    let opened = match disk.open(path, OpenMode::Append) {
        // A read-only file can still be replaced. A symbolic link would have been refused before
        // its permissions were checked.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            disk.open(path, OpenMode::Read)
        }
        other => other,
    };
    match opened {
        Ok(file) => {
            let stat = file.stat().map_err(fault)?;
            let modified = i64::try_from(stat.modified).ok();
            let meta = FileFacts {
                sha256: Digest::of(b""),
                len: stat.len,
                mode: stat.mode,
                modified,
            };
            Ok((State::File(meta), Some(stat)))
        }
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok((State::Absent, None))
        }
        Err(error) => {
            Err(fault(error).advising("links and special files are never written through"))
        }
    }
}

pub(super) fn edited(
    key: &str,
    bytes: &[u8],
    at: Option<u64>,
    old: &[u8],
    new: &[u8],
) -> Result<Vec<u8>> {
    let conflict = |why: String| {
        Error::new(
            ErrorKind::Conflict,
            format!("{} cannot be edited", shown(key)),
        )
        .because(why)
        .advising(Advice::from("it changed since it was read").also(Advice::Retry))
    };
    let found = match at {
        Some(at) => usize::try_from(at)
            .ok()
            .filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(old))),
        None => {
            let mut all = memchr::memmem::find_iter(bytes, old);
            let first = all.next();
            if old.is_empty() || all.next().is_some() {
                return Err(conflict(
                    "what is to be replaced occurs more than once".to_owned(),
                ));
            }
            first
        }
    };
    let Some(at) = found else {
        return Err(conflict("what is to be replaced does not occur".to_owned()));
    };
    let (head, rest) = bytes.split_at(at);
    Ok([head, new, rest.get(old.len()..).unwrap_or_default()].concat())
}

/// Passes the bytes of a patched file to `sink`, chunk by chunk.
pub(crate) fn feed_pieces(
    disk: &dyn Disk,
    path: &Path,
    patch: &Patch,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> Result<()> {
    let fault = |error| Error::io(path.display(), "read", error);
    let file = disk.open(path, OpenMode::Read).map_err(fault)?;
    for piece in patch.pieces() {
        match piece {
            PatchPiece::Old { at, len } => {
                chunks(file.as_ref(), *at, at + len, sink).map_err(fault)?
            }
            PatchPiece::New(bytes) => sink(bytes).map_err(fault)?,
        }
    }
    Ok(())
}

pub(super) fn facts_after(
    hasher: &Hasher,
    before: Option<FileFacts>,
    mode: Option<u32>,
    modified: Modified,
) -> FileFacts {
    FileFacts {
        sha256: hasher.finish(),
        len: hasher.len(),
        mode: mode.or(before.map(|before| before.mode)).unwrap_or(0o600),
        modified: match modified {
            Modified::Now => None,
            Modified::Kept => before.and_then(|before| before.modified),
            Modified::At(time) => Some(time),
        },
    }
}
