//! `rename`: a title.

use std::process::ExitCode;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::words::acknowledgement;

/// Set the title of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell rename @last 'red build on main'
  boswell rename 0b7e '会话恢复'")]
pub(crate) struct RenameArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The new title
    title: String,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RenameArgs) -> Result<ExitCode> {
    let request = AnnotateRequest {
        session: args.session.clone(),
        annotation: Annotation::Title(args.title.clone()),
    };
    let done = app.shown(app.requests.annotate(&request))?;
    acknowledgement::answer(app, done)
}
