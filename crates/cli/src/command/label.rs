//! `label`: a name for an entry.

use std::process::ExitCode;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::words::acknowledgement;

/// Name an entry, or remove its name
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell label @last a1b2c3d4 before-refactoring
  boswell label 0b7e a1b2c3d4 --clear")]
pub(crate) struct LabelArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The entry: its id, or #LINE
    entry: String,
    /// The name
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    label: Option<String>,
    /// Remove the name
    #[arg(long)]
    clear: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &LabelArgs) -> Result<ExitCode> {
    let request = AnnotateRequest {
        session: args.session.clone(),
        annotation: Annotation::Label {
            entry: args.entry.clone(),
            label: args.label.clone(),
        },
    };
    let done = app.shown(app.requests.annotate(&request))?;
    acknowledgement::answer(app, done)
}
