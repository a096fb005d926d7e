//! `new`: make a session.

use std::process::ExitCode;

use boswell_app::new_session::NewSessionRequest;
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;

/// Make a session and print its ref
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell new --project . --title 'red build'
  boswell new --dialect boswell --project /proj/api --json")]
pub(crate) struct NewArgs {
    /// How it is written
    #[arg(long, alias = "agent", default_value = "boswell")]
    dialect: String,
    /// The folder that it is about
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: String,
    /// Its title
    #[arg(long)]
    title: Option<String>,
    /// Its id, if you have one already
    #[arg(long)]
    id: Option<String>,
    /// Who answers, where the dialect drives other programs: claude, codex, gemini
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

impl From<&NewArgs> for NewSessionRequest {
    fn from(args: &NewArgs) -> NewSessionRequest {
        NewSessionRequest {
            dialect: args.dialect.clone(),
            project: args.project.clone().into(),
            title: args.title.clone(),
            id: args.id.clone(),
            backend: args.backend.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &NewArgs) -> Result<ExitCode> {
    let made = app.shown(app.requests.new_session(&args.into()))?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&made.session.object())?;
    } else {
        out.line(&made.reference.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
