//! Sessions of which only the end of the log was read: for a context, or for a first look.

use boswell_dialect::{Depth, Dialect, SessionLocation};
use boswell_model::{EntryId, Result, Tip};

use super::context_reader::{self, EnoughRead};
use super::{Records, Scratch, Session, require_readable};
use crate::backend::{Backend, ObjectReader};

impl Session {
    /// Reads as much of a session as the context of its tip needs, or that of the entry `at`; also
    /// returns that entry.
    ///
    /// [`Log::whole`] shows whether the heads are only those of the end of the log; then lines are
    /// not counted.
    pub(crate) fn read_for_context(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
        at: Option<&EntryId>,
    ) -> Result<(Session, Tip)> {
        require_readable(dialect, location)?;
        if let Some(key) = &location.key {
            let object = backend.open(key)?;
            if let Some(enough) = context_reader::enough_of(
                dialect,
                object.as_ref(),
                location,
                at.map(EntryId::as_str),
            )? {
                return Session::partly(dialect, backend, (location, object), enough);
            }
        }
        let session = Session::read_conversation(dialect, backend, location, Depth::Heads)?;
        let tip = match at {
            Some(name) => Tip::At(session.find(name)?),
            None => session.tip()?,
        };
        Ok((session, tip))
    }

    /// Returns a session of which only the end was read, and its tip.
    fn partly(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        (location, object): (&SessionLocation, Box<dyn ObjectReader>),
        enough: EnoughRead,
    ) -> Result<(Session, Tip)> {
        let EnoughRead { read, tip, end } = enough;
        let session = Session {
            file: object.identity()?,
            dialect,
            location: location.clone(),
            path: location.key.as_deref().map(|key| backend.describe(key)),
            read,
            object: Records::of(Some(object)),
            missing: None,
            end,
            blobs: None,
            naming: None,
            scratch: Scratch::default(),
        };
        Ok((session, tip))
    }

    /// Reads the end of a long log, with more than `count` entries of its branch; `None` if it is
    /// short, or damaged near its end. Lines are not counted, and a statement before the end may
    /// name another tip.
    pub(crate) fn read_end(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
        count: usize,
    ) -> Result<Option<(Session, Tip)>> {
        require_readable(dialect, location)?;
        let Some(key) = &location.key else {
            return Ok(None);
        };
        let object = backend.open(key)?;
        match context_reader::end_of(dialect, object.as_ref(), location, count)? {
            Some(enough) => Session::partly(dialect, backend, (location, object), enough).map(Some),
            None => Ok(None),
        }
    }
}
