//! Finishes or cancels a rewind that MyAgents started and did not finish, by the app's own intent.

use boswell_model::json::Raw;
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::super::index_file::RowEdit;
use super::super::rewind_intent::{Engine, Intent, Recovery};
use super::super::row::PENDING;
use super::input::{Work, set_or_remove};

impl Work<'_> {
    /// Rolls an unfinished rewind back or forward, decided by the number of rows; fails if that
    /// matches neither state.
    pub(super) fn settle(&mut self) -> Result<()> {
        let Some(mut row) = self.index.row(self.id()) else {
            return Ok(());
        };
        let Some(pending) = pending(&row) else {
            return Ok(());
        };
        let Some(intent) = Raw::parse(&pending).ok().and_then(Intent::parse) else {
            return Err(self.unknown_change());
        };
        let rows = self.view().log.heads.len() as u64;
        match intent.recovery(bound(&row, intent.engine).as_deref(), rows, self.is_sound()) {
            Recovery::RollBack => {
                row.remove(PENDING)?;
                self.remarks
                    .push("a rewind that was announced and not started was dropped".into());
            }
            Recovery::RollForward => {
                finish(&mut row, &intent)?;
                self.stats(self.view().log.heads.len())?.write(&mut row)?;
                set_or_remove(
                    &mut row,
                    "lastMessagePreview",
                    self.preview(self.view().log.heads.len())?,
                )?;
                self.remarks
                    .push("a rewind that was interrupted was finished".into());
            }
            Recovery::Inconsistent(why) => {
                return Err(self.cannot_be_finished(why));
            }
        }
        self.put_row(row);
        Ok(())
    }

    /// Returns the error for an unfinished change of a kind that is not known.
    fn unknown_change(&self) -> Error {
        Error::new(
            ErrorKind::TooNew,
            format!("a change of {} was started and not finished", self.id()),
        )
        .because("this version does not know its kind")
        .advising("open the session in MyAgents, which finishes it")
    }

    /// Returns the error for a rewind that can be rolled neither back nor forward.
    fn cannot_be_finished(&self, why: &'static str) -> Error {
        Error::new(
            ErrorKind::Damaged,
            format!("a rewind of {} cannot be finished", self.id()),
        )
        .because(why)
        .advising(Advice::check(format!("myagents:{}", self.id())))
    }
}

/// Returns the bytes of the intent in a row.
fn pending(row: &RowEdit) -> Option<Vec<u8>> {
    let intent = row.raw().get(PENDING)?;
    (!intent.is_null()).then(|| intent.bytes().to_vec())
}

/// Returns the engine's session that a row is bound to.
pub(super) fn bound(row: &RowEdit, engine: Engine) -> Option<String> {
    match engine {
        Engine::Sdk => {
            let unified = row.raw().get("unifiedSession").and_then(|v| v.bool()) == Some(true);
            row.text("sdkSessionId")
                .or_else(|| row.text("id").filter(|_| unified))
        }
        Engine::Codex => row.text("runtimeSessionId"),
    }
}

/// Binds a row to the engine's new session after a rewind, and removes the members of the old one.
pub(super) fn finish(row: &mut RowEdit, intent: &Intent) -> Result<()> {
    match intent.engine {
        Engine::Sdk => {
            set_or_remove(row, "sdkSessionId", intent.replacement.clone())?;
            row.set("unifiedSession", false)?;
        }
        Engine::Codex => set_or_remove(row, "runtimeSessionId", intent.replacement.clone())?,
    }
    for key in [
        "forkFrom",
        "runtimeUsageTotals",
        "lastContextUsage",
        PENDING,
    ] {
        row.remove(key)?;
    }
    Ok(())
}
