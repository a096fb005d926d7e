//! Connections of a team, and who somebody is.

use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::names::person_name;
use super::statements::{ENTER, NOTE, PERSON, TOKEN};
use crate::postgres::backend::get;
use crate::postgres::link::{Answer, Arguments, Link};
use crate::postgres::options::PostgresOptions;
use crate::postgres::statements::SqlStatement;

/// The server itself, in the audit and for row-level security: no person has this name.
const SERVER: &str = "*";

/// The tables of one team. Clones share their connections, which belong to the runtime that made
/// the first call.
#[derive(Debug, Clone)]
pub struct TeamDatabase {
    link: Arc<Link>,
}

/// Who asks: a person, whether it is an administrator, and what it may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamPerson {
    pub(super) name: String,
    pub(super) admin: bool,
    pub(super) readers: Vec<String>,
}

impl TeamPerson {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the person is an administrator of the team.
    pub fn is_admin(&self) -> bool {
        self.admin
    }

    /// Returns the projects that the person belongs to, `team` among them.
    pub fn projects(&self) -> impl Iterator<Item = &str> {
        self.readers
            .iter()
            .filter_map(|reader| reader.strip_prefix("project:"))
    }

    pub(super) fn server() -> TeamPerson {
        TeamPerson {
            name: SERVER.to_owned(),
            admin: true,
            readers: Vec::new(),
        }
    }

    /// The settings of a transaction. Names have no quotes: they were checked, or come from columns
    /// with the same check.
    fn settings(&self) -> String {
        let readers = self.readers.join(" ");
        format!(
            "; SET LOCAL boswell.person = '{}'; SET LOCAL boswell.readers = '{readers}'",
            self.name
        )
    }
}

impl TeamDatabase {
    /// Names the database. The first call connects, and checks what
    /// [`PostgresBackend`](crate::PostgresBackend) checks.
    ///
    /// # Errors
    ///
    /// `Internal` if certificates cannot be set up.
    pub fn new(options: &PostgresOptions) -> Result<TeamDatabase> {
        Ok(TeamDatabase {
            link: Arc::new(Link::new(options)?),
        })
    }

    /// Runs calls for a program without a runtime, on one of their own.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    pub fn wait<T>(&self, calls: impl AsyncFnOnce(&TeamDatabase) -> Result<T>) -> Result<T> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::io("the threads of the connections", "start", error))?;
        runtime.block_on(calls(self))
    }

    /// Returns the tenant.
    pub fn tenant(&self) -> &str {
        self.link.tenant.as_str()
    }

    /// Runs a statement as a person, with these arguments behind the tenant.
    pub(super) async fn ask(
        &self,
        person: &TeamPerson,
        statement: &'static SqlStatement,
        rest: Arguments,
    ) -> Result<Answer> {
        let mut arguments: Arguments = vec![Box::new(self.tenant().to_owned())];
        arguments.extend(rest);
        let settings = person.settings();
        self.link.ask_with(&settings, statement, arguments).await
    }

    /// Runs a function and returns what it said.
    pub(super) async fn say(
        &self,
        person: &TeamPerson,
        statement: &'static SqlStatement,
        rest: Arguments,
    ) -> Result<(String, bool)> {
        let answer = self.ask(person, statement, rest).await?;
        Ok((get(only(&answer)?, 0)?, answer.repeated))
    }

    /// Adds a person, or changes whether it is an administrator. `by` is `None` for the owner of
    /// the database.
    ///
    /// # Errors
    ///
    /// `Invalid` for a name that is none, `Denied` if `by` is no administrator; errors of the
    /// database.
    pub async fn add_person(
        &self,
        by: Option<&TeamPerson>,
        name: &str,
        admin: Option<bool>,
    ) -> Result<()> {
        let by = administrator(by)?;
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(person_name(name)?.to_owned()),
            Box::new(admin),
        ];
        self.say(&by, &PERSON, rest).await.map(drop)
    }

    /// Adds a token of a person by its SHA-256, valid for some days by the server's clock. A person
    /// may make tokens for itself, an administrator for anybody.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such person, `Denied` if it is another one.
    pub async fn add_token(
        &self,
        by: Option<&TeamPerson>,
        name: &str,
        hash: [u8; 32],
        days: u16,
    ) -> Result<()> {
        let by = match by {
            Some(own) if own.name == name => own.clone(),
            by => administrator(by)?,
        };
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(person_name(name)?.to_owned()),
            Box::new(hash.to_vec()),
            Box::new(i32::from(days.max(1))),
        ];
        match self.say(&by, &TOKEN, rest).await?.0.as_str() {
            "added" => Ok(()),
            _ => Err(nobody(name)),
        }
    }

    /// Returns who a token is of, by its SHA-256.
    ///
    /// # Errors
    ///
    /// `Denied` for a token that is unknown or has expired.
    pub async fn enter(&self, hash: [u8; 32]) -> Result<TeamPerson> {
        self.entered(Some(hash.to_vec()), None).await
    }

    /// Returns a person that a trusted proxy named.
    ///
    /// # Errors
    ///
    /// `Denied` if the team has no such person.
    pub async fn enter_as(&self, name: &str) -> Result<TeamPerson> {
        let denied = |_| denied("the team has no person of this name");
        let name = person_name(name).map_err(denied)?.to_owned();
        self.entered(None, Some(name)).await
    }

    async fn entered(&self, hash: Option<Vec<u8>>, name: Option<String>) -> Result<TeamPerson> {
        let rest: Arguments = vec![Box::new(hash), Box::new(name)];
        let answer = self.ask(&TeamPerson::server(), &ENTER, rest).await?;
        let row = only(&answer)?;
        match get::<String>(row, 3)?.as_str() {
            "entered" => {
                let sees: String = get(row, 2)?;
                Ok(TeamPerson {
                    name: get(row, 0)?,
                    admin: get(row, 1)?,
                    readers: sees.split(' ').map(str::to_owned).collect(),
                })
            }
            "expired" => Err(denied("the token has expired")
                .advising("ask an administrator of the team for a new one")),
            _ => Err(denied("nobody of this team has this token")),
        }
    }

    /// Adds a line to the audit: a list, or a search.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn note(&self, by: &TeamPerson, act: &'static str, detail: &str) -> Result<()> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(act),
            Box::new(by.name.clone()),
            Box::new(""),
            Box::new(detail.replace('\0', "")),
        ];
        self.say(by, &NOTE, rest).await.map(drop)
    }
}

/// Who may change people: an administrator, or whoever has the database.
pub(super) fn administrator(by: Option<&TeamPerson>) -> Result<TeamPerson> {
    match by {
        None => Ok(TeamPerson::server()),
        Some(by) if by.admin => Ok(by.clone()),
        Some(_) => Err(denied("only an administrator of the team may do this")),
    }
}

pub(super) fn only(answer: &Answer) -> Result<&Row> {
    let none = || Error::new(ErrorKind::Internal, "a function returned no row");
    answer.rows.first().ok_or_else(none)
}

pub(super) fn denied(what: &str) -> Error {
    Error::new(ErrorKind::Denied, what)
}

pub(super) fn nobody(name: &str) -> Error {
    let what = format!("the team has no person `{}`", name.escape_debug());
    Error::new(ErrorKind::NotFound, what)
}
