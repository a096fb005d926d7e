//! `delete --purge`: a session and every trace of it, shown first.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_dialect::{
    Capability, DialectFacts, EditRequest, SessionLocation, UntiedFile, facts_of,
};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{
    Clock, Conversation, IdSource, Purging, Resolved, Runner, Store, SystemIds, Wait, blobs,
};

use super::delete::{deleted, files_of, step, take_away};
use super::list::sides;
use super::{planned_change, store_change};
use crate::app::App;
use crate::confirm::{Agreed, ask};
use crate::output::Output;
use crate::session_index::{Create, SessionIndex};
use crate::terminal::one_line;
use crate::{json_shape, purge_copies};

/// What is wanted of the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) apply: bool,
    pub(crate) dry_run: bool,
}

/// A session that is to be purged.
struct Target {
    /// Where it is; none if only copies or traces of it are left.
    found: Option<Resolved>,
    purging: Purging,
}

/// Shows what would go, and removes it if that is wanted.
pub(crate) fn run(app: &App, sessions: &[String], wanted: Wanted) -> Result<ExitCode> {
    if wanted.apply {
        app.may_write()?;
    }
    let (conversations, _) = app.conversations()?;
    let targets = sessions
        .iter()
        .map(|session| target(app, session))
        .collect::<Result<Vec<Target>>>()?;
    let targets = with_linked(targets, &conversations);
    let mut out = Output::paged(app);
    for target in &targets {
        show(app, target, &mut out)?;
    }
    // The pager ends before anything is asked.
    out.finish()?;
    if wanted.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if let Agreed::No(code) = ask(
        app,
        wanted.apply,
        "purge? no copy is kept, and it cannot be undone",
    )? {
        return Ok(code);
    }
    let mut out = Output::paged(app);
    app.may_write()?;
    let runner = app.runner()?;
    let _lock = runner
        .locks()
        .exclusive(purge_copies::LOCK, Wait::No)
        .map_err(|error| {
            error
                .because("another process is purging a session")
                .hinting("try again when it has ended")
        })?;
    for target in &targets {
        purge(app, &runner, target, &mut out)?;
    }
    out.finish()?;
    targets
        .iter()
        .for_each(|target| tell_what_stays(app, target));
    Ok(ExitCode::SUCCESS)
}

fn purge(app: &App, runner: &Runner, target: &Target, out: &mut Output) -> Result<()> {
    let purging = &target.purging;
    runner.begin_purge(purging)?;
    if let Some(found) = &target.found {
        let found = Resolved {
            store: app.writable(found.store.clone())?,
            location: found.location.clone(),
        };
        if let Err(error) = take_away(app, &found) {
            // What was begun was taken back, or is settled by the next run, which finds the marker.
            if runner.unfinished()?.is_empty() {
                runner.drop_purge(purging)?;
            }
            return Err(error);
        }
    }
    let purged = purge_copies::finish(app, runner, purging).map_err(|error| {
        error.because(format!(
            "the files of {} are gone, and copies or notes of it may be left; any command that writes finishes the purge",
            purging.session()
        ))
    })?;
    let copies = purged.objects + purged.inodes;
    if out.json {
        return out.object(
            &json_shape::op(&purging.id, "purge", &purging.session()).with("purged", copies),
        );
    }
    out.line(&format!(
        "{} is gone, and {copies} copies of it",
        purging.session()
    ))
}

/// The session that is meant: in its store, in the vault, or only remembered.
fn target(app: &App, name: &str) -> Result<Target> {
    match app.resolve_front(name) {
        Ok(found) => {
            let id = found.location.id.clone();
            let session = SessionRef::new(found.store.dialect().name(), &id);
            let mut logs = vec![found.location.clone()];
            logs.extend(purge_copies::subagents(&found.store, &id)?);
            let is_archived = found.store.archived().is_some();
            let mut purging = begun(session, found.store.root().to_owned(), &found.store, &logs);
            (purging.blobs, purging.wholes) = purge_copies::named(app, &found.store, &logs)?;
            add_copies(app, &mut purging)?;
            Ok(Target {
                found: (!is_archived).then_some(found),
                purging,
            })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => match left_over(app, name)? {
            Some((session, root)) => {
                let mut purging = Purging {
                    sessions: vec![session],
                    root,
                    ..nothing()
                };
                add_copies(app, &mut purging)?;
                Ok(Target {
                    found: None,
                    purging,
                })
            }
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn nothing() -> Purging {
    Purging {
        id: SystemIds.hex16(),
        at: SystemIds.now(),
        sessions: Vec::new(),
        root: PathBuf::new(),
        log: None,
        paths: Vec::new(),
        blobs: Vec::new(),
        wholes: Vec::new(),
        linked: Vec::new(),
    }
}

fn begun(session: SessionRef, root: PathBuf, store: &Store, logs: &[SessionLocation]) -> Purging {
    let mut sessions = vec![session];
    sessions.extend(
        logs.iter()
            .skip(1)
            .map(|it| SessionRef::new(store.dialect().name(), &it.id)),
    );
    let paths = logs
        .iter()
        .filter_map(|it| it.key.as_deref())
        .map(|key| store.backend().describe(key))
        .collect();
    Purging {
        sessions,
        root,
        log: logs.first().and_then(|it| it.key.clone()),
        paths,
        ..nothing()
    }
}

/// A session of which only copies in the vault, or what the catalog remembers, are left.
fn left_over(app: &App, name: &str) -> Result<Option<(SessionRef, PathBuf)>> {
    if app.home.is_none() {
        return Ok(None);
    }
    let runner = app.reading_runner()?;
    match deleted(&runner, name) {
        Ok(session) => {
            let records = runner
                .vault()
                .of(&session)?
                .into_iter()
                .map(|record| record.root);
            let kept = runner.vault().kept()?;
            let root = records
                .chain(kept.of(&session).into_iter().map(|file| file.root.clone()))
                .next();
            return Ok(root.map(|root| (session, root)));
        }
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let Some(session_index) = SessionIndex::open(app, Create::No)? else {
        return Ok(None);
    };
    let fits = |session: &SessionRef| session.to_string() == name || session.id == name;
    let mut deleted_sessions = session_index
        .catalog()
        .deleted_sessions()?
        .into_iter()
        .filter(|deleted_session| fits(&deleted_session.reference));
    match (deleted_sessions.next(), deleted_sessions.next()) {
        (Some(deleted_session), None) => {
            Ok(Some((deleted_session.reference, deleted_session.root)))
        }
        (None, _) => Ok(None),
        (Some(a), Some(b)) => Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` fits several sessions", name.escape_debug()),
        )
        .because(format!("{}, {}", a.reference, b.reference))
        .hinting("give the ref as `boswell list --hidden` shows it")),
    }
}

/// Adds the blobs that copies in the vault name.
fn add_copies(app: &App, purging: &mut Purging) -> Result<()> {
    if app.home.is_none()
        || !facts_of(&purging.session().dialect).is_some_and(DialectFacts::has_blobs)
    {
        return Ok(());
    }
    let runner = app.reading_runner()?;
    let (vault, kept) = (runner.vault(), runner.vault().kept()?);
    for session in purging.sessions.clone() {
        // A copy that cannot be read names nothing that could be found.
        let copies = vault
            .of(&session)?
            .into_iter()
            .filter_map(|record| vault.restore(&record).ok());
        let kept = kept
            .of(&session)
            .into_iter()
            .filter_map(|file| vault.read_kept(file).ok());
        purging.blobs.extend(
            copies
                .chain(kept)
                .flat_map(|bytes| blobs::references(&bytes)),
        );
    }
    purging.blobs.sort_unstable();
    purging.blobs.dedup();
    Ok(())
}

/// Adds sessions that are one conversation with those that go, and stay.
fn with_linked(mut targets: Vec<Target>, conversations: &[Conversation]) -> Vec<Target> {
    let gone: Vec<SessionRef> = targets
        .iter()
        .flat_map(|it| it.purging.sessions.clone())
        .collect();
    for target in &mut targets {
        let session = target.purging.session();
        let mine = conversations
            .iter()
            .filter(|it| sides(it).any(|side| side.reference == session));
        let others = mine.flat_map(|it| sides(it).map(|side| side.reference.clone()));
        target.purging.linked = others.filter(|other| !gone.contains(other)).collect();
    }
    targets
}

fn show(app: &App, target: &Target, out: &mut Output) -> Result<()> {
    let (purging, session) = (&target.purging, target.purging.session());
    store_change::step(
        out,
        &format!("purge {session}: every copy goes, and it cannot be undone"),
    )?;
    match &target.found {
        Some(found) if found.store.dialect().powers().plans(Capability::Delete) => {
            let store = app.planning(found.store.clone());
            planned_change::show(&store.plan(&found.location, &EditRequest::Delete)?, out)?;
        }
        Some(found) => {
            for key in &files_of(found)? {
                step(out, "would remove", &found.store.backend().describe(key))?;
            }
        }
        None => {}
    }
    let runner = app.reading_runner()?;
    let mut copies = 0;
    for session in &purging.sessions {
        copies += runner.vault().of(session)?.len() + runner.vault().kept()?.of(session).len();
    }
    let notes = app
        .notes()?
        .list()
        .iter()
        .filter(|note| purging.sessions.contains(&note.session))
        .count();
    store_change::step(
        out,
        &format!(
            "remove {copies} copies in the vault, {notes} notes, and what operations, catalog and index hold of it"
        ),
    )?;
    for other in &purging.linked {
        store_change::step(out, &format!("{other} is the same conversation, and stays"))?;
    }
    Ok(())
}

/// Names what holds text of the session and cannot be told from the text of others.
fn tell_what_stays(app: &App, target: &Target) {
    if app.quiet {
        return;
    }
    let purging = &target.purging;
    for other in &purging.linked {
        crate::error_report::say(&format!(
            "its other side {other} stays; `boswell delete --purge {other}` removes it too"
        ));
    }
    let there = |name: &str| purging.root.join(name).exists();
    let stays = facts_of(&purging.session().dialect).map_or(&[][..], |facts| facts.untied_files);
    for UntiedFile { path, what, .. } in stays.iter().filter(|file| there(file.path)) {
        crate::error_report::say(&format!(
            "not looked into: {what} in `{}`, which nothing ties to a session",
            one_line(&purging.root.join(path).display().to_string())
        ));
    }
}
