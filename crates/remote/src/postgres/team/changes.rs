//! What changes a team: projects, roles, retention, erasure.

use boswell_model::Result;
use uuid::Uuid;

use super::database::{TeamDatabase, TeamPerson, administrator, denied, nobody, only};
use super::names::{person_name, project_name};
use super::sharing::no_project;
use super::statements::{ERASE, MEMBER, PROJECT, SWEEP};
use crate::postgres::backend::unsigned;
use crate::postgres::link::Arguments;

/// How a project keeps its sessions. What is `None` stays as it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectRule {
    /// For how many days after the last push; 0 for ever.
    pub days: Option<u16>,
    /// Whether nothing of it may be deleted or taken back.
    pub hold: Option<bool>,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureReceipt {
    /// Its number.
    pub id: String,
    /// Whose data it was.
    pub person: String,
    /// Sessions that were deleted.
    pub sessions: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Tokens that were revoked.
    pub tokens: u64,
    /// Sessions that a legal hold keeps.
    pub held: u64,
}

/// What a sweep deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepCount {
    /// Sessions past the retention of a project.
    pub sessions: u64,
    /// Parts of pushes that were never completed.
    pub parts: u64,
}

impl TeamDatabase {
    /// Makes a project, or changes its rule: an administrator, or an owner of the project.
    ///
    /// # Errors
    ///
    /// `Denied` for others.
    pub async fn set_project(&self, by: &TeamPerson, name: &str, rule: ProjectRule) -> Result<()> {
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(by.admin),
            Box::new(project_name(name)?.to_owned()),
            Box::new(rule.days.map(i32::from)),
            Box::new(rule.hold),
        ];
        match self.say(by, &PROJECT, rest).await?.0.as_str() {
            "changed" => Ok(()),
            _ => Err(only_owners(name)),
        }
    }

    /// Gives a person a role in a project (`reader`, `writer`, `owner`), or takes it away.
    ///
    /// # Errors
    ///
    /// `Denied` if `by` is neither an administrator nor an owner of the project, `NotFound` if
    /// there is no such project or person, `Invalid` for another role.
    pub async fn set_role(
        &self,
        by: &TeamPerson,
        (project, person): (&str, &str),
        role: Option<&str>,
    ) -> Result<()> {
        if role.is_some_and(|role| !matches!(role, "reader" | "writer" | "owner")) {
            let what = "a role is reader, writer or owner";
            return Err(boswell_model::Error::new(
                boswell_model::ErrorKind::Invalid,
                what,
            ));
        }
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(by.admin),
            Box::new(project_name(project)?.to_owned()),
            Box::new(person_name(person)?.to_owned()),
            Box::new(role.map(str::to_owned)),
        ];
        match self.say(by, &MEMBER, rest).await?.0.as_str() {
            "changed" => Ok(()),
            "nobody" => Err(nobody(person)),
            "no project" => Err(no_project(project)),
            _ => Err(only_owners(project)),
        }
    }

    /// Erases a person: its tokens, roles and sessions. An administrator may, and the person
    /// itself.
    ///
    /// # Errors
    ///
    /// `Denied` for others.
    pub async fn erase(&self, by: &TeamPerson, person: &str) -> Result<ErasureReceipt> {
        if by.name != person {
            administrator(Some(by))?;
        }
        let id = Uuid::new_v4();
        let rest: Arguments = vec![
            Box::new(by.name.clone()),
            Box::new(person_name(person)?.to_owned()),
            Box::new(id),
        ];
        let answer = self.ask(&TeamPerson::server(), &ERASE, rest).await?;
        let row = only(&answer)?;
        Ok(ErasureReceipt {
            id: id.to_string(),
            person: person.to_owned(),
            sessions: unsigned(row, 0)?,
            bytes: unsigned(row, 1)?,
            tokens: unsigned(row, 2)?,
            held: unsigned(row, 3)?,
        })
    }

    /// Deletes what is past its retention, and parts that were stored so many hours ago and never
    /// published.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn sweep(&self, hours: u16) -> Result<SweepCount> {
        let rest: Arguments = vec![Box::new(i32::from(hours))];
        let answer = self.ask(&TeamPerson::server(), &SWEEP, rest).await?;
        let row = only(&answer)?;
        Ok(SweepCount {
            sessions: unsigned(row, 0)?,
            parts: unsigned(row, 1)?,
        })
    }
}

fn only_owners(project: &str) -> boswell_model::Error {
    denied(&format!(
        "only an administrator or an owner of {project} may change it"
    ))
}
