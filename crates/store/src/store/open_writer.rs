//! Finds the log of a session that is to be written, and opens it.

use std::sync::Arc;

use boswell_dialect::SessionLocation;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionId, SessionRef};

use crate::WritableStore;
use crate::backend::{Lease, LogClaim, LogName};
use crate::locks::lease::Wait;
use crate::store::native::{split_key, uuid_v7_time};
use crate::writer::{SessionWriter, WriterParts};

/// How the owner of a lease is named to others.
const PROGRAM: &str = "boswell";

/// A log for a writer: its key, the key that it gets with the first answer, and whether it was just
/// created.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) key: String,
    pub(crate) visible: Option<String>,
    pub(crate) just_made: bool,
}

impl WritableStore {
    /// Opens a session for writing and takes its lease.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session, `Busy` if another process has its lease or an agent
    /// has it open, `Unsupported` if entries of the dialect are not appended to a log; an I/O error
    /// if the log cannot be opened.
    pub fn writer(&self, id: impl Into<SessionId>, wait: Wait) -> Result<SessionWriter> {
        self.on_log(id.into().as_str(), |session, mut opened| {
            let (id, lease) = (&session.id, self.lease(session, wait)?);
            if opened.visible.is_some() {
                // Looked up again: the previous holder of the lease may have published the log
                // while this process waited.
                opened = self.looked_up(id)?.1;
            }
            self.wait_until_idle(id, &opened.key, wait)?;
            let writer = self.writer_on(session, opened, Some(lease))?;
            Ok(writer.expecting(self.expectation()))
        })
    }

    /// Opens a session for appending without its lease, for programs of which several write to one
    /// session: workers of a server, a mirror of another program's log.
    ///
    /// Every append is atomic and durable as with [`writer`](WritableStore::writer), and its parent
    /// is decided under the append lock, so that entries of several processes are in the order of
    /// their commits. The lease does not protect this writer from a leaf that another one moves:
    /// a caller that must not be overtaken states what it expects ([`Expect`](crate::Expect)).
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session, `Unsupported` if entries of the dialect are not
    /// appended to a log; an I/O error if the log cannot be opened.
    pub fn shared_writer(&self, id: impl Into<SessionId>) -> Result<SessionWriter> {
        let writer = self.annotator(id.into().as_str())?;
        Ok(writer.expecting(self.expectation()))
    }

    /// Opens a session for entries that do not move the leaf, which needs no lease.
    pub(crate) fn annotator(&self, id: &str) -> Result<SessionWriter> {
        let open = || self.on_log(id, |session, opened| self.writer_on(session, opened, None));
        // The driver may publish the log between the lookup and the open.
        open().or_else(|error| {
            if error.is_not_found() {
                open()
            } else {
                Err(error)
            }
        })
    }

    /// Opens a log under the key where it was last written; if it is not there any more, searches
    /// for it by name.
    fn on_log(
        &self,
        id: &str,
        open: impl Fn(&Arc<SessionRef>, Opened) -> Result<SessionWriter>,
    ) -> Result<SessionWriter> {
        let named = |id: &str| Arc::new(SessionRef::new(self.dialect().name(), id));
        let session = named(id);
        if let Some(opened) = self.remembered(&session) {
            let there = open(&session, opened);
            if !there.as_ref().is_err_and(Error::is_not_found) {
                return there;
            }
        }
        let (whole, opened) = self.looked_up(id)?;
        open(&named(&whole), opened)
    }

    /// Returns the log of a session under the key where it was last written, which saves the search
    /// in the store.
    fn remembered(&self, session: &SessionRef) -> Option<Opened> {
        uuid_v7_time(&session.id).filter(|_| self.dialect().facts().is_own)?;
        let key = self.logs().remembered(session)?;
        let named = split_key(&key).1.strip_suffix(".jsonl")?.split_once('_');
        named
            .is_some_and(|(_, named)| named == session.id)
            .then_some(Opened {
                key,
                visible: None,
                just_made: false,
            })
    }

    /// Looks a session's log up by its name.
    fn looked_up(&self, id: &str) -> Result<(String, Opened)> {
        let in_sight = |found: Result<SessionLocation>| match found {
            Ok(SessionLocation {
                id, key: Some(key), ..
            }) => Ok((
                id,
                Opened {
                    key,
                    visible: None,
                    just_made: false,
                },
            )),
            Ok(_) => Err(Error::new(
                ErrorKind::Unsupported,
                format!("session {id} has no log to append to"),
            )
            .advising(
                Advice::from("an index names it, and its file is gone")
                    .also(Advice::Check { session: None }),
            )),
            Err(error) => Err(error),
        };
        let found = in_sight(self.find(id));
        if found.is_ok() {
            return found;
        }
        match self.pending(id)? {
            Some(key) => {
                let visible = Some(visible_key(&key));
                Ok((
                    id.to_owned(),
                    Opened {
                        key,
                        visible,
                        just_made: false,
                    },
                ))
            }
            // It may have been published between the two lookups.
            None => in_sight(self.find(id)),
        }
    }

    pub(crate) fn writer_on(
        &self,
        session: &Arc<SessionRef>,
        opened: Opened,
        lease: Option<Lease>,
    ) -> Result<SessionWriter> {
        let name = LogName {
            session,
            key: &opened.key,
            visible: opened.visible.as_deref(),
            just_made: opened.just_made,
        };
        let log = self.logs().append_to(&name, lease.as_ref())?;
        SessionWriter::open(WriterParts {
            dialect: self.dialect().appender()?,
            backend: self.shared_backend(),
            id_source: self.shared_id_source(),
            root: self.root().to_owned(),
            blobs: self.blobs(),
            reference: Arc::clone(session),
            log,
            hidden: opened.visible.is_some(),
            lease,
        })
    }

    pub(crate) fn lease(&self, session: &SessionRef, wait: Wait) -> Result<Lease> {
        let now = self.id_source().now();
        self.logs().lease(&LogClaim {
            session,
            wait,
            program: PROGRAM,
            now,
        })
    }
}

fn visible_key(pending: &str) -> String {
    let (folder, name) = split_key(pending);
    format!(
        "{folder}{}",
        name.trim_start_matches('.').trim_end_matches(".pending")
    )
}
