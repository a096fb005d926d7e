//! Pushing a session: what the server lacks, then all of it at once.

use std::collections::BTreeMap;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};

use super::transport::{Sent, TeamClient, body, parsed, step};
use crate::manifest::{PART, TeamFile, TeamManifest, part_name, texts};

/// How often a push is begun that another one overtakes.
const TRIES: u32 = 3;
/// Hashes in one question.
const QUESTION: usize = 5000;

/// What a push did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushReport {
    /// The revision that the session has now.
    pub revision: u64,
    /// Whether exactly this was there already.
    pub same: bool,
    /// Parts that were sent.
    pub parts: u64,
    /// Bytes of these.
    pub bytes: u64,
}

/// Files in their order: the log first.
type Files<'f> = &'f [(String, Vec<u8>)];

impl TeamClient {
    /// Pushes a session of one's own: sends the parts that the server does not have, and publishes
    /// the whole. A session that went on elsewhere is refused, unless it is to be replaced.
    ///
    /// # Errors
    ///
    /// `Conflict` if the server has what this machine does not, `Denied` for a token that is not
    /// valid, `Unavailable` if the server cannot be reached: the next push goes on from there.
    pub fn push(
        &self,
        (person, session): (&str, &str),
        about: TeamManifest,
        files: Files<'_>,
        replace: bool,
    ) -> Result<PushReport> {
        let described = files.iter().map(|(name, bytes)| TeamFile::of(name, bytes));
        let manifest = TeamManifest {
            files: described.collect(),
            ..about
        };
        let mut tries = 1;
        loop {
            match self.push_once((person, session), &manifest, files, replace) {
                // Another push was faster, or a sweep took a part that was never published.
                Err(error)
                    if error.kind() == ErrorKind::Conflict
                        && error.reason().is_none()
                        && tries < TRIES =>
                {
                    tries += 1;
                }
                done => return done,
            }
        }
    }

    fn push_once(
        &self,
        (person, session): (&str, &str),
        manifest: &TeamManifest,
        files: Files<'_>,
        replace: bool,
    ) -> Result<PushReport> {
        let there = match self.read(person, session) {
            Ok(found) => Some(found),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        let follows = there.as_ref().map_or(0, |(_, revision)| *revision);
        if let Some((there, revision)) = &there {
            if there == manifest {
                return Ok(PushReport {
                    revision: *revision,
                    same: true,
                    parts: 0,
                    bytes: 0,
                });
            }
            let of_one_kind = there.redacted == manifest.redacted;
            if of_one_kind && !replace && !is_beginning(there, files) {
                return Err(went_on(session));
            }
        }
        let (parts, bytes) = self.send_parts((person, session), files)?;
        let path = address(person, session);
        let sent = manifest.to_json().to_bytes();
        let done = self.send(&path, Sent::PutAfter(&sent, follows))?;
        Ok(PushReport {
            revision: done.revision,
            same: false,
            parts,
            bytes,
        })
    }

    /// Sends the parts that the server lacks; returns how many, and their bytes.
    fn send_parts(&self, (person, session): (&str, &str), files: Files<'_>) -> Result<(u64, u64)> {
        let mut parts: BTreeMap<String, &[u8]> = BTreeMap::new();
        for (_, bytes) in files {
            parts.extend(bytes.chunks(PART).map(|part| (part_name(part), part)));
        }
        let base = address(person, session);
        let (mut count, mut total) = (0, 0);
        let names: Vec<String> = parts.keys().cloned().collect();
        for some in names.chunks(QUESTION) {
            let question = body(&Json::object().with("parts", texts(some)));
            let answer = self.send(&format!("{base}/missing"), Sent::Post(&question))?;
            let answer = parsed(&answer.bytes)?;
            for name in answer.get("missing").into_iter().flat_map(|it| it.items()) {
                let name = name.text().unwrap_or_default();
                let Some(part) = parts.get(name.as_ref()) else {
                    continue;
                };
                self.send(&format!("{base}/parts/{name}"), Sent::Put(part))?;
                count += 1;
                total += part.len() as u64;
            }
        }
        Ok((count, total))
    }
}

/// Whether the log on the server is the beginning of the one here.
fn is_beginning(there: &TeamManifest, files: Files<'_>) -> bool {
    let (Some(log), Some((name, here))) = (there.files.first(), files.first()) else {
        return false;
    };
    let length = usize::try_from(log.bytes).unwrap_or(usize::MAX);
    let Some(beginning) = here.get(..length) else {
        return false;
    };
    // A log that was moved to another folder is another copy.
    log.name == *name && TeamFile::of(name, beginning).parts == log.parts
}

fn went_on(session: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("{session} differs on the server"),
    )
    .because("what is there is not the beginning of what is here")
    .advising("look at it with `boswell fetch`, or replace it with `--replace`")
}

/// Returns the address of a session.
pub(super) fn address(person: &str, session: &str) -> String {
    format!("/team/v1/sessions/{}/{}", step(person), step(session))
}
