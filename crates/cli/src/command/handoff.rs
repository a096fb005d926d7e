//! `handoff`: a digest of a session for another agent.

use std::process::ExitCode;

use boswell_app::handoff::{DEFAULT_TOKENS, HandoffRequest, HandoffShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{escape, one_line};

/// Print a digest of a session, to give to another agent
///
/// Goal, decisions, changed files, open ends and the last state, in the session's own words. Where
/// the agent's sessions can be written, `convert` carries over more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell handoff @last | claude -p 'go on with this'
  boswell handoff 0b7e --tokens 500")]
pub(crate) struct HandoffArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// The most tokens, as estimated
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TOKENS)]
    tokens: u64,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &HandoffArgs) -> Result<ExitCode> {
    let request = HandoffRequest {
        session: args.session.clone(),
        tokens: args.tokens,
    };
    let digest = app.shown(app.requests.handoff(&request))?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&digest.object())?;
    } else {
        print(&digest, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(digest: &HandoffShape, out: &mut Output) -> Result<()> {
    out.line(&format!("# Handoff of {}", one_line(&digest.session)))?;
    if let Some(project) = &digest.project {
        out.line(&format!("Project folder: {}", one_line(project)))?;
    }
    text("Goal", digest.goal.as_deref(), out)?;
    list("Decisions", &digest.decisions, out)?;
    list("Files changed", &digest.files, out)?;
    list("Commands run", &digest.commands, out)?;
    list("Open ends", &digest.open_ends, out)?;
    text("Last prompt", digest.last_prompt.as_deref(), out)?;
    text("Last answer", digest.last_answer.as_deref(), out)?;
    if digest.left_out > 0 {
        out.line("")?;
        out.line(&format!("({} texts were left out or cut)", digest.left_out))?;
    }
    Ok(())
}

fn text(title: &str, said: Option<&str>, out: &mut Output) -> Result<()> {
    let Some(said) = said else { return Ok(()) };
    out.line("")?;
    out.line(&format!("## {title}"))?;
    said.lines().try_for_each(|line| out.line(&escape(line)))
}

fn list(title: &str, items: &[String], out: &mut Output) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line(&format!("## {title}"))?;
    items
        .iter()
        .try_for_each(|item| out.line(&format!("- {}", one_line(item))))
}
