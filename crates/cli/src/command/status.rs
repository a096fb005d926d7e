//! `status` and `close`.

use std::process::ExitCode;

use boswell_dialect::EditRequest;
use boswell_model::Result;
use boswell_store::NoteKind;
use clap::{Args, ValueEnum};

use super::note::annotate_or_note;
use crate::app::App;

/// Set the status of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell status @last paused
  boswell status 0b7e error --message 'out of tokens'")]
pub(crate) struct StatusArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The status
    #[arg(value_enum)]
    status: Status,
    /// What went wrong, for `error`
    #[arg(long)]
    message: Option<String>,
}

/// End a session: its status becomes `completed`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell close @last
  boswell close 0b7e")]
pub(crate) struct CloseArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    Active,
    Paused,
    Completed,
    Error,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Error => "error",
        }
    }
}

/// Runs `status`.
pub(crate) fn run(app: &App, args: &StatusArgs) -> Result<ExitCode> {
    set(app, &args.session, args.status, args.message.as_deref())
}

/// Runs `close`.
pub(crate) fn close(app: &App, args: &CloseArgs) -> Result<ExitCode> {
    set(app, &args.session, Status::Completed, None)
}

fn set(app: &App, session: &str, status: Status, message: Option<&str>) -> Result<ExitCode> {
    let found = app.resolve_front_for_writing(session)?;
    let request = EditRequest::Status {
        status: status.word().to_owned(),
        message: message.map(str::to_owned),
    };
    let note = NoteKind::Status {
        status: status.word().to_owned(),
        message: message.map(str::to_owned),
    };
    let code = annotate_or_note(app, &found, &request, vec![note])?;
    if matches!(status, Status::Completed) {
        super::summarize::at_close(app, &found);
    }
    Ok(code)
}
