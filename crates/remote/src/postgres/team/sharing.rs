//! What an owner does with sessions: push, share, take back, delete.

use boswell_model::{Error, ErrorKind, Result};

use super::database::{TeamDatabase, TeamPerson, denied, only};
use super::names::{project_name, shared_session_name};
use super::rows::{SharedFile, sizes_of};
use super::statements::{DELETE_SHARED, MISSING, PART, PUBLISH_SHARED, SHARE};
use crate::postgres::backend::{get, signed, unsigned};
use crate::postgres::link::Arguments;

/// A session that is to be published, once its parts are stored.
#[derive(Debug, Clone)]
pub struct SharedManifestDraft {
    /// The revision that it follows; 0 for a session that is not there.
    pub follows: u64,
    /// SHA-256 of the manifest as it was sent: the same again changes nothing.
    pub manifest: String,
    /// The agent's format.
    pub dialect: String,
    /// Its name.
    pub title: Option<String>,
    /// The project folder.
    pub folder: Option<String>,
    /// Whether secrets were replaced.
    pub redacted: bool,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// Its log, then its side files.
    pub files: Vec<SharedFile>,
}

/// What came of publishing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It is there, with this revision.
    Published(u64),
    /// Exactly this was there already.
    Same(u64),
    /// Another revision is there; 0 if there is none.
    Moved(u64),
    /// Parts of it are not stored.
    Missing,
    /// The parts of a file do not have its length.
    Torn,
}

impl TeamDatabase {
    /// Stores a part of a session of one's own. It is seen by nobody else until it is published.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is none; errors of the database.
    pub async fn store_part(
        &self,
        by: &TeamPerson,
        session: &str,
        hash: &str,
        bytes: Vec<u8>,
    ) -> Result<()> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new(hash.to_owned()),
            Box::new(bytes),
        ];
        self.say(by, &PART, rest).await.map(drop)
    }

    /// Returns which of these parts of a session of one's own are not stored.
    ///
    /// # Errors
    ///
    /// As for [`store_part`](TeamDatabase::store_part).
    pub async fn missing(
        &self,
        by: &TeamPerson,
        session: &str,
        hashes: Vec<String>,
    ) -> Result<Vec<String>> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new(hashes),
        ];
        let answer = self.ask(by, &MISSING, rest).await?;
        get(only(&answer)?, 0)
    }

    /// Publishes a session of one's own: as a whole, or not at all.
    ///
    /// # Errors
    ///
    /// As for [`store_part`](TeamDatabase::store_part).
    pub async fn publish(
        &self,
        by: &TeamPerson,
        session: &str,
        draft: SharedManifestDraft,
    ) -> Result<PublishOutcome> {
        let of = |take: fn(&SharedFile) -> String| -> Vec<String> {
            draft.files.iter().map(take).collect()
        };
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new(signed(draft.follows)),
            Box::new(draft.manifest.clone()),
            Box::new(draft.dialect.clone()),
            Box::new(draft.title.clone()),
            Box::new(draft.folder.clone()),
            Box::new(draft.redacted),
            Box::new(draft.active),
            Box::new(of(|file| file.name.clone())),
            Box::new(sizes_of(&draft.files)),
            Box::new(of(|file| file.sha256.clone())),
            Box::new(of(|file| file.parts.join(" "))),
        ];
        let answer = self.ask(by, &PUBLISH_SHARED, rest).await?;
        let row = only(&answer)?;
        let at = unsigned(row, 0)?;
        Ok(match get::<String>(row, 1)?.as_str() {
            "published" => PublishOutcome::Published(at),
            "same" => PublishOutcome::Same(at),
            "moved" => PublishOutcome::Moved(at),
            "missing" => PublishOutcome::Missing,
            _ => PublishOutcome::Torn,
        })
    }

    /// Shares a session of one's own with a project, or takes it back.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session or project, `Denied` if the person may not write in
    /// the project, `Conflict` if a legal hold keeps it there.
    pub async fn share(
        &self,
        by: &TeamPerson,
        session: &str,
        (project, on): (&str, bool),
    ) -> Result<()> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new(project_name(project)?.to_owned()),
            Box::new(on),
        ];
        match self.say(by, &SHARE, rest).await?.0.as_str() {
            "shared" | "taken back" => Ok(()),
            "held" => Err(held(session)),
            "denied" => Err(denied(&format!("you may not share with project {project}"))
                .advising("ask an owner of the project for the role `writer`")),
            "no project" => Err(no_project(project)),
            _ => Err(no_session(session)),
        }
    }

    /// Deletes a session of one's own.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none, `Conflict` if a legal hold keeps it.
    pub async fn delete(&self, by: &TeamPerson, session: &str) -> Result<()> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(by.name.clone()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new("by its owner"),
        ];
        let (why, repeated) = self.say(by, &DELETE_SHARED, rest).await?;
        match why.as_str() {
            "deleted" => Ok(()),
            "gone" if repeated => Ok(()),
            "held" => Err(held(session)),
            _ => Err(no_session(session)),
        }
    }
}

fn held(session: &str) -> Error {
    let what = format!("a legal hold keeps {session}");
    Error::new(ErrorKind::Conflict, what)
        .because("a project that it is shared with is on hold")
        .advising("ask an administrator of the team to end the hold")
}

fn no_session(session: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("you have not shared {session}"),
    )
}

pub(super) fn no_project(project: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("the team has no project {project}"),
    )
    .advising("an administrator makes it with `boswell team project NAME`")
}
