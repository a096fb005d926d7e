//! The output of commands that write.

use std::process::ExitCode;

use boswell_app::acknowledgement::{Acknowledgement, ReceiptShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;

use super::planned_change;
use crate::app::App;
use crate::output::Output;
use crate::terminal::one_line;

/// The whole answer of a command that makes one change.
pub(crate) fn answer(app: &App, done: Acknowledgement) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    print(done, &mut out)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(done: Acknowledgement, out: &mut Output) -> Result<()> {
    match done {
        Acknowledgement::Receipt(receipt) => print_receipt(receipt, out),
        Acknowledgement::Operation(operation) => planned_change::print(operation, out),
        Acknowledgement::Note(note) if out.json => out.object(&note.object()),
        Acknowledgement::Note(note) => out.line(&note.session),
    }
}

/// Prints the acknowledgement of an entry.
pub(crate) fn print_receipt(receipt: ReceiptShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&receipt.object());
    }
    let again = if receipt.deduplicated {
        " (already present)"
    } else {
        ""
    };
    out.line(&format!("{}{again}", one_line(&receipt.entry)))
}
