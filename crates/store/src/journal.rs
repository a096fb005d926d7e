//! An append-only file of JSON lines, as notes, operations and the vault's log use it.
//!
//! A line that is not an object is skipped and counted, never removed; a torn last line stays on a
//! line of its own.

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, Result, SessionRef};

use crate::disk::{Disk, OpenMode, durable};

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedLine {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of the line, from 1.
    pub line: u64,
    /// Why the line could not be read.
    pub problem: String,
}

/// The content of a journal.
#[derive(Debug)]
pub(crate) struct Loaded<T> {
    /// The parsed lines, in order.
    pub(crate) items: Vec<T>,
    /// The lines that could not be parsed.
    pub(crate) damaged: Vec<DamagedLine>,
}

/// Reads a journal; a missing file is empty.
pub(crate) fn load<T>(
    disk: &dyn Disk,
    path: &Path,
    read: impl Fn(Raw<'_>) -> Option<T>,
) -> Result<Loaded<T>> {
    let bytes = durable::read(disk, path)?.unwrap_or_default();
    let mut loaded = Loaded {
        items: Vec::new(),
        damaged: Vec::new(),
    };
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let problem = match Raw::parse(line) {
            Ok(raw) => match read(raw) {
                Some(item) => {
                    loaded.items.push(item);
                    continue;
                }
                None => "a member is missing or not what it should be".to_owned(),
            },
            Err(fault) => format!("not JSON at byte {}", fault.at),
        };
        loaded.damaged.push(DamagedLine {
            path: path.to_owned(),
            line: number as u64 + 1,
            problem,
        });
    }
    Ok(loaded)
}

/// Appends lines and makes them durable. The caller holds the file's lock.
pub(crate) fn append(disk: &dyn Disk, path: &Path, lines: &[Json]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        durable::make_folders(disk, folder)?;
    }
    durable::append_lines(disk, path, &text(lines))
}

/// Makes lines durable that can be read already. The caller holds the file's lock.
///
/// A sync is not enough: after a failed `fsync` the system considers the bytes written, and later
/// syncs skip them. So they are written over themselves first.
pub(crate) fn renew(disk: &dyn Disk, path: &Path, is_it: impl Fn(Raw<'_>) -> bool) -> Result<()> {
    let fault = |error| Error::io(path.display(), "write again to", error);
    let file = disk.open(path, OpenMode::Append).map_err(fault)?;
    let identity = file.stat().map_err(fault)?.identity;
    let bytes = durable::read(disk, path)?.unwrap_or_default();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if Raw::parse(line.trim_ascii()).is_ok_and(&is_it) {
            disk.write_again(path, identity, line, at).map_err(fault)?;
        }
        at += line.len() as u64;
    }
    file.sync().map_err(fault)?;
    durable::sync_parent(disk, path)
}

/// What happens to a line when its file is rewritten.
#[derive(Debug)]
pub(crate) enum LineAction {
    Stays,
    Goes,
    /// The line is replaced by this one, without a newline.
    Becomes(Vec<u8>),
}

/// Returns the new text of a line, by the session that it names if it can be read; `None` if it
/// stays.
pub type LineChange<'a> = &'a dyn Fn(Option<&SessionRef>, &[u8]) -> Option<Vec<u8>>;

/// Rewrites a file without some of its lines; the others keep their bytes. Returns how many lines
/// were removed or changed.
///
/// The caller holds the file's lock. Appenders open the file under the same lock, so none of them
/// still writes to the old one.
pub(crate) fn rewrite(
    disk: &dyn Disk,
    path: &Path,
    unique: &str,
    action: &dyn Fn(&[u8]) -> LineAction,
) -> Result<usize> {
    sweep_temps(disk, path)?;
    let Some(bytes) = durable::read(disk, path)? else {
        return Ok(0);
    };
    let (mut left, mut changed) = (Vec::with_capacity(bytes.len()), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match action(line.trim_ascii()) {
            LineAction::Stays => left.extend_from_slice(line),
            LineAction::Goes => changed += 1,
            LineAction::Becomes(new) => {
                changed += 1;
                left.extend_from_slice(&new);
                left.push(b'\n');
            }
        }
    }
    if changed > 0 {
        durable::put(disk, path, &left, unique)?;
    }
    Ok(changed)
}

/// Removes temporary files of a process that was killed while it rewrote the file: they contain the
/// same lines.
fn sweep_temps(disk: &dyn Disk, path: &Path) -> Result<()> {
    let (Some(folder), Some(name)) = (
        path.parent(),
        path.file_name().map(|name| name.to_string_lossy()),
    ) else {
        return Ok(());
    };
    let begins = format!(".{name}.");
    for (left, _) in disk.list(folder).unwrap_or_default() {
        if left.starts_with(&begins) && left.ends_with(".tmp") {
            durable::remove_if_there(disk, &folder.join(left))?;
        }
    }
    Ok(())
}

/// Returns values as lines of JSON.
pub(crate) fn text(lines: &[Json]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        line.write(&mut bytes);
        bytes.push(b'\n');
    }
    bytes
}
