//! Finds a session of a store by its id, and the lineage of a fork: how a new session names its
//! parent session, by an id or a path ([`Store::lineage`]).

use boswell_dialect::{Depth, ForkOrigin, ForkScope, NewSession, SessionLocation};
use boswell_model::{Advice, Error, ErrorKind, Framing, Result, SessionId, SessionRef};

use super::Store;
use crate::Session;
use crate::backend::LogLookup;
use crate::store::native::{located_at, uuid_v7_time};

impl Store {
    /// The session with that id, as it is now.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session; an I/O error if it cannot be read.
    pub fn session(&self, id: impl Into<SessionId>) -> Result<Session> {
        let id = id.into();
        match self.find(&id) {
            Ok(location) => self.read_conversation(&location, Depth::Facts),
            Err(error) => match self.pending(id.as_str())? {
                Some(key) => self.read(&located_at(id.as_str(), &key, 0), Depth::Facts),
                None => Err(error),
            },
        }
    }

    /// Where the session with that id is, from names alone.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session; an I/O error if the store cannot be listed.
    pub fn find(&self, id: impl Into<SessionId>) -> Result<SessionLocation> {
        let id = id.into();
        let absent = || {
            Error::new(
                ErrorKind::NotFound,
                format!("there is no session `{}`", id.as_str().escape_debug()),
            )
            .advising(Advice::list_all())
        };
        match self.look_up(id.as_str())? {
            LogLookup::Found { info, hidden } if !hidden => {
                return Ok(SessionLocation::of_file(id.as_str(), info, Framing::Lines));
            }
            LogLookup::Absent | LogLookup::Found { .. } => return Err(absent()),
            LogLookup::NoIndex => {}
        }
        if let Some(location) = self.find_by_birth(id.as_str())? {
            return Ok(location);
        }
        self.whole()
            .list()?
            .sessions
            .into_iter()
            .find(|location| id == location.id)
            .ok_or_else(absent)
    }

    /// Asks the backend's index of ids, if it has one.
    fn look_up(&self, id: &str) -> Result<LogLookup> {
        self.backend()
            .find_log(&SessionRef::new(self.dialect().name(), id))
    }

    /// Looks where a session with an id that we made would be, without listing all others.
    fn find_by_birth(&self, id: &str) -> Result<Option<SessionLocation>> {
        let Some(born) = uuid_v7_time(id).filter(|_| self.dialect().facts().is_own) else {
            return Ok(None);
        };
        let new = NewSession::in_project("x");
        let append = self.dialect().powers().append;
        let Some(Ok(log)) = append.map(|append| append.new_log(&new, id, born)) else {
            return Ok(None);
        };
        let Some((_, name)) = log.key.rsplit_once('/') else {
            return Ok(None);
        };
        for folder in self
            .backend()
            .list("sessions")?
            .into_iter()
            .filter(|info| info.is_folder())
        {
            if let Some(info) = self
                .backend()
                .stat(&format!("{}/{name}", folder.key))?
                .filter(|info| info.is_file())
            {
                return Ok(Some(SessionLocation::at(id, &info, Framing::Lines)));
            }
        }
        Ok(None)
    }

    /// How a fork names the session that it comes from: agents draw the tree of forks by paths of
    /// files, xcsh and oh-my-pi by the id where all of a session was copied.
    pub fn lineage(&self, source: &Session, copies: ForkScope) -> String {
        let by_path = match self.dialect().facts().fork_origin {
            ForkOrigin::Path => true,
            ForkOrigin::PathOfBranch => copies == ForkScope::Branch,
            ForkOrigin::Id => false,
        };
        match source.path().filter(|_| by_path) {
            Some(path) => path.to_owned(),
            None => source.reference().id,
        }
    }

    /// Returns the key of a log that is still hidden.
    pub(crate) fn pending(&self, id: &str) -> Result<Option<String>> {
        match self.look_up(id)? {
            LogLookup::NoIndex => {}
            LogLookup::Found { info, hidden: true } => return Ok(Some(info.key)),
            _ => return Ok(None),
        }
        // The timestamp contains no `_`, an id may.
        let is_it = |name: &str| {
            let bare = name
                .strip_prefix('.')
                .and_then(|name| name.strip_suffix(".jsonl.pending"));
            bare.and_then(|bare| bare.split_once('_'))
                .is_some_and(|(_, found)| found == id)
        };
        for folder in self
            .backend()
            .list("sessions")?
            .into_iter()
            .filter(|f| f.is_folder())
        {
            for file in self.backend().list(&folder.key)? {
                if file.is_file() && is_it(file.name()) {
                    return Ok(Some(file.key));
                }
            }
        }
        Ok(None)
    }
}
