//! Checks the preconditions of a plan before its first step: a key is free, a file is unchanged, no
//! program is using it.
//!
//! They are checked under the plan's locks, after recovery. Agents that take no locks can still
//! write afterwards; [`Runner::run`] compares every file again right before the first change.

use std::path::Path;

use boswell_dialect::{ExpectedState, Precondition};
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::apply::changed;
use super::change::{Change, State};
use super::compile::read_state;
use super::paths::{place, shown};
use super::{Operation, Recovered, Runner};
use crate::agents::idle_agents::idle_drivers;
use crate::sha256::hash_file;

/// Finds out whether a program is using a file, for plans that require that none is.
pub trait Watcher: Send + Sync + std::fmt::Debug {
    /// Returns a name for the program that is using the file, for messages; `None` if there is
    /// none.
    fn active_process(&self, path: &Path) -> Result<Option<String>>;
}

impl Runner {
    pub(crate) fn check(&self, root: &Path, conditions: &[Precondition]) -> Result<()> {
        for condition in conditions {
            match condition {
                Precondition::Absent { key } => {
                    if read_state(self.disk.as_ref(), &place(root, key)?)?.0 != State::Absent {
                        return Err(Error::new(
                            ErrorKind::Conflict,
                            format!("{} is taken", shown(key)),
                        ));
                    }
                }
                Precondition::Unchanged { key, was } => self.check_unchanged(root, key, was)?,
                Precondition::NotLive { key } => self.check_not_live(root, key)?,
                other => {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        format!("this version does not know how to check: {other}"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_unchanged(&self, root: &Path, key: &str, was: &ExpectedState) -> Result<()> {
        let path = place(root, key)?;
        let (_, stat) = read_state(self.disk.as_ref(), &path)?;
        let Some(stat) = stat else {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("`{}` does not exist any more", path.display()),
            ));
        };
        let same = was.len.is_none_or(|len| len == stat.len)
            && was
                .identity
                .is_none_or(|identity| identity == stat.identity)
            && match &was.sha256 {
                Some(hex) => {
                    hash_file(self.disk.as_ref(), &path, stat.len)?
                        .finish()
                        .to_string()
                        == *hex
                }
                None => true,
            };
        if same { Ok(()) } else { Err(changed(&path)) }
    }

    fn check_not_live(&self, root: &Path, key: &str) -> Result<()> {
        let path = place(root, key)?;
        let who = match &self.watcher {
            Some(watcher) => watcher.active_process(&path)?,
            // Without a watcher: any process that has the file open for writing, as the system
            // reports it, and any agent that drives the session without having it open.
            None => {
                let stat = self
                    .disk
                    .stat(&path)
                    .map_err(|error| Error::io(path.display(), "look at", error))?;
                let mut pids = stat
                    .map(|stat| self.disk.writers_of(stat.identity))
                    .unwrap_or_default();
                pids.extend(idle_drivers(self.disk.as_ref(), root, &path));
                pids.first().map(|pid| format!("process {pid}"))
            }
        };
        match who {
            None => Ok(()),
            Some(who) => Err(Error::new(
                ErrorKind::Busy,
                format!("`{}` is in use", path.display()),
            )
            .because(format!("{} is at work on it", who.escape_debug()))
            .advising(Advice::RetryLater)),
        }
    }
}

/// Refuses an operation on files of an interrupted operation that could not be settled: its intent
/// describes these files, and another change would make recovery impossible.
pub(super) fn refuse_unsettled(op: &Operation, open: &[Recovered]) -> Result<()> {
    for unsettled in open
        .iter()
        .filter_map(|recovered| recovered.unsettled.as_ref())
    {
        let mut keys = op.changes.iter().flat_map(Change::keys);
        if unsettled.root == op.root && keys.any(|key| unsettled.initial.contains_key(key)) {
            return Err(Error::new(ErrorKind::Conflict, format!("operation {} is unfinished", unsettled.id))
                .because("it was interrupted, and its files were changed before it could be finished or rolled back")
                .advising(Advice::ListOperations));
        }
    }
    Ok(())
}
