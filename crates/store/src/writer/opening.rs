//! A log is opened for writing: whose it is, where it ends, whether it can be trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Chance, Dialect};
use boswell_model::{Error, ErrorKind, Facts, Result};

use super::state::State;
use super::tail::Tail;
use crate::blobs::Blobs;
use crate::disk::{Disk, DiskFile, Open, durable, read_full};
use crate::lease::AppendLock;

/// How much of a log is read for its header at first.
const HEAD: usize = 4 << 10;

/// A header longer than this is not looked for.
const LONGEST_HEADER: usize = 8 << 20;

/// Whether the name of a log is durable, as far as that is known before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// Nobody looked.
    Unknown,
    /// It was just made, and its name with it.
    JustNow,
    /// That of the file with this identity is.
    Of((u64, u64)),
}

/// A log as it is handed to a writer.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Where it will be once the first answer is there.
    pub(crate) visible: Option<PathBuf>,
    /// Whether its name is durable already.
    pub(crate) named: Named,
    /// Where large values go; none where the format keeps them in the log.
    pub(crate) blobs: Option<Blobs>,
    /// Its append lock, if that was looked at already.
    pub(crate) append_lock: Option<AppendLock>,
}

impl State {
    pub(super) fn open(
        dialect: &'static dyn Dialect,
        disk: &Arc<dyn Disk>,
        chance: &dyn Chance,
        opened: Opened,
        (id, doubt): (&str, &Path),
        append_lock: &AppendLock,
    ) -> Result<State> {
        let fault = |error| Error::io(opened.path.display(), "open", error);
        if disk.stat(doubt).map_err(fault)?.is_some() {
            let held = append_lock.hold(disk.as_ref())?;
            // Another writer may have copied it while we waited: a second copy would fence that one off.
            if disk.stat(doubt).map_err(fault)?.is_some() {
                copy_in_doubt(disk.as_ref(), &opened.path, doubt, &chance.hex16())?;
            }
            append_lock.release(held);
        }
        let (file, stat) =
            disk.open_seen(&opened.path, Open::Append).map_err(|error| cannot_open(&opened.path, error))?;
        let file: Arc<dyn DiskFile> = file.into();
        let facts = head_facts(dialect, file.as_ref()).map_err(fault)?;
        dialect.can_append(&facts)?;
        let tail = Tail::read(dialect, file.as_ref(), stat.len).map_err(fault)?;
        let named = match opened.named {
            Named::JustNow => {
                append_lock.remember_name(disk.as_ref(), stat.identity, &opened.path);
                true
            }
            Named::Of(identity) if identity == stat.identity => true,
            _ => append_lock.knows_name(disk.as_ref(), stat.identity, &opened.path),
        };
        let mut state = State::new(opened, (id, doubt), facts, file, stat.identity, tail);
        state.named = named;
        Ok(state)
    }
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    if is_link(&error) {
        return Error::new(ErrorKind::Invalid, format!("`{}` is a symbolic link", path.display()))
            .because("boswell writes to regular files only, so that a planted link cannot lead it elsewhere");
    }
    Error::io(path.display(), "open", error)
}

#[cfg(unix)]
fn is_link(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &std::io::Error) -> bool {
    false
}

/// What the first lines say of the session.
fn head_facts(dialect: &'static dyn Dialect, file: &dyn DiskFile) -> std::io::Result<Facts> {
    // A title or a path may make the header long.
    let mut size = HEAD;
    let bytes = loop {
        let mut bytes = vec![0; size];
        let done = read_full(file, &mut bytes, 0)?;
        bytes.truncate(done);
        if done < size || memchr::memchr(b'\n', &bytes).is_some() || size >= LONGEST_HEADER {
            break bytes;
        }
        size *= 8;
    };
    let located = crate::native::located_for(Path::new("head"), bytes.len() as u64);
    let facts = |bytes| boswell_dialect::Reader::read(dialect, &located, bytes, boswell_dialect::Depth::Facts).facts;
    // What stands in the header is enough, unless entries repeat what their session is.
    let first = memchr::memchr(b'\n', &bytes).and_then(|end| bytes.get(..=end));
    if let Some(header) = first.filter(|_| !dialect.hangs_by_view()).map(facts)
        && dialect.can_append(&header).is_ok()
    {
        return Ok(header);
    }
    Ok(facts(&bytes))
}

/// After a failed sync the system may show bytes that are not on disk: a copy that was synced tells the truth.
fn copy_in_doubt(disk: &dyn Disk, path: &Path, doubt: &Path, unique: &str) -> Result<()> {
    if let Some(bytes) = durable::read(disk, path)? {
        durable::put(disk, path, &bytes, unique)?;
    }
    disk.remove(doubt).map_err(|error| Error::io(doubt.display(), "remove", error))?;
    durable::sync_parent(disk, doubt)
}
