//! `label`: a name for an entry.

use std::process::ExitCode;

use boswell_dialect::{Depth, EditRequest};
use boswell_model::Result;
use boswell_store::NoteKind;
use clap::Args;

use super::note::annotate_or_note;
use crate::app::App;

/// Name an entry, or take its name away
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell label @last a1b2c3d4 before-refactoring
  boswell label 0b7e a1b2c3d4 --clear")]
pub(crate) struct LabelArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The entry
    entry: String,
    /// Its name
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    label: Option<String>,
    /// Take the name away
    #[arg(long)]
    clear: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &LabelArgs) -> Result<ExitCode> {
    let found = app.resolve_for_writing(&args.session)?;
    let session = found.store.read(&found.location, Depth::Heads)?;
    let target = session.log().label(session.find(&args.entry)?).into_owned();
    let request = EditRequest::Label {
        entry: target.clone(),
        label: args.label.clone(),
    };
    let note = NoteKind::Label {
        entry: target,
        label: args.label.clone(),
    };
    annotate_or_note(app, &found, &request, vec![note])
}
