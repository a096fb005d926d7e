//! `fork`: a new session from a branch.

use std::process::ExitCode;

use boswell_app::fork::{ForkRequest, ForkScope, ForkStyle};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::output::Output;

/// Copy a branch of a session into a new session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell fork @last
  boswell fork 0b7e --at a1b2c3d4 --title 'second try'")]
pub(crate) struct ForkArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Copy up to this entry [default: the current leaf]
    #[arg(long, value_name = "E")]
    at: Option<String>,
    /// Title of the new session
    #[arg(long)]
    title: Option<String>,
    /// Id of the new session
    #[arg(long)]
    id: Option<String>,
    /// For Claude Code: entries keep their ids (client) or get new ones (sdk)
    #[arg(long, value_enum, default_value_t = StyleArg::Client)]
    style: StyleArg,
    /// Copy all branches and side files
    #[arg(long, conflicts_with = "at")]
    whole: bool,
    /// Project folder of the new session [default: the same]
    #[arg(long, value_name = "P")]
    project: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StyleArg {
    Client,
    Sdk,
}

impl From<&ForkArgs> for ForkRequest {
    fn from(args: &ForkArgs) -> ForkRequest {
        ForkRequest {
            session: args.session.clone(),
            at: args.at.clone(),
            title: args.title.clone(),
            id: args.id.clone(),
            style: match args.style {
                StyleArg::Client => ForkStyle::Client,
                StyleArg::Sdk => ForkStyle::Sdk,
            },
            scope: if args.whole {
                ForkScope::Everything
            } else {
                ForkScope::Branch
            },
            project: args.project.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ForkArgs) -> Result<ExitCode> {
    let forked = app.shown(app.requests.fork(&args.into()))?;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&forked.session.object())?;
    } else {
        out.line(&forked.reference.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
