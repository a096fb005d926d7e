//! `delete` and `restore`: through the vault.

use std::process::ExitCode;
use std::sync::Arc;

use boswell_dialect::{Depth, Intention, Operation};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::disk::RealDisk;
use boswell_store::{
    Blobs, Chance, Outcome, Resolved, Runner, Selector, SessionWriter, Side, SystemChance, Wait, blobs,
};
use clap::Args;

use super::change;
use crate::machine::Machine;
use crate::output::Output;
use crate::shape;
use crate::terminal::one_line;

/// Delete sessions; the vault keeps a copy unless --purge
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell delete 0b7e --dry-run
  boswell delete 0b7e && boswell restore boswell:0b7e")]
pub(crate) struct DeleteArgs {
    /// The sessions: refs DIALECT:ID, beginnings of ids, paths
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Keep no copy, and remove those that there are
    #[arg(long)]
    purge: bool,
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

/// Dialects whose sessions stand alone: removing their files is all there is to it.
const STAND_ALONE: [&str; 4] = ["boswell", "pi", "omp", "xcsh"];

/// Runs `delete`.
pub(crate) fn run(machine: &Machine, args: &DeleteArgs) -> Result<ExitCode> {
    let found = args
        .sessions
        .iter()
        .map(
            |session| {
                if args.dry_run { machine.resolve_front(session) } else { machine.resolve_front_for_writing(session) }
            },
        )
        .collect::<Result<Vec<Resolved>>>()?;
    found.iter().try_for_each(|it| machine.refuse_archived(&it.store))?;
    let mut out = Output::paged(machine);
    for it in &found {
        let staying = transcripts(machine, it, &found);
        if it.store.dialect().plans(Operation::Delete) {
            by_plan(machine, it, args, &mut out)?;
        } else if args.dry_run {
            for key in &files_of(it)? {
                step(&mut out, "would remove", &it.store.backend().describe(key))?;
            }
        } else {
            remove(machine, it, &files_of(it)?, args.purge, &mut out)?;
        }
        for other in staying.iter().filter(|_| !machine.quiet) {
            crate::failure::say(&format!(
                "its transcript {other} stays, because its agent resumes and counts by it; `boswell delete {}` removes it too",
                other.to_argument()
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Transcripts of the same conversation in other stores that this command does not delete.
fn transcripts(machine: &Machine, it: &Resolved, deleted: &[Resolved]) -> Vec<SessionRef> {
    // What cannot be read says nothing of others, and can be deleted all the same.
    let Ok(session) = it.store.read(&it.located, Depth::Facts) else { return Vec::new() };
    let links = session.dialect().links(session.facts(), &it.located.id).into_iter();
    let there = links.filter_map(|link| {
        let selector = Selector::Ref(link.dialect.to_owned(), link.id);
        let other = machine.stores.resolve(&selector, &machine.env.cwd, Side::Fuller).ok()?;
        Some(SessionRef::new(other.store.dialect().name(), &other.located.id))
    });
    let is_deleted = |other: &SessionRef| {
        deleted.iter().any(|it| it.store.dialect().name() == other.dialect && it.located.id == other.id)
    };
    there.filter(|other| !is_deleted(other)).collect()
}

/// Deletes what is more than its files, such as a row in an index.
fn by_plan(machine: &Machine, found: &Resolved, args: &DeleteArgs, out: &mut Output) -> Result<()> {
    if args.dry_run {
        let store = machine.planning(found.store.clone());
        return change::show(&store.plan(&found.located, &Intention::Delete)?, out);
    }
    remove_by_plan(machine, found, args.purge, out)
}

fn remove_by_plan(machine: &Machine, found: &Resolved, purge: bool, out: &mut Output) -> Result<()> {
    let reference = SessionRef::new(found.store.dialect().name(), &found.located.id);
    let done = change::carry_out(machine, found, &Intention::Delete)?;
    if !purge {
        return report(out, &reference, &done.operation.id, None);
    }
    for file in done.operation.files() {
        crate::library::forget(machine, &reference, &found.store.backend().describe(&file.key))?;
    }
    let purged = machine.runner()?.vault().purge(&reference)?;
    report(out, &reference, &done.operation.id, Some(purged.objects + purged.inodes))
}

/// Removes a session in the way of its dialect; the vault keeps a copy.
pub(crate) fn remove_session(machine: &Machine, found: &Resolved, out: &mut Output) -> Result<()> {
    if found.store.dialect().plans(Operation::Delete) {
        return remove_by_plan(machine, found, false, out);
    }
    remove(machine, found, &files_of(found)?, false, out)
}

/// Whether sessions of that dialect can be removed at all.
pub(crate) fn can_remove(found: &Resolved) -> Result<()> {
    if found.store.dialect().plans(Operation::Delete) { Ok(()) } else { files_of(found).map(|_| ()) }
}

/// Every file of a session: its log, and what lies beside it.
pub(super) fn files_of(found: &Resolved) -> Result<Vec<String>> {
    let dialect = found.store.dialect().name();
    if !STAND_ALONE.contains(&dialect) {
        return Err(boswell_dialect::unsupported(dialect, "be deleted yet", "delete it with its own agent"));
    }
    let mut keys: Vec<String> = found.located.key.iter().cloned().collect();
    keys.extend(found.store.side_files(&found.located)?.into_iter().map(|file| file.key));
    Ok(keys)
}

/// Removes a session's files; with `purge` every copy too.
fn remove(machine: &Machine, found: &Resolved, keys: &[String], purge: bool, out: &mut Output) -> Result<()> {
    let reference = SessionRef::new(found.store.dialect().name(), &found.located.id);
    let writer = hold(found)?;
    let blobs = if purge { named_blobs(found)? } else { Vec::new() };
    let runner = machine.runner()?;
    let operation = runner.delete(found.store.root(), keys, &reference)?;
    if let Some(writer) = writer {
        // Nothing is written by this: only the lease is given up.
        let _ = writer.close(Outcome::Open);
    }
    if purge {
        for key in keys {
            crate::library::forget(machine, &reference, &found.store.backend().describe(key))?;
        }
        let copies = purge_copies(machine, found, &runner, &reference, blobs)?;
        return report(out, &reference, &operation.id, Some(copies));
    }
    report(out, &reference, &operation.id, None)
}

/// Takes the lease of a session: whoever drives the conversation must not find its log gone.
pub(super) fn hold(found: &Resolved) -> Result<Option<SessionWriter>> {
    match found.store.writer(&found.located.id, Wait::No) {
        Ok(writer) => Ok(Some(writer)),
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        // A log that cannot be appended to can be removed all the same.
        Err(_) => Ok(None),
    }
}

fn named_blobs(found: &Resolved) -> Result<Vec<boswell_store::BlobId>> {
    let session = found.store.read(&found.located, Depth::Heads)?;
    let mut named = Vec::new();
    for slot in session.log().slots() {
        named.extend(blobs::references(&session.entry(slot)?.bytes));
    }
    Ok(named)
}

/// Removes every copy of a purged session; blobs only where no other session names them.
///
/// Blobs lie in the root of their store: boswell's own sessions share those of its home, an agent's those of the agent.
fn purge_copies(
    machine: &Machine,
    found: &Resolved,
    runner: &Runner,
    reference: &SessionRef,
    named: Vec<boswell_store::BlobId>,
) -> Result<usize> {
    let purged = runner.vault().purge(reference)?;
    if named.is_empty() {
        return Ok(purged.objects + purged.inodes);
    }
    let mut still = std::collections::BTreeSet::new();
    for (_, store) in machine.stores.iter().filter(|(_, store)| store.root() == found.store.root()) {
        // An excluded session needs its blobs as any other does.
        for located in store.whole().list()?.sessions {
            let session = store.read(&located, Depth::Heads)?;
            for slot in session.log().slots() {
                still.extend(blobs::references(&session.entry(slot)?.bytes));
            }
        }
    }
    let kept = Blobs::new(Arc::new(RealDisk), found.store.root(), &SystemChance.hex16());
    let mut removed = purged.objects + purged.inodes;
    for blob in named.into_iter().filter(|blob| !still.contains(blob)) {
        if kept.has(&blob)? {
            kept.remove(&blob)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn report(out: &mut Output, reference: &SessionRef, operation: &str, purged: Option<usize>) -> Result<()> {
    if out.json {
        return out.object(&shape::op(operation, "delete", reference).with("purged", purged));
    }
    match purged {
        Some(copies) => out.line(&format!("{reference} is gone, and {copies} copies of it")),
        None => out
            .line(&format!("{reference} is in the vault; `boswell restore {}` puts it back", reference.to_argument())),
    }
}

fn step(out: &mut Output, done: &str, path: &str) -> Result<()> {
    if out.json {
        return out.object(&Json::object().with("v", 1).with("type", "step").with("done", done).with("path", path));
    }
    out.line(&format!("{done} {}", one_line(path)))
}

/// Runs `restore`.
pub(crate) fn restore(machine: &Machine, args: &RestoreArgs) -> Result<ExitCode> {
    machine.may_write()?;
    let runner = machine.runner()?;
    let mut out = Output::paged(machine);
    for name in &args.refs {
        let reference = deleted(&runner, name)?;
        let restored = runner.restore(&reference)?;
        let operation = restored.operation;
        if out.json {
            out.object(&shape::op(&operation.id, "restore", &reference))?;
        } else {
            out.line(&format!("{reference} is back"))?;
        }
        if restored.renewed > 0 && !machine.quiet {
            crate::failure::say(&format!(
                "{} files have the time of now: by their own, their agent would soon delete them again",
                restored.renewed
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The deleted session that is meant: the vault knows its ref.
fn deleted(runner: &Runner, name: &str) -> Result<SessionRef> {
    let (records, _) = runner.vault().list()?;
    let mut refs: Vec<SessionRef> = records.into_iter().map(|record| record.session).collect();
    refs.extend(runner.vault().kept()?.files().map(|file| file.session.clone()));
    refs.sort();
    refs.dedup();
    let fits = |reference: &SessionRef| reference.to_string().starts_with(name) || reference.id.starts_with(name);
    let mut found = refs.into_iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(reference), None) => Ok(reference),
        (None, _) => {
            Err(Error::new(ErrorKind::NotFound, format!("the vault holds no session `{}`", name.escape_debug()))
                .hinting("see what was deleted with `boswell ops`, and what is kept with `boswell keep status`"))
        }
        (Some(a), Some(b)) => {
            Err(Error::new(ErrorKind::Invalid, format!("`{}` fits several sessions in the vault", name.escape_debug()))
                .because(format!("{a}, {b}…"))
                .hinting("give more of the id"))
        }
    }
}
