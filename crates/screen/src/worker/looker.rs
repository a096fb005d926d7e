//! Lists sessions: first from the catalog, then after every file was examined, then whenever
//! something changed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boswell_app::changes::{Change, ChangeFeed};
use boswell_app::known_sessions::RefreshProgress;
use boswell_app::list::ListRequest;
use boswell_app::system::Stopwatch;
use boswell_app::{App, Cancel, Clock, SystemClock};

use super::shown::{refusal, warning};
use super::{Answers, Latest};
use crate::ask::Answer;
use crate::rows::Row;
use crate::rows_ask::RowsAsk;

/// How many sessions the first answer has: more than a screen shows.
const FIRST: usize = 200;
/// Minimum time between two refreshes because of changes; an agent at work changes its log every
/// second.
const BETWEEN: Duration = Duration::from_secs(3);
/// Files are not examined within this time after a key: that would take a core from the search and
/// the preview that the key asked for.
const STILL: Duration = Duration::from_millis(400);
/// A refresh because of changes waits this many times the cost of the last one.
const SHARE: u32 = 50;

/// What the looker is asked.
#[derive(Debug)]
pub(crate) enum LookAsk {
    Rows(RowsAsk),
    Refresh,
}

/// When something was last asked for by a key.
#[derive(Debug, Default)]
pub(crate) struct LastKey(Mutex<Option<Stopwatch>>);

impl LastKey {
    /// Records that a key asked for something.
    pub(crate) fn press(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stopwatch::start());
    }

    fn is_recent(&self) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| last.elapsed() < STILL)
    }
}

/// What other threads tell the looker, and it tells them.
pub(crate) struct Signals {
    /// Tells the search that files changed.
    pub(crate) told: Arc<AtomicBool>,
    /// Whether rows of hosts changed.
    pub(crate) hosts: Arc<AtomicBool>,
    pub(crate) last_key: Arc<LastKey>,
}

struct Looker<'l> {
    app: &'l App,
    answers: &'l Answers,
    signals: &'l Signals,
    /// Whether an examination of the files waits for the keys to rest.
    waits: bool,
    cwd: String,
    wanted: RowsAsk,
    /// Whether the catalog can answer.
    kept: bool,
    feed: Option<ChangeFeed>,
    /// Time since the last refresh, and its duration.
    last: Option<(Stopwatch, Duration)>,
    /// Whether something changed since.
    changed: bool,
}

/// Answers until the process ends.
pub(crate) fn run(app: &App, answers: &Answers, asks: &Latest<LookAsk>, signals: &Signals) {
    let mut looker = Looker {
        app,
        answers,
        signals,
        waits: false,
        cwd: app.environment().cwd.display().to_string(),
        wanted: RowsAsk::default(),
        kept: true,
        feed: None,
        last: None,
        changed: false,
    };
    loop {
        match asks.take(looker.pause()) {
            Some(LookAsk::Rows(wanted)) => {
                looker.wanted = wanted;
                // The first ones, then all.
                let is_known = looker.known(&[Some(FIRST), None]);
                if looker.last.is_none() {
                    looker.refresh();
                } else if !is_known {
                    looker.list();
                }
            }
            Some(LookAsk::Refresh) => looker.refresh(),
            None => {
                looker.waits = signals.last_key.is_recent();
                if !looker.waits {
                    looker.poll();
                }
            }
        }
    }
}

impl Looker<'_> {
    fn pause(&self) -> Option<Duration> {
        // Nothing is examined before the first ask was answered.
        self.last.as_ref()?;
        if self.waits {
            return Some(STILL);
        }
        let pause = self.feed.as_ref().map_or(BETWEEN, ChangeFeed::pause);
        Some(pause.max(Duration::from_millis(50)))
    }

    fn request(&self, limit: Option<usize>) -> ListRequest {
        ListRequest {
            filter: self.wanted.filter(&self.cwd),
            hidden: self.wanted.hidden,
            limit,
            ..ListRequest::default()
        }
    }

    /// Sends the sessions as they are known, in pages of these lengths. Returns false if the
    /// catalog has no rows to send.
    fn known(&self, limits: &[Option<usize>]) -> bool {
        if !self.kept {
            self.list();
            return true;
        }
        for &limit in limits {
            let Ok(answer) = self.app.known_sessions(&self.request(limit)) else {
                return false;
            };
            let page = answer.value;
            if page.as_of.is_none() {
                return false;
            }
            let complete = limit.is_none() || page.cursor.is_none();
            self.send(page.rows.iter().map(Row::known).collect(), complete);
            if complete {
                break;
            }
        }
        true
    }

    /// Lists without a catalog.
    fn list(&self) {
        match self.app.list(&self.request(None)) {
            Ok(answer) => {
                let page = answer.value;
                self.send(page.rows.iter().map(Row::listed).collect(), true);
            }
            Err(error) => self.answers.send(Answer::Failed(refusal(&error))),
        }
    }

    fn send(&self, mut rows: Vec<Row>, complete: bool) {
        self.add_hosts(&mut rows);
        if rows.is_empty() && complete {
            self.looked_at();
        }
        self.answers.send(Answer::Rows {
            ask: self.wanted.clone(),
            rows,
            complete,
        });
    }

    /// Adds what is mirrored of hosts, in the order of the list.
    fn add_hosts(&self, rows: &mut Vec<Row>) {
        // Hidden sessions of hosts are not mirrored, and a repository is one of this machine.
        let Ok(answer) = self.app.mirrored_rows(&self.request(None)) else {
            return;
        };
        if !answer.value.is_empty() {
            rows.extend(answer.value.iter().map(Row::there));
            rows.sort_by_key(|row| std::cmp::Reverse(row.active));
        }
    }

    /// Sends which folders were examined, for a list without sessions.
    fn looked_at(&self) {
        let request = ListRequest {
            limit: Some(1),
            ..ListRequest::default()
        };
        let Ok(answer) = self.app.list(&request) else {
            return;
        };
        let places = answer.value.looked_at.into_iter();
        let place = |it: boswell_app::list::LookedAt| {
            (
                it.dialect.to_owned(),
                boswell_app::text::one_line(&it.root),
                it.exists,
            )
        };
        self.answers
            .send(Answer::LookedAt(places.map(place).collect()));
    }

    fn refresh(&mut self) {
        let watch = Stopwatch::start();
        let (answers, wanted) = (self.answers, &self.wanted);
        let mut progress = |progress: RefreshProgress| {
            answers.send(Answer::Reading {
                ask: wanted.clone(),
                rows: progress.rows.iter().map(Row::known).collect(),
                read: progress.read,
                total: progress.total,
                since: watch.elapsed(),
            });
        };
        match self.app.refresh_with(&Cancel::new(), &mut progress) {
            Ok(answer) => {
                self.kept = answer.value.kept;
                if let Some(text) = warning(&answer.notices) {
                    self.answers.send(Answer::Warning(text));
                }
            }
            Err(error) => self.answers.send(Answer::Failed(refusal(&error))),
        }
        // Rows are not stored while another thread or process writes to the catalog, such as a
        // search that was asked for with the first list.
        if !self.known(&[None]) {
            self.list();
        }
        self.costs();
        self.answers.send(Answer::Refreshed {
            at: SystemClock.now(),
            kept: self.kept,
        });
        if self.feed.is_none() {
            self.feed = self.app.changes().ok().map(|answer| answer.value);
        }
        self.marks();
        self.changed = false;
        self.last = Some((Stopwatch::start(), watch.elapsed()));
    }

    /// Sends what sessions cost: agents record it rarely, and it is computed from their usage.
    fn costs(&self) {
        if let Ok(answer) = self.app.session_costs(&Cancel::new()) {
            self.answers.send(Answer::Costs(answer.value));
        }
    }

    fn marks(&self) {
        if let Some(feed) = &self.feed {
            let marks = feed.marks();
            let live = marks.live.into_iter();
            self.answers.send(Answer::Marks {
                live: live
                    .map(|(session, pids)| (session.to_string(), pids))
                    .collect(),
                lost_soon: marks.lost_soon.iter().map(ToString::to_string).collect(),
            });
        }
    }

    fn poll(&mut self) {
        if self.signals.hosts.swap(false, Ordering::Relaxed) && !self.known(&[None]) {
            self.list();
        }
        let Some(feed) = &mut self.feed else {
            return;
        };
        let changes = feed.poll().unwrap_or_default();
        let mut changed = Vec::new();
        let mut gone = Vec::new();
        for change in &changes {
            match change {
                Change::Added(it) | Change::Changed(it) => changed.push(it.session.to_string()),
                Change::Gone(session) => gone.push(session.to_string()),
                _ => {}
            }
        }
        if !gone.is_empty() {
            // Tables of entries hold names of a session that was purged.
            self.app.forget_open_sessions();
            self.answers.send(Answer::Gone(gone));
        }
        if !changed.is_empty() {
            self.answers.send(Answer::Changed(changed));
        }
        self.changed |= !changes.is_empty();
        if !changes.is_empty() {
            self.signals.told.store(true, Ordering::Relaxed);
        }
        let due = self
            .last
            .as_ref()
            .is_none_or(|(since, cost)| since.elapsed() >= BETWEEN.max(*cost * SHARE));
        if self.changed && due {
            self.refresh();
        }
    }
}
