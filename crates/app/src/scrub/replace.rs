//! Replaces the secrets that were found in one session.

use std::collections::BTreeSet;

use boswell_dialect::{
    EditRequest, ExpectedState, Modified, Patch, Plan, Precondition, Splice, Step,
};
use boswell_find::Secrets;
use boswell_model::{Advice, Error, Result, SessionRef};
use boswell_store::blobs::BlobId;
use boswell_store::operations::Runner;
use boswell_store::vault::Digest;

use super::target::{FileScrub, Target, blobs_of, with_scrubbing};
use super::{ScrubbedSession, ScrubbedStep};
use crate::{RequestContext, purge_copies};

/// The prefix of blob references in lines of a file.
const SCHEME: &str = "blob:sha256:";

/// Replaces all secrets that were found.
pub(super) fn replace(
    cx: &RequestContext,
    secrets: &Secrets,
    runner: &Runner,
    target: &Target,
) -> Result<ScrubbedSession> {
    let session = target.session();
    runner.begin_scrub(&session)?;
    let operation = match change_files(cx, runner, target) {
        Ok(operation) => operation,
        Err(error) => {
            // Each file has its old or its new contents; if none was changed, there is nothing to
            // finish.
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
            .advising(Advice::ReplaceSecrets {
                session: Some(session.to_string()),
            })
    };
    let staying_blobs = replace_elsewhere(cx, secrets, runner, target).map_err(unfinished)?;
    Ok(ScrubbedSession {
        step: ScrubbedStep {
            done: "replaced",
            session: session.to_string(),
            op: operation,
            secrets: target.files.iter().map(|file| file.all().count()).sum(),
        },
        session,
        staying_blobs,
    })
}

/// Replaces secrets in blobs, copies, notes, catalog and index, after the files. Every step is
/// idempotent. Returns the blobs that stay.
fn replace_elsewhere(
    cx: &RequestContext,
    secrets: &Secrets,
    runner: &Runner,
    target: &Target,
) -> Result<Vec<String>> {
    let session = target.session();
    let staying = remove_blobs(cx, target)?;
    with_scrubbing(secrets, target, |scrubbing| runner.scrub(scrubbing))?;
    let home = cx.home()?;
    let log = target.found.location.key.as_deref().unwrap_or_default();
    let stem = log.strip_suffix(".jsonl").unwrap_or(log);
    let is_gone =
        |it: &SessionRef, key: &str| target.sessions.contains(it) || key.starts_with(stem);
    let path = target.found.store.backend().describe(stem);
    let is_own = |dialect: &str, it: &str| dialect == session.dialect && it.starts_with(&path);
    crate::sessions::index::forget(home, &is_gone, &is_own)?;
    runner.end_scrub(&session)?;
    Ok(staying)
}

/// Writes blobs, then the files that name them, as one operation without copies.
fn change_files(cx: &RequestContext, runner: &Runner, target: &Target) -> Result<Option<String>> {
    let kept = blobs_of(target.found.store.root());
    for bytes in &target.fresh {
        kept.put(bytes)?;
    }
    let own = blobs_of(cx.home()?);
    for it in &target.wholes {
        own.keep_whole(&it.written, &it.whole)?;
    }
    if target.files.is_empty() {
        return Ok(None);
    }
    let store = cx.writable(target.found.store.clone())?;
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
        plan.preconditions.push(unchanged(file));
        plan.steps.push(Step::Assemble {
            key: file.key.clone(),
            from: file.key.clone(),
            patch: Patch::whole(file.bytes.len() as u64).spliced(&splices(file)),
            modified: Modified::Kept,
        });
    }
    runner
        .erase(store.root(), &plan, &session)
        .map(|operation| Some(operation.id))
}

fn unchanged(file: &FileScrub) -> Precondition {
    Precondition::Unchanged {
        key: file.key.clone(),
        was: ExpectedState {
            sha256: Some(Digest::of(&file.bytes).to_string()),
            ..ExpectedState::default()
        },
    }
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

/// Removes replaced blobs, unless another session names them. Returns those that stay.
fn remove_blobs(cx: &RequestContext, target: &Target) -> Result<Vec<String>> {
    if target.stale.is_empty() && target.wholes.is_empty() {
        return Ok(Vec::new());
    }
    let root = target.found.store.root();
    let (mut still, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (_, store) in cx.stores.iter().filter(|(_, store)| store.root() == root) {
        let (ids, wholes) = purge_copies::named(cx, store, &store.list()?.sessions)?;
        still.extend(ids);
        names.extend(wholes);
    }
    let own = blobs_of(cx.home()?);
    for it in target.wholes.iter().filter(|it| !names.contains(&it.name)) {
        own.forget_whole(&it.name)?;
    }
    let whole = target
        .wholes
        .iter()
        .filter(|it| BlobId::of(&it.whole) != it.blob)
        .map(|it| (&own, it.blob));
    let kept = blobs_of(root);
    let mut staying = Vec::new();
    for (blobs, id) in target.stale.iter().map(|id| (&kept, *id)).chain(whole) {
        if still.contains(&id) {
            staying.push(id.to_string());
        } else {
            blobs.remove(&id)?;
        }
    }
    Ok(staying)
}
