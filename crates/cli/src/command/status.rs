//! `status` and `close`.

use std::process::ExitCode;

use boswell_app::annotate::{AnnotateRequest, Annotation, SessionStatus};
use boswell_model::Result;
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::words::acknowledgement;

/// Set the status of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell status @last paused
  boswell status 0b7e error --message 'out of tokens'")]
pub(crate) struct StatusArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The new status
    #[arg(value_enum)]
    status: StatusArg,
    /// Error message, with the status `error`
    #[arg(long)]
    message: Option<String>,
}

/// Mark a session as completed
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell close @last
  boswell close 0b7e")]
pub(crate) struct CloseArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatusArg {
    Active,
    Paused,
    Completed,
    Error,
}

impl From<StatusArg> for SessionStatus {
    fn from(arg: StatusArg) -> SessionStatus {
        match arg {
            StatusArg::Active => SessionStatus::Active,
            StatusArg::Paused => SessionStatus::Paused,
            StatusArg::Completed => SessionStatus::Completed,
            StatusArg::Error => SessionStatus::Error,
        }
    }
}

/// Runs `status`.
pub(crate) fn run(app: &App, args: &StatusArgs) -> Result<ExitCode> {
    let annotation = Annotation::Status {
        status: args.status.into(),
        message: args.message.clone(),
    };
    set(app, &args.session, annotation)
}

/// Runs `close`.
pub(crate) fn close(app: &App, args: &CloseArgs) -> Result<ExitCode> {
    set(app, &args.session, Annotation::CLOSE)
}

fn set(app: &App, session: &str, annotation: Annotation) -> Result<ExitCode> {
    let request = AnnotateRequest {
        session: session.to_owned(),
        annotation,
    };
    let done = app.shown(app.requests.annotate(&request))?;
    acknowledgement::answer(app, done)
}
