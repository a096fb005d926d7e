//! Follows a session while somebody else writes to it.
//!
//! A [`Follower`] hands out every whole record once, and reads only the bytes that it has not seen. A line without its
//! end is held back until it ends. When the log is cut or replaced there is a new generation, and everything that it
//! holds is handed out from the start. Nothing waits here: the caller polls when it likes.

use std::sync::Arc;

use std::borrow::Cow;

use boswell_dialect::{Dialect, Located};
use boswell_model::json::{Object, scan_object};
use boswell_model::{EntryKind, Error, ErrorKind, Framing, Head, Line, Lines, Names, Result, Splitter, View};

use crate::blobs::Blobs;
use crate::{ObjectReader, Store};

/// How much is read at once.
const CHUNK: u64 = 256 << 10;
/// After this many bytes a poll ends and says that there is more.
const ENOUGH: u64 = 8 << 20;
/// How much of what was read last is compared before what follows it is believed.
const WINDOW: usize = 64;

/// Hands out the entries of one session as they are written.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    blobs: Option<Blobs>,
    id: String,
    /// None while the session is not visible yet.
    key: Option<String>,
    seen: Seen,
    generation: u64,
}

/// How far a log was read.
#[derive(Debug)]
struct Seen {
    identity: Option<(u64, u64)>,
    end: u64,
    /// The last bytes before `end`.
    window: Vec<u8>,
    /// What stands after the last line end.
    lines: Lines,
    /// How many lines were handed over.
    count: u64,
}

/// What a poll found.
#[derive(Debug, Default)]
pub struct News {
    /// Entries that were not handed out before in this generation, in file order.
    pub entries: Vec<NewEntry>,
    /// Grows when the log was cut or replaced: what was handed out before no longer counts.
    pub generation: u64,
    /// Whether the log holds more already, which the next poll hands out.
    pub more: bool,
}

/// An entry that was handed out by a follower.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// What it is.
    pub kind: EntryKind,
    /// Position in the log.
    pub at: u64,
    /// Line that it stands on, from 1.
    pub line: u64,
    /// Its bytes, as they stand in the log.
    pub bytes: Arc<[u8]>,
    /// What a person reads of it, with large values that are kept elsewhere.
    pub view: View,
}

impl Follower {
    /// Follows a session from its first entry on. One that is not visible yet gives nothing until it is.
    pub fn new(store: &Store, id: &str) -> Result<Follower> {
        let key = match store.find(id) {
            Ok(located) => Some(key_of(&located)?),
            // Known, but hidden until its first answer; an unknown one is an error here.
            Err(_) => store.session(id).map(|_| None)?,
        };
        let blobs = store.blobs();
        Ok(Follower { store: store.clone(), blobs, id: id.to_owned(), key, seen: Seen::nothing(None), generation: 0 })
    }

    /// Follows a session from what comes next on.
    pub fn from_end(store: &Store, id: &str) -> Result<Follower> {
        let mut follower = Follower::new(store, id)?;
        while follower.poll()?.more {}
        Ok(follower)
    }

    /// Everything new since the last poll.
    pub fn poll(&mut self) -> Result<News> {
        let Some(object) = self.open()? else { return Ok(News { generation: self.generation, ..News::default() }) };
        let (identity, end) = (object.identity()?, object.end()?);
        if identity != self.seen.identity || end < self.seen.end || !self.seen.still_there(object.as_ref(), end)? {
            if self.seen.end > 0 {
                self.generation += 1;
            }
            self.seen = Seen::nothing(identity);
        }
        let mut news = News { generation: self.generation, ..News::default() };
        let (dialect, blobs, mut splitter) = (self.store.dialect(), self.blobs.as_ref(), Splitter::default());
        let mut sink = |line: Line<'_>| entries_of(dialect, blobs, &mut splitter, line, &mut news.entries);
        if identity.is_some() {
            self.seen.read_file(object.as_ref(), end, &mut sink)?;
        } else {
            self.seen.read_rows(object.as_ref(), &mut sink)?;
        }
        news.more = identity.is_some() && self.seen.end < end;
        Ok(news)
    }

    /// Opens the log, which may have been moved since; none while it is not visible.
    fn open(&mut self) -> Result<Option<Box<dyn ObjectReader>>> {
        if let Some(key) = &self.key {
            match self.store.backend().open(key) {
                Err(error) if error.is_not_found() => {}
                opened => return opened.map(Some),
            }
        }
        match self.store.find(&self.id) {
            Ok(located) => {
                let key = self.key.insert(key_of(&located)?);
                self.store.backend().open(key).map(Some)
            }
            Err(error) if error.is_not_found() && self.key.is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Seen {
    fn nothing(identity: Option<(u64, u64)>) -> Seen {
        Seen { identity, end: 0, window: Vec::new(), lines: Lines::new(0, 1), count: 0 }
    }

    /// Reads on in a file, whose positions are bytes: each is read once, also those of a line that has no end yet.
    fn read_file(&mut self, object: &dyn ObjectReader, end: u64, sink: &mut dyn FnMut(Line<'_>)) -> Result<()> {
        let enough = end.min(self.end + ENOUGH);
        while self.end < enough {
            let chunk = object.read(self.end, CHUNK.min(enough - self.end))?;
            if chunk.is_empty() {
                break;
            }
            self.take(&chunk, sink);
        }
        Ok(())
    }

    /// Reads on where positions are what the backend says they are.
    fn read_rows(&mut self, object: &dyn ObjectReader, sink: &mut dyn FnMut(Line<'_>)) -> Result<()> {
        let (mut count, mut pending) = (self.count, None);
        let end = object.lines(self.end, self.count + 1, &mut |line| {
            if line.bytes.last() == Some(&b'\n') {
                count = line.number;
                sink(line);
            } else {
                pending = Some(line.at);
            }
        })?;
        (self.count, self.end) = (count, pending.unwrap_or(end));
        Ok(())
    }

    fn take(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        self.lines.push(chunk, sink);
        self.end += chunk.len() as u64;
        self.window.extend_from_slice(chunk);
        let cut = self.window.len().saturating_sub(WINDOW);
        self.window.drain(..cut);
    }

    /// Whether what was read last still stands where it was. Not asked of a log that did not grow.
    fn still_there(&self, object: &dyn ObjectReader, end: u64) -> Result<bool> {
        if self.window.is_empty() || end == self.end {
            return Ok(true);
        }
        let len = self.window.len() as u64;
        Ok(object.read(self.end - len, len)? == self.window)
    }
}

fn key_of(located: &Located) -> Result<String> {
    match &located.key {
        Some(key) if located.framing == Framing::Lines => Ok(key.clone()),
        _ => Err(Error::new(ErrorKind::Unsupported, format!("session {} cannot be followed", located.id))
            .because("it is no log that entries are added to")
            .hinting("read it again when its file changes")),
    }
}

fn entries_of(
    dialect: &dyn Dialect,
    blobs: Option<&Blobs>,
    splitter: &mut Splitter,
    line: Line<'_>,
    found: &mut Vec<NewEntry>,
) {
    let mut names = Names::default();
    splitter.line(line, &|object| dialect.is_record(object), &mut |piece| {
        let Some(object) = &piece.object else { return };
        let mut head = Head::of(&piece.span);
        dialect.head(object, &mut head, &mut names);
        found.push(NewEntry {
            id: head.id.map(|id| names.text(id).to_owned()),
            kind: head.kind,
            at: piece.span.at,
            line: piece.span.line,
            bytes: piece.bytes.into(),
            view: whole_view(dialect, blobs, piece.bytes).unwrap_or_else(|| dialect.view(object)),
        });
    });
}

/// What a person reads of a record whose large values stand elsewhere; none if it has none, or they are not there.
fn whole_view(dialect: &dyn Dialect, blobs: Option<&Blobs>, record: &[u8]) -> Option<View> {
    let Cow::Owned(record) = blobs?.whole(Cow::Borrowed(record)) else { return None };
    let mut members = Vec::new();
    let end = scan_object(&record, &mut members).ok()?;
    Some(dialect.view(&Object::new(record.get(..end)?, &members)))
}
