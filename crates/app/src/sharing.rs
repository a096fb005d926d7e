//! Sessions for a team: packed here as they are, and unpacked as a plan.
//!
//! Nothing is sent from here: a face takes what is packed to a server, and brings what came from
//! one. What came is not trusted: only names that the dialect takes for files of this session are
//! written, by the same plan as a copy from a host.

mod received;

use boswell_dialect::Depth;
use boswell_find::{Removal, Secrets, is_text, removals, replaced};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::is_packed;
use boswell_store::store::Resolved;

use crate::hosts::copy::refuse_uncopied;
use crate::{App, AppResult, RequestContext};

pub use received::{FetchRequest, FetchedFiles};

/// A larger file is not shared, because it would be held in memory.
const LARGEST: u64 = 1 << 30;
/// How much of a secret's place is reported.
const MOST_PLACES: usize = 200;

/// A request to pack a session.
#[derive(Debug, Clone, Default)]
pub struct PackRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Whether secrets are replaced; else a session with secrets is not packed.
    pub redact: bool,
}

/// A session as it is sent.
#[derive(Debug, Clone)]
pub struct PackedSession {
    /// The session.
    pub reference: SessionRef,
    /// Its name, without secrets.
    pub title: String,
    /// Its project folder.
    pub folder: Option<String>,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// Whether secrets were replaced.
    pub redacted: bool,
    /// Its log, then its side files: paths below the store's folder, and bytes.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlace {
    /// The file.
    pub file: String,
    /// Its line in the file, from 1.
    pub line: u64,
    /// What kind of secret.
    pub kind: &'static str,
}

/// What came of packing.
#[derive(Debug)]
pub enum Packing {
    /// It can be sent.
    Ready(PackedSession),
    /// It has secrets, and they were not to be replaced.
    Secrets(SessionRef, Vec<SecretPlace>),
}

impl App {
    /// Reads a session with its side files. Secrets are found first: they are replaced, or nothing
    /// is packed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session; Unsupported if it has no log of its own, or its agent
    /// would not find it on another machine, or secrets in it cannot be looked for.
    pub fn pack(&self, request: &PackRequest) -> AppResult<Packing> {
        self.answer(|cx| pack(cx, request))
    }
}

fn pack(cx: &RequestContext, request: &PackRequest) -> Result<Packing> {
    let found = cx.resolve(&request.session)?;
    let dialect = found.store.dialect();
    refuse_uncopied(dialect)?;
    let reference = SessionRef::new(dialect.name(), &found.location.id);
    let files = files(&found, &reference)?;
    let secrets = Secrets::new()?;
    let keys = agent_keys(&found)?;
    let mut places = Vec::new();
    let mut packed = Vec::new();
    let mut opaque = 0;
    for (key, mut bytes) in files {
        opaque += usize::from(!is_text(&bytes));
        let mut found = removals(&secrets, &bytes);
        // What the agent stores as its own key is in the log, and no rule knows its form.
        if packed.is_empty() {
            add_keys(&keys, &bytes, &mut found);
        }
        places.extend(found.iter().map(|it| place(&key, &bytes, it)));
        if !found.is_empty() {
            bytes = replaced(&bytes, &found);
        }
        packed.push((key, bytes));
    }
    if !places.is_empty() && !request.redact {
        places.truncate(MOST_PLACES);
        return Ok(Packing::Secrets(reference, places));
    }
    if opaque > 0 {
        cx.remark(format!(
            "{opaque} files of {reference} are not text: nobody looked for secrets in them"
        ));
    }
    let summary = found.store.summary(&found.location)?;
    Ok(Packing::Ready(PackedSession {
        title: secrets.redact(&summary.name()).into_owned(),
        folder: summary.meta.project.clone(),
        active: summary.meta.last_active.map(|at| at.millis()),
        redacted: !places.is_empty(),
        files: packed,
        reference,
    }))
}

/// Returns the log and its side files.
fn files(found: &Resolved, reference: &SessionRef) -> Result<Vec<(String, Vec<u8>)>> {
    let log = found.location.key.clone();
    let log = log.ok_or_else(|| cannot(reference, "it has no log of its own"))?;
    let side = found.store.side_files(&found.location)?;
    let keys = std::iter::once(log).chain(side.into_iter().map(|file| file.key));
    let mut files = Vec::new();
    for key in keys {
        if is_packed(&key) {
            return Err(cannot(
                reference,
                "its agent compressed it: secrets would not be found",
            ));
        }
        // A file that its agent removed meanwhile is no part of the session any more.
        if let Some(bytes) = found.store.file(&key, LARGEST)? {
            files.push((key, bytes));
        }
    }
    Ok(files)
}

fn cannot(reference: &SessionRef, why: &'static str) -> Error {
    let what = format!("{reference} cannot be shared");
    Error::new(ErrorKind::Unsupported, what).because(why)
}

/// Returns the ranges of the log in which the agent stores keys of its own, and their replacement.
fn agent_keys(found: &Resolved) -> Result<Vec<(std::ops::Range<usize>, Vec<u8>)>> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let redactor = crate::export::AgentKeys::of(&session)?;
    Ok(redactor.ranges())
}

/// Adds what differs in those ranges.
fn add_keys(keys: &[(std::ops::Range<usize>, Vec<u8>)], bytes: &[u8], found: &mut Vec<Removal>) {
    for (range, shown) in keys {
        let Some(old) = bytes.get(range.clone()) else {
            continue;
        };
        let same = |(a, b): &(&u8, &u8)| a == b;
        let from = old.iter().zip(shown).take_while(same).count();
        let rest = old.len().min(shown.len()) - from;
        let (old_end, shown_end) = (old.iter().rev(), shown.iter().rev());
        let tail = old_end.zip(shown_end).take_while(same).count().min(rest);
        let changed = range.start + from..range.end - tail;
        found.retain(|it| it.range.end <= changed.start || it.range.start >= changed.end);
        found.push(Removal {
            value: bytes.get(changed.clone()).unwrap_or_default().to_vec(),
            range: changed,
            kind: "agent-key",
        });
    }
    found.sort_by_key(|it| it.range.start);
}

fn place(key: &str, bytes: &[u8], found: &Removal) -> SecretPlace {
    let before = bytes.get(..found.range.start).unwrap_or_default();
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    SecretPlace {
        file: key.to_owned(),
        line: lines as u64 + 1,
        kind: found.kind,
    }
}
