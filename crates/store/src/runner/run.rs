//! [`Runner`]: executes a plan as one operation that a crash cannot split.
//!
//! [`Runner::operate`] is the sequence that the module docs of `runner` describe; `perform` is its
//! part from the vault copies to the record. What makes the sequence safe is the order: the vault
//! has the old bytes and the stage has the new ones before the intent exists, and the intent exists
//! before the first change. So from the intent alone a later run can finish the operation or take
//! it back, whichever files the crash left.
//!
//! A step that fails, such as a rename, has those before it taken back. The runner waits five
//! seconds for an agent's lock, unless `waiting` sets another time.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{IdSource, LockSpec, Plan};
use boswell_model::{Error, Result, SessionRef};

use super::apply::{Executor, Old, changed, inode_name, stage_path};
use super::change::{Change, FileFacts, State};
use super::compile::{Content, Lowered, feed_pieces, lower, read_state};
use super::merge_shared;
use super::operation::Operation;
use super::paths::place;
use super::preconditions::{Watcher, refuse_unsettled};
use crate::disk::{Disk, Processes, Stat, durable};
use crate::journal;
use crate::locks::{HeldLock, Locks, Owner, Taker, Wait};
use crate::sha256::{Digest, hash_file};
use crate::vault::{Copied, Reason, Vault, VaultRecord};

/// Executes plans, with the vault, locks and operation log of one home.
#[derive(Debug, Clone)]
pub struct Runner {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) home: PathBuf,
    pub(crate) id_source: Arc<dyn IdSource>,
    pub(crate) locks: Locks,
    pub(crate) vault: Vault,
    processes: Arc<dyn Processes>,
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    pub(super) wait: Wait,
}

/// Returns whether files that an operation replaces or removes get a hard link in the vault. An
/// erasing operation must leave none.
pub(super) fn old_of(op: &Operation) -> Old {
    if op.reason == Reason::Erased {
        Old::Dropped
    } else {
        Old::Linked
    }
}

/// The parameters of an operation that are known before its plan.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) root: &'a Path,
    pub(crate) session: &'a SessionRef,
    pub(crate) reason: Reason,
    pub(crate) undoes: Option<String>,
    pub(crate) locks: Vec<LockSpec>,
}

impl Runner {
    /// Makes a runner with its records in `home`. `owner` is shown to other processes while this
    /// one holds a lock.
    pub fn new(
        disk: Arc<dyn Disk>,
        home: impl Into<PathBuf>,
        id_source: Arc<dyn IdSource>,
        owner: Owner,
    ) -> Self {
        let home = home.into();
        let locks = Locks::new(
            Arc::clone(&disk),
            home.join("locks"),
            owner,
            Arc::clone(&id_source),
        );
        let vault = Vault::new(
            Arc::clone(&disk),
            &home,
            locks.clone(),
            Arc::clone(&id_source),
        );
        let wait = Wait::For(Duration::from_secs(5));
        let processes: Arc<dyn Processes> = Arc::clone(&disk) as Arc<dyn Processes>;
        Runner {
            disk,
            home,
            id_source,
            locks,
            vault,
            processes,
            watcher: None,
            wait,
        }
    }

    /// Uses `processes` to find out whether a process is alive.
    #[must_use]
    pub fn with_processes(mut self, processes: Arc<dyn Processes>) -> Self {
        self.processes = processes;
        self
    }

    /// Uses `watcher` to find out whether a program is using a file.
    #[must_use]
    pub fn with_watcher(mut self, watcher: Arc<dyn Watcher>) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Waits this long for each lock; the default is five seconds.
    #[must_use]
    pub fn waiting(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Returns the vault that keeps the old bytes of every change.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Returns boswell's own locks of this home.
    pub fn locks(&self) -> &Locks {
        &self.locks
    }

    /// Executes a plan in the store at `root`. `reason` is recorded with the copies that the vault
    /// keeps of what the plan changes or removes.
    ///
    /// The caller must hold none of the plan's locks: they are taken here.
    pub fn run(
        &self,
        root: &Path,
        plan: &Plan,
        session: &SessionRef,
        reason: Reason,
    ) -> Result<Operation> {
        let start = Start {
            root,
            session,
            reason,
            undoes: None,
            locks: plan.locks.clone(),
        };
        self.operate(&start, || {
            self.check(root, &plan.preconditions)?;
            lower(self.disk.as_ref(), root, plan)
        })
    }

    /// Takes the locks, recovers unfinished operations, and executes what `prepare` returns.
    /// `prepare` runs under the locks, so that a plan made by it cannot be outdated.
    pub(crate) fn operate(
        &self,
        start: &Start<'_>,
        prepare: impl FnOnce() -> Result<Lowered>,
    ) -> Result<Operation> {
        let _one = self.locks.exclusive("runner", self.wait)?;
        let open = self.recover_locked()?;
        let held = self.taker().take(start.root, &start.locks)?;
        let lowered = prepare()?;
        let mut op = Operation {
            id: self.id_source.hex16(),
            at: self.id_source.now(),
            kind: lowered.kind,
            session: start.session.clone(),
            title: lowered.title,
            root: start.root.to_owned(),
            undoes: start.undoes.clone(),
            reason: start.reason,
            locks: start.locks.clone(),
            initial: lowered.initial,
            changes: lowered.changes,
            derived: lowered.derived,
        };
        // Targets of renames below a folder were never looked at: the folder did not exist, so
        // neither did they.
        for key in op.final_states().into_keys() {
            op.initial.entry(key).or_insert(State::Absent);
        }
        refuse_unsettled(&op, &open)?;
        if op.changes.is_empty() {
            // An operation without changes is not recorded.
            return Ok(op);
        }
        self.perform(&op, &lowered.contents, &lowered.seen, &held)?;
        Ok(op)
    }

    pub(crate) fn taker(&self) -> Taker<'_> {
        Taker {
            disk: &self.disk,
            locks: &self.locks,
            processes: self.processes.as_ref(),
            id_source: self.id_source.as_ref(),
            wait: self.wait,
        }
    }

    fn perform(
        &self,
        op: &Operation,
        contents: &HashMap<Digest, Content>,
        seen: &BTreeMap<String, Stat>,
        held: &[HeldLock],
    ) -> Result<()> {
        self.save_before(op, contents)?;
        let hands = self.hands(op, contents);
        // The stage comes before the intent: an intent promises that the new bytes can be found.
        let begun = self
            .stage(op, contents)
            .and_then(|()| self.write_intent(op));
        let mut reached = 0;
        let done = begun.and_then(|()| {
            // The files were hashed while the steps were simulated. An agent that takes no lock may
            // have written to them since.
            self.expect_seen(op, seen)?;
            for (number, change) in op.changes.iter().enumerate() {
                hands.ready(change)?;
                // Agents break locks that are held too long. Nothing is changed under a lock that
                // this process has lost.
                held.iter()
                    .try_for_each(|lock| lock.still_ours(self.disk.as_ref()))?;
                reached = number + 1;
                // Counted before the change: one that fails halfway has to be taken back too.
                hands.apply(number, change, old_of(op))?;
            }
            self.verify(op)
        });
        match done {
            Ok(()) => self.record(op),
            Err(error) => Err(match self.take_back(op, reached, contents) {
                Ok(()) => error,
                Err(_) => error.because(
                    "it could not be rolled back now; the next change that boswell makes does it",
                ),
            }),
        }
    }

    pub(crate) fn hands<'a>(
        &'a self,
        op: &'a Operation,
        contents: &'a HashMap<Digest, Content>,
    ) -> Executor<'a> {
        let (disk, root) = (self.disk.as_ref(), op.root.as_path());
        Executor {
            disk,
            vault: &self.vault,
            root,
            op: &op.id,
            stage: self.ops_folder(),
            contents,
        }
    }

    /// Copies to the vault what every change replaces, cuts or removes.
    pub(super) fn save_before(
        &self,
        op: &Operation,
        contents: &HashMap<Digest, Content>,
    ) -> Result<()> {
        if op.reason == Reason::Erased {
            return Ok(());
        }
        let mut items = Vec::new();
        for (number, change) in op.changes.iter().enumerate() {
            let Some((key, meta, from)) = lost(change) else {
                continue;
            };
            let content = match contents.get(&meta.sha256) {
                Some(Content::Bytes(bytes)) => Copied::Bytes(bytes),
                Some(Content::File(path)) => Copied::File(path),
                // What was put together is never what a file was before.
                Some(Content::Pieces(..)) | None => Copied::Present,
            };
            items.push((
                self.vault_record(op, key, meta, from, inode_name(&op.id, number)),
                content,
            ));
            // Restoring must find its way into a shared file that others write to meanwhile: for
            // that it needs to know what deleting left.
            if let (Reason::Deleted | Reason::Archived, Change::Write { after, .. }) =
                (op.reason, change)
                && let Some(Content::Bytes(left)) = contents.get(&after.sha256)
                && merge_shared::merge(op, key, left, left, left).is_some()
            {
                let record = self.vault_record(op, key, *after, None, String::new());
                items.push((
                    VaultRecord {
                        inode: None,
                        ..record
                    },
                    Copied::Bytes(left),
                ));
            }
        }
        self.vault.save(&items)
    }

    fn vault_record(
        &self,
        op: &Operation,
        key: &str,
        meta: FileFacts,
        from: Option<u64>,
        inode: String,
    ) -> VaultRecord {
        VaultRecord {
            op: Some(op.id.clone()),
            reason: op.reason,
            session: op.session.clone(),
            root: op.root.clone(),
            key: key.to_owned(),
            sha256: meta.sha256,
            len: meta.len,
            mode: meta.mode,
            modified: meta.modified.unwrap_or_default(),
            at: op.at,
            from,
            inode: from.is_none().then_some(inode),
            derived: op.derived.iter().any(|derived| derived == key),
        }
    }

    /// Makes the bytes to be written durable, so that a later run can finish.
    fn stage(&self, op: &Operation, contents: &HashMap<Digest, Content>) -> Result<()> {
        durable::make_folders(self.disk.as_ref(), &self.ops_folder())?;
        for change in &op.changes {
            let sha256 = match change {
                Change::Write { after, .. } => after.sha256,
                Change::Append { added, .. } => *added,
                _ => continue,
            };
            let path = stage_path(&self.ops_folder(), &op.id, sha256);
            match contents.get(&sha256) {
                Some(Content::Bytes(bytes)) => {
                    durable::put(self.disk.as_ref(), &path, bytes, &self.id_source.hex16())?;
                }
                Some(Content::Pieces(from, patch)) => {
                    durable::put_with(
                        self.disk.as_ref(),
                        &path,
                        &self.id_source.hex16(),
                        |sink| feed_pieces(self.disk.as_ref(), from, patch, sink),
                    )?;
                }
                Some(Content::File(_)) | None => {}
            }
        }
        Ok(())
    }

    fn write_intent(&self, op: &Operation) -> Result<()> {
        let path = self.intent_path(&op.id);
        durable::put(
            self.disk.as_ref(),
            &path,
            &op.to_json().to_bytes(),
            &self.id_source.hex16(),
        )
    }

    /// Whether every file is still what it was when the steps were played through.
    fn expect_seen(&self, op: &Operation, seen: &BTreeMap<String, Stat>) -> Result<()> {
        for (key, was) in seen {
            let path = place(&op.root, key)?;
            let is = self
                .disk
                .stat(&path)
                .map_err(|error| Error::io(path.display(), "look at", error))?;
            if is.is_none_or(|is| {
                (is.identity, is.len, is.modified) != (was.identity, was.len, was.modified)
            }) {
                return Err(changed(&path));
            }
        }
        Ok(())
    }

    /// Whether every file that was written as a whole is what it should be. Appends were read
    /// back as they were made.
    pub(crate) fn verify(&self, op: &Operation) -> Result<()> {
        for (key, state) in op.final_states() {
            let path = place(&op.root, &key)?;
            let written = op.changes.iter().any(|change| {
                matches!(change, Change::Write { key: written, .. } | Change::Truncate { key: written, .. } if *written == key)
            });
            let (is, _) = read_state(self.disk.as_ref(), &path)?;
            let good = match (state, is) {
                (State::File(should), State::File(is)) if written => {
                    is.len >= should.len
                        && hash_file(self.disk.as_ref(), &path, should.len)?.finish()
                            == should.sha256
                }
                (State::File(should), State::File(is)) => is.len >= should.len,
                (State::Absent, State::File(_)) | (State::Folder | State::File(_), _) => {
                    is == state
                }
                (State::Absent, _) => true,
            };
            if !good {
                return Err(changed(&path));
            }
        }
        Ok(())
    }

    /// Writes the operation down, then forgets the intent.
    pub(crate) fn record(&self, op: &Operation) -> Result<()> {
        let log = self.home.join("ops.jsonl");
        let written = self
            .locks
            .exclusive("ops", self.wait)
            .and_then(|_lock| journal::append(self.disk.as_ref(), &log, &[op.to_json()]));
        written.map_err(|error| {
            error.because(format!(
                "the change was made but not recorded; the next operation finishes operation {}",
                op.id
            ))
        })?;
        // What stays of the intent is removed by the next run, which finds the
        // operation written down.
        let _ = self.forget(&op.id);
        Ok(())
    }

    /// How long each lock is waited for.
    pub(crate) fn wait(&self) -> Wait {
        self.wait
    }

    pub(crate) fn ops_folder(&self) -> PathBuf {
        self.home.join("ops")
    }

    pub(crate) fn intent_path(&self, op: &str) -> PathBuf {
        self.ops_folder().join(format!("intent-{op}.json"))
    }
}

/// What a change takes away: the file, what the copy is of, and where it begins if only the end
/// is cut.
fn lost(change: &Change) -> Option<(&str, FileFacts, Option<u64>)> {
    match change {
        Change::Write {
            key,
            before: Some(before),
            ..
        }
        | Change::Remove { key, before } => Some((key, *before, None)),
        Change::Truncate {
            key,
            before,
            after,
            cut,
        } => {
            let meta = FileFacts {
                sha256: *cut,
                len: before.len - after.len,
                ..*before
            };
            Some((key, meta, Some(after.len)))
        }
        _ => None,
    }
}
