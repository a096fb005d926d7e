//! Who may do what: tokens, one-time codes and tickets.
//!
//! The tokens of programs are files of the home. The page gets in with a one-time code and then has
//! a token that is valid for this run of the server. Secrets are compared in constant time; only
//! hashes of codes, tickets and page tokens are stored.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use boswell_app::system::Stopwatch;
use boswell_model::Result;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::config::Changes;
use crate::folder::ProgramTokens;
use crate::random::secret;

/// How long a one-time code is valid.
const CODE: Duration = Duration::from_secs(600);
/// How long a ticket for a download is valid.
const TICKET: Duration = Duration::from_secs(30);
/// How many tickets may be open.
const TICKETS: usize = 256;
/// How many pages of a run have tokens; the oldest lose theirs.
const PAGES: usize = 256;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What agents may ask: `/mcp` alone.
    Mcp,
    /// Reading.
    Read,
    /// Reading and changing.
    Write,
}

impl Scope {
    /// Returns the word of the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Scope::Mcp => "mcp",
            Scope::Read => "read",
            Scope::Write => "write",
        }
    }
}

/// A token as it was presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bearer {
    pub(crate) scope: Scope,
    /// Whether a page of this run presented it.
    pub(crate) is_page: bool,
}

/// The secrets of a server.
#[derive(Debug)]
pub(crate) struct Access {
    mcp: Hash,
    read: Hash,
    write: Hash,
    changes: Changes,
    issued: Mutex<Issued>,
}

/// Secrets that are valid for this run.
#[derive(Debug, Default)]
struct Issued {
    pages: Vec<(Hash, Scope)>,
    codes: Vec<(Hash, Stopwatch)>,
    tickets: Vec<(Hash, Stopwatch, String)>,
}

type Hash = [u8; 32];

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Whether two hashes are equal. The time that it takes does not depend on where they differ.
fn is_same(one: &Hash, other: &Hash) -> bool {
    one.ct_eq(other).into()
}

impl Access {
    pub(crate) fn new(tokens: &ProgramTokens, changes: Changes) -> Access {
        Access {
            mcp: hash(&tokens.mcp),
            read: hash(&tokens.read),
            write: hash(&tokens.write),
            changes,
            issued: Mutex::default(),
        }
    }

    /// Whether sessions may be changed over HTTP.
    pub(crate) fn changes(&self) -> Changes {
        self.changes
    }

    /// Whether the token for changes changes anything.
    pub(crate) fn may_change(&self) -> bool {
        self.changes != Changes::Never
    }

    /// Returns what a token allows; `None` if it is not one of ours.
    pub(crate) fn bearer(&self, token: &str) -> Option<Bearer> {
        let presented = hash(token);
        let mut found = None;
        let mut compare = |known: &Hash, scope, is_page| {
            if is_same(known, &presented) {
                found = Some(Bearer { scope, is_page });
            }
        };
        // Every secret is compared, so that the time does not show which one was near.
        compare(&self.mcp, Scope::Mcp, false);
        compare(&self.read, Scope::Read, false);
        compare(&self.write, Scope::Write, false);
        for (known, scope) in &self.issued().pages {
            compare(known, *scope, true);
        }
        found
    }

    /// Returns a new one-time code.
    pub(crate) fn code(&self) -> Result<String> {
        let code = secret()?;
        self.issued().codes.push((hash(&code), Stopwatch::start()));
        Ok(code)
    }

    /// Exchanges a one-time code for a token of a page; `None` if it is not valid any more.
    pub(crate) fn login(&self, code: &str) -> Result<Option<String>> {
        let presented = hash(code);
        let is_valid = {
            let mut issued = self.issued();
            issued.codes.retain(|(_, age)| age.elapsed() < CODE);
            let before = issued.codes.len();
            issued
                .codes
                .retain(|(known, _)| !is_same(known, &presented));
            issued.codes.len() < before
        };
        is_valid.then(|| self.page_token(Scope::Read)).transpose()
    }

    /// Returns a new token for a page.
    pub(crate) fn page_token(&self, scope: Scope) -> Result<String> {
        let token = secret()?;
        let mut issued = self.issued();
        issued.pages.push((hash(&token), scope));
        let extra = issued.pages.len().saturating_sub(PAGES);
        issued.pages.drain(..extra);
        Ok(token)
    }

    /// Returns a ticket for one download of a path.
    pub(crate) fn ticket(&self, path: &str) -> Result<String> {
        let ticket = secret()?;
        let mut issued = self.issued();
        issued.tickets.retain(|(_, age, _)| age.elapsed() < TICKET);
        let extra = (issued.tickets.len() + 1).saturating_sub(TICKETS);
        issued.tickets.drain(..extra);
        issued
            .tickets
            .push((hash(&ticket), Stopwatch::start(), path.to_owned()));
        Ok(ticket)
    }

    /// Takes a ticket; returns the path that it was issued for.
    pub(crate) fn take(&self, ticket: &str) -> Option<String> {
        let presented = hash(ticket);
        let mut issued = self.issued();
        issued.tickets.retain(|(_, age, _)| age.elapsed() < TICKET);
        let mut all = issued.tickets.iter();
        let place = all.position(|(known, ..)| is_same(known, &presented))?;
        Some(issued.tickets.remove(place).2)
    }

    fn issued(&self) -> std::sync::MutexGuard<'_, Issued> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        let tokens = ProgramTokens {
            mcp: "m".repeat(43),
            read: "r".repeat(43),
            write: "w".repeat(43),
        };
        Access::new(&tokens, Changes::OnceAllowed)
    }

    #[test]
    fn a_code_lets_one_page_in_and_no_second() {
        let access = access();
        let code = access.code().unwrap();
        let token = access.login(&code).unwrap().unwrap();
        assert_eq!(access.login(&code).unwrap(), None);
        let page = access.bearer(&token).unwrap();
        assert!(page.is_page && page.scope == Scope::Read);
    }

    #[test]
    fn a_beginning_or_an_end_of_a_token_is_not_the_token() {
        let access = access();
        let token = "w".repeat(43);
        assert_eq!(access.bearer(&token).unwrap().scope, Scope::Write);
        let mcp = access.bearer(&"m".repeat(43)).unwrap();
        assert_eq!(mcp.scope, Scope::Mcp);
        for wrong in ["", "w", &token[1..], &format!("{token}w"), "W"] {
            assert_eq!(access.bearer(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_ticket_is_taken_once() {
        let access = access();
        let ticket = access.ticket("/v1/stores").unwrap();
        assert_eq!(access.take("other"), None);
        assert_eq!(access.take(&ticket).as_deref(), Some("/v1/stores"));
        assert_eq!(access.take(&ticket), None);
    }
}
