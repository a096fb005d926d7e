//! [`Follower`]: reads new entries of a session while another program writes to it.
//!
//! It returns every complete record once, and reads only bytes that it has not seen. A line without
//! a newline is held back until it is complete. If the log is truncated or replaced, a new
//! generation begins. Nothing blocks: the caller polls.
//!
//! A follower may begin behind the existing content without reading it. It then does not know the
//! number of lines before, so its entries have no line number; the parent of its first entry is
//! known if the entry names it or if the record before it is at most `seen::PEEK` bytes away.
//! [`Follower::counting_lines`] counts them when an entry can only be named by its line.

mod batch;
mod seen;

use std::sync::Arc;

use boswell_dialect::SessionLocation;
use boswell_model::{
    EntryId, EntryKind, Error, ErrorKind, Framing, Instant, Line, Log, Result, Revision, SessionId,
    View,
};

use crate::Store;
use crate::backend::ObjectReader;
use crate::blobs::Blobs;
use batch::Batch;
use seen::{Seen, count_lines};

/// Returns the entries of one session as they are written.
///
/// ```
/// use boswell_store::{Draft, Follower, Home, NewSession};
///
/// # fn main() -> boswell_store::Result<()> {
/// let store = Home::in_memory()?.sessions()?;
/// let writer = store.create(NewSession::in_project("/proj/demo").with_id("first"))?;
/// let asked = writer.append(Draft::user("hello"))?;
/// let mut follower = Follower::since(&store, "first", &asked.revision)?;
/// assert!(follower.poll()?.entries.is_empty());
/// writer.append(Draft::assistant("hi").with_id("answer"))?;
/// assert_eq!(follower.poll()?.entries[0].id, Some("answer".into()));
/// assert!(Follower::from_end(&store, "second").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Follower {
    store: Store,
    blobs: Option<Blobs>,
    id: SessionId,
    /// `None` while the session is not visible yet.
    key: Option<String>,
    seen: Seen,
    generation: u64,
    rewritten: Rewritten,
    counts_lines: bool,
}

/// What is returned after a log was truncated or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rewritten {
    /// All its entries.
    Everything,
    /// Only entries that are appended from then on.
    Additions,
}

/// The result of a poll.
#[derive(Debug, Default)]
pub struct News {
    /// Entries that were not returned before in this generation, in file order.
    pub entries: Vec<NewEntry>,
    /// Grows when the log was truncated or replaced: entries of earlier generations are void.
    pub generation: u64,
    /// Whether the log contains more already, which the next poll returns.
    pub more: bool,
}

/// An entry that a follower returned.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Id of the entry, if it has one.
    pub id: Option<EntryId>,
    /// Label of the entry: its id, else `#line`, else `#line.n` for the n-th record of a line.
    /// `None` without id and line.
    pub label: Option<EntryId>,
    /// Label of its parent. It is not checked whether the named parent is in the existing part of
    /// the log.
    pub parent: Option<EntryId>,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// The type word that the agent gave it.
    pub word: String,
    /// Time of the entry, if the record contains one.
    pub time: Option<Instant>,
    /// Position in the log.
    pub at: u64,
    /// The revision of the log up to this entry. [`Follower::since`] continues after it; if several
    /// records share a line, earlier ones of that line are returned again.
    pub revision: Revision,
    /// Line of the entry, from 1; `None` if the follower did not read the lines before.
    pub line: Option<u64>,
    /// Whether the agent hides it from users.
    pub hidden: bool,
    /// Whether the entry is the leaf, as far as this poll shows.
    pub leaf: bool,
    /// Bytes of the record in the log.
    pub bytes: Arc<[u8]>,
    /// The record with large values that are stored elsewhere, for display.
    pub view: View,
}

impl Follower {
    /// Follows a session from its first entry. A hidden session has no entries until it is
    /// published. After the log was truncated or replaced, everything is returned again.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such session; `Unsupported` if it is not a log of lines; an I/O
    /// error if the store cannot be listed.
    pub fn new(store: &Store, id: impl Into<SessionId>) -> Result<Follower> {
        let id = id.into();
        let key = match store.find(&id) {
            Ok(location) => Some(key_of(&location)?),
            // Known, but hidden until its first assistant message; an unknown one is an error here.
            Err(_) => store.session(&id).map(|_| None)?,
        };
        Ok(Follower::at(store, id, key, Rewritten::Everything))
    }

    /// Follows a session from what comes next on; of a line without its end, from
    /// the start of that line.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Follower::new), and an I/O error if the log cannot be read.
    pub fn from_end(store: &Store, id: impl Into<SessionId>) -> Result<Follower> {
        let mut follower = Follower::new(store, id)?;
        if let Some(object) = follower.open()? {
            let end = object.end()?;
            follower.skip(object.as_ref(), end)?;
        }
        Ok(follower)
    }

    /// Follows a session from a revision on: that of a snapshot, a receipt, or an entry that was
    /// handed out. If another file took the log's place since, or it was cut, everything is handed
    /// out, in generation 1.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Follower::new), and an I/O error if the log cannot be read.
    pub fn since(store: &Store, id: impl Into<SessionId>, revision: &Revision) -> Result<Follower> {
        let mut follower = Follower::new(store, id)?;
        let Some(object) = follower.open()? else {
            return Ok(follower);
        };
        let (file, end) = (object.identity()?, object.end()?);
        let grew = revision.is_same_file(&Revision::of_log(file, end)) && revision.end() <= end;
        match file {
            _ if !grew => follower.generation = 1,
            Some(_) => follower.skip(object.as_ref(), revision.end())?,
            // A backend without files interprets its own positions.
            None => {
                follower.seen.end = revision.end();
                follower.seen.lines_before = (revision.end() == 0).then_some(0);
            }
        }
        Ok(follower)
    }

    /// Follows a session behind what a listing found: the first `location.size` bytes were
    /// there before, and only a line that was not ended then is handed out whole. Of a log
    /// that is cut or replaced only what is added later is handed out, since nothing says
    /// which of its records are new.
    ///
    /// # Errors
    ///
    /// `Unsupported` if it is not a log of lines; an I/O error if the log cannot be read.
    pub fn behind(store: &Store, location: &SessionLocation) -> Result<Follower> {
        let key = key_of(location)?;
        let mut follower = Follower::at(
            store,
            location.id.as_str().into(),
            Some(key),
            Rewritten::Additions,
        );
        if location.size > 0
            && let Some(object) = follower.open()?
        {
            let (file, end) = (object.identity()?, object.end()?);
            let is_other = location
                .identity
                .zip(file)
                .is_some_and(|(then, now)| then.file != now);
            // The size of a session of rows is not a position.
            let is_rows = location.is_of_rows(store.dialect());
            let start = if is_other || is_rows || end < location.size {
                end
            } else {
                location.size
            };
            follower.skip(object.as_ref(), start)?;
        }
        Ok(follower)
    }

    /// Counts the lines before its start when an entry without an id comes: such an entry can only
    /// be named by its line. This reads the existing part of the log once, in pieces.
    #[must_use]
    pub fn counting_lines(mut self) -> Follower {
        self.counts_lines = true;
        self
    }

    fn at(store: &Store, id: SessionId, key: Option<String>, rewritten: Rewritten) -> Follower {
        let (seen, blobs) = (Seen::nothing(None), store.blobs());
        let store = store.clone();
        Follower {
            store,
            blobs,
            id,
            key,
            seen,
            generation: 0,
            rewritten,
            counts_lines: false,
        }
    }

    /// Everything new since the last poll.
    ///
    /// # Errors
    ///
    /// An I/O error if the log cannot be read, `NotFound` if it is gone. The next poll tries again
    /// from the same place.
    pub fn poll(&mut self) -> Result<News> {
        let Some(object) = self.open()? else {
            return Ok(News {
                generation: self.generation,
                ..News::default()
            });
        };
        let (identity, end) = (object.identity()?, object.end()?);
        if identity != self.seen.identity
            || end < self.seen.end
            || !self.seen.still_there(object.as_ref(), end)?
        {
            let was_read = self.seen.end > 0;
            self.seen = Seen::nothing(identity);
            if was_read && self.rewritten == Rewritten::Additions {
                self.skip(object.as_ref(), end)?;
            }
            self.generation += u64::from(was_read);
        }
        let dialect = self.store.dialect();
        let before = Revision::of_log(identity, self.seen.end);
        let mut batch = Batch::new(dialect, self.blobs.as_ref(), self.seen.last.clone());
        batch.file = identity;
        let read = if identity.is_some() {
            self.seen
                .read_file(object.as_ref(), end, &mut |line| batch.line(line))
        } else {
            self.seen
                .read_rows(object.as_ref(), &mut |line| batch.line(line))
        };
        // On an error the position is the old one, and so must be the last record.
        read?;
        if self.counts_lines && self.seen.lines_before.is_none() && batch.has_nameless() {
            // If this fails, the entries have no label, and the next poll tries again.
            self.seen.lines_before = count_lines(object.as_ref(), self.seen.start).ok();
        }
        let (mut entries, last) = batch.finish(object.as_ref(), self.seen.lines_before);
        self.seen.last = last;
        if identity.is_none() {
            // For such a backend only the end of the read is a position.
            let (last, others) = entries
                .split_last_mut()
                .map_or((None, [].as_mut_slice()), |(last, rest)| (Some(last), rest));
            others.iter_mut().for_each(|it| it.revision = before);
            last.into_iter()
                .for_each(|it| it.revision = Revision::at_end(self.seen.end));
        }
        let more = identity.is_some() && self.seen.end < end;
        Ok(News {
            entries,
            generation: self.generation,
            more,
        })
    }

    /// Continues after the last line that ends before `end`.
    fn skip(&mut self, object: &dyn ObjectReader, end: u64) -> Result<()> {
        match object.identity()? {
            Some(identity) => {
                let (seen, line) = Seen::behind(object, identity, end)?;
                self.seen = seen;
                let mut batch = Batch::new(self.store.dialect(), None, Log::default());
                // Number 0: the lines after it count from 1.
                batch.line(Line {
                    at: self.seen.start - line.len() as u64,
                    number: 0,
                    bytes: &line,
                });
                (_, self.seen.last) = batch.finish(object, None);
            }
            // Positions need not be bytes here, so the end of a line cannot be searched backwards.
            None => while self.poll()?.more {},
        }
        Ok(())
    }

    /// Opens the log, which may have been moved since; `None` while it is hidden.
    fn open(&mut self) -> Result<Option<Box<dyn ObjectReader>>> {
        if let Some(key) = &self.key {
            match self.store.backend().open(key) {
                Err(error) if error.is_not_found() => {}
                opened => return opened.map(Some),
            }
        }
        match self.store.find(&self.id) {
            Ok(location) => {
                let key = self.key.insert(key_of(&location)?);
                self.store.backend().open(key).map(Some)
            }
            Err(error) if error.is_not_found() && self.key.is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn key_of(location: &SessionLocation) -> Result<String> {
    match &location.key {
        Some(key) if location.framing == Framing::Lines => Ok(key.clone()),
        _ => Err(Error::new(
            ErrorKind::Unsupported,
            format!("session {} cannot be followed", location.id),
        )
        .because("it is not a log that entries are appended to")
        .advising("read it again when its file changes")),
    }
}
