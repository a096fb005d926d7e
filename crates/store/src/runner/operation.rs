//! [`Operation`]: a change that boswell made, as a record in `ops.jsonl` and in intents.

use std::path::PathBuf;

use boswell_dialect::LockSpec;
use boswell_model::json::{Json, Raw};
use boswell_model::{Instant, SessionRef};

use super::change::{Change, FileFacts, State, States, snapshots};
use crate::sha256::Digest;
use crate::vault::{Reason, Replaced, session_ref};

/// The kind of an operation that removed every trace of a session.
pub(crate) const PURGE: &str = "purge";
/// The kind of an operation that replaced secrets.
pub(crate) const SCRUB: &str = "scrub";

/// A change that boswell made in a store, with everything that undo and recovery need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Id of the operation, also part of the names of its files in the vault.
    pub id: String,
    /// When the operation began.
    pub at: Instant,
    /// The kind of change in one word, from its plan.
    pub kind: String,
    /// The session that was changed.
    pub session: SessionRef,
    /// The description that the user reads.
    pub title: String,
    /// The root folder of the store.
    pub root: PathBuf,
    /// Id of the operation that this one undid.
    pub undoes: Option<String>,
    pub(crate) reason: Reason,
    pub(crate) locks: Vec<LockSpec>,
    pub(crate) initial: States,
    pub(crate) changes: Vec<Change>,
    /// Keys of files that can be rebuilt from others.
    pub(crate) derived: Vec<String>,
}

/// A file before and after an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Key of the file.
    pub key: String,
    /// The file before the operation; `None` if it did not exist.
    pub before: Option<FileFacts>,
    /// The file after the operation; `None` if it does not exist any more.
    pub after: Option<FileFacts>,
    /// How many bytes were appended, if nothing else happened to the file.
    pub appended: Option<u64>,
}

impl Operation {
    /// Returns every file that the operation changed.
    pub fn files(&self) -> Vec<FileChange> {
        let end = self.final_states();
        let file = |key: &String, after: &State| {
            let before = self.initial.get(key).and_then(|state| state.file());
            let after = after.file();
            (before.is_some() || after.is_some()).then(|| FileChange {
                key: key.clone(),
                before,
                after,
                appended: self.appended(key),
            })
        };
        end.iter()
            .filter_map(|(key, after)| file(key, after))
            .collect()
    }

    fn appended(&self, key: &str) -> Option<u64> {
        let mut added = 0;
        for change in self
            .changes
            .iter()
            .filter(|change| change.keys().contains(&key))
        {
            match change {
                Change::Append { before, after, .. } => added += after.len - before.len,
                _ => return None,
            }
        }
        (added > 0).then_some(added)
    }

    /// Returns whether the operation cannot be undone by design, because it was made to leave
    /// nothing behind.
    pub fn is_final(&self) -> bool {
        matches!(self.kind.as_str(), PURGE | SCRUB)
    }

    /// Replaces the hashes of files whose copies in the vault were rewritten; returns whether any
    /// belonged to this operation.
    pub(crate) fn relink(&mut self, replaced: &[Replaced]) -> bool {
        let mut any = false;
        let root = self.root.clone();
        let mut put = |key: &str, meta: &mut FileFacts| {
            let same = |it: &&Replaced| it.root == root && it.key == key && it.was == meta.sha256;
            if let Some((sha256, len)) = replaced.iter().find(same).and_then(|it| it.now) {
                (meta.sha256, meta.len) = (sha256, len);
                any = true;
            }
        };
        for (key, state) in &mut self.initial {
            if let State::File(meta) = state {
                put(key, meta);
            }
        }
        for change in &mut self.changes {
            match change {
                Change::Write { key, before, after } => {
                    before.iter_mut().for_each(|before| put(key, before));
                    put(key, after);
                }
                Change::Remove { key, before } => put(key, before),
                _ => {}
            }
        }
        any
    }

    pub(crate) fn final_states(&self) -> States {
        let mut states = self.initial.clone();
        self.changes
            .iter()
            .for_each(|change| change.advance(&mut states));
        states
    }

    pub(crate) fn snapshots(&self) -> Vec<States> {
        snapshots(&self.initial, &self.changes)
    }

    pub(crate) fn to_json(&self) -> Json {
        let end = self.final_states();
        let files = end.iter().map(|(key, after)| {
            let before = self.initial.get(key).copied().unwrap_or(State::Absent);
            Json::object()
                .with("key", key.as_str())
                .with("before", state_json(before))
                .with("after", state_json(*after))
                .with_some("appended", self.appended(key))
        });
        Json::object()
            .with("op", self.id.as_str())
            .with("at", self.at.to_rfc3339())
            .with("kind", self.kind.as_str())
            .with("ref", self.session.to_string())
            .with("title", self.title.as_str())
            .with("root", self.root.to_string_lossy())
            .with_some("undoes", self.undoes.as_deref())
            .with("reason", self.reason.word())
            .with(
                "locks",
                self.locks.iter().filter_map(lock_json).collect::<Vec<_>>(),
            )
            .with_some(
                "derived",
                (!self.derived.is_empty()).then(|| self.derived.clone()),
            )
            .with("files", files.collect::<Vec<_>>())
            .with(
                "changes",
                self.changes.iter().map(change_json).collect::<Vec<_>>(),
            )
    }

    pub(crate) fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        let file = |file: Raw<'_>| {
            let key = file.get("key")?.text()?.into_owned();
            Some((key, read_state(file.get("before")?)?))
        };
        Some(Operation {
            id: text("op")
                .filter(|id| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))?,
            at: Instant::parse(&text("at")?)?,
            kind: text("kind")?,
            session: session_ref(&text("ref")?)?,
            title: text("title")?,
            root: text("root")?.into(),
            undoes: text("undoes"),
            reason: Reason::from_word(&text("reason")?)?,
            locks: raw
                .get("locks")?
                .items()
                .map(read_lock)
                .collect::<Option<_>>()?,
            initial: raw.get("files")?.items().map(file).collect::<Option<_>>()?,
            changes: raw
                .get("changes")?
                .items()
                .map(read_change)
                .collect::<Option<_>>()?,
            derived: raw
                .get("derived")
                .iter()
                .flat_map(|keys| keys.items())
                .filter_map(|key| Some(key.text()?.into_owned()))
                .collect(),
        })
    }
}

fn facts_json(meta: FileFacts) -> Json {
    Json::object()
        .with("sha256", meta.sha256.to_string())
        .with("len", meta.len)
        .with("mode", meta.mode)
        .with_some("mtime", meta.modified)
}

fn state_json(state: State) -> Json {
    match state {
        State::Absent => Json::Null,
        State::Folder => Json::object().with("folder", true),
        State::File(meta) => facts_json(meta),
    }
}

fn read_facts(raw: Raw<'_>) -> Option<FileFacts> {
    Some(FileFacts {
        sha256: Digest::parse(&raw.get("sha256")?.text()?)?,
        len: raw.get("len")?.u64()?,
        mode: u32::try_from(raw.get("mode")?.u64()?).ok()?,
        modified: raw.get("mtime").and_then(|time| time.i64()),
    })
}

fn read_state(raw: Raw<'_>) -> Option<State> {
    if raw.is_null() {
        return Some(State::Absent);
    }
    match raw.get("folder").and_then(|folder| folder.bool()) {
        Some(true) => Some(State::Folder),
        _ => read_facts(raw).map(State::File),
    }
}

fn lock_json(lock: &LockSpec) -> Option<Json> {
    let (kind, name) = match lock {
        LockSpec::Os { name } => ("os", name),
        LockSpec::Append { name } => ("append", name),
        LockSpec::AgentMkdir { key } => ("mkdir", key),
        LockSpec::AgentFlock { key } => ("flock", key),
        _ => return None,
    };
    Some(Json::object().with("kind", kind).with("name", name))
}

fn read_lock(raw: Raw<'_>) -> Option<LockSpec> {
    let name = raw.get("name")?.text()?.into_owned();
    match raw.get("kind")?.text()?.as_ref() {
        "os" => Some(LockSpec::Os { name }),
        "append" => Some(LockSpec::Append { name }),
        "mkdir" => Some(LockSpec::AgentMkdir { key: name }),
        "flock" => Some(LockSpec::AgentFlock { key: name }),
        _ => None,
    }
}

fn change_json(change: &Change) -> Json {
    let make = |word: &str, key: &str| Json::object().with("do", word).with("key", key);
    match change {
        Change::Write { key, before, after } => make("write", key)
            .with("before", before.map(facts_json))
            .with("after", facts_json(*after)),
        Change::Append {
            key,
            before,
            added,
            after,
        } => make("append", key)
            .with("before", facts_json(*before))
            .with("after", facts_json(*after))
            .with("added", added.to_string()),
        Change::Truncate {
            key,
            before,
            after,
            cut,
        } => make("truncate", key)
            .with("before", facts_json(*before))
            .with("after", facts_json(*after))
            .with("cut", cut.to_string()),
        Change::Rename { from, to } => make("rename", from).with("to", to),
        Change::Remove { key, before } => make("remove", key).with("before", facts_json(*before)),
        Change::MakeFolder { key } => make("make_folder", key),
        Change::RemoveFolder { key } => make("remove_folder", key),
    }
}

fn read_change(raw: Raw<'_>) -> Option<Change> {
    let key = raw.get("key")?.text()?.into_owned();
    let meta = |name: &str| raw.get(name).and_then(read_facts);
    let digest = |name: &str| Digest::parse(&raw.get(name)?.text()?);
    Some(match raw.get("do")?.text()?.as_ref() {
        "write" => Change::Write {
            key,
            before: meta("before"),
            after: meta("after")?,
        },
        "append" => Change::Append {
            key,
            before: meta("before")?,
            added: digest("added")?,
            after: meta("after")?,
        },
        "truncate" => Change::Truncate {
            key,
            before: meta("before")?,
            after: meta("after")?,
            cut: digest("cut")?,
        },
        "rename" => Change::Rename {
            from: key,
            to: raw.get("to")?.text()?.into_owned(),
        },
        "remove" => Change::Remove {
            key,
            before: meta("before")?,
        },
        "make_folder" => Change::MakeFolder { key },
        "remove_folder" => Change::RemoveFolder { key },
        _ => return None,
    })
}
