//! The plan to scrub one session: every place that is examined, and the secrets found there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use boswell_dialect::{BlobPolicy, Capability, EditRequest, SharedFiles, Step};
use boswell_find::{Removal, Secrets, is_text, removals, replaced};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::is_packed;
use boswell_store::blobs::{BlobId, Blobs};
use boswell_store::operations::{Scrubbed, Scrubbing};
use boswell_store::store::Resolved;
use boswell_store::vault::Digest;
use boswell_store::{Home, Store, blobs};

use crate::delete::files_of;
use crate::plan_token::PlanToken;
use crate::{RequestContext, purge_copies};

/// A larger file is not changed, because it would be held in memory.
const LARGEST: u64 = 4 << 30;

/// The planned change of a file.
#[derive(Debug)]
pub(super) struct FileScrub {
    pub(super) key: String,
    pub(super) bytes: Vec<u8>,
    pub(super) found: Vec<Removal>,
    /// The replaced blobs and their replacements.
    pub(super) blobs: BTreeMap<BlobId, BlobId>,
    /// Lines that are replaced completely, with the secrets found in them.
    pub(super) lines: Vec<(std::ops::Range<usize>, Vec<u8>, Vec<Removal>)>,
}

impl FileScrub {
    fn new(key: String, bytes: Vec<u8>, found: Vec<Removal>) -> FileScrub {
        FileScrub {
            key,
            bytes,
            found,
            blobs: BTreeMap::new(),
            lines: Vec::new(),
        }
    }

    /// Iterates over all secrets that were found.
    pub(super) fn all(&self) -> impl Iterator<Item = &Removal> {
        self.found
            .iter()
            .chain(self.lines.iter().flat_map(|(.., found)| found))
    }
}

/// A full copy of a record that its agent writes truncated.
#[derive(Debug)]
pub(super) struct WholeScrub {
    /// Name of the small file that refers to it, and the blob.
    pub(super) name: String,
    pub(super) blob: BlobId,
    /// The new record as written to the log, and as stored in full.
    pub(super) written: Vec<u8>,
    pub(super) whole: Vec<u8>,
}

/// The planned changes of a session.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) found: Resolved,
    /// The session and its subagents.
    pub(super) sessions: Vec<SessionRef>,
    pub(super) files: Vec<FileScrub>,
    /// Bytes of new blobs, and the blobs that they replace.
    pub(super) fresh: Vec<Vec<u8>>,
    pub(super) stale: BTreeSet<BlobId>,
    pub(super) wholes: Vec<WholeScrub>,
    pub(super) elsewhere: Scrubbed,
    /// Places that contain secrets and are not changed, with the reason.
    pub(super) unreached: Vec<String>,
    /// Whether an earlier run was interrupted.
    pub(super) interrupted: bool,
}

impl Target {
    pub(super) fn session(&self) -> SessionRef {
        self.found.reference()
    }

    /// Returns the token that binds the execution to the shown plan: the current state of the
    /// session's own files. Shared files are not included, because scrubbing one session changes
    /// them for the next one.
    pub(super) fn token(&self) -> PlanToken {
        let store = &self.found.store;
        let own = self
            .files
            .iter()
            .filter(|file| shared_file(store, &file.key).is_none());
        let mut parts = vec![store.root().display().to_string()];
        parts.extend(own.map(|file| format!("{} {}", file.key, Digest::of(&file.bytes))));
        PlanToken::new(self.session(), &parts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.wholes.is_empty()
            && self.elsewhere == Scrubbed::default()
            && !self.interrupted
    }
}

/// Examines everything that belongs to a session.
pub(super) fn target(cx: &RequestContext, secrets: &Secrets, found: Resolved) -> Result<Target> {
    let session = found.reference();
    refuse_live(&found)?;
    let subagents = purge_copies::subagents(&found.store, &found.location.id)?;
    let mut sessions = vec![session.clone()];
    sessions.extend(
        subagents
            .iter()
            .map(|it| SessionRef::new(&session.dialect, &it.id)),
    );
    let mut target = Target {
        found,
        sessions,
        files: Vec::new(),
        fresh: Vec::new(),
        stale: BTreeSet::new(),
        wholes: Vec::new(),
        elsewhere: Scrubbed::default(),
        unreached: Vec::new(),
        interrupted: false,
    };
    for key in own_files(&target.found)? {
        look_at_wholes(cx, secrets, &mut target, &key)?;
        look_at(secrets, &mut target, key)?;
    }
    look_at_shared(secrets, &mut target)?;
    look_at_blobs(secrets, &mut target)?;
    if cx.home.as_ref().is_some_and(|home| home.is_dir()) {
        let runner = cx.reading_runner()?;
        target.interrupted = runner.scrubs()?.contains(&session);
        target.elsewhere =
            with_scrubbing(secrets, &target, |scrubbing| runner.would_scrub(scrubbing))?;
    }
    Ok(target)
}

/// Refuses if its agent has the session open: it would write replaced secrets again from memory, or
/// lose what it wrote in the meantime.
pub(super) fn refuse_live(found: &Resolved) -> Result<()> {
    if let Some(archived) = found.store.archived() {
        return Err(
            Error::new(ErrorKind::Conflict, format!("{archived} is archived"))
                .because("secrets are replaced in sessions that are in their place")
                .advising(Advice::restore(archived)),
        );
    }
    match found.store.live(&found.location)?.first() {
        None => Ok(()),
        Some(pid) => Err(Error::new(
            ErrorKind::Busy,
            format!("{} is open in its agent (pid {pid})", found.reference()),
        )
        .because("an agent that is at work would write again what was replaced")
        .advising(Advice::CloseAgent)),
    }
}

/// Returns every file of the session, as for a deletion.
fn own_files(found: &Resolved) -> Result<Vec<String>> {
    if !found.store.dialect().powers().plans(Capability::Delete) {
        return files_of(found);
    }
    let planned = found.store.plan(&found.location, &EditRequest::Delete)?;
    let key = |step: Step| {
        if let Step::Remove { key } = step {
            Some(key)
        } else {
            None
        }
    };
    Ok(planned.plan.steps.into_iter().filter_map(key).collect())
}

fn look_at(secrets: &Secrets, target: &mut Target, key: String) -> Result<()> {
    let path = target.found.store.backend().describe(&key);
    if is_packed(&key) {
        target.unreached.push(format!(
            "`{path}` is compressed by its agent and is not changed"
        ));
        return Ok(());
    }
    let fold = target.found.store.dialect().powers().fold;
    if fold.is_some_and(|fold| fold.folds(&key, b"")) {
        target.unreached.push(format!(
            "`{path}` has checksums of its bytes and is not changed"
        ));
        return Ok(());
    }
    let Some(bytes) = target.found.store.file(&key, LARGEST)? else {
        return Ok(());
    };
    if !is_text(&bytes) {
        target
            .unreached
            .push(format!("`{path}` is not text and is not looked into"));
        return Ok(());
    }
    let found = removals(secrets, &bytes);
    let names_blobs = !blobs::references(&bytes).is_empty();
    if !found.is_empty() || names_blobs {
        target.files.push(FileScrub::new(key, bytes, found));
    }
    Ok(())
}

/// Examines the full copies of records in boswell's home.
fn look_at_wholes(
    cx: &RequestContext,
    secrets: &Secrets,
    target: &mut Target,
    key: &str,
) -> Result<()> {
    let blobs = target.found.store.dialect().facts().blobs;
    let agent = matches!(blobs, BlobPolicy::Xcsh | BlobPolicy::Omp);
    let home = cx
        .home
        .as_ref()
        .filter(|home| agent && home.join("blobs/whole").is_dir());
    let Some(kept) = home
        .filter(|_| key.ends_with(".jsonl"))
        .map(|home| blobs_of(home))
    else {
        return Ok(());
    };
    let bytes = target.found.store.file(key, LARGEST)?.unwrap_or_default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((name, blob)) = kept.kept_whole(line)? else {
            continue;
        };
        let old = kept.get(&blob)?;
        let (in_line, in_whole) = (removals(secrets, line), removals(secrets, &old));
        if !in_line.is_empty() || !in_whole.is_empty() {
            let (written, whole) = (replaced(line, &in_line), replaced(&old, &in_whole));
            target.wholes.push(WholeScrub {
                name,
                blob,
                written,
                whole,
            });
        }
    }
    Ok(())
}

/// Examines shared files: only data of this session is replaced.
fn look_at_shared(secrets: &Secrets, target: &mut Target) -> Result<()> {
    let store = &target.found.store;
    let Some(shared) = store.dialect().powers().shared_files else {
        return Ok(());
    };
    for key in store.shared_files()? {
        let Some(bytes) = store.file(&key, LARGEST)? else {
            continue;
        };
        let found = of_session(shared, secrets, target, &key, &bytes);
        if !found.is_empty() {
            target.files.push(FileScrub::new(key, bytes, found));
        }
    }
    Ok(())
}

/// Returns the power that parses a shared file; `None` if the file is not shared.
fn shared_file<'s>(store: &'s Store, key: &str) -> Option<&'s dyn SharedFiles> {
    let shared = store.dialect().powers().shared_files;
    shared.filter(|shared| shared.is_shared(key))
}

/// Returns the secrets that a shared file would not contain without the session.
fn of_session(
    shared: &dyn SharedFiles,
    secrets: &Secrets,
    target: &Target,
    key: &str,
    bytes: &[u8],
) -> Vec<Removal> {
    let mut found = removals(secrets, bytes);
    if found.is_empty() {
        return found;
    }
    let ids: Vec<String> = target
        .sessions
        .iter()
        .map(|session| session.id.clone())
        .collect();
    let Some(others) = shared.without(key, bytes, &ids) else {
        return Vec::new();
    };
    let theirs: BTreeSet<Vec<u8>> = removals(secrets, &others)
        .into_iter()
        .map(|it| it.value)
        .collect();
    let own: BTreeSet<&[u8]> = target
        .files
        .iter()
        .flat_map(FileScrub::all)
        .map(|it| it.value.as_slice())
        .collect();
    found.retain(|it| own.contains(it.value.as_slice()) || !theirs.contains(&it.value));
    found
}

/// Examines the blobs that the session's files name.
fn look_at_blobs(secrets: &Secrets, target: &mut Target) -> Result<()> {
    let kept = blobs_of(target.found.store.root());
    let cuts_text = target.found.store.dialect().facts().is_own;
    for file in &mut target.files {
        for id in blobs::references(&file.bytes) {
            // A missing file is reported by `check`.
            let Some(bytes) = kept.has(&id)?.then(|| kept.get(&id)).transpose()? else {
                continue;
            };
            let found = removals(secrets, &bytes);
            if !found.is_empty() && !cuts_text {
                let new = replaced(&bytes, &found);
                file.blobs.insert(id, BlobId::of(&new));
                target.stale.insert(id);
                target.fresh.push(new);
            }
        }
        if cuts_text {
            whole_lines(secrets, &kept, file, &mut target.fresh, &mut target.stale)?;
        }
    }
    target
        .files
        .retain(|file| !file.found.is_empty() || !file.blobs.is_empty() || !file.lines.is_empty());
    Ok(())
}

/// Returns boswell's records whose long texts continue in blobs. The notice in them counts the
/// rest, so they are assembled, changed and split again.
fn whole_lines(
    secrets: &Secrets,
    kept: &Blobs,
    file: &mut FileScrub,
    fresh: &mut Vec<Vec<u8>>,
    stale: &mut BTreeSet<BlobId>,
) -> Result<()> {
    let mut at = 0;
    for line in file.bytes.split(|byte| *byte == b'\n') {
        let place = at..at + line.len();
        at = place.end + 1;
        let named = blobs::references(line);
        let whole = if named.is_empty() {
            Vec::new()
        } else {
            kept.internalise(line)?.record
        };
        let found = removals(secrets, &whole);
        if found.is_empty() {
            continue;
        }
        let cut = blobs::externalise(&replaced(&whole, &found), blobs::LARGE_TEXT)?;
        let still = blobs::references(&cut.record);
        stale.extend(named.into_iter().filter(|id| !still.contains(id)));
        fresh.extend(cut.blobs.into_iter().map(|(_, bytes)| bytes));
        file.lines.push((place, cut.record, found));
    }
    let inside = |it: &Removal| {
        file.lines
            .iter()
            .any(|(place, ..)| place.contains(&it.range.start))
    };
    file.found.retain(|it| !inside(it));
    Ok(())
}

pub(super) fn blobs_of(root: &Path) -> Blobs {
    Home::at(root).blobs()
}

/// Computes the replacements in copies and lines, and passes them to `work`.
pub(super) fn with_scrubbing<T>(
    secrets: &Secrets,
    target: &Target,
    act: impl FnOnce(&Scrubbing<'_>) -> Result<T>,
) -> Result<T> {
    let (store, session) = (&target.found.store, target.session());
    let log = target.found.location.key.clone().unwrap_or_default();
    let side_files = log.strip_suffix(".jsonl").map(|stem| format!("{stem}/"));
    let is_meant = |of: &SessionRef, root: &Path, key: &str| {
        let own = key == log
            || (side_files.as_deref()).is_some_and(|side_files| key.starts_with(side_files));
        let here = of.dialect == session.dialect && root == store.root();
        target.sessions.contains(of) || (here && (own || shared_file(store, key).is_some()))
    };
    let copy = |key: &str, bytes: &[u8]| {
        let found = match shared_file(store, key) {
            Some(shared) => of_session(shared, secrets, target, key, bytes),
            None => removals(secrets, bytes),
        };
        (!found.is_empty()).then(|| replaced(bytes, &found))
    };
    let line = |of: Option<&SessionRef>, bytes: &[u8]| {
        of.filter(|of| target.sessions.contains(*of))?;
        let found = removals(secrets, bytes);
        (!found.is_empty()).then(|| replaced(bytes, &found))
    };
    act(&Scrubbing {
        is_meant: &is_meant,
        copy: &copy,
        line: &line,
    })
}
