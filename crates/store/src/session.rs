//! A session that was read: a snapshot that does not change under you.

mod blob_refs;
pub(crate) mod cache;
mod context;
pub(crate) mod context_reader;
mod entries;
mod feed;
pub(crate) mod follow;
mod inherited;
mod messages;
mod partial_read;
mod records;
pub(crate) mod switch;

use std::borrow::Cow;
use std::sync::Mutex;

use boswell_dialect::{Depth, Dialect, ReadSession, Reader, SessionLocation, ToolLink};
use boswell_model::json::Scanned;
use boswell_model::{
    Advice, ContextItem, EntryId, EntryKind, Error, ErrorKind, Framing, Log, Message, Result,
    Revision, SessionId, SessionMeta, SessionRef, SessionView, Slot, Tree, View,
};

use crate::backend::{Backend, BackendFiles, ObjectReader};
use crate::blobs::Blobs;

use blob_refs::BlobRefs;
pub(crate) use blob_refs::LookFor;
pub use entries::Entries;
use feed::feed;
use inherited::Inherited;
pub use inherited::{MissingHistory, WhyMissing};
use records::Records;

pub use crate::agents::breadcrumb::{Breadcrumbs, TerminalId};
pub use cache::SessionCache;
pub use follow::{NewEntry, News};
pub use switch::{Cursor, Switched};

/// A snapshot of one session: its heads in memory, the bytes of any record on demand.
///
/// ```
/// use boswell_store::{Draft, Home, NewSession, Role};
///
/// # fn main() -> boswell_store::Result<()> {
/// let writer = Home::in_memory()?.sessions()?.create(NewSession::in_project("/proj/demo"))?;
/// writer.append(Draft::user("why is the build red?"))?;
/// let session = writer.session()?;
/// writer.append(Draft::assistant("a test is flaky"))?; // the snapshot does not change
/// let messages = session.messages()?;
/// assert_eq!(messages.len(), 1);
/// assert_eq!(messages[0].role, Role::User);
/// let last = session.entries().next_back().transpose()?; // read from the end
/// assert_eq!(last.and_then(|entry| entry.view).map(|view| view.text()), Some(messages[0].text()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    dialect: &'static dyn Dialect,
    location: SessionLocation,
    path: Option<String>,
    read: ReadSession,
    object: Records,
    /// What is missing of the history that it inherits.
    missing: Option<MissingHistory>,
    /// Device and inode of the file that was read, if there is one.
    file: Option<(u64, u64)>,
    /// The position that reading reached.
    end: u64,
    /// Store of its large values.
    blobs: Option<Blobs>,
    /// Lines that name blobs, if they were looked for while the log was read.
    naming: Option<BlobRefs>,
    /// Space for the records of one message.
    scratch: Scratch,
}

/// How the history that a session inherits is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// Not at all.
    Own,
    /// It is only looked for.
    Followed,
    /// With its records.
    Read,
}

/// Reusable buffers for scanning records.
type Scratch = Mutex<Vec<Scanned>>;

/// An entry with its readable view.
#[derive(Debug)]
pub struct Entry {
    /// Its label: its id, else `#line`.
    pub id: EntryId,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// Its index in the log.
    pub slot: Slot,
    /// Bytes of the record.
    pub bytes: Vec<u8>,
    /// The readable view; `None` if the bytes changed on disk and are not a record any more.
    pub view: Option<View>,
}

/// A message of a context with its context item.
#[derive(Debug)]
pub struct RenderedMessage {
    /// The context item: the entries that the message comes from.
    pub item: ContextItem,
    /// The rendered message.
    pub message: Message,
}

impl Session {
    /// Reads the session that a listing found.
    pub(crate) fn read(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
        depth: Depth,
    ) -> Result<Session> {
        let object = location.key.as_ref().map(|key| backend.open(key));
        let how = (depth, LookFor::Nothing, History::Own);
        Session::from_object(dialect, backend, object.transpose()?, location, how)
    }

    /// As [`Session::read`], and also records which lines reference blobs (`look_for`).
    pub(crate) fn read_looking(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
        depth: Depth,
        look_for: LookFor,
    ) -> Result<Session> {
        let object = match &location.key {
            Some(key) => Some(backend.open(key)?),
            None => None,
        };
        let how = (depth, look_for, History::Followed);
        Session::from_object(dialect, backend, object, location, how)
    }

    /// As [`Session::read`], with the history that the session inherits from other logs. Its bytes
    /// and its metadata are still those of its own log.
    pub(crate) fn read_conversation(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
        depth: Depth,
    ) -> Result<Session> {
        let object = location.key.as_ref().map(|key| backend.open(key));
        let how = (depth, LookFor::Nothing, History::Read);
        Session::from_object(dialect, backend, object.transpose()?, location, how)
    }

    /// Reads a session from an open object.
    pub(crate) fn over(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        object: Box<dyn ObjectReader>,
        location: &SessionLocation,
        depth: Depth,
    ) -> Result<Session> {
        Session::from_object(
            dialect,
            backend,
            Some(object),
            location,
            (depth, LookFor::Nothing, History::Own),
        )
    }

    fn from_object(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        object: Option<Box<dyn ObjectReader>>,
        location: &SessionLocation,
        (depth, look_for, history): (Depth, LookFor, History),
    ) -> Result<Session> {
        require_readable(dialect, location)?;
        let mut reader = Reader::new(dialect, location, depth);
        let mut inherited = match history {
            History::Own => Inherited::default(),
            _ => Inherited::of(dialect, backend, object.as_deref(), location)?,
        };
        if history == History::Read {
            inherited.feed(&mut reader)?;
        }
        let missing = inherited.missing.clone();
        let mut naming = (look_for == LookFor::Blobs && location.framing == Framing::Lines)
            .then(BlobRefs::default);
        let end = match &object {
            Some(object) => feed(&mut reader, object.as_ref(), location, naming.as_mut())?,
            None => 0,
        };
        let mut read = reader.finish();
        if depth.has_facts() {
            dialect.add_side_meta(&BackendFiles(backend), location, &mut read.meta)?;
        }
        let path = location.key.as_deref().map(|key| backend.describe(key));
        let file = object.as_ref().map_or(Ok(None), |it| it.identity())?;
        Ok(Session {
            file,
            dialect,
            location: location.clone(),
            path,
            read,
            object: Records::of(object).continuing(inherited),
            missing,
            end,
            blobs: None,
            naming,
            scratch: Scratch::default(),
        })
    }

    pub(crate) fn with_blobs(mut self, blobs: Option<Blobs>) -> Session {
        self.blobs = blobs;
        self
    }

    /// Returns a record with its large values. If a blob is missing, the reference stays.
    pub(crate) fn whole<'r>(&self, record: Cow<'r, [u8]>) -> Cow<'r, [u8]> {
        match &self.blobs {
            Some(blobs) => blobs.whole(record),
            None => record,
        }
    }

    /// Returns the session after its log has grown to `location`; only the new lines are read.
    ///
    /// Only for a log of complete lines without side files: metadata from other files is not read
    /// again.
    pub(crate) fn grown(
        &self,
        object: Box<dyn ObjectReader>,
        location: SessionLocation,
    ) -> Result<Session> {
        let log = self.read.log.clone();
        let (from, next) = (self.end, log.lines + 1);
        let mut reader = Reader::resume(self.dialect, Depth::Facts, log, self.read.meta.clone());
        let end = object.lines(from, next, &mut |line| reader.line(line))?;
        let (path, read, blobs) = (self.path.clone(), reader.finish(), self.blobs.clone());
        Ok(Session {
            file: object.identity()?,
            dialect: self.dialect,
            location,
            path,
            read,
            object: self.object.reopened(object),
            missing: self.missing.clone(),
            end,
            blobs,
            naming: None,
            scratch: Scratch::default(),
        })
    }

    /// Returns the ref of the session. The id is that of the listing, by which it can be found
    /// again.
    pub fn reference(&self) -> SessionRef {
        SessionRef::new(self.dialect.name(), &self.location.id)
    }

    /// Its id, by which its store finds it again.
    pub fn id(&self) -> SessionId {
        self.location.id.as_str().into()
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// Returns the location in the listing.
    pub fn location(&self) -> &SessionLocation {
        &self.location
    }

    /// Returns the path of its log.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the heads of its records.
    pub fn log(&self) -> &Log {
        &self.read.log
    }

    /// Returns the record that describes the session, if its dialect has one. A second one is an
    /// ordinary record: a fork may contain that of its source.
    pub fn header(&self) -> Option<Slot> {
        header(&self.read.log)
    }

    /// Returns what could not be read of the history that it inherits from other logs.
    pub fn missing_history(&self) -> Option<&MissingHistory> {
        self.missing.as_ref()
    }

    /// Returns calls and results in file order, if it was read with them.
    pub fn pairs(&self) -> Option<&[(Slot, ToolLink)]> {
        self.read.pairs.as_deref()
    }

    /// Returns the tree of its entries.
    pub fn tree(&self) -> &Tree {
        &self.read.tree
    }

    /// Returns the metadata.
    pub fn meta(&self) -> &SessionMeta {
        &self.read.meta
    }

    /// Returns the view that dialects take.
    pub fn view(&self) -> SessionView<'_> {
        self.read.view(&self.object)
    }

    /// Returns the revision of the log when it was read.
    pub fn revision(&self) -> Revision {
        match self.location.framing {
            Framing::Lines => Revision::of_log(self.file, self.end),
            // A document is rewritten as a whole, so the time is part of its revision.
            _ => self.location.revision().with_end(self.end),
        }
    }

    /// The entry that a person names: an id, `#line`, or `#line.n`.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry.
    pub fn find(&self, entry: impl Into<EntryId>) -> Result<Slot> {
        let entry = entry.into();
        self.read.log.find(entry.as_str()).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!(
                    "session {} has no entry `{}`",
                    self.location.id,
                    entry.as_str().escape_debug()
                ),
            )
            .advising(Advice::show_records(self.reference()))
        })
    }

    /// The prompt of the user that a person names.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such entry, `Invalid` if it is not a prompt.
    pub fn prompt(&self, entry: impl Into<EntryId>) -> Result<Slot> {
        let entry = entry.into();
        let slot = self.find(&entry)?;
        if self.log().kind(slot) == EntryKind::User {
            return Ok(slot);
        }
        Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "the entry `{}` is not a prompt of the user",
                entry.as_str().escape_debug()
            ),
        )
        .advising(Advice::ShowPrompts.or(Advice::ChooseLeaf)))
    }

    /// Reads one entry.
    ///
    /// # Errors
    ///
    /// An I/O error if the record cannot be read.
    pub fn entry(&self, slot: Slot) -> Result<Entry> {
        let bytes = self.view().payload(slot)?.into_owned();
        let view = self.view_of(&self.whole(Cow::Borrowed(&bytes)));
        Ok(Entry {
            id: self.log().label(slot).as_ref().into(),
            kind: self.log().kind(slot),
            slot,
            bytes,
            view,
        })
    }

    /// Every byte of the log, in order, handed over in pieces.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read, and the first error of `sink`.
    pub fn export(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut result = Ok(());
        self.object.with(|object| {
            let stored = object.stored();
            if self.location.framing != Framing::Lines && stored.is_none() {
                result = sink(&object.read(0, object.end()?)?);
                return Ok(());
            }
            stored.unwrap_or(object).lines(0, 1, &mut |line| {
                if result.is_ok() {
                    result = sink(line.bytes);
                }
            })?;
            Ok(())
        })?;
        result
    }

    fn view_of(&self, bytes: &[u8]) -> Option<View> {
        let mut scanned = Scanned::default();
        scanned.scan(bytes).ok()?;
        Some(self.dialect.view(&scanned.object(bytes)))
    }

    fn changed(&self) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!("session {} changed while it was read", self.location.id),
        )
        .advising(Advice::Retry)
    }
}

pub(crate) fn header(log: &Log) -> Option<Slot> {
    log.entries()
        .skip(log.inherited)
        .find(|(_, head)| head.kind == EntryKind::Header)
        .map(|(slot, _)| slot)
}

/// Fails for a session that its agent does not show, so that it is not shown as an empty one.
pub(crate) fn require_readable(dialect: &dyn Dialect, location: &SessionLocation) -> Result<()> {
    match dialect.powers().fold {
        Some(fold) => fold.require_readable(location),
        None => Ok(()),
    }
}
