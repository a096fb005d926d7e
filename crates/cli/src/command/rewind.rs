//! `rewind`: stand as before a prompt.

use std::process::ExitCode;

use boswell_dialect::{Capability, Depth, EditRequest, Support};
use boswell_model::json::Json;
use boswell_model::{Result, Tip};
use boswell_store::{Outcome, Resolved, Wait};
use clap::Args;

use super::agent_file_history::AgentFileHistory;
use super::checkout::Files;
use super::planned_change;
use crate::app::App;
use crate::output::Output;
use crate::terminal::escape;

/// Stand as before a prompt, and print the prompt
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell rewind @last a1b2c3d4
  boswell rewind myagents:0b7e 4 --apply     in a store that has to cut its log")]
pub(crate) struct RewindArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The prompt
    entry: String,
    /// Also put files back to what they were then
    #[arg(long)]
    files: bool,
    /// Do it where the log is cut for it; without this its plan is shown
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &RewindArgs) -> Result<ExitCode> {
    let found = app.resolve_for_writing(&args.session)?;
    let mut out = Output::paged(app);
    let rewrites = found.store.support(Capability::Rewind) == Support::Rewrites;
    if rewrites && !args.apply {
        return show(&found, args, out);
    }
    if args.files {
        // Before the leaf moves: afterwards the checkpoints lie on a branch that was left.
        let before = found.store.read(&found.location, Depth::Facts)?;
        match AgentFileHistory::at(&found, &before, &args.entry, &[])? {
            Some(copies) => copies.restore(app, &before, false, &mut out)?,
            None => {
                Files::at(app, &before, &args.entry, &[])?.restore(app, &found, false, &mut out)?
            }
        };
    }
    if found.store.dialect().powers().plans(Capability::Rewind) {
        return by_plan(app, args, &found, out);
    }
    let writer = found.store.writer(&found.location.id, Wait::No)?;
    let text = writer.rewind(&args.entry)?;
    let reference = writer.reference().to_string();
    let session = writer.session()?;
    let leaf = session
        .leaf()?
        .map(|slot| session.log().label(slot).into_owned());
    writer.close(Outcome::Open)?;
    print(args, &reference, leaf, &text, out)
}

/// What is rewritten is shown first, and done when it is asked for again.
fn show(found: &Resolved, args: &RewindArgs, mut out: Output) -> Result<ExitCode> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let slot = session.prompt(&args.entry)?;
    planned_change::show(
        &found
            .store
            .plan(&found.location, &EditRequest::Rewind(Tip::At(slot)))?,
        &mut out,
    )?;
    out.finish()?;
    crate::error_report::say("nothing was changed: add --apply to do it");
    Ok(ExitCode::SUCCESS)
}

fn by_plan(app: &App, args: &RewindArgs, found: &Resolved, out: Output) -> Result<ExitCode> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let slot = session.prompt(&args.entry)?;
    let text = session
        .entry(slot)?
        .view
        .map(|view| view.text())
        .unwrap_or_default();
    planned_change::execute(app, found, &EditRequest::Rewind(Tip::At(slot)))?;
    let now = found
        .store
        .read(&found.store.find(&found.location.id)?, Depth::Heads)?;
    let leaf = now.leaf()?.map(|slot| now.log().label(slot).into_owned());
    print(args, &now.reference().to_string(), leaf, &text, out)
}

fn print(
    args: &RewindArgs,
    reference: &str,
    leaf: Option<String>,
    text: &str,
    mut out: Output,
) -> Result<ExitCode> {
    if out.json {
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "rewound")
                .with("session", reference)
                .with("entry", &args.entry)
                .with("leaf", leaf)
                .with("text", text),
        )?;
    } else {
        out.line(&escape(text))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
