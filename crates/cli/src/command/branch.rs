//! `branch`: the next entry attaches elsewhere.

use std::process::ExitCode;

use boswell_dialect::{Capability, EditRequest};
use boswell_model::{Error, ErrorKind, Result, Tip};
use boswell_store::{Outcome, Wait};
use clap::Args;

use super::{planned_change, receipt};
use crate::app::App;
use crate::output::Output;

/// Move the leaf: the next entry attaches to this one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell branch @last a1b2c3d4
  boswell branch 0b7e --root --summary 'the first try went nowhere'")]
pub(crate) struct BranchArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The entry, which stays part of the conversation
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// To nothing: the next entry begins anew
    #[arg(long)]
    root: bool,
    /// Leave a summary of what is left behind
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &BranchArgs) -> Result<ExitCode> {
    let found = app.resolve_for_writing(&args.session)?;
    let session = found
        .store
        .read(&found.location, boswell_dialect::Depth::Heads)?;
    let entry = match &args.entry {
        Some(name) => {
            let slot = session.find(name)?;
            if session
                .log()
                .head(slot)
                .is_none_or(|head| head.id.is_none())
            {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "an entry without an id cannot be attached to",
                )
                .hinting("see which entries have one with `boswell tree`"));
            }
            Some(session.log().label(slot).into_owned())
        }
        None => None,
    };
    if found.store.dialect().powers().plans(Capability::Branch) {
        if args.summary.is_some() {
            return Err(boswell_dialect::unsupported(
                found.store.dialect().name(),
                "hold the summary of a branch",
                "leave out --summary",
            ));
        }
        let tip = args
            .entry
            .as_ref()
            .map(|name| session.find(name))
            .transpose()?
            .map_or(Tip::Root, Tip::At);
        let done = planned_change::execute(app, &found, &EditRequest::Stand(tip))?;
        let mut out = Output::paged(app);
        planned_change::report(&done, &session.reference(), &mut out)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let writer = found.store.writer(&found.location.id, Wait::No)?;
    let receipt = match (&entry, &args.summary) {
        (_, Some(summary)) => writer.branch_with_summary(entry.as_deref(), summary)?,
        (Some(entry), None) => writer.branch(entry)?,
        (None, None) => writer.reset()?,
    };
    writer.close(Outcome::Open)?;
    let mut out = Output::paged(app);
    receipt::print(&receipt, &mut out)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
