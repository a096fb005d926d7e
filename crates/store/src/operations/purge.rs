//! Purge: removes every trace of a session from its store, the vault and boswell's own records.
//!
//! A marker in `ops/` describes what is being purged. It is durable before anything is removed and
//! is removed last, so that a marker at start means an interrupted purge. Every step is idempotent,
//! so finishing repeats all of them.

use std::path::{Path, PathBuf};

use boswell_dialect::{Dialect, Files, Modified, Plan, Step, by_name};
use boswell_model::json::{Json, Raw};
use boswell_model::{Instant, Result, SessionRef};

use crate::backend::{BackendFiles, FsBackend};
use crate::blobs::BlobId;
use crate::disk::durable;
use crate::journal::{self, LineAction};
use crate::notes::Notes;
use crate::prompts::Prompts;
use crate::runner::{Operation, PURGE, Runner, States};
use crate::vault::{Purged, Reason, Replaced, RewrittenCopy, names_one, session_ref};

/// Ids of at least this length do not occur in file names by chance.
const LONG: usize = 16;
/// Shared files larger than this are left alone.
const LARGEST: u64 = 256 << 20;

/// A purge in progress, with everything that finishing it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purging {
    /// Id of the operation.
    pub id: String,
    /// When the purge began.
    pub at: Instant,
    /// The session first, then the sessions of its subagents.
    pub sessions: Vec<SessionRef>,
    /// Root of the session's store.
    pub root: PathBuf,
    /// Key of the session's log, if it had one.
    pub log: Option<String>,
    /// Paths of the session's files, as the index knows them.
    pub paths: Vec<String>,
    /// Blobs that the session's records name.
    pub blobs: Vec<BlobId>,
    /// Names of small files that lead to records in their state before they were written.
    pub wholes: Vec<String>,
    /// Sessions in other stores that belong to the same conversation and stay.
    pub linked: Vec<SessionRef>,
}

impl Purging {
    /// Returns the session itself.
    pub fn session(&self) -> SessionRef {
        self.sessions
            .first()
            .cloned()
            .unwrap_or_else(|| SessionRef::new("", ""))
    }

    /// Returns the ids of the session and its subagents.
    pub fn ids(&self) -> Vec<String> {
        self.sessions
            .iter()
            .map(|session| session.id.clone())
            .collect()
    }

    /// Returns whether a file with this key or path belongs to the session: its log, a file in the
    /// side folder of the log, or one that has the session's id in its name.
    pub fn is_own_file(&self, path: &str) -> bool {
        let side_files = self
            .log
            .as_deref()
            .and_then(|log| log.strip_suffix(".jsonl"))
            .map(|stem| format!("{stem}/"));
        if self.log.as_deref() == Some(path)
            || side_files.is_some_and(|side_files| path.starts_with(&side_files))
        {
            return true;
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        self.sessions.iter().any(|session| {
            let id = session.id.as_str();
            // A short id may be the name of any folder, and a part of any other name.
            let long = id.len() >= LONG && path.split(['/', '\\']).any(|part| part.contains(id));
            let named = stem == id
                || stem
                    .strip_suffix(id)
                    .is_some_and(|rest| rest.ends_with('_'));
            !id.is_empty() && (long || named)
        })
    }

    fn to_json(&self) -> Json {
        let texts = |items: Vec<String>| items.into_iter().map(Json::from).collect::<Vec<_>>();
        Json::object()
            .with("op", self.id.as_str())
            .with("at", self.at.to_rfc3339())
            .with("kind", PURGE)
            .with(
                "refs",
                texts(self.sessions.iter().map(ToString::to_string).collect()),
            )
            .with("root", self.root.to_string_lossy())
            .with_some("log", self.log.as_deref())
            .with("paths", texts(self.paths.clone()))
            .with(
                "blobs",
                texts(self.blobs.iter().map(ToString::to_string).collect()),
            )
            .with("wholes", texts(self.wholes.clone()))
            .with(
                "linked",
                texts(self.linked.iter().map(ToString::to_string).collect()),
            )
    }

    fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        let blobs = texts_of(raw, "blobs");
        let purging = Purging {
            id: text("op")?,
            at: Instant::parse(&text("at")?)?,
            sessions: refs_of(raw, "refs"),
            root: text("root")?.into(),
            log: text("log"),
            paths: texts_of(raw, "paths"),
            blobs: blobs.iter().filter_map(|id| BlobId::parse(id)).collect(),
            wholes: texts_of(raw, "wholes"),
            linked: refs_of(raw, "linked"),
        };
        (is_operation_id(&purging.id) && !purging.sessions.is_empty()).then_some(purging)
    }
}

fn is_operation_id(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn texts_of(raw: Raw<'_>, key: &str) -> Vec<String> {
    let Some(list) = raw.get(key) else {
        return Vec::new();
    };
    let texts = list.items().filter_map(|it| Some(it.text()?.into_owned()));
    texts.collect()
}

fn refs_of(raw: Raw<'_>, key: &str) -> Vec<SessionRef> {
    let texts = texts_of(raw, key);
    texts.iter().filter_map(|it| session_ref(it)).collect()
}

impl Runner {
    /// Writes the marker of a purge, durably.
    pub fn begin_purge(&self, purging: &Purging) -> Result<()> {
        durable::make_folders(self.disk.as_ref(), &self.ops_folder())?;
        let path = self.purge_path(&purging.id);
        durable::put(
            self.disk.as_ref(),
            &path,
            &purging.to_json().to_bytes(),
            &self.id_source.hex16(),
        )
    }

    /// Returns purges that were begun and not finished, or are running.
    pub fn purges(&self) -> Result<Vec<Purging>> {
        let mut found = Vec::new();
        for name in self.ops_files()? {
            let Some(id) = name
                .strip_prefix("purge-")
                .and_then(|rest| rest.strip_suffix(".json"))
            else {
                continue;
            };
            let bytes = durable::read(self.disk.as_ref(), &self.ops_folder().join(&name))?
                .unwrap_or_default();
            found.extend(
                Raw::parse(&bytes)
                    .ok()
                    .and_then(Purging::from_json)
                    .filter(|it| it.id == id),
            );
        }
        found.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        Ok(found)
    }

    /// Returns whether a process is purging now, as far as the system reports it.
    pub fn is_purging(&self) -> Result<bool> {
        self.locks.is_held(PURGE)
    }

    /// Removes the marker of a purge that has removed nothing.
    pub fn drop_purge(&self, purging: &Purging) -> Result<()> {
        let path = self.purge_path(&purging.id);
        durable::remove_if_there(self.disk.as_ref(), &path)?;
        durable::sync_parent(self.disk.as_ref(), &path)
    }

    /// Records that a session was purged, and when, and nothing else about it. Then removes the
    /// marker.
    pub fn end_purge(&self, purging: &Purging) -> Result<()> {
        if !self.is_recorded(&purging.id)? {
            let session = purging.session();
            self.record(&Operation {
                id: purging.id.clone(),
                at: purging.at,
                kind: PURGE.to_owned(),
                title: format!("purge {session}"),
                session,
                root: purging.root.clone(),
                undoes: None,
                // Nothing is left that could be restored.
                reason: Reason::Before,
                locks: Vec::new(),
                initial: States::new(),
                changes: Vec::new(),
                derived: Vec::new(),
            })?;
        }
        self.drop_purge(purging)
    }

    /// Removes what a deleted session left: its lines in shared files, all copies in the vault,
    /// operations, notes and prompts. Its files must have been removed already.
    pub fn purge(&self, purging: &Purging) -> Result<Purged> {
        let session = purging.session();
        let dialect = by_name(&session.dialect);
        if let Some(dialect) = dialect
            && let Some(plan) = self.stripping(dialect, purging)?
        {
            self.run(&purging.root, &plan, &session, Reason::Before)?;
        }
        // The runner lock keeps other processes from making copies of what is being removed.
        let _one = self.locks.exclusive("runner", self.wait())?;
        self.recover_locked()?;
        let theirs = |of: &SessionRef, root: &Path, key: &str| {
            let own = || {
                of.dialect == session.dialect && root == purging.root && purging.is_own_file(key)
            };
            purging.sessions.contains(of) || own()
        };
        // Before the session's own copies are removed: they show what operations on other sessions
        // left of a shared file.
        let stripped = match dialect {
            Some(dialect) => self.strip_copies(dialect, purging)?,
            None => 0,
        };
        let mut purged = self.vault.purge_where(&purging.sessions, &theirs)?;
        purged.objects += stripped;
        self.forget_operations(purging)?;
        let mut notes = Notes::load(self.disk.clone(), &self.home, self.locks.clone())?;
        purged.records += notes.forget(&purging.sessions, &purging.linked)?;
        let mut names = purging.ids();
        names.extend(purging.sessions.iter().map(ToString::to_string));
        names.extend(purging.paths.iter().cloned());
        Prompts::new(self.disk.clone(), self.id_source.clone(), &self.home).forget(&names)?;
        Ok(purged)
    }

    /// Returns a plan that removes the session from shared files; `None` if they do not contain it.
    fn stripping(&self, dialect: &dyn Dialect, purging: &Purging) -> Result<Option<Plan>> {
        let backend = FsBackend::on(self.disk.clone(), &purging.root);
        let files = BackendFiles(&backend);
        let mut plan = Plan::new(
            "delete",
            format!("take {} out of shared files", purging.session()),
        );
        let Some(shared) = dialect.powers().shared_files else {
            return Ok(None);
        };
        for key in shared.shared_files(&files)? {
            let Some(old) = files.read_whole(&key, LARGEST)? else {
                continue;
            };
            let Some(new) = shared
                .without(&key, &old, &purging.ids())
                .filter(|new| *new != old)
            else {
                continue;
            };
            // `old` is the whole file, so that a line which the agent adds meanwhile makes the edit
            // fail.
            plan.steps.push(Step::Edit {
                key,
                at: Some(0),
                old,
                new,
                modified: Modified::Now,
            });
        }
        Ok((!plan.steps.is_empty()).then_some(plan))
    }

    /// Removes the session from copies of shared files that were made for other sessions, whose
    /// operations then refer to the new copies.
    fn strip_copies(&self, dialect: &dyn Dialect, purging: &Purging) -> Result<usize> {
        let Some(shared) = dialect.powers().shared_files else {
            return Ok(0);
        };
        let ids = purging.ids();
        let of = |of: &SessionRef, root: &Path, key: &str| {
            of.dialect == dialect.name() && root == purging.root && shared.is_shared(key)
        };
        let change =
            |_: &SessionRef, key: &str, bytes: &[u8]| match shared.without(key, bytes, &ids) {
                Some(new) if new == bytes => RewrittenCopy::Stays,
                Some(new) => RewrittenCopy::New(new),
                // In a damaged copy the session's part cannot be separated from the rest.
                None if ids
                    .iter()
                    .any(|id| memchr::memmem::find(bytes, id.as_bytes()).is_some()) =>
                {
                    RewrittenCopy::Goes
                }
                None => RewrittenCopy::Stays,
            };
        self.vault
            .rewrite(&of, &change, &|replaced| self.relink(replaced))
    }

    /// Changes recorded operations to the new hashes of rewritten copies.
    pub(crate) fn relink(&self, replaced: &[Replaced]) -> Result<()> {
        let _lock = self.locks.exclusive("ops", self.wait())?;
        let action = |line: &[u8]| {
            let Some(mut op) = Raw::parse(line).ok().and_then(Operation::from_json) else {
                return LineAction::Stays;
            };
            if op.relink(replaced) {
                LineAction::Becomes(op.to_json().to_bytes())
            } else {
                LineAction::Stays
            }
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.home.join("ops.jsonl"),
            &self.id_source.hex16(),
            &action,
        )
        .map(drop)
    }

    /// Removes the recorded operations of the session: titles are text of its user, and keys may
    /// name files.
    fn forget_operations(&self, purging: &Purging) -> Result<()> {
        let _lock = self.locks.exclusive("ops", self.wait())?;
        let action = |line: &[u8]| {
            let goes = match Raw::parse(line).ok().and_then(Operation::from_json) {
                Some(op) => purging.sessions.contains(&op.session) && op.kind != PURGE,
                None => names_one(line, &purging.sessions),
            };
            if goes {
                LineAction::Goes
            } else {
                LineAction::Stays
            }
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.home.join("ops.jsonl"),
            &self.id_source.hex16(),
            &action,
        )
        .map(drop)
    }

    fn purge_path(&self, id: &str) -> PathBuf {
        self.ops_folder().join(format!("purge-{id}.json"))
    }
}
