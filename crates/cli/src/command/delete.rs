//! `delete` and `restore`: through the vault.

use std::process::ExitCode;

use boswell_dialect::{Capability, Depth, EditRequest};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{Outcome, Resolved, Runner, Selector, SessionWriter, Side, Wait};
use clap::Args;

use super::{planned_change, purge};
use crate::app::App;
use crate::json_shape;
use crate::output::Output;
use crate::terminal::one_line;

/// Delete sessions; the vault keeps a copy unless --purge
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell delete 0b7e --dry-run
  boswell delete 0b7e && boswell restore boswell:0b7e
  boswell delete 0b7e --purge --apply")]
pub(crate) struct DeleteArgs {
    /// The sessions: refs DIALECT:ID, beginnings of ids, paths
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Keep no copy, and remove those that there are; asks on a terminal, elsewhere
    /// a plan unless --apply
    #[arg(long)]
    purge: bool,
    /// Purge without being asked
    #[arg(long, requires = "purge")]
    apply: bool,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
}

/// Put deleted and archived sessions back where they were
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell restore boswell:0b7e
  boswell restore claude:0b7e   one that its agent deleted, from the copies that `keep` made
  boswell ops                   what was deleted, and when")]
pub(crate) struct RestoreArgs {
    /// Refs DIALECT:ID, the id possibly shortened
    #[arg(required = true)]
    refs: Vec<String>,
}

/// Runs `delete`.
pub(crate) fn run(app: &App, args: &DeleteArgs) -> Result<ExitCode> {
    if args.purge {
        let wanted = purge::Wanted {
            apply: args.apply,
            dry_run: args.dry_run,
        };
        return purge::run(app, &args.sessions, wanted);
    }
    let found = args
        .sessions
        .iter()
        .map(|session| {
            if args.dry_run {
                app.resolve_front(session)
            } else {
                app.resolve_front_for_writing(session)
            }
        })
        .collect::<Result<Vec<Resolved>>>()?;
    found
        .iter()
        .try_for_each(|it| app.refuse_archived(&it.store))?;
    let mut out = Output::paged(app);
    for it in &found {
        let staying = transcripts(app, it, &found);
        if !args.dry_run {
            remove_session(app, it, &mut out)?;
        } else if it.store.dialect().powers().plans(Capability::Delete) {
            let store = app.planning(it.store.clone());
            planned_change::show(&store.plan(&it.location, &EditRequest::Delete)?, &mut out)?;
        } else {
            for key in &files_of(it)? {
                step(&mut out, "would remove", &it.store.backend().describe(key))?;
            }
        }
        for other in staying.iter().filter(|_| !app.quiet) {
            crate::error_report::say(&format!(
                "its transcript {other} stays, because its agent resumes and counts by it; `boswell delete {}` removes it too",
                other.to_argument()
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Transcripts of the same conversation in other stores that this command does not delete.
fn transcripts(app: &App, it: &Resolved, deleted: &[Resolved]) -> Vec<SessionRef> {
    // What cannot be read says nothing of others, and can be deleted all the same.
    let Ok(session) = it.store.read(&it.location, Depth::Facts) else {
        return Vec::new();
    };
    let links = session
        .dialect()
        .linked_sessions(session.meta(), &it.location.id)
        .into_iter();
    let there = links.filter_map(|link| {
        let selector = Selector::Ref(link.dialect.to_owned(), link.id);
        let other = app
            .stores
            .resolve(&selector, &app.env.cwd, Side::Fuller)
            .ok()?;
        Some(SessionRef::new(
            other.store.dialect().name(),
            &other.location.id,
        ))
    });
    let is_deleted = |other: &SessionRef| {
        deleted
            .iter()
            .any(|it| it.store.dialect().name() == other.dialect && it.location.id == other.id)
    };
    there.filter(|other| !is_deleted(other)).collect()
}

/// Removes a session in the way of its dialect; the vault keeps a copy. Gives the operation's id.
pub(super) fn take_away(app: &App, found: &Resolved) -> Result<String> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        return Ok(planned_change::execute(app, found, &EditRequest::Delete)?
            .operation
            .id);
    }
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let keys = files_of(found)?;
    let writer = hold(found)?;
    let operation = app
        .runner()?
        .delete(found.store.root(), &keys, &reference)?;
    if let Some(writer) = writer {
        // Nothing is written by this: only the lease is given up.
        let _ = writer.close(Outcome::Open);
    }
    Ok(operation.id)
}

/// The same, acknowledged.
pub(crate) fn remove_session(app: &App, found: &Resolved, out: &mut Output) -> Result<()> {
    let reference = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let operation = take_away(app, found)?;
    if out.json {
        return out.object(&json_shape::op(&operation, "delete", &reference));
    }
    out.line(&format!(
        "{reference} is in the vault; `boswell restore {}` puts it back",
        reference.to_argument()
    ))
}

/// Whether sessions of that dialect can be removed at all.
pub(crate) fn can_remove(found: &Resolved) -> Result<()> {
    if found.store.dialect().powers().plans(Capability::Delete) {
        Ok(())
    } else {
        files_of(found).map(|_| ())
    }
}

/// Every file of a session: its log, and what lies beside it.
pub(super) fn files_of(found: &Resolved) -> Result<Vec<String>> {
    let facts = found.store.dialect().facts();
    if !facts.log_is_session {
        return Err(boswell_dialect::unsupported(
            facts.name,
            "be deleted yet",
            "delete it with its own agent",
        ));
    }
    let mut keys: Vec<String> = found.location.key.iter().cloned().collect();
    keys.extend(
        found
            .store
            .side_files(&found.location)?
            .into_iter()
            .map(|file| file.key),
    );
    Ok(keys)
}

/// Takes the lease of a session: whoever drives the conversation must not find its log gone.
pub(super) fn hold(found: &Resolved) -> Result<Option<SessionWriter>> {
    match found.store.writer(&found.location.id, Wait::No) {
        Ok(writer) => Ok(Some(writer)),
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        // A log that cannot be appended to can be removed all the same.
        Err(_) => Ok(None),
    }
}

pub(super) fn step(out: &mut Output, done: &str, path: &str) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", done)
                .with("path", path),
        );
    }
    out.line(&format!("{done} {}", one_line(path)))
}

/// Runs `restore`.
pub(crate) fn restore(app: &App, args: &RestoreArgs) -> Result<ExitCode> {
    app.may_write()?;
    let runner = app.runner()?;
    let mut out = Output::paged(app);
    for name in &args.refs {
        let reference = deleted(&runner, name)?;
        let restored = runner.restore(&reference)?;
        let operation = restored.operation;
        if out.json {
            out.object(&json_shape::op(&operation.id, "restore", &reference))?;
        } else {
            out.line(&format!("{reference} is back"))?;
        }
        if restored.renewed > 0 && !app.quiet {
            crate::error_report::say(&format!(
                "{} files have the time of now: by their own, their agent would soon delete them again",
                restored.renewed
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The deleted session that is meant: the vault knows its ref.
pub(super) fn deleted(runner: &Runner, name: &str) -> Result<SessionRef> {
    let (records, _) = runner.vault().list()?;
    let mut refs: Vec<SessionRef> = records.into_iter().map(|record| record.session).collect();
    refs.extend(
        runner
            .vault()
            .kept()?
            .files()
            .map(|file| file.session.clone()),
    );
    refs.sort();
    refs.dedup();
    let fits = |reference: &SessionRef| {
        reference.to_string().starts_with(name) || reference.id.starts_with(name)
    };
    let mut found = refs.into_iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(reference), None) => Ok(reference),
        (None, _) => Err(Error::new(
            ErrorKind::NotFound,
            format!("the vault holds no session `{}`", name.escape_debug()),
        )
        .hinting(
            "see what was deleted with `boswell ops`, and what is kept with `boswell keep status`",
        )),
        (Some(a), Some(b)) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "`{}` fits several sessions in the vault",
                name.escape_debug()
            ),
        )
        .because(format!("{a}, {b}…"))
        .hinting("give more of the id")),
    }
}
