//! Removes copies outside the agent's files during a purge, and finishes an interrupted purge.

use std::collections::BTreeSet;
use std::path::Path;

use boswell_dialect::{Depth, SessionLocation, by_name};
use boswell_model::{Advice, Remark, Result, SessionRef};
use boswell_store::blobs::BlobId;
use boswell_store::disk::{Disk, RealDisk};
use boswell_store::operations::{Purging, Runner};
use boswell_store::vault::Purged;
use boswell_store::{Home, Store, Wait, blobs};

use crate::RequestContext;

/// Held during a purge: a marker that is found without this lock belongs to a process that was
/// killed.
pub(crate) const LOCK: &str = "purge";

/// Removes everything except the session's own files, which must be removed before. Every step is
/// idempotent.
pub(crate) fn finish(cx: &RequestContext, runner: &Runner, purging: &Purging) -> Result<Purged> {
    let home = cx.home()?;
    let mut purged = runner.purge(purging)?;
    purged.objects += remove_blobs(cx, home, purging)?;
    remove_crumbs(home, purging);
    remove_cache(home);
    let is_gone = |session: &SessionRef, key: &str| {
        purging.sessions.contains(session)
            || (session.dialect == purging.session().dialect && purging.is_own_file(key))
    };
    let is_own_path = |dialect: &str, path: &str| {
        dialect == purging.session().dialect
            && (purging.paths.iter().any(|it| it == path) || purging.is_own_file(path))
    };
    crate::sessions::index::forget(home, &is_gone, &is_own_path)?;
    runner.end_purge(purging)?;
    Ok(purged)
}

/// Finishes interrupted purges; failures are reported, and the next request tries again.
pub(crate) fn resume(cx: &RequestContext, runner: &Runner) -> Result<()> {
    if runner.purges()?.is_empty() {
        return Ok(());
    }
    // Another process is finishing them.
    let Ok(_lock) = runner.locks().exclusive(LOCK, Wait::No) else {
        return Ok(());
    };
    for purging in runner.purges()? {
        let session = purging.session();
        if is_there(cx, &purging)? {
            runner.drop_purge(&purging)?;
            let text =
                format!("the purge of {session} was interrupted before anything was removed");
            cx.remark(Remark::new(text).advising(Advice::Purge {
                session: session.to_string(),
            }));
            continue;
        }
        match finish(cx, runner, &purging) {
            Ok(_) => cx.remark(format!("the purge of {session} was interrupted, and was finished now")),
            Err(error) => cx.fail(error.because(format!(
                "the purge of {session} was interrupted and is not finished: its files are gone, copies or notes of it may be left"
            ))),
        }
    }
    Ok(())
}

/// Returns one sentence per interrupted purge or scrub, for faces that only read.
pub(crate) fn unfinished(home: &Path) -> Vec<Remark> {
    if !home.join("ops").is_dir() {
        return Vec::new();
    }
    let runner = Home::at(home).runner();
    let Ok(purges) = runner.purges() else {
        return Vec::new();
    };
    let scrubs = runner.scrubs().unwrap_or_default().into_iter();
    let mut unfinished: Vec<Remark> = scrubs
        .map(|session| {
            let text = format!(
                "replacing secrets in {session} was interrupted: copies or notes may still hold them"
            );
            Remark::new(text).advising(Advice::ReplaceSecrets {
                session: Some(session.to_string()),
            })
        })
        .collect();
    // The process that holds the lock will finish it.
    if purges.is_empty() || runner.is_purging().unwrap_or(true) {
        return unfinished;
    }
    unfinished.extend(purges.iter().map(|purging| {
        Remark::new(format!(
            "the purge of {} was interrupted and is not finished: copies or notes of it may be left; the next command that writes finishes it",
            purging.session()
        ))
    }));
    unfinished
}

/// Whether the session is still in its store.
fn is_there(cx: &RequestContext, purging: &Purging) -> Result<bool> {
    let session = purging.session();
    let Some(dialect) = by_name(&session.dialect) else {
        return Ok(false);
    };
    let known = cx.stores.iter().map(|(_, store)| store);
    let store = known
        .into_iter()
        .find(|store| store.dialect().name() == session.dialect && store.root() == purging.root);
    let store = store
        .cloned()
        .unwrap_or_else(|| Store::in_folder(dialect, &purging.root));
    Ok(store
        .whole()
        .list()?
        .sessions
        .iter()
        .any(|location| location.id == session.id && location.owner.is_none()))
}

/// Returns the subagents of a session, including nested ones.
pub(crate) fn subagents(store: &Store, id: &str) -> Result<Vec<SessionLocation>> {
    let all = store.whole().list()?.sessions;
    let mut family: Vec<SessionLocation> = Vec::new();
    let mut owners = vec![id.to_owned()];
    while let Some(owner) = owners.pop() {
        for location in all.iter().filter(|it| it.owner.as_deref() == Some(&owner)) {
            if !family
                .iter()
                .any(|known| known.id == location.id && known.key == location.key)
            {
                owners.push(location.id.clone());
                family.push(location.clone());
            }
        }
    }
    Ok(family)
}

/// Returns the blobs that records of a session name, and the names of boswell's full copies of
/// them.
pub(crate) fn named(
    cx: &RequestContext,
    store: &Store,
    logs: &[SessionLocation],
) -> Result<(Vec<BlobId>, Vec<String>)> {
    let (mut ids, mut wholes) = (BTreeSet::new(), BTreeSet::new());
    if !store.dialect().facts().has_blobs() {
        return Ok((Vec::new(), Vec::new()));
    }
    let own = cx
        .home
        .as_ref()
        .filter(|home| home.join("blobs/whole").is_dir());
    let own = own.map(|home| Home::at(home).blobs());
    for location in logs.iter().filter(|location| location.key.is_some()) {
        let session = store.read(location, Depth::Heads)?;
        for slot in session.log().slots() {
            let bytes = session.entry(slot)?.bytes;
            ids.extend(blobs::references(&bytes));
            if let Some((name, id)) = own
                .as_ref()
                .map(|own| own.kept_whole(&bytes))
                .transpose()?
                .flatten()
            {
                wholes.insert(name);
                ids.insert(id);
            }
        }
    }
    Ok((ids.into_iter().collect(), wholes.into_iter().collect()))
}

/// Removes blobs that no other session names.
///
/// Blobs are in the root of their store: boswell's own sessions share those of its home, an agent's
/// sessions those of the agent. Full copies of records are in boswell's home.
fn remove_blobs(cx: &RequestContext, home: &Path, purging: &Purging) -> Result<usize> {
    if purging.blobs.is_empty() && purging.wholes.is_empty() {
        return Ok(0);
    }
    let (mut still, mut wholes) = (BTreeSet::new(), BTreeSet::new());
    let homes = [purging.root.as_path(), home];
    for (_, store) in cx
        .stores
        .iter_with_archived()
        .filter(|(_, store)| homes.contains(&store.root()))
    {
        // An excluded session needs its blobs like any other.
        let (ids, names) = named(cx, store, &store.whole().list()?.sessions)?;
        still.extend(ids);
        wholes.extend(names);
    }
    let mut removed = 0;
    for folder in homes.iter().collect::<BTreeSet<_>>() {
        let kept = Home::at(folder).blobs();
        for blob in purging.blobs.iter().filter(|blob| !still.contains(blob)) {
            if kept.has(blob)? {
                kept.remove(blob)?;
                removed += 1;
            }
        }
    }
    let own = Home::at(home).blobs();
    for name in purging.wholes.iter().filter(|name| !wholes.contains(*name)) {
        own.forget_whole(name)?;
    }
    Ok(removed)
}

/// Removes breadcrumbs, which record the session of a terminal. They contain only its path, so this
/// is best effort.
fn remove_crumbs(home: &Path, purging: &Purging) {
    let folder = home.join("terminal-sessions");
    for (name, _) in RealDisk.list(&folder).unwrap_or_default() {
        let path = folder.join(&name);
        let text = crate::system::read_text(&path).unwrap_or_default();
        if text
            .lines()
            .any(|line| purging.paths.iter().any(|it| it == line))
        {
            let _ = RealDisk.remove(&path);
        }
    }
}

/// Removes copies of prompt histories that a killed process left. A copy in use stays open after it
/// is unlinked.
fn remove_cache(home: &Path) {
    let folder = home.join("cache");
    for (name, _) in RealDisk.list(&folder).unwrap_or_default() {
        if name.starts_with("history-") {
            let _ = RealDisk.remove(&folder.join(name));
        }
    }
}
