//! `secrets --scrub`: replaces secrets where boswell can reach them, for good.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use boswell_dialect::{
    EditRequest, ExpectedState, Modified, Patch, Plan, Precondition, Splice, Step,
};
use boswell_find::Secrets;
use boswell_model::json::Json;
use boswell_model::{Error, Result, SessionRef};
use boswell_store::{BlobId, Digest, Resolved, Runner, Scrubbed, Wait};

use super::scrub_plan::{FileScrub, Target, blobs_of, target, with_scrubbing};
use crate::app::App;
use crate::confirm::{Agreed, ask};
use crate::output::Output;
use crate::purge_copies;
use crate::terminal::{Style, one_line};

/// What is replaced in the lines of a file that names blobs.
const SCHEME: &str = "blob:sha256:";

/// Shows what would be replaced in these sessions, and does so if that is wanted.
pub(crate) fn run(
    app: &App,
    secrets: &Secrets,
    found: Vec<Resolved>,
    all: bool,
    apply: bool,
) -> Result<ExitCode> {
    if apply {
        app.may_write()?;
    }
    crate::error_report::say(
        "secrets are replaced for good: this cannot be undone, and no copy of them is kept",
    );
    let mut out = Output::paged(app);
    let (mut targets, mut refused) = (Vec::new(), false);
    for it in found {
        match target(app, secrets, it) {
            Ok(target) if target.is_empty() => tell_unreached(&target),
            Ok(target) => targets.push(target),
            // Of many, one that is in use or cannot be read must not keep the others.
            Err(error) if all => {
                refused = true;
                crate::error_report::warn(&error);
            }
            Err(error) => return Err(error),
        }
    }
    for target in &targets {
        show(target, &mut out)?;
    }
    let code = if refused {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    };
    if targets.is_empty() {
        if !out.json {
            out.line("no secrets to replace")?;
        }
        out.finish()?;
        return Ok(code);
    }
    // The pager ends before anything is asked.
    out.finish()?;
    if let Agreed::No(code) = ask(app, apply, "replace them? it cannot be undone")? {
        return Ok(code);
    }
    let mut out = Output::paged(app);
    app.may_write()?;
    let runner = app.runner()?;
    let _lock = runner
        .locks()
        .exclusive("scrub", Wait::No)
        .map_err(|error| {
            error
                .because("another process is replacing secrets")
                .hinting("try again when it has ended")
        })?;
    for target in &targets {
        let operation = scrub(app, secrets, &runner, target)?;
        report(target, operation.as_deref(), &mut out)?;
    }
    out.finish()?;
    if !app.quiet {
        crate::error_report::say(
            "not reached: what was sent to the provider, your project's files and git, exports, and sessions that were made from these ones; change the secrets themselves",
        );
    }
    Ok(code)
}

/// Replaces everything that was found. Gives the id of the operation that changed
/// files, if there were any.
fn scrub(app: &App, secrets: &Secrets, runner: &Runner, target: &Target) -> Result<Option<String>> {
    let session = target.session();
    runner.begin_scrub(&session)?;
    let operation = match change_files(app, runner, target) {
        Ok(operation) => operation,
        Err(error) => {
            // Each file is what it was or what it becomes; where none was begun there is
            // nothing to go on with.
            if runner.unfinished()?.is_empty() && !target.interrupted {
                runner.end_scrub(&session)?;
            }
            return Err(error);
        }
    };
    let unfinished = |error: Error| {
        error
            .because(format!(
                "its files are changed, copies or notes of {session} may still hold secrets"
            ))
            .hinting(format!(
                "go on with `boswell secrets --scrub {session} --apply`"
            ))
    };
    let rest = || -> Result<()> {
        remove_blobs(app, target)?;
        with_scrubbing(secrets, target, |scrubbing| runner.scrub(scrubbing))?;
        let home = app.home()?;
        let log = target.found.location.key.as_deref().unwrap_or_default();
        let stem = log.strip_suffix(".jsonl").unwrap_or(log);
        let is_gone =
            |it: &SessionRef, key: &str| target.sessions.contains(it) || key.starts_with(stem);
        let path = target.found.store.backend().describe(stem);
        let is_own = |dialect: &str, it: &str| dialect == session.dialect && it.starts_with(&path);
        crate::session_index::forget(home, &is_gone, &is_own)?;
        runner.end_scrub(&session)
    };
    rest().map_err(unfinished)?;
    Ok(operation)
}

/// Writes blobs, then the files that name them: one operation that keeps no copy.
fn change_files(app: &App, runner: &Runner, target: &Target) -> Result<Option<String>> {
    let kept = blobs_of(target.found.store.root());
    for bytes in &target.fresh {
        kept.put(bytes)?;
    }
    let own = blobs_of(app.home()?);
    for it in &target.wholes {
        own.keep_whole(&it.written, &it.whole)?;
    }
    if target.files.is_empty() {
        return Ok(None);
    }
    let store = app.writable(target.found.store.clone())?;
    let session = target.session();
    let mut plan = Plan::new("scrub", format!("replace secrets in {session}"));
    plan.locks = store
        .dialect()
        .locks_for(&target.found.location, &EditRequest::Delete);
    plan.preconditions.extend(
        target
            .found
            .location
            .key
            .clone()
            .map(|key| Precondition::NotLive { key }),
    );
    for file in &target.files {
        let was = ExpectedState {
            sha256: Some(Digest::of(&file.bytes).to_string()),
            ..ExpectedState::default()
        };
        plan.preconditions.push(Precondition::Unchanged {
            key: file.key.clone(),
            was,
        });
        let patch = Patch::whole(file.bytes.len() as u64).spliced(&splices(file));
        let (key, from) = (file.key.clone(), file.key.clone());
        plan.steps.push(Step::Assemble {
            key,
            from,
            patch,
            modified: Modified::Kept,
        });
    }
    runner
        .erase(store.root(), &plan, &session)
        .map(|operation| Some(operation.id))
}

fn splices(file: &FileScrub) -> Vec<Splice> {
    let splice = |range: &std::ops::Range<usize>, with: Vec<u8>| Splice {
        at: range.start as u64,
        len: (range.end - range.start) as u64,
        with,
    };
    let mut all: Vec<Splice> = file
        .found
        .iter()
        .map(|it| splice(&it.range, it.replacement().into_bytes()))
        .collect();
    all.extend(
        file.lines
            .iter()
            .map(|(place, line, _)| splice(place, line.clone())),
    );
    for (old, new) in &file.blobs {
        let name = format!("{SCHEME}{old}");
        let places = file
            .bytes
            .windows(name.len())
            .enumerate()
            .filter(|(_, it)| *it == name.as_bytes());
        all.extend(places.map(|(at, _)| {
            splice(
                &(at..at + name.len()),
                format!("{SCHEME}{new}").into_bytes(),
            )
        }));
    }
    all
}

/// Removes blobs that were replaced, unless another session names them.
fn remove_blobs(app: &App, target: &Target) -> Result<()> {
    if target.stale.is_empty() && target.wholes.is_empty() {
        return Ok(());
    }
    let root = target.found.store.root();
    let (mut still, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (_, store) in app.stores.iter().filter(|(_, store)| store.root() == root) {
        let (ids, wholes) = purge_copies::named(app, store, &store.list()?.sessions)?;
        still.extend(ids);
        names.extend(wholes);
    }
    let own = blobs_of(app.home()?);
    for it in target.wholes.iter().filter(|it| !names.contains(&it.name)) {
        own.forget_whole(&it.name)?;
    }
    let whole = target
        .wholes
        .iter()
        .filter(|it| BlobId::of(&it.whole) != it.blob)
        .map(|it| (&own, it.blob));
    let kept = blobs_of(root);
    for (blobs, id) in target.stale.iter().map(|id| (&kept, *id)).chain(whole) {
        if still.contains(&id) {
            crate::error_report::say(&format!(
                "the blob {id} stays: another session names it and holds the same secret"
            ));
        } else {
            blobs.remove(&id)?;
        }
    }
    Ok(())
}

fn show(target: &Target, out: &mut Output) -> Result<()> {
    let session = target.session();
    if !out.json {
        out.line(&out.paint(Style::Strong, &one_line(&session.to_string())))?;
    }
    for file in &target.files {
        let path = target.found.store.backend().describe(&file.key);
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        file.all()
            .for_each(|it| *kinds.entry(it.kind).or_default() += 1);
        let count = file.all().count();
        if out.json {
            let kinds: Vec<Json> = kinds.keys().map(|kind| Json::from(*kind)).collect();
            out.object(
                &step(&session, "would replace")
                    .with("path", path)
                    .with("secrets", count)
                    .with("kinds", kinds),
            )?;
        } else {
            let kinds: Vec<String> = kinds
                .iter()
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect();
            let blobs = if file.blobs.is_empty() {
                String::new()
            } else {
                format!(", {} blobs", file.blobs.len())
            };
            out.line(&format!(
                "  {}: {count} ({}){blobs}",
                one_line(&path),
                kinds.join(", ")
            ))?;
        }
    }
    let Scrubbed { copies, lines } = target.elsewhere;
    if out.json {
        let elsewhere = step(&session, "would replace")
            .with("copies", copies)
            .with("records", lines);
        out.object(&elsewhere.with("blobs", target.stale.len()))?;
    } else {
        out.line(&format!(
            "  {copies} copies in the vault, {lines} notes and records; catalog and index forget it"
        ))?;
    }
    tell_unreached(target);
    Ok(())
}

fn tell_unreached(target: &Target) {
    target
        .unreached
        .iter()
        .for_each(|it| crate::error_report::say(&format!("not reached: {it}")));
    let untied = target.found.store.dialect().facts().untied_files;
    for file in untied
        .iter()
        .filter(|file| file.is_database && target.found.store.root().join(file.path).exists())
    {
        let path = target.found.store.root().join(file.path);
        crate::error_report::say(&format!(
            "not reached: the database `{}` of its agent",
            one_line(&path.display().to_string())
        ));
    }
}

fn step(session: &SessionRef, done: &str) -> Json {
    Json::object()
        .with("v", 1)
        .with("type", "step")
        .with("done", done)
        .with("session", session.to_string())
}

fn report(target: &Target, operation: Option<&str>, out: &mut Output) -> Result<()> {
    let count: usize = target.files.iter().map(|file| file.all().count()).sum();
    if out.json {
        let done = step(&target.session(), "replaced")
            .with("op", operation)
            .with("secrets", count);
        return out.object(&done);
    }
    out.line(&format!("{}: {count} secrets replaced", target.session()))
}
