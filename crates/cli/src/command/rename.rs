//! `rename`: a title.

use std::process::ExitCode;

use boswell_dialect::EditRequest;
use boswell_model::Result;
use boswell_store::NoteKind;
use clap::Args;

use super::note::annotate_or_note;
use crate::app::App;

/// Give a session a title
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell rename @last 'red build on main'
  boswell rename 0b7e '会话恢复'")]
pub(crate) struct RenameArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The title
    title: String,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RenameArgs) -> Result<ExitCode> {
    let found = app.resolve_front_for_writing(&args.session)?;
    let request = EditRequest::Title(args.title.clone());
    annotate_or_note(
        app,
        &found,
        &request,
        vec![NoteKind::Title(Some(args.title.clone()))],
    )
}
