//! Metadata: into the session where its format has a place, else a note beside it.

use std::process::ExitCode;

use boswell_dialect::{Draft, Operation, Support, unsupported};
use boswell_model::Result;
use boswell_store::Resolved;

use super::receipt;
use crate::machine::Machine;
use crate::output::Output;

/// What is said of a session, for formats that have no place for it.
#[derive(Debug)]
pub(crate) enum Note {
    Title(String),
    Tags { add: Vec<String>, remove: Vec<String> },
    Label { entry: String, label: Option<String> },
    Status { status: &'static str, message: Option<String> },
}

/// Appends the draft if the dialect has a place for it; else leaves a note and says so.
pub(crate) fn annotate_or_note(
    machine: &Machine,
    found: &Resolved,
    operation: Operation,
    draft: Draft,
    note: Note,
) -> Result<ExitCode> {
    let dialect = found.store.dialect();
    match dialect.capabilities().support(operation) {
        Support::Native => {
            let receipt = found.store.annotate(&found.located.id, draft)?;
            let mut out = Output::paged(machine);
            receipt::print(&receipt, &mut out)?;
            out.finish()?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(unsupported(
            dialect.name(),
            &format!("take a {} yet ({note:?})", operation.word()),
            "see what each store can with `boswell stores`",
        )),
    }
}
