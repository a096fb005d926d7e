//! The change feed: which sessions were added, changed or removed, and new entries of sessions that
//! are followed.
//!
//! A feed is polled and starts no thread. However many feeds there are, the folders are listed once
//! for all of them (a look), using at most a fiftieth of a core: a look is due when fifty times its
//! last cost has passed, and at least a second. Each look is a numbered delta; a feed that falls
//! too far behind gets [`Change::Missed`] and lists the sessions again.

mod health;
mod looks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Instant, Result, Revision, SessionRef};
use boswell_store::Follower;
use boswell_store::session::NewEntry;

use crate::shape::{EntryParts, EntryShape, shape};
use crate::{Answer, App, AppResult, RequestContext};
pub(crate) use looks::{ListedChange, LogBefore, Looks, Place};

/// Time between two polls while sessions are followed: the maximum delay of a new entry.
const FOLLOWING: Duration = Duration::from_millis(150);

/// A change of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change {
    /// A new session.
    Added(SessionChange),
    /// Its log changed, or processes began or ended to work on it.
    Changed(SessionChange),
    /// Whether it is damaged or lost soon changed.
    Health(SessionHealth),
    /// It is not there any more.
    Gone(SessionRef),
    /// A new entry of a followed session.
    Entry(FollowedEntry),
    /// The log of a followed session was truncated or replaced: entries that were reported before
    /// are invalid, and the current ones are reported again.
    Restarted(SessionRef),
    /// There were more changes than are remembered: list the sessions again.
    Missed,
}

/// The state of a session after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionChange {
    /// The session.
    pub session: SessionRef,
    /// Revision of the log.
    pub revision: Revision,
    /// Time of the last write to the log.
    pub modified: Option<Instant>,
    /// Processes of its agent that have the session open, according to the agent's registry.
    pub live: Vec<u32>,
}

/// The marks of a session's health, as far as they are known without reading its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHealth {
    /// The session.
    pub session: SessionRef,
    /// Whether a stretch of its log could not be read as records when the catalog last read it.
    pub damaged: bool,
    /// Whether its agent deletes it soon, and no copy of it is kept.
    pub lost_soon: bool,
}

/// Marks of all sessions, as of the last look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionMarks {
    /// Processes that have a session open, by session.
    pub live: BTreeMap<SessionRef, Vec<u32>>,
    /// Sessions that their agent deletes soon, and of which no copy is kept.
    pub lost_soon: BTreeSet<SessionRef>,
}

/// A new entry of a session that is followed.
#[derive(Debug, Clone)]
pub struct FollowedEntry {
    /// The session.
    pub session: SessionRef,
    /// The entry, with the revision to continue from.
    pub entry: Arc<NewEntry>,
}

impl FollowedEntry {
    /// Returns the entry in its JSON shape.
    pub fn shape(&self) -> EntryShape {
        EntryParts::of_new(&self.session, &self.entry).shape(false)
    }
}

shape! {
    /// From the server: a session was added, changed or removed.
    ChangeShape: "change" {
        /// the session
        session: String,
        /// opaque string: revision of the log; `null` if the session is gone
        revision: Option<String>,
        /// when the log was last written
        modified: Option<Instant>,
        /// ids of agent processes that have it open
        live: Vec<u32>,
    }

    /// From the server: whether a session is damaged or lost soon changed.
    HealthShape: "health" {
        /// the session
        session: String,
        /// whether a part of its log could not be read as records
        damaged: bool,
        /// whether its agent deletes it soon, and no copy of it is kept
        lost_soon: bool,
    }
}

impl From<SessionChange> for ChangeShape {
    fn from(change: SessionChange) -> ChangeShape {
        ChangeShape {
            session: change.session.to_string(),
            revision: Some(change.revision.to_string()),
            modified: change.modified,
            live: change.live,
        }
    }
}

impl ChangeShape {
    /// The shape of a session that is not there any more.
    pub fn gone(session: &SessionRef) -> ChangeShape {
        ChangeShape {
            session: session.to_string(),
            revision: None,
            modified: None,
            live: Vec::new(),
        }
    }
}

impl From<SessionHealth> for HealthShape {
    fn from(health: SessionHealth) -> HealthShape {
        HealthShape {
            session: health.session.to_string(),
            damaged: health.damaged,
            lost_soon: health.lost_soon,
        }
    }
}

/// Reports changes to one listener.
#[derive(Debug)]
pub struct ChangeFeed {
    app: App,
    /// The last refresh whose changes were reported.
    seen: u64,
    followed: BTreeMap<SessionRef, Followed>,
}

#[derive(Debug)]
struct Followed {
    follower: Follower,
    generation: u64,
    /// The newest look when its log was first missing; [`TOLD`] once that was reported.
    missing: Option<u64>,
}

/// No look has this number.
const TOLD: u64 = u64::MAX;

impl App {
    /// Starts a change feed. Earlier changes are not reported.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub fn changes(&self) -> AppResult<ChangeFeed> {
        let cx = self.request()?;
        let seen = self.looks().begin(&cx);
        Ok(Answer {
            value: ChangeFeed {
                app: self.clone(),
                seen,
                followed: BTreeMap::new(),
            },
            notices: cx.take_notices(),
        })
    }
}

impl ChangeFeed {
    /// Follows the entries of a session: from a revision on, or only new ones. Returns the session.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session; Unsupported if it is not a log.
    pub fn follow(&mut self, session: &str, since: Option<&Revision>) -> AppResult<SessionRef> {
        let (followed, answer) = {
            let outcome = self.app.answer(|cx| start(cx, session, since))?;
            let (session, followed) = outcome.value;
            (
                followed,
                Answer {
                    value: session,
                    notices: outcome.notices,
                },
            )
        };
        self.followed.insert(answer.value.clone(), followed);
        Ok(answer)
    }

    /// Stops following a session.
    pub fn unfollow(&mut self, session: &SessionRef) {
        self.followed.remove(session);
    }

    /// Returns the marks of all sessions, as of the last look: for a list that begins now, because
    /// changes before it are not reported.
    pub fn marks(&self) -> SessionMarks {
        self.app.looks().marks()
    }

    /// Returns how long to wait before the next poll.
    pub fn pause(&self) -> Duration {
        let next_look = self.app.looks().due_in();
        if self.followed.is_empty() {
            next_look
        } else {
            next_look.min(FOLLOWING)
        }
    }

    /// Returns the changes since the last poll, without waiting. A store or a session that cannot
    /// be read now is examined again by the next poll.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub fn poll(&mut self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        let looks = self.app.looks();
        looks.look_when_due(&self.app)?;
        let (found, newest) = looks.since(self.seen);
        match found {
            Some(found) => changes.extend(found.into_iter().map(|it| it.change)),
            None => changes.push(Change::Missed),
        }
        self.seen = newest;
        for (session, followed) in &mut self.followed {
            if followed.poll(session, &mut changes) {
                followed.missing = None;
                continue;
            }
            // Looks report only what an earlier look saw: a session may be made, followed and
            // removed between two of them. A log that is being replaced is there in the next one.
            let since = *followed.missing.get_or_insert(newest);
            if newest > since && !looks.has(session) {
                followed.missing = Some(TOLD);
                let is_gone = |it: &Change| matches!(it, Change::Gone(gone) if gone == session);
                if !changes.iter().any(is_gone) {
                    changes.push(Change::Gone(session.clone()));
                }
            }
        }
        Ok(changes)
    }
}

fn start(
    cx: &RequestContext,
    session: &str,
    since: Option<&Revision>,
) -> Result<(SessionRef, Followed)> {
    let found = cx.resolve(session)?;
    let id = &found.location.id;
    let follower = match since {
        Some(revision) => Follower::since(&found.store, id, revision)?,
        None => Follower::from_end(&found.store, id)?,
    };
    let session = SessionRef::new(found.store.dialect().name(), id);
    // A follower that starts in generation 1 got a revision of a file that no longer exists: its
    // first poll reports that.
    Ok((
        session,
        Followed {
            follower,
            generation: 0,
            missing: None,
        },
    ))
}

impl Followed {
    /// Adds the new entries; returns whether the log is there.
    fn poll(&mut self, session: &SessionRef, changes: &mut Vec<Change>) -> bool {
        // The file is not visible now, or is being replaced: the next poll tries again.
        let news = match self.follower.poll() {
            Ok(news) => news,
            Err(error) => return !error.is_not_found(),
        };
        if news.generation != self.generation {
            self.generation = news.generation;
            changes.push(Change::Restarted(session.clone()));
        }
        changes.extend(news.entries.into_iter().map(|entry| {
            Change::Entry(FollowedEntry {
                session: session.clone(),
                entry: Arc::new(entry),
            })
        }));
        true
    }
}

#[cfg(test)]
mod tests;
