//! Finds sessions that were moved into the vault, and reads them there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{Plan, Step, by_name};
use boswell_model::{Result, SessionRef};

use super::list::undone;
use crate::Store;
use crate::backend::VaultBackend;
use crate::disk::durable;
use crate::journal;
use crate::runner::{Operation, Runner, State, place};
use crate::vault::Reason;

/// The text that `ops.jsonl` contains if anything was ever archived: in most homes the search ends
/// here.
const MARK: &[u8] = b"\"reason\":\"archived\"";

impl Runner {
    /// Moves files of a session into the vault, for dialects whose sessions are only files.
    pub fn archive_files(
        &self,
        root: &Path,
        keys: &[String],
        session: &SessionRef,
    ) -> Result<Operation> {
        let mut plan = Plan::new("archive", format!("archive {session}"));
        plan.steps = keys.iter().map(Step::remove).collect();
        self.run(root, &plan, session, Reason::Archived)
    }

    /// Returns every archived session as a read-only store with the files that it had.
    pub fn archived(&self) -> Result<Vec<Store>> {
        let path = self.home.join("ops.jsonl");
        let bytes = durable::read(self.disk.as_ref(), &path)?.unwrap_or_default();
        if memchr::memmem::find(&bytes, MARK).is_none() {
            return Ok(Vec::new());
        }
        let operations = journal::load(self.disk.as_ref(), &path, Operation::from_json)?.items;
        let undone = undone(&operations);
        // If a session was archived twice, the last time counts.
        let mut last = BTreeMap::new();
        for op in operations
            .into_iter()
            .filter(|op| op.reason == Reason::Archived && !undone.contains(&op.id))
        {
            last.insert((op.root.clone(), op.session.clone()), op);
        }
        Ok(last
            .into_values()
            .filter_map(|op| self.as_store(&op))
            .collect())
    }

    /// Returns the session before it was archived; `None` if it is back in its place.
    fn as_store(&self, op: &Operation) -> Option<Store> {
        let dialect = by_name(&op.session.dialect)?;
        let end = op.final_states();
        let removed = |key: &&String| end.get(*key).is_none_or(|state| state.file().is_none());
        let stands = |key: &String| {
            place(&op.root, key)
                .ok()
                .and_then(|path| self.disk.stat(&path).ok().flatten())
                .is_some_and(|it| it.len > 0)
        };
        let files: BTreeMap<_, _> = op
            .initial
            .iter()
            .filter_map(|(key, state): (_, &State)| Some((key.clone(), state.file()?)))
            .collect();
        if files.keys().filter(removed).any(stands) {
            return None;
        }
        let backend = VaultBackend::new(self.vault.clone(), op.root.clone(), files);
        Some(
            Store::on(dialect, Arc::new(backend), &op.root)
                .with_home(&self.home)
                .archiving(&op.session.id),
        )
    }
}
