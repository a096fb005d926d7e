//! `clean`: old sessions into the vault.

use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Instant, Result};
use boswell_store::{Resolved, Summary};
use clap::Args;

use super::delete::{can_remove, remove_session};
use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{cut, one_line};
use crate::when;

/// Delete sessions that were not used for long; shows what it would do unless --apply
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell clean --older-than 30d
  boswell clean --older-than 90d --dialect pi --apply")]
pub(crate) struct CleanArgs {
    /// Only those last active longer ago than this
    #[arg(long, value_name = "TIME")]
    older_than: String,
    /// Of this dialect instead of boswell's own store
    #[arg(long, default_value = "boswell")]
    dialect: String,
    /// Do it
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &CleanArgs) -> Result<ExitCode> {
    let span = when::span(&args.older_than)?;
    let before =
        Instant::from_millis(machine.now.millis().saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)));
    if args.apply {
        machine.may_write()?;
    }
    let (conversations, rest) = machine.conversations()?;
    let mut out = Output::paged(machine);
    let mut count = 0;
    for conversation in &conversations {
        let (store, summary) = &conversation.front;
        if summary.reference.dialect != args.dialect || !is_old(summary, before) {
            continue;
        }
        let Some(store) = machine.stores.get(*store).filter(|store| store.archived().is_none()) else { continue };
        count += 1;
        let found = Resolved { store: store.clone(), located: summary.located.clone() };
        if args.apply {
            let found = Resolved { store: machine.writable(found.store)?, located: found.located };
            match remove_session(machine, &found, &mut out) {
                Ok(()) => {}
                Err(error) => crate::failure::warn(&error),
            }
        } else {
            can_remove(&found)?;
            would(summary, machine, &mut out)?;
        }
    }
    out.finish()?;
    if !args.apply && !machine.quiet {
        crate::failure::say(&format!("{count} sessions; `--apply` moves them into the vault"));
    }
    super::list::warn_about(machine, &rest);
    Ok(ExitCode::SUCCESS)
}

/// Old, and neither active nor pinned. A session that somebody writes holds its lease and is refused later.
fn is_old(summary: &Summary, before: Instant) -> bool {
    let kept = summary.facts.pinned || summary.facts.status.as_deref() == Some("active");
    !kept && summary.last_active().is_some_and(|at| at < before)
}

fn would(summary: &Summary, machine: &Machine, out: &mut Output) -> Result<()> {
    let active = summary.last_active();
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", "would delete")
                .with("session", summary.reference.to_string())
                .with("last_active", active.map(|at| at.to_rfc3339())),
        );
    }
    let ago = active.map(|at| when::ago(at, machine.now)).unwrap_or_default();
    out.line(&format!("would delete {}  {ago}  {}", summary.reference, cut(&one_line(&summary.name()), 60)))
}
