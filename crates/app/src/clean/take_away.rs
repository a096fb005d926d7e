//! Removes a session in the way of its dialect; the vault keeps a copy.

use boswell_dialect::{Capability, EditRequest, unsupported};
use boswell_model::{ErrorKind, Result, SessionRef};
use boswell_store::{Outcome, Resolved, SessionWriter, Wait};

use crate::{RequestContext, planned_change};

/// Removes a session, and returns the id of the operation.
pub(super) fn take_away(cx: &RequestContext, found: &Resolved) -> Result<String> {
    if plans(found) {
        let done = planned_change::execute(cx, found, &EditRequest::Delete)?;
        return Ok(done.operation.id);
    }
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let keys = files_of(found)?;
    let writer = hold(found)?;
    let runner = cx.runner()?;
    let operation = runner.delete(found.store.root(), &keys, &reference)?;
    if let Some(writer) = writer {
        // Nothing is written by this: only the lease is given up.
        let _ = writer.close(Outcome::Open);
    }
    Ok(operation.id)
}

/// Whether sessions of that dialect can be removed at all.
pub(super) fn can_remove(found: &Resolved) -> Result<()> {
    if plans(found) {
        Ok(())
    } else {
        files_of(found).map(drop)
    }
}

fn plans(found: &Resolved) -> bool {
    found.store.dialect().powers().plans(Capability::Delete)
}

/// Every file of a session: its log, and its side files.
fn files_of(found: &Resolved) -> Result<Vec<String>> {
    let facts = found.store.dialect().facts();
    if !facts.log_is_session {
        return Err(unsupported(
            facts.name,
            "be deleted yet",
            "delete it with its own agent",
        ));
    }
    let mut keys: Vec<String> = found.location.key.iter().cloned().collect();
    let side_files = found.store.side_files(&found.location)?;
    keys.extend(side_files.into_iter().map(|file| file.key));
    Ok(keys)
}

/// Takes the lease of a session: a process that writes the conversation must not find its log gone.
fn hold(found: &Resolved) -> Result<Option<SessionWriter>> {
    match found.store.writer(&found.location.id, Wait::No) {
        Ok(writer) => Ok(Some(writer)),
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        // A log that cannot be appended to can be removed all the same.
        Err(_) => Ok(None),
    }
}
