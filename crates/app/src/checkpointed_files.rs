//! Project files from the checkpoints of boswell's own sessions.

use std::path::PathBuf;

use boswell_dialect::Draft;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::Session;
use boswell_store::WritableStore;
use boswell_store::checkpoint::Checkpoints;
use boswell_store::checkpoint::{
    CUSTOM_TYPE, Captured, Done, FileDiff, OnConflict, RestoreRefusal, State, TextDiff,
};
use boswell_store::store::Resolved;

use crate::RequestContext;
use crate::files::{FileDifference, FormerFile, RestoreStep};
use crate::shape::Maybe;

/// The checkpointed files of a session at an entry, and the folder they belong to.
#[derive(Debug)]
pub(crate) struct CheckpointedFiles {
    state: State,
    root: PathBuf,
    checkpoints: Checkpoints,
}

impl CheckpointedFiles {
    /// Collects the files. With `paths`, only files below these.
    ///
    /// # Errors
    ///
    /// Unsupported if the session cannot have checkpoints, NotFound if its folder does not exist.
    pub(crate) fn at(
        cx: &RequestContext,
        session: &Session,
        entry: &str,
        paths: &[&str],
    ) -> Result<CheckpointedFiles> {
        let facts = session.dialect().facts();
        if !facts.is_own {
            return Err(boswell_dialect::unsupported(
                facts.name,
                "restore files yet",
                Advice::ShowFiles,
            ));
        }
        let root = PathBuf::from(session.meta().project.clone().unwrap_or_default());
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the session's folder `{}` does not exist", root.display()),
            )
            .advising("files are only restored below the folder of the session's project"));
        }
        let found = State::in_session(session, entry)?;
        for (entry, error) in &found.damaged {
            let what = format!("the checkpoint at {entry} cannot be read");
            cx.fail(Error::new(ErrorKind::Damaged, what).because(error.to_string()));
        }
        let state = if paths.is_empty() {
            found.state
        } else {
            found.state.only(paths)
        };
        Ok(CheckpointedFiles {
            state,
            root,
            checkpoints: cx.own_home()?.checkpoints(),
        })
    }

    /// Returns the former state of each file.
    pub(crate) fn states(&self, session: &SessionRef) -> Vec<FormerFile> {
        let state = |then: &Captured| match then {
            Captured::File { blob, .. } => ("file", Some(blob.reference())),
            Captured::Absent => ("absent", None),
            Captured::Skipped(why) => (why.word(), None),
        };
        let files = self.state.files();
        files
            .map(|(path, tracked)| {
                let (state, blob) = state(&tracked.then);
                FormerFile {
                    session: session.to_string(),
                    prompt: Maybe::Absent,
                    path: path.to_owned(),
                    state,
                    blob: Maybe::Given(blob),
                    bytes: Maybe::Absent,
                }
            })
            .collect()
    }

    /// Returns how the files differ from their current contents.
    pub(crate) fn differences(&self, session: &SessionRef) -> Vec<FileDifference> {
        let compared = self.checkpoints.diff(&self.state, &self.root);
        let difference = |(path, diff)| {
            let (change, diff) = describe(diff);
            FileDifference {
                session: session.to_string(),
                prompt: Maybe::Absent,
                path,
                change,
                conflict: Maybe::Absent,
                diff,
            }
        };
        compared.into_iter().map(difference).collect()
    }

    /// Restores the files. The replaced contents are stored in the session, so that this can be
    /// undone.
    ///
    /// # Errors
    ///
    /// Conflict if another program changed one of them and `force` is not set; the others are
    /// restored.
    pub(crate) fn restore(
        &self,
        cx: &RequestContext,
        found: &Resolved<WritableStore>,
        force: bool,
        sink: &mut dyn FnMut(RestoreStep) -> Result<()>,
    ) -> Result<()> {
        let policy = if force {
            OnConflict::Overwrite
        } else {
            OnConflict::Stop
        };
        let restored = self.checkpoints.restore(&self.state, &self.root, policy)?;
        for (path, done) in &restored.done {
            let word = match done {
                Done::Written => "restored",
                Done::Removed => "removed",
            };
            sink(step(path, word))?;
        }
        for (path, refusal) in &restored.refused {
            sink(step(path, &refused(refusal)))?;
        }
        if !restored.done.is_empty() {
            let undo = Draft::custom(CUSTOM_TYPE, restored.undo.to_json());
            let entry = found.store.annotate(&found.location.id, undo)?.entry;
            cx.remark(format!(
                "what the files were before is kept at entry {entry}"
            ));
        }
        let mut refusals = restored.refused.iter();
        if refusals.any(|(_, refusal)| matches!(refusal, RestoreRefusal::Conflict)) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "some files were changed since by another program",
            )
            .advising(Advice::ForceRestore));
        }
        Ok(())
    }
}

fn step(path: &str, done: &str) -> RestoreStep {
    RestoreStep {
        path: path.to_owned(),
        done: done.to_owned(),
    }
}

fn refused(refusal: &RestoreRefusal) -> String {
    match refusal {
        RestoreRefusal::Conflict => "conflict: it was changed since".to_owned(),
        RestoreRefusal::Skipped(why) => format!("skipped: {}", why.word()),
        RestoreRefusal::Git => "refused: it is in git's own folder".to_owned(),
        RestoreRefusal::Failed(error) => format!("failed: {error}"),
        _ => "refused".to_owned(),
    }
}

fn describe(diff: FileDiff) -> (&'static str, Option<String>) {
    match diff {
        FileDiff::Unchanged => ("unchanged", None),
        FileDiff::Changed(TextDiff::Hunks(hunks)) => ("changed", Some(hunks)),
        FileDiff::Changed(TextDiff::Binary) => ("changed, not text", None),
        FileDiff::Changed(TextDiff::TooLarge) => ("changed, too large to compare", None),
        FileDiff::Mode { .. } => ("other permissions", None),
        FileDiff::Missing => ("gone", None),
        FileDiff::New => ("new since", None),
        FileDiff::Skipped(why) => (why.word(), None),
        FileDiff::Unavailable(_) => ("its former content is lost", None),
        _ => ("changed", None),
    }
}
