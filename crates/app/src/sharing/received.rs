//! A session that came from a team's server, and the plan that writes it here.

use std::path::PathBuf;

use boswell_dialect::by_name;
use boswell_model::json::{Raw, set_member};
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::vault::Digest;

use crate::hosts::copied::CopiedSession;
use crate::hosts::copy::{CopyPlan, planned};
use crate::{App, AppResult, RequestContext};

/// Files by their paths below the store's folder.
pub type FetchedFiles = std::collections::BTreeMap<String, Vec<u8>>;

/// What an agent would do without asking, in a session of somebody else.
const MODE: &str = "permissionMode";

/// A session that came, whole and checked.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The session: DIALECT:ID.
    pub session: String,
    /// Whose it is.
    pub owner: String,
    /// Whether secrets were replaced: then it becomes a session of its own.
    pub redacted: bool,
    /// Its log and its side files.
    pub files: FetchedFiles,
    /// The project folder here, if it is not the same path as there.
    pub project: Option<PathBuf>,
}

impl App {
    /// Plans to write a session that came from a team's server. Nothing is written; [`App::copy`]
    /// executes the plan.
    ///
    /// # Errors
    ///
    /// Damaged if the files are not those of the session, Unsupported if sessions of its agent
    /// cannot be copied, NotFound if its folder is not here, Conflict if another state of it is
    /// here.
    pub fn plan_fetch(&self, request: &FetchRequest) -> AppResult<CopyPlan> {
        self.answer(|cx| plan(cx, request))
    }
}

fn plan(cx: &RequestContext, request: &FetchRequest) -> Result<CopyPlan> {
    cx.may_write()?;
    let not_whole = |why: String| {
        let what = format!("what came is not a whole session {}", request.session);
        Error::new(ErrorKind::Damaged, what).because(why)
    };
    let parts = request.session.split_once(':');
    let (name, id) = parts.ok_or_else(|| not_whole("it has no name".to_owned()))?;
    let dialect = by_name(name).ok_or_else(|| not_whole("its agent is not known".to_owned()))?;
    let mut files = request.files.clone();
    let mut id = id.to_owned();
    if request.redacted {
        (id, files) = renamed(&request.owner, &id, files)?;
    }
    for (key, bytes) in &mut files {
        if key.ends_with(".jsonl") {
            *bytes = without_modes(std::mem::take(bytes));
        }
    }
    let received = CopiedSession::of(dialect, &id, files).map_err(not_whole)?;
    let from = format!("{} of the team", request.owner);
    planned(cx, received, (&from, request.project.as_deref()))
}

/// Gives a redacted session an id of its own, always the same one, so that it is never written over
/// the original: in names and wherever the old id is.
fn renamed(owner: &str, id: &str, files: FetchedFiles) -> Result<(String, FetchedFiles)> {
    let is_uuid = id.len() == 36 && id.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    if !is_uuid {
        let what = format!("a redacted copy of {id} cannot be made");
        return Err(Error::new(ErrorKind::Unsupported, what)
            .because("its agent gives sessions ids of another form")
            .advising("ask its owner to share it without secrets"));
    }
    let sum = Digest::of(format!("redacted {owner} {id}").as_bytes()).to_string();
    let at = |from: usize, to: usize| sum.get(from..to).unwrap_or_default().to_owned();
    let new = [
        at(0, 8),
        at(8, 12),
        format!("4{}", at(13, 16)),
        format!("8{}", at(17, 20)),
        at(20, 32),
    ]
    .join("-");
    let changed = files.into_iter().map(|(key, bytes)| {
        let bytes = match boswell_find::is_text(&bytes) {
            true => exchanged(&bytes, id.as_bytes(), new.as_bytes()),
            false => bytes,
        };
        (key.replace(id, &new), bytes)
    });
    Ok((new.clone(), changed.collect()))
}

/// Exchanges one text for another of the same length.
fn exchanged(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.windows(old.len()).position(|it| it == old))
    {
        let from = at + found;
        bytes.splice(from..from + old.len(), new.iter().copied());
        at = from + new.len();
    }
    bytes
}

/// Sets the permission mode of every record to the one that asks.
fn without_modes(bytes: Vec<u8>) -> Vec<u8> {
    let has = |part: &[u8]| part.windows(MODE.len()).any(|it| it == MODE.as_bytes());
    if !has(&bytes) {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let record = line.strip_suffix(b"\n").unwrap_or(line);
        let asks = has(record).then(|| {
            Raw::parse(record)
                .ok()?
                .get(MODE)?
                .text()
                .map(|it| it != "default")
        });
        match asks.flatten().filter(|it| *it) {
            Some(_) => {
                let plain = set_member(record, &[MODE], b"\"default\"");
                out.extend(plain.unwrap_or_else(|_| record.to_vec()));
                out.extend(line.get(record.len()..).unwrap_or_default());
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_modes_of_others_are_dropped_and_every_other_byte_stays() {
        let log = b"{\"a\":1,\"permissionMode\":\"bypassPermissions\",\"b\": 2}\n\
            {\"permissionMode\":\"default\"}\n{\"text\":\"permissionMode\"}\ntorn permissionMode";
        let wanted = b"{\"a\":1,\"permissionMode\":\"default\",\"b\": 2}\n\
            {\"permissionMode\":\"default\"}\n{\"text\":\"permissionMode\"}\ntorn permissionMode";
        let dropped = without_modes(log.to_vec());
        assert_eq!(
            String::from_utf8_lossy(&dropped),
            String::from_utf8_lossy(wanted)
        );
    }

    #[test]
    fn a_redacted_session_gets_an_id_of_its_own_everywhere() {
        let id = "aaaaaaaa-0001-4001-8001-000000000001";
        let files = FetchedFiles::from([(
            format!("projects/-w/{id}.jsonl"),
            format!("{{\"sessionId\":\"{id}\"}}\n{{\"x\":\"{id}{id}\"}}\n").into_bytes(),
        )]);
        let (new, changed) = renamed("alice", id, files.clone()).unwrap();
        assert_eq!(
            renamed("alice", id, files.clone()).unwrap().0,
            new,
            "always the same"
        );
        assert_ne!(renamed("bob", id, files).unwrap().0, new);
        let (key, bytes) = changed.first_key_value().unwrap();
        assert_eq!(*key, format!("projects/-w/{new}.jsonl"));
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(
            !text.contains(id) && text.matches(&new).count() == 3,
            "{text}"
        );
        assert!(renamed("alice", "short", FetchedFiles::new()).is_err());
    }
}
