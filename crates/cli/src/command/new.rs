//! `new`: creates a session.

use std::process::ExitCode;

use boswell_app::new_session::NewSessionRequest;
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;

/// Create a session and print its ref
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell new --project . --title 'red build'
  boswell new --dialect boswell --project /proj/api --json")]
pub(crate) struct NewArgs {
    /// Format and store of the session
    #[arg(long, default_value = "boswell")]
    dialect: String,
    /// Project folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: String,
    /// Title
    #[arg(long)]
    title: Option<String>,
    /// Id [default: a new one]
    #[arg(long)]
    id: Option<String>,
    /// Program or model behind a clinvoker or oas session, such as claude
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
    let mut out = Output::plain(app);
    if out.json {
        out.object(&made.session.object())?;
    } else {
        out.line(&made.reference.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
