//! File history: the project files at each prompt, computed from snapshot and delta lines.
//!
//! Each path has a hash and a version; an update replaces its snapshot. The application's
//! `agent_file_history.rs` compares and restores.

use std::collections::{BTreeMap, HashMap};

use boswell_model::json::{Object, Raw};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionView, Slot};

use crate::{FilesAtEntry, SessionLocation};

/// A project file of which the client stores copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// Path of the file, relative to the session's folder if it is inside it.
    pub path: String,
    /// Number of the copy, counted per file.
    pub version: Option<u64>,
    /// Name of the copy below `file-history/<session>/`; `None` if the file did not exist.
    pub backup: Option<String>,
    /// Whether the file did not exist at that time: to restore it means to remove it.
    pub is_absent: bool,
}

/// The file snapshots of a session, by prompt.
#[derive(Debug, Default)]
pub struct FileHistory {
    prompts: HashMap<String, Prompt>,
    order: Vec<String>,
}

#[derive(Debug, Default)]
struct Prompt {
    snapshot: BTreeMap<String, TrackedFile>,
    deltas: BTreeMap<String, TrackedFile>,
}

impl FileHistory {
    /// Adds a line of the log. Lines other than snapshots and deltas are ignored.
    pub fn add(&mut self, object: &Object<'_>) {
        let Some(word) = object.text("type") else {
            return;
        };
        match word.as_ref() {
            "file-history-snapshot" => self.add_snapshot(object),
            "file-history-delta" => self.add_delta(object),
            _ => {}
        }
    }

    fn add_snapshot(&mut self, object: &Object<'_>) {
        let snapshot = object.get("snapshot");
        let id = snapshot
            .and_then(|s| s.get("messageId"))
            .or(object.get("messageId"))
            .and_then(|id| id.text());
        let Some(id) = id else { return };
        let files = snapshot.and_then(|s| s.get("trackedFileBackups"));
        // A second snapshot of a prompt replaces the first: before there were delta lines, clients
        // added files this way.
        self.prompt(&id).snapshot = files
            .into_iter()
            .flat_map(|files| files.members())
            .map(|(path, backup)| {
                (
                    path.to_text().into_owned(),
                    tracked(&path.to_text(), backup),
                )
            })
            .collect();
    }

    fn add_delta(&mut self, object: &Object<'_>) {
        let (Some(id), Some(path)) = (
            object.text("snapshotMessageId"),
            object.text("trackingPath"),
        ) else {
            return;
        };
        let file = tracked(&path, object.get("backup").unwrap_or(Raw::trusted(b"null")));
        // Only the first edit of a file per prompt is recorded; a later delta cannot be the state
        // before the prompt.
        self.prompt(&id)
            .deltas
            .entry(path.into_owned())
            .or_insert(file);
    }

    fn prompt(&mut self, id: &str) -> &mut Prompt {
        self.prompts.entry(id.to_owned()).or_insert_with(|| {
            self.order.push(id.to_owned());
            Prompt::default()
        })
    }

    /// Iterates over the ids of the prompts that have a snapshot, in file order.
    pub fn prompts(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// Returns the tracked files at the time of the prompt; `None` if it has no snapshot.
    pub fn at(&self, prompt: &str) -> Option<Vec<TrackedFile>> {
        let prompt = self.prompts.get(prompt)?;
        let mut files = prompt.deltas.clone();
        files.extend(prompt.snapshot.clone());
        Some(files.into_values().collect())
    }
}

/// Returns the tracked files of a session at the prompt that an entry belongs to.
pub(super) fn files_at(
    location: &SessionLocation,
    view: &SessionView<'_>,
    entry: Slot,
) -> Result<FilesAtEntry> {
    let mut history = FileHistory::default();
    let mut written = Vec::new();
    for slot in view.log.slots() {
        view.with_object(slot, |object| {
            history.add(object);
            written.extend(left_behind(object));
        })?;
    }
    let label = |slot: Slot| view.log.label(slot).into_owned();
    let prompt = view
        .tree
        .ancestors(entry)
        .map(label)
        .find(|id| history.prompts.contains_key(id));
    let Some(prompt) = prompt else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("no files were recorded for the entry `{}`", label(entry)),
        )
        .because("the client takes copies at a prompt, and only of files that its own tools change")
        .advising(Advice::ShowFiles));
    };
    let key = |file: &TrackedFile| {
        file.backup
            .as_ref()
            .map(|name| format!("file-history/{}/{name}", location.id))
    };
    let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut known = Vec::new();
    let mut begun = false;
    for id in history.prompts() {
        begun |= id == prompt;
        for file in history
            .at(id)
            .unwrap_or_default()
            .iter()
            .filter(|file| is_sound(file))
        {
            known.extend(key(file).map(|key| (file.path.clone(), key)));
            // A file that was first tracked later had at this prompt the content from before that
            // change.
            if begun && !files.contains_key(&file.path) {
                files.insert(file.path.clone(), key(file));
            }
        }
    }
    known.sort();
    known.dedup();
    written.retain(|(path, _)| files.contains_key(path));
    Ok(FilesAtEntry {
        prompt,
        files: files.into_iter().collect(),
        known,
        written,
    })
}

/// Returns what an edit wrote to a file, from its result: the path as snapshots name it, and the
/// text.
fn left_behind(object: &Object<'_>) -> Option<(String, String)> {
    let result = object.get("toolUseResult")?;
    let text = |key: &str| result.get(key)?.text();
    let path = text("filePath")?;
    let after = match (text("originalFile"), text("oldString"), text("newString")) {
        (Some(before), Some(old), Some(new)) if !old.is_empty() => {
            let all = result.get("replaceAll").and_then(|all| all.bool()) == Some(true);
            if all {
                before.replace(&*old, &new)
            } else {
                before.replacen(&*old, &new, 1)
            }
        }
        _ => text("content")?.into_owned(),
    };
    let cwd = object.text("cwd").unwrap_or_default();
    let inside = path
        .strip_prefix(&*cwd)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|_| !cwd.is_empty());
    Some((inside.unwrap_or(&path).to_owned(), after))
}

/// Whether the state is known and the backup is a plain file name, not a path that leads elsewhere.
fn is_sound(file: &TrackedFile) -> bool {
    let is_name = |name: &String| {
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0', ':'])
    };
    file.is_absent || file.backup.as_ref().is_some_and(is_name)
}

fn tracked(path: &str, backup: Raw<'_>) -> TrackedFile {
    let name = backup.get("backupFileName");
    TrackedFile {
        path: path.to_owned(),
        version: backup.get("version").and_then(|version| version.u64()),
        backup: name
            .and_then(|name| name.text())
            .map(|name| name.into_owned()),
        is_absent: name.is_some_and(|name| name.is_null()),
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn history(lines: &[&str]) -> FileHistory {
        let mut history = FileHistory::default();
        for line in lines {
            let mut members = Vec::new();
            scan_object(line.as_bytes(), &mut members).unwrap();
            history.add(&Object::new(line.as_bytes(), &members));
        }
        history
    }

    #[test]
    fn deltas_add_to_their_snapshot_and_never_overwrite() {
        let history = history(&[
            r#"{"type":"file-history-snapshot","messageId":"p1","snapshot":{"messageId":"p1","trackedFileBackups":{"a":{"backupFileName":"x@v2","version":2}}}}"#,
            r#"{"type":"file-history-delta","snapshotMessageId":"p1","trackingPath":"a","backup":{"backupFileName":"x@v3","version":3}}"#,
            r#"{"type":"file-history-delta","snapshotMessageId":"p1","trackingPath":"new","backup":{"backupFileName":null,"version":1}}"#,
            r#"{"type":"file-history-delta","snapshotMessageId":"p1","trackingPath":"new","backup":{"backupFileName":"n@v2","version":2}}"#,
            r#"{"type":"user"}"#,
        ]);
        let files = history.at("p1").unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(
            (
                files[0].version,
                files[0].backup.as_deref(),
                files[0].is_absent
            ),
            (Some(2), Some("x@v2"), false)
        );
        assert_eq!((files[1].path.as_str(), files[1].is_absent), ("new", true));
        assert_eq!(history.at("p2"), None);
        assert_eq!(history.prompts().collect::<Vec<_>>(), ["p1"]);
    }

    #[test]
    fn an_update_of_a_snapshot_replaces_it() {
        let line = |files: &str| {
            format!(
                r#"{{"type":"file-history-snapshot","messageId":"p","snapshot":{{"messageId":"p","trackedFileBackups":{files}}},"isSnapshotUpdate":true}}"#
            )
        };
        let history = history(&[
            &line("{}"),
            &line(r#"{"a":{"backupFileName":"x@v1","version":1}}"#),
        ]);
        assert_eq!(history.at("p").unwrap().len(), 1);
    }
}
