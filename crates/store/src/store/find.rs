//! Finds a session by the path of its file: in the store that contains it, else in one made for
//! this file alone, with the dialect that its first records show.

use std::path::{Path, PathBuf};

use boswell_dialect::{
    Dialect, FileInfo, FileKind, Match, Sample, SessionLocation, all, recognise,
};
use boswell_model::json::{Object, Raw, Scanned, scan_object};
use boswell_model::{Error, ErrorKind, Framing, Result};

use super::set::Stores;
use crate::Store;
use crate::backend::{Backend, FsBackend};
use crate::disk::{Disk, RealDisk, StatKind};

/// How much of a file is read to find out whether it is one document.
const LARGEST_WHOLE: u64 = 64 << 20;

/// How a SQLite database begins.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// How much of a file is read first to recognise its dialect.
const FIRST_LOOK: u64 = 8 << 10;

impl Stores {
    /// Returns the session of a file: in the store that contains it, else in one made for this file
    /// alone.
    pub fn at_path(&self, path: &Path) -> Result<(Store, SessionLocation)> {
        let absolute =
            std::path::absolute(path).map_err(|error| Error::io(path.display(), "find", error))?;
        if let Some(found) = self.held_at(&absolute) {
            return Ok(found);
        }
        let absolute = self.behind_link(absolute)?;
        let (folder, name) = match (
            absolute.parent(),
            absolute.file_name().and_then(|n| n.to_str()),
        ) {
            (Some(folder), Some(name)) => (folder, name.to_owned()),
            _ => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("`{}` is not the path of a file", path.display()),
                ));
            }
        };
        let backend = FsBackend::new(folder);
        let seen = backend.stat(&name).map_err(|error| {
            if is_other(&backend, &name) {
                no_file(path)
            } else {
                error
            }
        })?;
        let Some(info) = seen else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{}`", path.display()),
            ));
        };
        if info.kind != FileKind::File {
            backend.open(&name)?;
        }
        let (dialect, framing) = whose(&backend, &absolute, &info)?;
        let stem =
            name.split_once('.').map_or(
                name.as_str(),
                |(stem, _)| if stem.is_empty() { &name } else { stem },
            );
        Ok((
            Store::in_folder(dialect, folder).of_one_file(),
            SessionLocation::at(stem, &info, framing),
        ))
    }

    /// Resolves a symbolic link. A user who names a link means the file; a link inside a store was
    /// discovered and may be planted.
    fn behind_link(&self, path: PathBuf) -> Result<PathBuf> {
        let fault = |error| Error::io(path.display(), "find", error);
        if !RealDisk.is_link(&path).map_err(fault)? {
            return Ok(path);
        }
        let leads_out = |store: &Store| {
            let root = std::path::absolute(store.root()).unwrap_or_default();
            let below = path.strip_prefix(&root).ok().and_then(Path::to_str);
            let seen = below.and_then(|below| RealDisk.stat_below(&root, below).ok().flatten());
            seen.is_some_and(|stat| stat.kind == StatKind::Outside)
        };
        if self.iter().any(|(_, store)| leads_out(store)) {
            return Ok(path);
        }
        match RealDisk.real_path(&path) {
            Ok(target) => Ok(target),
            // Opening it reports what is wrong.
            Err(_) => Ok(path),
        }
    }

    fn held_at(&self, path: &Path) -> Option<(Store, SessionLocation)> {
        for (_, store) in self.iter_with_archived() {
            // The path of a file names that session, also one of an excluded project.
            let store = &store.whole();
            let root = std::path::absolute(store.root()).ok()?;
            let Ok(below) = path.strip_prefix(&root) else {
                continue;
            };
            let key = below
                .iter()
                .map(|part| part.to_str())
                .collect::<Option<Vec<_>>>()?
                .join("/");
            let found = store
                .list()
                .ok()?
                .sessions
                .into_iter()
                .find(|l| l.key.as_deref() == Some(&key));
            if let Some(location) = found {
                return Some((store.clone(), location));
            }
        }
        None
    }
}

/// Returns whether the folder lists the name as something that cannot be opened, such as a link to
/// itself.
fn is_other(backend: &FsBackend, name: &str) -> bool {
    let listing = backend.list("").unwrap_or_default();
    listing
        .iter()
        .any(|info| info.key == name && info.kind == FileKind::Other)
}

fn no_file(path: &Path) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("`{}` is not a regular file", path.display()),
    )
    .because("it is a link that leads back to itself, or to nothing that can be read")
}

/// Determines the dialect and the framing of a file.
fn whose(
    backend: &FsBackend,
    path: &Path,
    info: &FileInfo,
) -> Result<(&'static dyn Dialect, Framing)> {
    let object = backend.open(&info.key)?;
    let framing = |dialect: &dyn Dialect, head: &[u8]| match dialect.powers().fold {
        Some(fold) if fold.folds(&info.key, head) => fold.folded_framing(),
        _ => dialect.framing(&info.key),
    };
    let folders: Vec<String> = path
        .ancestors()
        .skip(1)
        .filter_map(|p| p.file_name()?.to_str().map(str::to_owned))
        .collect();
    let first = object.read(0, FIRST_LOOK)?;
    if first.starts_with(DATABASE) {
        // Rows of a database can look like records of an agent.
        let sample = Sample {
            name: info.name(),
            folders: &folders,
            records: &[],
        };
        return Ok((recognise(&sample), Framing::Lines));
    }
    if let Some(dialect) = certainly(&first, info.name(), &folders) {
        return Ok((dialect, framing(dialect, &first)));
    }
    let head = object.read(0, 256 << 10)?;
    let scanned = first_records(&head);
    let whole = if scanned.is_empty() || spans_lines(&head) {
        Some(object.read(0, LARGEST_WHOLE)?)
    } else {
        None
    };
    // A log may begin with a torn line; only a file that is completely JSON is one document.
    let whole = whole
        .filter(|bytes| scanned.is_empty() || Raw::parse(without_bom(bytes).trim_ascii()).is_ok());
    let mut members = Vec::new();
    let records: Vec<Object<'_>> = match &whole {
        Some(bytes) => {
            let start = bytes.iter().position(|b| *b == b'{').unwrap_or(0);
            let rest = bytes.get(start..).unwrap_or(b"");
            match scan_object(rest, &mut members) {
                Ok(len) => vec![Object::new(rest.get(..len).unwrap_or(rest), &members)],
                Err(_) => Vec::new(),
            }
        }
        None => scanned
            .iter()
            .map(|(line, record)| record.object(line))
            .collect(),
    };
    let sample = Sample {
        name: info.name(),
        folders: &folders,
        records: &records,
    };
    let dialect = recognise(&sample);
    let framing = match (dialect.recognises(&sample), &whole) {
        (Match::No, Some(bytes))
            if !records.is_empty() || Raw::parse(without_bom(bytes).trim_ascii()).is_ok() =>
        {
            Framing::Document
        }
        // Tools that collect sessions give documents the name of a log.
        (_, Some(_)) if framing(dialect, &head) == Framing::Lines => {
            let document = dialect.facts().document_framing;
            document.unwrap_or(Framing::Lines)
        }
        _ => framing(dialect, &head),
    };
    Ok((dialect, framing))
}

/// Returns the dialect that recognises the first few lines with certainty: then no more is read.
fn certainly(head: &[u8], name: &str, folders: &[String]) -> Option<&'static dyn Dialect> {
    if spans_lines(head) {
        return None;
    }
    let scanned = first_records(head);
    let records: Vec<Object<'_>> = scanned
        .iter()
        .map(|(line, record)| record.object(line))
        .collect();
    let sample = Sample {
        name,
        folders,
        records: &records,
    };
    all()
        .iter()
        .copied()
        .find(|dialect| dialect.recognises(&sample) == Match::Certain)
}

/// Returns the records that are first on their lines.
fn first_records(head: &[u8]) -> Vec<(&[u8], Scanned)> {
    let scan = |line| {
        let mut record = Scanned::default();
        record.scan(line).is_ok().then_some((line, record))
    };
    lines_of(head).take(64).filter_map(scan).collect()
}

/// Whether the file begins with a value that does not end on its line.
fn spans_lines(head: &[u8]) -> bool {
    let text = without_bom(head).trim_ascii_start();
    let line = text.split(|b| *b == b'\n').next().unwrap_or(text);
    text.starts_with(b"[") || text.starts_with(b"{") && scan_object(line, &mut Vec::new()).is_err()
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Iterates over the lines, each from where its first object may begin.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text);
        rest = end.and_then(|end| text.get(end + 1..));
        end.map_or(Some(text), |end| text.get(..end))
    });
    lines.map(|line| {
        line.get(memchr::memchr(b'{', line).unwrap_or(0)..)
            .unwrap_or(line)
    })
}
