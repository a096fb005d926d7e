//! `clean`: old sessions into the vault.

use std::process::ExitCode;

use boswell_app::delete::{can_remove, remove_session};
use boswell_model::json::Json;
use boswell_model::{Instant, Result};
use boswell_store::{Resolved, Retention, Summary};
use clap::Args;

use super::delete::report;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{cut, one_line};
use crate::time;

/// Delete sessions that were not used for long; shows what it would do unless --apply
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell clean --older-than 30d
  boswell clean --older-than 90d --dialect pi --apply
  boswell clean --leftovers --dialect claude
  boswell clean --vault --apply           forget copies older than the settings say")]
pub(crate) struct CleanArgs {
    /// Only those last active longer ago than this
    #[arg(long, value_name = "TIME", required_unless_present_any = ["vault", "leftovers"])]
    older_than: Option<String>,
    /// Instead drop copies from the vault that are older than the settings under `retention` say
    #[arg(long, conflicts_with_all = ["older_than", "dialect", "leftovers"])]
    vault: bool,
    /// Instead clear what is left of sessions that are gone, and locks that nobody holds any more
    #[arg(long, conflicts_with = "older_than")]
    leftovers: bool,
    /// Of this dialect instead of boswell's own store
    #[arg(long, default_value = "boswell")]
    dialect: String,
    /// Do it
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CleanArgs) -> Result<ExitCode> {
    if args.leftovers {
        return super::clean_leftovers::run(app, &args.dialect, args.apply);
    }
    let Some(older_than) = args.older_than.as_ref().filter(|_| !args.vault) else {
        return vault(app, args.apply);
    };
    let span = time::span(older_than)?;
    let before = Instant::from_millis(
        app.now
            .millis()
            .saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
    );
    if args.apply {
        app.may_write()?;
    }
    let (conversations, rest) = app.conversations()?;
    let mut out = Output::paged(app);
    let mut count = 0;
    let mut failed = None;
    for conversation in &conversations {
        let (store, summary) = &conversation.front;
        if summary.reference.dialect != args.dialect || !is_old(summary, before) {
            continue;
        }
        let Some(store) = app
            .stores
            .get(*store)
            .filter(|store| store.archived().is_none())
        else {
            continue;
        };
        count += 1;
        let found = Resolved {
            store: store.clone(),
            location: summary.location.clone(),
        };
        if args.apply {
            let found = Resolved {
                store: app.writable(found.store)?,
                location: found.location,
            };
            match remove_session(app, &found) {
                Ok(deleted) => report(deleted, &mut out)?,
                Err(error) => crate::error_report::pass_over(error, &mut failed),
            }
        } else {
            can_remove(&found)?;
            would(app, "delete", summary, &mut out)?;
        }
    }
    out.finish()?;
    if !args.apply && !app.quiet {
        crate::error_report::say(&format!(
            "{count} sessions; `--apply` moves them into the vault"
        ));
    }
    boswell_app::list::warn_about(app, rest);
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Drops copies that were kept long enough.
fn vault(app: &App, apply: bool) -> Result<ExitCode> {
    let days = |key: &str| {
        let span = app.config.span(&format!("retention.{key}"))?;
        u32::try_from(span.as_secs() / 86_400).ok()
    };
    let keep = Retention {
        before: days("before"),
        deleted: days("deleted"),
        archived: days("archived"),
        kept: days("kept"),
    };
    let mut out = Output::paged(app);
    let runner = app.reading_runner()?;
    let (records, objects, bytes) = if apply {
        app.may_write()?;
        let gone = runner.vault().expire(app.now, &keep)?;
        (gone.records, Some(gone.objects), Some(gone.bytes))
    } else {
        (runner.vault().expiring(app.now, &keep)?.len(), None, None)
    };
    if out.json {
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", if apply { "dropped" } else { "would drop" })
                .with("records", records)
                .with("objects", objects)
                .with("bytes", bytes),
        )?;
    } else {
        let verb = if apply { "dropped" } else { "would drop" };
        out.line(&format!(
            "{verb} {records} copies of changed and deleted files"
        ))?;
    }
    out.finish()?;
    if !apply && !app.quiet {
        crate::error_report::say(
            "`--apply` does it; how long copies are kept is set under `retention`: `boswell config`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Old, and neither active nor pinned. A session that somebody writes holds its lease
/// and is refused later.
fn is_old(summary: &Summary, before: Instant) -> bool {
    let kept = summary.meta.is_pinned() || summary.meta.status.as_deref() == Some("active");
    !kept && summary.last_active().is_some_and(|at| at < before)
}

/// Says what would be done to a session.
pub(crate) fn would(app: &App, what: &str, summary: &Summary, out: &mut Output) -> Result<()> {
    let active = summary.last_active();
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", format!("would {what}"))
                .with("session", summary.reference.to_string())
                .with("last_active", active.map(|at| at.to_rfc3339())),
        );
    }
    let ago = active.map(|at| time::ago(at, app.now)).unwrap_or_default();
    out.line(&format!(
        "would {what} {}  {ago}  {}",
        summary.reference,
        cut(&one_line(&summary.name()), 60)
    ))
}
