//! An append-only file of JSON lines: what notes, operations and the vault's log have in common.
//!
//! A line that is not an object is skipped and counted, never removed; a torn last line stays
//! on a line of its own.

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
    /// What is wrong with it.
    pub problem: String,
}

/// What a file of lines holds.
#[derive(Debug)]
pub(crate) struct Loaded<T> {
    /// What the lines say, in order.
    pub(crate) items: Vec<T>,
    /// Lines that say nothing.
    pub(crate) damaged: Vec<DamagedLine>,
}

/// Reads a file of lines; one that is not there is empty.
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

/// Adds lines and makes them durable. The caller holds the file's lock.
pub(crate) fn append(disk: &dyn Disk, path: &Path, lines: &[Json]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        durable::make_folders(disk, folder)?;
    }
    durable::append_lines(disk, path, &text(lines))
}

/// Makes lines that can be read already durable. The caller holds the file's lock.
///
/// Syncing is not enough: after a sync that failed the system takes the bytes for written, and
/// later syncs pass over them. So they are written once more where they are.
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

/// What becomes of a line when its file is written again.
#[derive(Debug)]
pub(crate) enum LineAction {
    Stays,
    Goes,
    /// It is replaced by this line, without its end.
    Becomes(Vec<u8>),
}

/// Says what becomes of a line, by the session that it speaks of if it can be
/// read; none if it stays.
pub type LineChange<'a> = &'a dyn Fn(Option<&SessionRef>, &[u8]) -> Option<Vec<u8>>;

/// Writes a file again without some of its lines; those that stay keep their bytes. Says how
/// many went or changed.
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

/// Removes what a process that was killed while it wrote the file again left beside it: it
/// holds the same lines.
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

/// Values as lines.
pub(crate) fn text(lines: &[Json]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        line.write(&mut bytes);
        bytes.push(b'\n');
    }
    bytes
}
