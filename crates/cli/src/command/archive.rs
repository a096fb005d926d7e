//! `archive`: sessions into the vault, where they can still be read.

use std::process::ExitCode;

use boswell_dialect::Capability;
use boswell_model::{Error, ErrorKind, Instant, PINNED, Result, SessionRef};
use boswell_store::{Conversation, Outcome, Resolved, Summary};
use clap::Args;

use super::clean::would;
use super::delete::{can_remove, files_of, hold};
use super::list::{last_active, sides};
use crate::app::App;
use crate::json_shape;
use crate::output::Output;
use crate::time;

/// Move sessions into the vault, where they can be read; a plan unless --apply
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell archive --older-than 90d --dialect claude
  boswell archive 0b7e --apply && boswell show 0b7e && boswell restore claude:0b7e")]
pub(crate) struct ArchiveArgs {
    /// The sessions: refs DIALECT:ID, beginnings of ids, paths
    #[arg(required_unless_present = "older_than", conflicts_with = "older_than")]
    sessions: Vec<String>,
    /// All that were last active longer ago than this
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,
    /// Of those only this dialect's
    #[arg(long, requires = "older_than")]
    dialect: Option<String>,
    /// Do it
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ArchiveArgs) -> Result<ExitCode> {
    if args.apply {
        app.may_write()?;
    }
    let (conversations, rest) = app.conversations()?;
    let chosen = match &args.older_than {
        Some(span) => old(app, &conversations, span, args.dialect.as_deref())?,
        None => args
            .sessions
            .iter()
            .map(|session| named(app, &conversations, session))
            .collect::<Result<Vec<(Resolved, Summary)>>>()?,
    };
    let mut out = Output::paged(app);
    let mut failed = None;
    for (found, summary) in &chosen {
        if !args.apply {
            would(app, "archive", summary, &mut out)?;
            continue;
        }
        match put_away(app, found) {
            Ok(operation) => report(&summary.reference, &operation, &mut out)?,
            // Of many that are old, one that somebody has just taken up must not keep the others.
            Err(error) if args.older_than.is_some() => {
                crate::error_report::pass_over(error, &mut failed)
            }
            Err(error) => return Err(error),
        }
    }
    out.finish()?;
    if !args.apply && !app.quiet {
        crate::error_report::say(&format!(
            "{} sessions; `--apply` moves them into the vault",
            chosen.len()
        ));
    }
    boswell_app::list::warn_about(app, rest);
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// A session that was named, if it may go.
fn named(app: &App, conversations: &[Conversation], session: &str) -> Result<(Resolved, Summary)> {
    let found = app.resolve(session)?;
    app.refuse_archived(&found.store)?;
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let known = conversations
        .iter()
        .flat_map(sides)
        .find(|side| side.reference == reference)
        .cloned();
    let summary = known.map_or_else(|| found.store.summary(&found.location), Ok)?;
    can_remove(&found)?;
    match in_use(&summary, &found) {
        Some((kind, why, hint)) => Err(Error::new(kind, format!("{reference} stays where it is"))
            .because(why)
            .hinting(hint)),
        None => Ok((found, summary)),
    }
}

/// Every session that was not used for so long, wherever the conversation is kept, and may go.
fn old(
    app: &App,
    conversations: &[Conversation],
    span: &str,
    dialect: Option<&str>,
) -> Result<Vec<(Resolved, Summary)>> {
    let span = i64::try_from(time::span(span)?.as_millis()).unwrap_or(i64::MAX);
    let before = Instant::from_millis(app.now.millis().saturating_sub(span));
    let mut chosen = Vec::new();
    let is_pinned = |it: &Conversation| sides(it).any(|side| side.meta.is_pinned());
    let is_old =
        |it: &&Conversation| last_active(it).is_some_and(|at| at < before) && !is_pinned(it);
    for conversation in conversations.iter().filter(is_old) {
        for (store, summary) in std::iter::once(&conversation.front).chain(&conversation.linked) {
            let Some(store) = app
                .stores
                .get(*store)
                .filter(|store| store.archived().is_none())
            else {
                continue;
            };
            if summary.location.owner.is_some()
                || dialect.is_some_and(|it| it != summary.reference.dialect)
            {
                continue;
            }
            let found = Resolved {
                store: store.clone(),
                location: summary.location.clone(),
            };
            match can_remove(&found) {
                Err(error) if dialect.is_some() => return Err(error),
                Ok(()) if in_use(summary, &found).is_none() => {
                    chosen.push((found, summary.clone()))
                }
                _ => {}
            }
        }
    }
    Ok(chosen)
}

/// Why a session may not go: somebody still needs it where it is.
fn in_use(summary: &Summary, found: &Resolved) -> Option<(ErrorKind, &'static str, String)> {
    let session = &summary.reference;
    let typed = session.to_argument();
    if !found.store.was_live(&session.id).is_empty() {
        return Some((
            ErrorKind::Busy,
            "its agent is at work on it",
            "end the agent first".to_owned(),
        ));
    }
    if summary.meta.is_pinned() {
        let tagged = summary.meta.tags.iter().any(|tag| tag == PINNED);
        let unpin = if tagged {
            format!("with `boswell untag {typed} {PINNED}`")
        } else {
            "in its agent".to_owned()
        };
        return Some((
            ErrorKind::Denied,
            "it is pinned",
            format!("unpin it first {unpin}"),
        ));
    }
    if summary.meta.status.as_deref() == Some("active") {
        return Some((
            ErrorKind::Denied,
            "it is active",
            format!("end it first with `boswell close {typed}`"),
        ));
    }
    None
}

fn put_away(app: &App, found: &Resolved) -> Result<String> {
    let found = Resolved {
        store: app.writable(found.store.clone())?,
        location: found.location.clone(),
    };
    let runner = app.runner()?;
    if found.store.dialect().powers().plans(Capability::Delete) {
        let done = runner.archive(&found.store, &found.location)?;
        super::planned_change::remark(app, &done.planned);
        return Ok(done.operation.id);
    }
    let keys = files_of(&found)?;
    let writer = hold(&found)?;
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let operation = runner.archive_files(found.store.root(), &keys, &reference)?;
    if let Some(writer) = writer {
        // Nothing is written by this: only the lease is given up.
        let _ = writer.close(Outcome::Open);
    }
    Ok(operation.id)
}

fn report(session: &SessionRef, operation: &str, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&json_shape::op(operation, "archive", session));
    }
    out.line(&format!(
        "{session} is archived; `boswell restore {}` puts it back",
        session.to_argument()
    ))
}
