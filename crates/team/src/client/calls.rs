//! What else a client asks for.

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};

use super::push::address;
use super::transport::{Sent, TeamClient, body, parsed, step};
use crate::manifest::{TeamFile, TeamManifest, TeamSession, part_name};

impl TeamClient {
    /// Returns who the token is of, and whether it is an administrator.
    ///
    /// # Errors
    ///
    /// `Denied` for a token that is not valid, `Unavailable` if the server cannot be reached.
    pub fn me(&self) -> Result<(String, bool)> {
        let answer = self.send("/team/v1/me", Sent::Get)?;
        let raw = parsed(&answer.bytes)?;
        let person = raw
            .get("person")
            .and_then(|it| Some(it.text()?.into_owned()));
        let person = person.ok_or_else(strange)?;
        let admin = raw.get("admin").and_then(|it| it.bool());
        Ok((person, admin.unwrap_or(false)))
    }

    /// Returns a page of the sessions that this person may see, and what comes after it.
    ///
    /// # Errors
    ///
    /// Those of [`me`](TeamClient::me).
    pub fn sessions(
        &self,
        project: Option<&str>,
        text: Option<&str>,
        after: Option<&str>,
    ) -> Result<(Vec<TeamSession>, Option<String>)> {
        let mut path = "/team/v1/sessions?limit=200".to_owned();
        for (name, value) in [("project", project), ("text", text), ("after", after)] {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", step(value)));
            }
        }
        let answer = self.send(&path, Sent::Get)?;
        let raw = parsed(&answer.bytes)?;
        let rows = raw.get("sessions").ok_or_else(strange)?;
        let rows: Option<Vec<_>> = rows.items().map(|it| TeamSession::parse(&it)).collect();
        let next = raw.get("next").and_then(|it| Some(it.text()?.into_owned()));
        Ok((rows.ok_or_else(strange)?, next))
    }

    /// Returns what a session consists of, and its revision.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none that this person may see.
    pub fn read(&self, owner: &str, session: &str) -> Result<(TeamManifest, u64)> {
        let answer = self.send(&address(owner, session), Sent::Get)?;
        let manifest = TeamManifest::parse(&answer.bytes)?;
        Ok((manifest, answer.revision))
    }

    /// Returns one part of a session, whose bytes have the hash that names it.
    ///
    /// # Errors
    ///
    /// `NotFound` if the session has no such part any more, `Damaged` if the bytes are others.
    pub fn part(&self, owner: &str, session: &str, part: &str) -> Result<Vec<u8>> {
        let path = format!("{}/parts/{part}", address(owner, session));
        let answer = self.send(&path, Sent::Get)?;
        if part_name(&answer.bytes) == part {
            return Ok(answer.bytes);
        }
        let what = "a part of the session arrived with other bytes";
        Err(Error::new(ErrorKind::Damaged, what).advising("try again"))
    }

    /// Puts a file together from its parts.
    ///
    /// # Errors
    ///
    /// `Damaged` if its length or hash is another one; errors of `part`.
    pub fn assemble(
        file: &TeamFile,
        part: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for name in &file.parts {
            bytes.extend(part(name)?);
        }
        if bytes.len() as u64 == file.bytes && part_name(&bytes) == file.sha256 {
            return Ok(bytes);
        }
        let what = format!("`{}` did not arrive whole", file.name.escape_debug());
        Err(Error::new(ErrorKind::Damaged, what).advising("try again"))
    }

    /// Shares a session of one's own with a project, or takes it back.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Denied` or `Conflict` with the reason of the server.
    pub fn share(&self, (person, session): (&str, &str), project: &str, on: bool) -> Result<()> {
        let path = format!("{}/projects/{}", address(person, session), step(project));
        let sent = if on { Sent::Put(b"") } else { Sent::Delete };
        self.send(&path, sent).map(drop)
    }

    /// Deletes a session of one's own from the server.
    ///
    /// # Errors
    ///
    /// `NotFound`, or `Conflict` if a legal hold keeps it.
    pub fn delete(&self, person: &str, session: &str) -> Result<()> {
        self.send(&address(person, session), Sent::Delete).map(drop)
    }

    /// Asks for something else of the team: a path behind `/team/v1/`, and a body. Returns the
    /// answer as JSON text.
    ///
    /// # Errors
    ///
    /// Those of the server.
    pub fn manage(&self, method: &str, path: &[&str], about: &Json) -> Result<Vec<u8>> {
        let steps: Vec<String> = path.iter().map(|it| step(it)).collect();
        let path = format!("/team/v1/{}", steps.join("/"));
        let sent = body(about);
        let sent = match method {
            "PUT" => Sent::Put(&sent),
            "POST" => Sent::Post(&sent),
            "DELETE" => Sent::Delete,
            _ => Sent::Get,
        };
        let answer = self.send(&path, sent)?;
        if !answer.bytes.is_empty() {
            let _: Raw<'_> = parsed(&answer.bytes)?;
        }
        Ok(answer.bytes)
    }
}

fn strange() -> Error {
    let what = "the server's answer is not what was asked for";
    Error::new(ErrorKind::Damaged, what).advising("is it the server of a team?")
}
