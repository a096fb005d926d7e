//! Finds what agents leave behind in their stores: files of deleted sessions, and abandoned locks.
//!
//! Finding changes nothing. [`Runner::clear_leftovers`] moves the files into the vault, from where
//! `undo` restores them, and breaks the locks in the agent's own way.
//!
//! `check` reports them as `orphaned_file` and `stale_lock`; `clean --leftovers` removes them.
//! Blobs that no session references are only reported.

use std::collections::{BTreeSet, HashSet};

use boswell_dialect::{LockSpec, Orphan, Plan, Planned, Precondition, Step, StoreRequest};
use boswell_model::{Error, Problem, ProblemKind, Result, SessionRef};

use crate::backend::BackendFiles;
use crate::blobs::BlobId;
use crate::disk::Disk;
use crate::locks::{Abandoned, abandoned};
use crate::operations::{Executed, is_secret};
use crate::runner::Runner;
use crate::vault::Reason;
use crate::{Store, WritableStore};

/// An abandoned lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleLock {
    /// Key of the lock's folder.
    pub key: String,
    /// Why the lock is abandoned.
    pub why: Abandoned,
}

/// What agents left behind in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Files of sessions that do not exist any more.
    pub orphans: Vec<Orphan>,
    /// Files that are reported but left alone, and why.
    pub left_alone: Vec<(Orphan, &'static str)>,
    /// Abandoned locks, in the order in which the agent takes them.
    pub locks: Vec<StaleLock>,
}

impl Leftovers {
    /// Returns whether nothing was left behind.
    pub fn is_empty(&self) -> bool {
        self.orphans.is_empty() && self.left_alone.is_empty() && self.locks.is_empty()
    }

    /// Returns each leftover as a problem of the store: key and problem.
    pub fn problems(&self) -> Vec<(String, Problem)> {
        let orphans = self
            .orphans
            .iter()
            .map(|it| (it.key.clone(), orphaned(it, "")));
        let left_alone = self
            .left_alone
            .iter()
            .map(|(it, why)| (it.key.clone(), orphaned(it, &format!("; {why}"))));
        let locks = self.locks.iter().map(|it| {
            (
                it.key.clone(),
                Problem::of_file(ProblemKind::StaleLock, it.sentence()),
            )
        });
        orphans.chain(left_alone).chain(locks).collect()
    }

    fn plan(&self) -> Plan {
        let sessions: HashSet<_> = self
            .orphans
            .iter()
            .filter_map(|it| it.session.as_deref())
            .collect();
        let title = format!(
            "remove what is left of {} sessions that were deleted",
            sessions.len()
        );
        let mut plan = Plan::new("clean", title);
        for orphan in &self.orphans {
            // A transcript that is still written belongs to a live session.
            let logs = orphan.files.iter().filter(|key| key.ends_with(".jsonl"));
            plan.preconditions
                .extend(logs.map(|key| Precondition::NotLive { key: key.clone() }));
            plan.steps.extend(orphan.files.iter().map(Step::remove));
            plan.steps.extend(
                orphan
                    .folders
                    .iter()
                    .map(|key| Step::RemoveFolder { key: key.clone() }),
            );
        }
        plan
    }
}

fn orphaned(orphan: &Orphan, more: &str) -> Problem {
    let files = match orphan.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let whose = orphan.session.as_deref().map_or_else(
        || "no session needs it".to_owned(),
        |session| format!("the session {} is not there", session.escape_debug()),
    );
    let detail = format!(
        "{} ({files}, {} bytes): {whose}{more}",
        orphan.what, orphan.bytes
    );
    Problem::of_file(ProblemKind::OrphanedFile, detail)
}

impl StaleLock {
    fn sentence(&self) -> String {
        match self.why {
            Abandoned::Dead(pid) => {
                format!(
                    "process {pid} took it and has ended; its agent breaks it, old versions only after half a minute"
                )
            }
            Abandoned::Nameless => {
                "it names no process and is older than half a minute; its agent breaks it"
                    .to_owned()
            }
        }
    }
}

impl Store {
    /// Finds what agents left behind in this store.
    ///
    /// # Errors
    ///
    /// An I/O error if the store cannot be listed.
    pub fn leftovers(&self) -> Result<Leftovers> {
        // Files of an excluded session are not left behind.
        let listing = self.whole().list()?;
        let files = BackendFiles(self.backend());
        let disk = self.disk();
        let mut found = Leftovers::default();
        let Some(side_files) = self.dialect().powers().side_files else {
            return Ok(found);
        };
        for key in side_files.lock_folders(&files)? {
            let why = abandoned(
                disk.as_ref(),
                &self.root().join(&key),
                disk.as_ref(),
                self.id_source(),
            )?;
            found.locks.extend(why.map(|why| StaleLock { key, why }));
        }
        // An unreadable index may list sessions that are not visible otherwise.
        let unsure = |(_, problem): &(String, Problem)| {
            matches!(problem.kind, ProblemKind::NotJson | ProblemKind::Unreadable)
        };
        if listing.problems.iter().any(unsure) {
            return Ok(found);
        }
        let at_work: HashSet<String> = self
            .active_processes()?
            .into_iter()
            .map(|it| it.session)
            .collect();
        for orphan in side_files.orphans(&files, &listing.sessions)? {
            // An agent that has just started makes these before its log.
            if orphan
                .session
                .as_ref()
                .is_some_and(|session| at_work.contains(session))
            {
                continue;
            }
            match self.why_alone(disk.as_ref(), &orphan)? {
                Some(why) => found.left_alone.push((orphan, why)),
                None => found.orphans.push(orphan),
            }
        }
        Ok(found)
    }

    /// Returns the agent's blobs that `named` does not contain. Boswell's own blobs are not
    /// considered: the vault may need them.
    ///
    /// # Errors
    ///
    /// An I/O error if the agent's blobs cannot be listed.
    pub fn unnamed_blobs(&self, named: &BTreeSet<BlobId>) -> Result<Vec<(BlobId, u64)>> {
        match self.blobs().filter(|_| !self.dialect().facts().is_own) {
            Some(blobs) => blobs.unreferenced(named),
            None => Ok(Vec::new()),
        }
    }

    /// Plans what clearing the store would do. Takes no lock.
    ///
    /// # Errors
    ///
    /// Those of [`leftovers`](Store::leftovers).
    pub fn plan_clearing(&self) -> Result<(Leftovers, Planned)> {
        let found = self.leftovers()?;
        let mut plan = found.plan();
        plan.locks = self.locks_to_clear(&found);
        Ok((found, Planned::of(plan)))
    }

    /// Returns the locks to take for clearing. Taking an abandoned lock breaks it, and releasing it
    /// removes it.
    fn locks_to_clear(&self, found: &Leftovers) -> Vec<LockSpec> {
        let mut locks: Vec<LockSpec> = found
            .locks
            .iter()
            .map(|it| LockSpec::AgentMkdir {
                key: it.key.clone(),
            })
            .collect();
        if !found.orphans.is_empty() {
            // No session may begin while its files are examined.
            let edits = self.dialect().powers().edits;
            let of_index =
                edits.map_or_else(Vec::new, |edits| edits.store_locks(&StoreRequest::Index));
            locks.extend(
                of_index
                    .into_iter()
                    .filter(|lock| !found.locks.iter().any(|it| is_for(lock, &it.key))),
            );
        }
        locks
    }

    /// Why an orphan is not touched, if it is not.
    fn why_alone(&self, disk: &dyn Disk, orphan: &Orphan) -> Result<Option<&'static str>> {
        let name = |key: &str| key.rsplit('/').next().unwrap_or(key).to_owned();
        // A lock file contains no secret.
        if orphan
            .files
            .iter()
            .map(|key| name(key))
            .any(|name| is_secret(&name) && !name.ends_with(".lock"))
        {
            return Ok(Some("there are keys among them, which are never copied"));
        }
        for key in orphan.folders.iter().chain(&orphan.files) {
            let path = self.root().join(key);
            if disk
                .is_link(&path)
                .map_err(|error| Error::io(path.display(), "look at", error))?
            {
                return Ok(Some("links among them lead elsewhere"));
            }
        }
        Ok(None)
    }
}

fn is_for(lock: &LockSpec, folder: &str) -> bool {
    matches!(lock, LockSpec::AgentMkdir { key } if key == folder)
}

impl Runner {
    /// Moves what was left behind in a store into the vault, and breaks abandoned locks. Returns
    /// what there was.
    pub fn clear_leftovers(&self, store: &WritableStore) -> Result<(Leftovers, Executed)> {
        let session = SessionRef::new(store.dialect().name(), "*");
        let (found, planned) = store.plan_clearing()?;
        let done = self.carry(
            store.root(),
            &session,
            Reason::Before,
            &planned.plan.locks,
            &|| {
                let (_, mut planned) = store.plan_clearing()?;
                planned.plan.locks.clear();
                Ok(planned)
            },
        )?;
        Ok((found, done))
    }
}
