//! `convert`: a session of another agent with the same conversation.

use std::process::ExitCode;

use boswell_app::convert::{ConversionPlan, ConversionScope, ConvertRequest, ConvertedSession};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report::say;
use crate::output::Output;
use crate::terminal::one_line;
use crate::words::{as_called, count};

/// Make a session of another agent with the same conversation
///
/// What is not carried over is listed first. The session itself stays as it is. Converting it again
/// gives the same session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell convert @last --to codex            show what is carried over, and ask
  boswell convert 0b7e --to claude --apply
  boswell resume 0b7e --with claude           convert it and go on there")]
pub(crate) struct ConvertArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// The agent: claude, codex, gemini, qwen, copilot, kimi, opencode, goose, pi, omp or boswell
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// Title of the new session [default: the same]
    #[arg(long)]
    title: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Which part of a conversation is carried over.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Carry over what the model would be sent: after a compaction its summary; the default
    #[arg(long, conflicts_with = "branch")]
    context: bool,
    /// Carry over the whole branch, also what came before a compaction
    #[arg(long)]
    branch: bool,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> ConversionScope {
        match self.branch {
            true => ConversionScope::Branch,
            false => ConversionScope::Context,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ConvertArgs) -> Result<ExitCode> {
    let request = ConvertRequest {
        session: args.session.clone(),
        to: args.to.clone(),
        scope: args.scope.scope(),
        title: args.title.clone(),
        shown: None,
    };
    let mut out = Output::plain(app);
    let done = carried_over(app, request, args.apply, &mut out)?;
    let code = match done {
        Carried::Not(code) => code,
        Carried::Over(made) => {
            print(*made, &mut out)?;
            ExitCode::SUCCESS
        }
    };
    out.finish()?;
    Ok(code)
}

/// What came of a conversion.
#[derive(Debug)]
pub(crate) enum Carried {
    /// The session of the other agent.
    Over(Box<ConvertedSession>),
    /// The user declined, or could not be asked: the command ends with this code.
    Not(ExitCode),
}

/// Shows what is carried over and what is not, and makes the session if the user wants it.
pub(crate) fn carried_over(
    app: &App,
    mut request: ConvertRequest,
    apply: bool,
    out: &mut Output,
) -> Result<Carried> {
    let plan = app.shown(app.requests.plan_conversion(&request))?;
    let exists = plan.conversion.exists;
    request.shown = Some(plan.token.clone());
    show(plan, out)?;
    if !exists && let Agreed::No(code) = ask(app, apply, Planned::Convert)? {
        return Ok(Carried::Not(code));
    }
    let made = app.shown(app.requests.convert(&request))?;
    Ok(Carried::Over(Box::new(made)))
}

fn show(plan: ConversionPlan, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&plan.conversion.object());
    }
    let conversion = &plan.conversion;
    if conversion.exists {
        say(&format!(
            "{} was converted to {} before",
            conversion.source, conversion.target
        ));
        return Ok(());
    }
    out.line(&format!(
        "{} for {} from {}, up to entry {}",
        count(conversion.messages, "message", "messages"),
        plan.title,
        conversion.source,
        one_line(&conversion.entry)
    ))?;
    for loss in &conversion.losses {
        let at = loss.entry.as_deref().map(one_line);
        let at = at.map(|at| format!(" (first: {at})")).unwrap_or_default();
        out.line(&format!("  {:>5} × {}{at}", loss.count, loss.text))?;
    }
    let mut steps = plan.steps.iter();
    steps.try_for_each(|step| out.line(&format!("  {}", one_line(step))))
}

fn print(made: ConvertedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&made.session.object());
    }
    out.line(&made.reference.to_string())?;
    if made.op.is_some() {
        say(&as_called(&format!(
            "resume it with `boswell resume {}`, undo it with `boswell undo`",
            made.reference.to_argument()
        )));
    }
    Ok(())
}
