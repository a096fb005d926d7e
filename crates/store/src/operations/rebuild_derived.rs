//! Rebuilds derived files, such as an agent's index, as part of another change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::{StoreRequest, by_name};
use boswell_model::{ErrorKind, Result};

use super::overlay::Overlay;
use crate::backend::{BackendFiles, FsBackend};
use crate::runner::{Change, Content, Lowered, Runner, lower};

impl Runner {
    /// The files that a change writes, with their new bytes, and those that it removes.
    fn becoming(&self, change: &Lowered) -> Result<BTreeMap<String, Option<Vec<u8>>>> {
        let mut becoming = BTreeMap::new();
        for one in &change.changes {
            match one {
                Change::Write { key, after, .. } => {
                    let bytes = match change.contents.get(&after.sha256) {
                        Some(Content::Bytes(bytes)) => bytes.clone(),
                        _ => self.vault.get(after.sha256)?,
                    };
                    becoming.insert(key.clone(), Some(bytes));
                }
                Change::Remove { key, .. } => {
                    becoming.insert(key.clone(), None);
                }
                _ => {}
            }
        }
        Ok(becoming)
    }

    /// Adds the rebuilding of an agent's indexes to a change. They are computed from the files as
    /// the change will leave them, not from the old index, because the files may have changed
    /// since. Only indexes that are `wanted` are rebuilt.
    pub(super) fn derive(
        &self,
        root: &Path,
        dialect: &str,
        wanted: &dyn Fn(&str) -> bool,
        out: &mut Lowered,
    ) -> Result<()> {
        let Some(dialect) = by_name(dialect) else {
            return Ok(());
        };
        let backend = FsBackend::on(Arc::clone(&self.disk), root);
        let files = Overlay {
            files: &BackendFiles(&backend),
            becoming: self.becoming(out)?,
        };
        let Some(edits) = dialect.powers().edits else {
            return Ok(());
        };
        let mut plan = match edits.plan_store(&files, &StoreRequest::Index, self.id_source.as_ref())
        {
            Ok(planned) => planned.plan,
            // This agent has no index.
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        // An index that contains more than what can be rebuilt is rebuilt only on request.
        plan.derived.retain(|key| wanted(key));
        plan.steps.retain(|step| {
            step.keys()
                .iter()
                .all(|key| plan.derived.iter().any(|derived| derived == key))
        });
        let lowered = lower(self.disk.as_ref(), root, &plan)?;
        out.derived = plan.derived;
        out.contents.extend(lowered.contents);
        out.seen.extend(lowered.seen);
        for (key, state) in lowered.initial {
            out.initial.entry(key).or_insert(state);
        }
        out.changes.extend(lowered.changes);
        Ok(())
    }
}
