//! `resume`: the agent's own command, in the right folder.

use std::process::ExitCode;

use boswell_app::convert::ConvertRequest;
use boswell_app::resume::{Permissions, ResumeRequest};
use boswell_model::Result;
use clap::Args;

use super::convert::{Carried, ScopeArgs, carried_over};
use crate::agent_command;
use crate::app::App;
use crate::output::Output;

/// Resume a session: start its agent in the right folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell resume                 resume the last session
  boswell resume 0b7e --print    only print the command
  boswell resume 0b7e --with codex    go on with another agent")]
pub(crate) struct ResumeArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
    /// Give the agent the permissions it last had, even to do everything unasked
    #[arg(long)]
    same_permissions: bool,
    /// Go on with another agent: make a session for it, and resume that (see `convert`)
    #[arg(long, value_name = "AGENT")]
    with: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// With --with: make the session without asking
    #[arg(long, requires = "with")]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ResumeArgs) -> Result<ExitCode> {
    let session = match &args.with {
        None => args.session.clone(),
        Some(agent) => match converted(app, args, agent)? {
            Carried::Over(made) => made.reference.to_string(),
            Carried::Not(code) => return Ok(code),
        },
    };
    let request = ResumeRequest {
        session,
        permissions: if args.same_permissions {
            Permissions::Same
        } else {
            Permissions::Asked
        },
    };
    agent_command::run(app, &request, args.print)
}

/// Makes the session for another agent, or finds the one that was made before.
fn converted(app: &App, args: &ResumeArgs, agent: &str) -> Result<Carried> {
    let request = ConvertRequest {
        session: args.session.clone(),
        to: agent.to_owned(),
        scope: args.scope.scope(),
        title: None,
        shown: None,
    };
    let mut out = Output::plain(app);
    let carried = carried_over(app, request, args.apply, &mut out)?;
    out.finish()?;
    Ok(carried)
}
