//! Recovery: finishes or takes back operations that a crash interrupted, never half.
//!
//! The intent lists every change with the hash of each file before and after it. Playing the
//! changes through gives a snapshot of all files after 0, 1, 2, … changes; the snapshot that
//! matches the disk is how far the operation came ([`Position`]). From there it is finished if that
//! is possible, else taken back in reverse order. If not even the first change was made, it is
//! taken back, which changes nothing.
//!
//! Both directions are idempotent: every intermediate state is again one of the snapshots, so a
//! crash during recovery is handled by the next recovery. Bytes come from the stage and the vault,
//! which were durable before the intent.
//!
//! A file that another program changed in a way that fits no snapshot leaves the operation
//! *unsettled*: the intent stays, the reason is reported, and other operations on these files are
//! refused. Exceptions are shared files, which the dialect can merge (`merge_shared.rs`), and files
//! that only grew, if no change still has to be made to them.

use std::collections::{HashMap, HashSet};

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result};

use super::apply::Old;
use super::change::Change;
use super::merge_shared::Rebased;
use super::position::Position;
use super::run::old_of;
use super::{Content, Operation, Runner, place};
use crate::disk::{OpenMode, durable};
use crate::journal;
use crate::sha256::Digest;

/// The result of recovering one interrupted operation.
#[derive(Debug)]
pub struct Recovered {
    /// Id of the operation.
    pub op: String,
    /// Whether it was finished, taken back or left.
    pub outcome: RecoveryOutcome,
    pub(crate) unsettled: Option<Operation>,
}

/// How an interrupted operation was settled.
#[derive(Debug)]
pub enum RecoveryOutcome {
    /// All its changes are made, and it is recorded.
    Forward,
    /// None of its changes is left.
    Back,
    /// It was left as it is, for this reason.
    Unsettled(Error),
}

impl Runner {
    /// Recovers every interrupted operation. Called at start, and before every operation.
    pub fn recover(&self) -> Result<Vec<Recovered>> {
        // Most starts find no intent: then no lock file is written either.
        if self.intents()?.is_empty() {
            return Ok(Vec::new());
        }
        let _one = self.locks.exclusive("runner", self.wait)?;
        self.recover_locked()
    }

    /// Returns the ids of operations that were interrupted or are running now. Changes nothing.
    pub fn unfinished(&self) -> Result<Vec<String>> {
        self.intents()
    }

    /// Returns the ids of interrupted operations; none while an operation is running. Changes
    /// nothing.
    pub fn interrupted(&self) -> Result<Vec<String>> {
        if self.locks.is_held("runner")? {
            Ok(Vec::new())
        } else {
            self.intents()
        }
    }

    pub(crate) fn recover_locked(&self) -> Result<Vec<Recovered>> {
        let mut all = Vec::new();
        for id in self.intents()? {
            all.push(self.recover_one(&id)?);
        }
        if all.is_empty() {
            // Only without intents: the staged bytes of an unsettled operation are still needed.
            self.sweep_stage()?;
        }
        Ok(all)
    }

    fn recover_one(&self, id: &str) -> Result<Recovered> {
        let bytes = durable::read(self.disk.as_ref(), &self.intent_path(id))?.unwrap_or_default();
        let Some(op) = Raw::parse(&bytes)
            .ok()
            .and_then(Operation::from_json)
            .filter(|op| op.id == id)
        else {
            let error = Error::new(
                ErrorKind::Damaged,
                format!("the intent of operation {id} cannot be read"),
            );
            return Ok(Recovered {
                op: id.to_owned(),
                outcome: RecoveryOutcome::Unsettled(error),
                unsettled: None,
            });
        };
        let outcome = match self.settle(&op) {
            Ok(outcome) => outcome,
            Err(error) => {
                let outcome = RecoveryOutcome::Unsettled(error);
                return Ok(Recovered {
                    op: id.to_owned(),
                    outcome,
                    unsettled: Some(op),
                });
            }
        };
        Ok(Recovered {
            op: id.to_owned(),
            outcome,
            unsettled: None,
        })
    }

    fn settle(&self, op: &Operation) -> Result<RecoveryOutcome> {
        if self.is_recorded(&op.id)? {
            // The crash came between the record and the removal of the intent.
            self.renew_record(&op.id)?;
            self.forget(&op.id)?;
            return Ok(RecoveryOutcome::Forward);
        }
        let _held = self.taker().take(&op.root, &op.locks)?;
        // The agent's locks, as when the operation began: the agent may be running again.
        if let Some(rebased) = self.rebase(op)? {
            return self.settle_shared(&rebased);
        }
        let nothing = HashMap::new();
        let position = self.position(op, op.changes.len())?;
        // Without a single complete change, taking back changes nothing.
        if position.done > 0 && self.forward(op, &position, &nothing).is_ok() {
            self.record(op)?;
            return Ok(RecoveryOutcome::Forward);
        }
        self.take_back(op, op.changes.len(), &nothing)?;
        Ok(RecoveryOutcome::Back)
    }

    /// As [`settle`](Runner::settle), where another program has rewritten a shared file since.
    fn settle_shared(&self, rebased: &Rebased) -> Result<RecoveryOutcome> {
        let (op, contents) = (&rebased.forward, &rebased.contents);
        let position = self.position(op, op.changes.len())?;
        if position.done > 0 {
            self.save_before(op, contents)?;
            if self.forward(op, &position, contents).is_ok() {
                self.record(op)?;
                return Ok(RecoveryOutcome::Forward);
            }
        }
        let hands = self.hands(op, contents);
        // Numbers behind those of the operation, so that temporary files do not clash.
        for (number, change) in rebased.back.iter().enumerate() {
            hands.apply(op.changes.len() + number, change, Old::Dropped)?;
        }
        let others =
        // The merged files are done; all others are taken back as usual.
            |change: &&Change| !rebased.back.iter().any(|back| back.keys() == change.keys());
        let rest = Operation {
            changes: op.changes.iter().filter(others).cloned().collect(),
            ..op.clone()
        };
        self.take_back(&rest, rest.changes.len(), contents)?;
        Ok(RecoveryOutcome::Back)
    }

    fn forward(
        &self,
        op: &Operation,
        position: &Position,
        contents: &HashMap<Digest, Content>,
    ) -> Result<()> {
        let hands = self.hands(op, contents);
        self.fix_torn(op, position)?;
        for (number, change) in op.changes.iter().enumerate() {
            hands.sweep(number, change)?;
            // A folder that should be gone may exist again, because others use it, so its state
            // does not show how far the operation came. Removing it once more does no harm.
            if number >= position.done || matches!(change, Change::RemoveFolder { .. }) {
                refuse_grown(change, &position.grown)?;
                hands.apply(number, change, old_of(op))?;
            }
        }
        self.verify(op)
    }

    /// Takes back the changes so far, in reverse order, and removes the intent. At most `reached`
    /// changes were begun.
    pub(super) fn take_back(
        &self,
        op: &Operation,
        reached: usize,
        contents: &HashMap<Digest, Content>,
    ) -> Result<()> {
        let position = self.position(op, reached)?;
        let hands = self.hands(op, contents);
        self.fix_torn(op, &position)?;
        for (number, change) in op.changes.iter().enumerate().rev() {
            hands.sweep(number, change)?;
            if number < position.done {
                refuse_grown(change, &position.grown)?;
                if !hands.put_old_back(number, change)? {
                    hands.apply(number, &change.inverse(), Old::Dropped)?;
                }
            }
        }
        self.forget(&op.id)
    }

    fn fix_torn(&self, op: &Operation, position: &Position) -> Result<()> {
        let Some(Change::Append { key, before, .. }) =
            op.changes.get(position.done).filter(|_| position.torn)
        else {
            return Ok(());
        };
        let path = place(&op.root, key)?;
        let fault = |error| Error::io(path.display(), "cut", error);
        let file = self.disk.open(&path, OpenMode::Append).map_err(fault)?;
        file.truncate(before.len).map_err(fault)?;
        // Agents and lists take the time of a log for that of the last message.
        if let Some(time) = before.modified {
            file.set_mode_and_time(before.mode, i128::from(time))
                .map_err(fault)?;
        }
        file.sync().map_err(fault)
    }

    pub(crate) fn is_recorded(&self, id: &str) -> Result<bool> {
        let id_of = |raw: Raw<'_>| raw.get("op")?.text().map(std::borrow::Cow::into_owned);
        let loaded = journal::load(self.disk.as_ref(), &self.home.join("ops.jsonl"), id_of)?;
        Ok(loaded.items.iter().any(|recorded| recorded == id))
    }

    /// Makes the record of an operation durable again. Its intent still exists, so the process that
    /// wrote the line was killed, or its `fsync` failed: the line may be readable without being on
    /// disk.
    fn renew_record(&self, id: &str) -> Result<()> {
        let is_it = |raw: Raw<'_>| raw.get("op").is_some_and(|op| op.is(id));
        let _lock = self.locks.exclusive("ops", self.wait)?;
        journal::renew(self.disk.as_ref(), &self.home.join("ops.jsonl"), is_it)
    }

    /// Removes the intent, and then the staged bytes. The latter is not synced: files that a crash
    /// brings back are removed by the next operation (`sweep_stage`).
    pub(super) fn forget(&self, id: &str) -> Result<()> {
        let path = self.intent_path(id);
        durable::remove_if_there(self.disk.as_ref(), &path)?;
        durable::sync_parent(self.disk.as_ref(), &path)?;
        for name in self
            .ops_files()?
            .iter()
            .filter(|name| name.starts_with(&format!("stage-{id}-")))
        {
            durable::remove_if_there(self.disk.as_ref(), &self.ops_folder().join(name))?;
        }
        Ok(())
    }

    /// Removes staged bytes that belong to no intent.
    fn sweep_stage(&self) -> Result<()> {
        for name in self.ops_files()? {
            if name.starts_with("stage-") || name.starts_with('.') {
                durable::remove_if_there(self.disk.as_ref(), &self.ops_folder().join(name))?;
            }
        }
        Ok(())
    }

    fn intents(&self) -> Result<Vec<String>> {
        let mut ids: Vec<String> = self
            .ops_files()?
            .iter()
            .filter_map(|name| {
                name.strip_prefix("intent-")?
                    .strip_suffix(".json")
                    .map(str::to_owned)
            })
            .collect();
        ids.sort();
        Ok(ids)
    }

    pub(crate) fn ops_files(&self) -> Result<Vec<String>> {
        let folder = self.ops_folder();
        match self.disk.list(&folder) {
            Ok(found) => Ok(found.into_iter().map(|(name, _)| name).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io(folder.display(), "list", error)),
        }
    }
}

fn refuse_grown(change: &Change, grown: &HashSet<String>) -> Result<()> {
    match change.keys().into_iter().find(|key| grown.contains(*key)) {
        Some(key) => Err(Error::new(
            ErrorKind::Conflict,
            format!("{} changed meanwhile", super::shown(key)),
        )),
        None => Ok(()),
    }
}
