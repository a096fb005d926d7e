//! Follows live sessions.
//!
//! The stores are listed repeatedly. A log that grew is followed by a [`Follower`], which reads
//! only new bytes; of logs that did not change only the size is known.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use boswell_dialect::{Depth, SessionLocation};
use boswell_model::{Flags, Framing, Result, SessionRef};
use boswell_store::backend::is_packed;
use boswell_store::store::{Resolved, StoreId, StoredSession};
use boswell_store::{Follower, Store};

use crate::shape::{EntryParts, EntryPlace};
use crate::{Answer, App, AppResult, Refusal, RequestContext};

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
        let cx = Arc::new(self.request()?);
        let only = match request
            .session
            .as_deref()
            .map(|session| cx.resolve(session))
        {
            Some(Err(error)) => {
                let notices = cx.take_notices();
                return Err(Refusal { error, notices });
            }
            found => found.and_then(Result::ok),
        };
        let value = Watch::start(&cx, only, request.lines);
        Ok(Answer {
            value,
            notices: cx.take_notices(),
        })
    }
}

/// Receives every entry once.
pub type Sink<'s> = &'s mut dyn FnMut(&EntryParts<'_>) -> Result<()>;

/// The followed sessions.
#[derive(Debug)]
pub struct Watch {
    cx: Arc<RequestContext>,
    only: Option<Resolved>,
    lines: LineNumbers,
    /// Stores that could be listed once, at least in part. Before that, it is unknown which
    /// sessions in them are new.
    listed: HashSet<StoreId>,
    sessions: HashMap<String, Watched>,
}

/// A session, and how much of it was reported or existed at the start.
#[derive(Debug)]
struct Watched {
    /// Its location when it was last read.
    known: SessionLocation,
    /// How much of a document was reported.
    shown: u64,
    follower: Option<Follower>,
}

impl Watch {
    /// Records the current length of each log.
    fn start(cx: &Arc<RequestContext>, only: Option<Resolved>, lines: LineNumbers) -> Watch {
        let mut watch = Watch {
            cx: Arc::clone(cx),
            only,
            lines,
            listed: HashSet::new(),
            sessions: HashMap::new(),
        };
        for (store, location, _) in watch.list() {
            watch
                .sessions
                .insert(name(&store, &location), Watched::of(location));
        }
        watch
    }

    /// Reports what was written since the last poll to the sink. A session that cannot be read now
    /// is tried again next time.
    pub fn look(&mut self, sink: Sink<'_>) -> Result<()> {
        let counts_lines = self.lines == LineNumbers::Counted;
        for (store, location, is_new) in self.list() {
            let before = SessionLocation {
                size: if is_new { 0 } else { location.size },
                ..location.clone()
            };
            let watched = self
                .sessions
                .entry(name(&store, &location))
                .or_insert_with(|| Watched::of(before));
            match location.framing {
                _ if watched.is_as_known(&location) => {}
                Framing::Lines => watched.follow(&store, location, counts_lines, sink)?,
                Framing::Document | Framing::Rows(_) => {
                    watched.read_document(&store, location, sink)?
                }
            }
        }
        Ok(())
    }

    /// Returns the current sessions, each with whether a new one was written since the start. A
    /// store that cannot be listed now is listed again next time.
    fn list(&mut self) -> Vec<(Store, SessionLocation, bool)> {
        if let Some(only) = &self.only {
            return vec![(only.store.clone(), as_it_is_now(only), false)];
        }
        let stores = &self.cx.stores;
        let (held, errors) = stores.held();
        let start = self.cx.now.millis() - CLOCKS_APART;
        let mut found = Vec::with_capacity(held.len());
        for StoredSession { store, location } in &held {
            let Some(at) = stores.get(*store) else {
                continue;
            };
            // A compressed log does not grow any more.
            if location.key.as_deref().is_some_and(|key| !is_packed(key)) {
                let is_of_now = location.modified.is_none_or(|at| at.millis() >= start);
                found.push((
                    at.clone(),
                    location.clone(),
                    is_of_now && self.listed.contains(store),
                ));
            }
        }
        let failed: HashSet<StoreId> = errors.into_iter().map(|(store, _)| store).collect();
        let whole = stores
            .iter_with_archived()
            .map(|(store, _)| store)
            .filter(|store| !failed.contains(store));
        self.listed
            .extend(whole.chain(held.iter().map(|held| held.store)));
        found
    }
}

/// Returns the current location and length of one session's log.
fn as_it_is_now(only: &Resolved) -> SessionLocation {
    let location = only.location.clone();
    let stat = location
        .key
        .as_ref()
        .and_then(|key| only.store.backend().stat(key).ok().flatten());
    match stat.map(|info| SessionLocation::at(&*location.id, &info, location.framing)) {
        Some(seen) => SessionLocation {
            size: seen.size,
            identity: seen.identity,
            ..location
        },
        // A missing log may have been moved: the follower looks for it.
        None => SessionLocation {
            identity: None,
            ..location
        },
    }
}

impl Watched {
    fn of(known: SessionLocation) -> Watched {
        Watched {
            shown: known.size,
            known,
            follower: None,
        }
    }

    fn is_as_known(&self, now: &SessionLocation) -> bool {
        let file = |it: &SessionLocation| it.identity.map(|it| it.file);
        self.known.size == now.size && file(&self.known) == file(now)
    }

    /// Whether the log was truncated or replaced by another file, whose content is not new.
    fn is_rewritten(&self, now: &SessionLocation) -> bool {
        let is_other = self
            .known
            .identity
            .zip(now.identity)
            .is_some_and(|(before, now)| before.file != now.file);
        self.known.size > 0 && (is_other || now.size < self.known.size)
    }

    fn follow(
        &mut self,
        store: &Store,
        now: SessionLocation,
        counts_lines: bool,
        sink: Sink<'_>,
    ) -> Result<()> {
        if self.follower.is_none() && self.is_rewritten(&now) {
            self.known = now;
            return Ok(());
        }
        if self.follower.is_none() {
            let Ok(follower) = Follower::behind(store, &self.known) else {
                return Ok(());
            };
            self.follower = Some(if counts_lines {
                follower.counting_lines()
            } else {
                follower
            });
        }
        let Some(follower) = &mut self.follower else {
            return Ok(());
        };
        let session = SessionRef::new(store.dialect().name(), &now.id);
        loop {
            let Ok(news) = follower.poll() else {
                return Ok(());
            };
            for entry in &news.entries {
                sink(&EntryParts::of_new(&session, entry))?;
            }
            if !news.more {
                self.known = now;
                return Ok(());
            }
        }
    }

    /// Reads a session that is a document, which is rewritten completely: new are the records after
    /// those that were reported.
    fn read_document(&mut self, store: &Store, now: SessionLocation, sink: Sink<'_>) -> Result<()> {
        if now.size <= self.shown {
            self.shown = now.size;
            self.known = now;
            return Ok(());
        }
        let Ok(session) = store.read(&now, Depth::Heads) else {
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
        self.known = now;
        Ok(())
    }
}

fn name(store: &Store, location: &SessionLocation) -> String {
    format!(
        "{} {}",
        store.root().display(),
        location.key.as_deref().unwrap_or(&location.id)
    )
}

#[cfg(test)]
mod tests;
