//! Follows live sessions.
//!
//! The looks of the change feed show which sessions changed. A log that grew is followed by a
//! [`Follower`] from then on, which reads only new bytes.
//!
//! Only new bytes are read, so `line` is null in a session that existed before, unless its entries
//! are named by their line. A session that is one document is printed when it appears.

use std::collections::BTreeMap;

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Flags, Framing, Instant, Result, Revision, SessionRef};
use boswell_store::backend::is_packed;
use boswell_store::{Follower, Store};

use crate::changes::{ListedChange, LogBefore, Place};
use crate::shape::{EntryParts, EntryPlace};
use crate::{App, AppResult, RequestContext};

/// Maximum difference between the clock of file times and ours, in milliseconds.
const CLOCKS_APART: i64 = 2_000;

/// A request to follow sessions.
#[derive(Debug, Clone, Default)]
pub struct WatchRequest {
    /// Only this session; `None` for all.
    pub session: Option<String>,
    /// Whether entries need their line numbers, for which the log before them is read once.
    pub lines: LineNumbers,
}

/// Whether the lines before a new entry are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineNumbers {
    /// Entries of sessions that existed before have none.
    #[default]
    Unknown,
    /// Counted for entries without an id.
    Counted,
}

impl App {
    /// Starts to follow sessions: [`Watch::look`] reports what is written from now on.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session.
    pub fn watch(&self, request: &WatchRequest) -> AppResult<Watch> {
        self.answer(|cx| match &request.session {
            Some(session) => Watch::of_one(self, cx, session, request.lines),
            None => Ok(Watch::of_all(self, cx, request.lines)),
        })
    }
}

/// Receives every entry once.
pub type Sink<'s> = &'s mut dyn FnMut(&EntryParts<'_>) -> Result<()>;

/// The followed sessions.
#[derive(Debug)]
pub struct Watch {
    app: App,
    lines: LineNumbers,
    /// Start time.
    since: Instant,
    /// The last look whose changes were processed; `None` if one session is watched.
    seen: Option<u64>,
    /// Sessions that changed since the start, or the one that is watched.
    sessions: BTreeMap<Place, Watched>,
}

/// A session, and how much of it was reported or existed at the start.
#[derive(Debug)]
struct Watched {
    store: Store,
    location: SessionLocation,
    /// How much was reported, or existed at the start.
    shown: u64,
    /// The revision of a document that was read.
    read: Option<Revision>,
    follower: Option<Follower>,
}

impl Watch {
    /// Watches every session, from the current end of each log.
    fn of_all(app: &App, cx: &RequestContext, lines: LineNumbers) -> Watch {
        Watch {
            app: app.clone(),
            lines,
            since: cx.now,
            seen: Some(app.looks().begin(cx)),
            sessions: BTreeMap::new(),
        }
    }

    /// Watches one session; no other log is read.
    fn of_one(app: &App, cx: &RequestContext, name: &str, lines: LineNumbers) -> Result<Watch> {
        let found = cx.resolve(name)?;
        let place = Place::of(&found.store, &found.location);
        let mut watch = Watch {
            app: app.clone(),
            lines,
            since: cx.now,
            seen: None,
            sessions: BTreeMap::new(),
        };
        let shown = found.location.size;
        let mut watched = Watched::new(found.store, found.location, shown);
        watched.start(lines);
        watch.sessions.insert(place, watched);
        Ok(watch)
    }

    /// Passes what was written since the last poll to the sink. A session that cannot be read now
    /// is tried again next time.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores, and errors of the sink.
    pub fn look(&mut self, sink: Sink<'_>) -> Result<()> {
        if let Some(seen) = self.seen {
            let looks = self.app.looks();
            looks.look_when_due(&self.app)?;
            let (changes, newest) = looks.since(seen);
            self.seen = Some(newest);
            // If there were too many changes to remember, sessions are followed from their next
            // change on.
            let changes = changes.unwrap_or_default().into_iter();
            changes.for_each(|change| self.changed(change));
        }
        for watched in self.sessions.values_mut() {
            match watched.location.framing {
                Framing::Document | Framing::Rows(_) if self.seen.is_none() => {
                    watched.look_at_file();
                    watched.read_document(sink)?;
                }
                Framing::Lines => watched.follow(self.lines, sink)?,
                Framing::Document | Framing::Rows(_) => watched.read_document(sink)?,
            }
        }
        Ok(())
    }

    /// Processes a new, changed or deleted log.
    fn changed(&mut self, change: ListedChange) {
        let Some(place) = change.place else {
            return;
        };
        let Some(log) = change.log else {
            self.sessions.remove(&place);
            return;
        };
        // A compressed log does not grow any more.
        if log.location.key.as_deref().is_none_or(is_packed) {
            return;
        }
        if let Some(watched) = self.sessions.get_mut(&place) {
            watched.location = log.location;
        } else if let Some(shown) = self.shown(&log.location, log.before) {
            let watched = Watched::new(log.store, log.location, shown);
            self.sessions.insert(place, watched);
        }
    }

    /// Returns how much of a log that is not watched yet is not new; `None` if nothing of it is.
    fn shown(&self, location: &SessionLocation, before: LogBefore) -> Option<u64> {
        let now = location.revision();
        match before {
            LogBefore::Unlisted => None,
            LogBefore::Absent => {
                let start = self.since.millis() - CLOCKS_APART;
                let is_of_now = location.modified.is_none_or(|at| at.millis() >= start);
                is_of_now.then_some(0)
            }
            // If a log was truncated or replaced, it is unknown which of its records are new.
            LogBefore::Known(before) if location.framing == Framing::Lines => {
                let is_other = !before.is_same_file(&now) || now.end() < before.end();
                (before.end() == 0 || !is_other).then_some(before.end())
            }
            LogBefore::Known(before) => Some(before.end()),
        }
    }
}

impl Watched {
    fn new(store: Store, location: SessionLocation, shown: u64) -> Watched {
        Watched {
            store,
            location,
            shown,
            read: None,
            follower: None,
        }
    }

    /// Reads the current length of a file that no look finds.
    fn look_at_file(&mut self) {
        let key = self.location.key.as_ref();
        let info = key.and_then(|key| self.store.backend().stat(key).ok().flatten());
        if let Some(info) = info {
            let location = &self.location;
            let now = SessionLocation::at(&*location.id, &info, location.framing);
            (self.location.size, self.location.identity) = (now.size, now.identity);
        }
    }

    /// Starts to follow after what was reported; a failure is retried.
    fn start(&mut self, lines: LineNumbers) -> Option<&mut Follower> {
        if self.follower.is_none() && self.location.framing == Framing::Lines {
            let shown = SessionLocation {
                size: self.shown,
                ..self.location.clone()
            };
            let follower = Follower::behind(&self.store, &shown).ok()?;
            self.follower = Some(match lines {
                LineNumbers::Counted => follower.counting_lines(),
                LineNumbers::Unknown => follower,
            });
        }
        self.follower.as_mut()
    }

    fn follow(&mut self, lines: LineNumbers, sink: Sink<'_>) -> Result<()> {
        let session = SessionRef::new(self.store.dialect().name(), &self.location.id);
        let Some(follower) = self.start(lines) else {
            return Ok(());
        };
        loop {
            let Ok(news) = follower.poll() else {
                return Ok(());
            };
            for entry in &news.entries {
                sink(&EntryParts::of_new(&session, entry))?;
            }
            if !news.more {
                return Ok(());
            }
        }
    }

    /// Reads a session that is a document, which is rewritten completely: new are the records after
    /// those that were reported.
    fn read_document(&mut self, sink: Sink<'_>) -> Result<()> {
        let now = self.location.revision();
        if self.location.size <= self.shown || self.read == Some(now) {
            self.shown = self.shown.min(self.location.size);
            return Ok(());
        }
        let Ok(session) = self.store.read(&self.location, Depth::Heads) else {
            return Ok(());
        };
        let (log, reference) = (session.log(), session.reference());
        let leaf = session.leaf().ok().flatten();
        for slot in log.slots() {
            let Some(head) = log.head(slot).filter(|head| head.at >= self.shown) else {
                continue;
            };
            if head.flags.has(Flags::UNENDED) {
                break;
            }
            self.shown = head.at + head.len;
            let Ok(it) = session.entry(slot) else {
                continue;
            };
            let place = EntryPlace {
                on_branch: true,
                leaf: leaf == Some(slot),
            };
            if let Some(parts) = EntryParts::of_slot(
                &session,
                &reference,
                slot,
                &it.bytes,
                it.view.as_ref(),
                &place,
            ) {
                sink(&parts)?;
            }
        }
        self.read = Some(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
