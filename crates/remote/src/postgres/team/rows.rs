//! What is read: pages of sessions, what a session consists of, and the audit.

use boswell_model::Result;
use tokio_postgres::Row;

use super::database::{TeamDatabase, TeamPerson, only};
use super::names::{person_name, project_name, shared_session_name};
use super::statements::{AUDIT, PART_BYTES, PROJECTS, READ, SHARED_PAGE};
use crate::postgres::backend::{get, signed, unsigned};
use crate::postgres::link::Arguments;

/// A time behind every other, in microseconds: the year 9999.
const LATEST: i64 = 253_402_300_799_000_000;

/// Which page of sessions.
#[derive(Debug, Clone, Default)]
pub struct SharedPage {
    /// Only sessions that are shared with this project.
    pub project: Option<String>,
    /// Only sessions with this text in their name, title or folder.
    pub text: Option<String>,
    /// Behind this row: its time, owner and session.
    pub after: Option<(i64, String, String)>,
    /// At most so many.
    pub limit: u32,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRow {
    /// Whose it is.
    pub owner: String,
    /// `DIALECT:ID`.
    pub session: String,
    /// Its name.
    pub title: Option<String>,
    /// The project folder on the owner's machine.
    pub folder: Option<String>,
    /// Whether secrets were replaced before it was pushed.
    pub redacted: bool,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// Its revision: one more with each push that changed something.
    pub revision: u64,
    /// Size of all files.
    pub bytes: u64,
    /// The projects that it is shared with.
    pub projects: Vec<String>,
    /// When it was pushed, in microseconds.
    pub pushed: i64,
}

/// A file of a shared session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// Its path below the store's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// SHA-256 of each part, in order.
    pub parts: Vec<String>,
}

/// What a shared session consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedManifest {
    /// Its revision.
    pub revision: u64,
    /// The agent's format.
    pub dialect: String,
    /// Its name.
    pub title: Option<String>,
    /// The project folder on the owner's machine.
    pub folder: Option<String>,
    /// Whether secrets were replaced before it was pushed.
    pub redacted: bool,
    /// Time of its last entry, in milliseconds.
    pub active: Option<i64>,
    /// The projects that it is shared with.
    pub projects: Vec<String>,
    /// Its log, then its side files.
    pub files: Vec<SharedFile>,
}

/// A line of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    /// When, in microseconds.
    pub at: i64,
    /// Who did it.
    pub actor: String,
    /// What.
    pub act: String,
    /// Whose session or account it was done to.
    pub owner: String,
    /// The session, or empty.
    pub session: String,
    /// The revision, the project, the words of a search.
    pub detail: String,
}

impl TeamDatabase {
    /// Returns a page of the sessions that a person may see, the last pushed first, and notes it.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is none; errors of the database.
    pub async fn page(&self, by: &TeamPerson, page: &SharedPage) -> Result<Vec<SharedRow>> {
        let project = page.project.as_deref().map(project_name).transpose()?;
        let after = page.after.clone();
        let (time, owner, session) = after.unwrap_or((LATEST, String::new(), String::new()));
        let text = page.text.as_ref().map(|it| it.to_lowercase());
        let detail = text.as_deref().or(project).unwrap_or_default().to_owned();
        let act = if text.is_some() { "search" } else { "list" };
        let rest: Arguments = vec![
            Box::new(by.readers.clone()),
            Box::new(project.map(|it| format!("project:{it}"))),
            Box::new(text.map(|it| it.replace('\0', ""))),
            Box::new(time),
            Box::new(owner.replace('\0', "")),
            Box::new(session.replace('\0', "")),
            Box::new(i64::from(page.limit)),
        ];
        let answer = self.ask(by, &SHARED_PAGE, rest).await?;
        let rows: Result<Vec<SharedRow>> = answer.rows.iter().map(SharedRow::of).collect();
        self.note(by, act, &detail).await?;
        rows
    }

    /// Returns what a session consists of, and notes that it was read; `None` if the person may not
    /// see it, or there is none.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is none; errors of the database.
    pub async fn read(
        &self,
        by: &TeamPerson,
        owner: &str,
        session: &str,
    ) -> Result<Option<SharedManifest>> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(by.readers.clone()),
            Box::new(person_name(owner)?.to_owned()),
            Box::new(shared_session_name(session)?.to_owned()),
        ];
        let answer = self.ask(by, &READ, rest).await?;
        SharedManifest::of(only(&answer)?)
    }

    /// Returns a part of a session; `None` if the person may not see it, or there is none.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is none; errors of the database.
    pub async fn part(
        &self,
        by: &TeamPerson,
        (owner, session): (&str, &str),
        hash: &str,
    ) -> Result<Option<Vec<u8>>> {
        let rest: Arguments = vec![
            Box::new(by.readers.clone()),
            Box::new(person_name(owner)?.to_owned()),
            Box::new(shared_session_name(session)?.to_owned()),
            Box::new(hash.replace('\0', "")),
        ];
        let answer = self.ask(by, &PART_BYTES, rest).await?;
        answer.rows.first().map(|row| get(row, 0)).transpose()
    }

    /// Returns what a person did, and what others did to its sessions, the last first: what was
    /// before this time in microseconds.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn audit(
        &self,
        by: &TeamPerson,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AuditLine>> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(before.unwrap_or(LATEST)),
            Box::new(i64::from(limit)),
        ];
        let answer = self.ask(by, &AUDIT, rest).await?;
        let line = |row: &Row| {
            Ok(AuditLine {
                at: get(row, 0)?,
                actor: get(row, 1)?,
                act: get(row, 2)?,
                owner: get(row, 3)?,
                session: get(row, 4)?,
                detail: get(row, 5)?,
            })
        };
        answer.rows.iter().map(line).collect()
    }

    /// Returns every project with its retention in days and whether it is on hold.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn projects(&self, by: &TeamPerson) -> Result<Vec<(String, Option<i32>, bool)>> {
        let answer = self.ask(by, &PROJECTS, Vec::new()).await?;
        let row = |row: &Row| Ok((get(row, 0)?, get(row, 1)?, get(row, 2)?));
        answer.rows.iter().map(row).collect()
    }
}

impl SharedRow {
    fn of(row: &Row) -> Result<SharedRow> {
        Ok(SharedRow {
            owner: get(row, 0)?,
            session: get(row, 1)?,
            title: get(row, 2)?,
            folder: get(row, 3)?,
            redacted: get(row, 4)?,
            active: get(row, 5)?,
            revision: unsigned(row, 6)?,
            bytes: unsigned(row, 7)?,
            projects: projects_of(&get::<Vec<String>>(row, 8)?),
            pushed: get(row, 9)?,
        })
    }
}

impl SharedManifest {
    fn of(row: &Row) -> Result<Option<SharedManifest>> {
        let Some(revision) = get::<Option<i64>>(row, 0)? else {
            return Ok(None);
        };
        let (names, sizes): (Vec<String>, Vec<i64>) = (get(row, 7)?, get(row, 8)?);
        let (sums, parts): (Vec<String>, Vec<String>) = (get(row, 9)?, get(row, 10)?);
        let files = names.into_iter().zip(sizes).zip(sums).zip(parts);
        let files = files.map(|(((name, bytes), sha256), parts)| SharedFile {
            name,
            bytes: u64::try_from(bytes).unwrap_or(0),
            sha256,
            parts: parts.split_whitespace().map(str::to_owned).collect(),
        });
        Ok(Some(SharedManifest {
            revision: u64::try_from(revision).unwrap_or(0),
            dialect: get(row, 1)?,
            title: get(row, 2)?,
            folder: get(row, 3)?,
            redacted: get(row, 4)?,
            active: get(row, 5)?,
            projects: projects_of(&get::<Vec<String>>(row, 6)?),
            files: files.collect(),
        }))
    }
}

fn projects_of(readers: &[String]) -> Vec<String> {
    readers
        .iter()
        .filter_map(|it| it.strip_prefix("project:").map(str::to_owned))
        .collect()
}

/// Returns sizes of files as the database stores them.
pub(super) fn sizes_of(files: &[SharedFile]) -> Vec<i64> {
    files.iter().map(|file| signed(file.bytes)).collect()
}
