//! Metadata: into the session where its format has a place, else a note beside it.

use std::process::ExitCode;

use boswell_dialect::{Draft, Operation, Support};
use boswell_model::json::Json;
use boswell_model::{Result, SessionRef};
use boswell_store::{NoteKind, Resolved};

use super::receipt;
use crate::machine::Machine;
use crate::output::Output;

/// Appends the draft if the dialect has a place for it that appending reaches; else leaves notes and says so.
pub(crate) fn annotate_or_note(
    machine: &Machine,
    found: &Resolved,
    operation: Operation,
    draft: Draft,
    notes: Vec<NoteKind>,
) -> Result<ExitCode> {
    let dialect = found.store.dialect();
    let mut out = Output::paged(machine);
    if found.store.support(operation) == Support::Native {
        let receipt = found.store.annotate(&found.located.id, draft)?;
        receipt::print(&receipt, &mut out)?;
    } else {
        let reference = SessionRef::new(dialect.name(), &found.located.id);
        let mut kept = machine.notes()?;
        for note in notes {
            kept.add(&reference, machine.now, note)?;
        }
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "note")
                    .with("session", reference.to_string())
                    .with("what", operation.word()),
            )?;
        } else {
            out.line(&reference.to_string())?;
        }
        if !machine.quiet {
            crate::failure::say(&format!("kept as a note of boswell's: {} itself is not told", dialect.title()));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
