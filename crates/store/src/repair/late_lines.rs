//! Finds late lines: lines that a program appended to a file after boswell had replaced it, and
//! lines of ours that an agent dropped when it rewrote its log from memory.
//!
//! A program that has a log open keeps writing to the old file when boswell renames a new one into
//! its place. The old file stays in the vault as a hard link, so what was appended to it can be
//! found and added to the log.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use boswell_dialect::{Confidence, Fix, SessionLocation, Splice};
use boswell_model::json::Raw;
use boswell_model::{Problem, ProblemKind, Repair, Result, SessionRef};

use crate::operations::Runner;
use crate::runner::Change;
use crate::{Session, Store};

/// Late lines by the log that they belong to, also if it was moved since.
#[derive(Debug, Default)]
pub struct LateTable {
    /// Lines in files that an operation replaced or removed, by root and key.
    replaced: HashMap<(PathBuf, String), Vec<Vec<u8>>>,
    /// Lines in logs that were copied after a failed `fsync`, or that their agent rewrote after
    /// lines were added, by root and session.
    linked: HashMap<(PathBuf, SessionRef), Vec<Vec<u8>>>,
}

impl Runner {
    /// Searches all replaced files in the vault for lines that were appended afterwards.
    pub fn late_table(&self) -> Result<LateTable> {
        let mut table = LateTable::default();
        for op in self.recorded()? {
            for late in self.late_of(&op)? {
                let place = table
                    .replaced
                    .entry((op.root.clone(), late.key))
                    .or_default();
                place.extend(lines_of(&late.bytes));
            }
            for change in &op.changes {
                if let Change::Rename { from, to } = change {
                    table.follow(&op.root, from, to);
                }
            }
        }
        for record in self.vault.linked_logs()? {
            let Some(name) = &record.inode else { continue };
            let late = self.vault.written_late(name, record.len)?;
            table
                .linked
                .entry((record.root, record.session))
                .or_default()
                .extend(lines_of(&late));
        }
        Ok(table)
    }
}

impl LateTable {
    /// Moves late lines along with a file or folder that was renamed.
    fn follow(&mut self, root: &std::path::Path, from: &str, to: &str) {
        let after = |key: &str| match key.strip_prefix(from)? {
            "" => Some(to.to_owned()),
            rest => rest.starts_with('/').then(|| format!("{to}{rest}")),
        };
        let old = |(of, key): &(PathBuf, String)| (of == root).then(|| after(key)).flatten();
        let moved: Vec<_> = self
            .replaced
            .keys()
            .filter_map(|place| Some((place.clone(), old(place)?)))
            .collect();
        for (place, key) in moved {
            let lines = self.replaced.remove(&place).unwrap_or_default();
            self.replaced
                .entry((place.0, key))
                .or_default()
                .extend(lines);
        }
    }

    /// Returns the late lines of a session's log.
    pub(super) fn lines(&self, store: &Store, location: &SessionLocation) -> Vec<Vec<u8>> {
        let place = location
            .key
            .clone()
            .map(|key| (store.root().to_owned(), key));
        let mut lines = place
            .and_then(|place| self.replaced.get(&place))
            .cloned()
            .unwrap_or_default();
        let session = SessionRef::new(store.dialect().name(), &location.id);
        let linked = self
            .linked
            .get(&(store.root().to_owned(), session))
            .map_or(&[][..], Vec::as_slice);
        // Both tables can have the same line, if an operation replaced a file whose copying was
        // interrupted.
        let other: Vec<_> = linked
            .iter()
            .filter(|line| !lines.contains(line))
            .cloned()
            .collect();
        lines.extend(other);
        lines
    }

    /// Returns a problem if the session lacks late lines.
    pub fn problem(
        &self,
        store: &Store,
        location: &SessionLocation,
        session: &Session,
    ) -> Result<Option<Problem>> {
        let late = self.lines(store, location);
        let missing = missing(session, &late)?;
        Ok((!missing.is_empty()).then(|| {
            let lost = format!(
                "the file was replaced without {} of the old one",
                count(missing.len())
            );
            Problem::of_file(ProblemKind::LateLines, lost)
        }))
    }
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .map(<[u8]>::to_vec)
}

/// Returns the late lines that the log does not contain, neither as records nor as other lines.
fn missing<'a>(session: &Session, late: &'a [Vec<u8>]) -> Result<Vec<&'a Vec<u8>>> {
    let mut wanted = without_known_ids(session, late);
    let view = session.view();
    for slot in session.log().slots() {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        wanted.remove(view.payload(slot)?.as_ref());
    }
    if !wanted.is_empty() {
        let mut line = Vec::new();
        session.export(&mut |bytes| {
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    wanted.remove(line.trim_ascii());
                    line.clear();
                }
            }
            Ok(())
        })?;
        wanted.remove(line.trim_ascii());
    }
    Ok(late
        .iter()
        .filter(|line| wanted.contains(line.trim_ascii()))
        .collect())
}

/// Returns the late lines whose entries are not in the log. An agent that rewrites its log may
/// write an entry in another form, so the id counts, not the line.
fn without_known_ids<'a>(session: &Session, late: &'a [Vec<u8>]) -> HashSet<&'a [u8]> {
    let log = session.log();
    let ids: HashSet<_> = log.heads.iter().filter_map(|head| head.id).collect();
    let is_there = |line: &&[u8]| {
        let id = Raw::parse(line).ok().and_then(|raw| raw.get("id")?.text());
        let name = id.and_then(|id| log.names.find(&id));
        name.is_some_and(|name| ids.contains(&name))
    };
    let lines = late.iter().map(|line| line.trim_ascii());
    lines.filter(|line| !is_there(line)).collect()
}

/// Returns a fix that appends the late lines which the log lacks.
pub(super) fn late_line_fixes(session: &Session, late: &[Vec<u8>]) -> Result<Vec<Fix>> {
    let missing = missing(session, late)?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let mut with = if session.log().ended {
        Vec::new()
    } else {
        vec![b'\n']
    };
    for line in &missing {
        with.extend_from_slice(line);
        with.push(b'\n');
    }
    Ok(vec![Fix {
        problem: ProblemKind::LateLines,
        line: None,
        slot: None,
        repair: Repair::Append,
        confidence: Confidence::Certain,
        does: format!("add {} of the file as it was before", count(missing.len())),
        helps: &[],
        stage: 0,
        splices: vec![Splice::insert(session.log().bytes, with)],
    }])
}

fn count(lines: usize) -> String {
    if lines == 1 {
        "a line".to_owned()
    } else {
        format!("{lines} lines")
    }
}
