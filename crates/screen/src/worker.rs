//! The threads that do what takes time: searching, listing, previews, everything else.
//!
//! Each thread sends its answers as events. The finder and the preview take only the newest ask, so
//! that a fast typist does not wait for the answers to old keystrokes; a newer search also cancels
//! the older one.

mod changes;
mod facts;
mod hosts;
mod looker;
mod opener;
mod pages;
mod shown;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use boswell_app::search::{SearchRequest, Searcher};
use boswell_app::system::Stopwatch;
use boswell_app::{App, Cancel};

use crate::ask::{Answer, Ask, Event, FoundText};
use crate::rows::TextHit;
use crate::rows_ask::{HitCount, RowsAsk};
use crate::state::Look;
use shown::refusal;

/// A slot that holds the newest ask only.
#[derive(Debug)]
pub(crate) struct Latest<T> {
    slot: Mutex<Option<T>>,
    ready: Condvar,
}

impl<T> Latest<T> {
    fn new() -> Arc<Latest<T>> {
        Arc::new(Latest {
            slot: Mutex::new(None),
            ready: Condvar::new(),
        })
    }

    /// Replaces what waits in the slot.
    pub(crate) fn put(&self, ask: T) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(ask);
        self.ready.notify_one();
    }

    /// Whether something waits in the slot.
    pub(crate) fn is_waiting(&self) -> bool {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.is_some()
    }

    /// Waits for an ask; `None` after the timeout.
    pub(crate) fn take(&self, timeout: Option<Duration>) -> Option<T> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(ask) = slot.take() {
                return Some(ask);
            }
            slot = match timeout {
                None => self
                    .ready
                    .wait(slot)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(timeout) => {
                    let waited = self.ready.wait_timeout(slot, timeout);
                    let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
                    return slot.take();
                }
            };
        }
    }
}

#[derive(Debug)]
struct FindAsk {
    generation: u64,
    query: String,
    rows: RowsAsk,
    hits: HitCount,
    cancel: Cancel,
}

/// The threads.
#[derive(Debug)]
pub(crate) struct Workers {
    finder: Arc<Latest<FindAsk>>,
    /// Cancels the search that runs.
    finding: Cancel,
    preview: Arc<Latest<(String, Option<String>)>>,
    looker: Arc<Latest<looker::LookAsk>>,
    last_key: Arc<looker::LastKey>,
    opener: Sender<Ask>,
}

impl Workers {
    /// Starts the threads. They end with the process.
    pub(crate) fn start(app: &App, look: &Look, events: &Sender<Event>) -> Workers {
        let finder = Latest::new();
        let preview = Latest::new();
        let looker = Latest::new();
        let (opener, opening) = channel();
        let changed = Arc::new(AtomicBool::new(false));
        spawn(app, events, {
            let (asks, changed) = (Arc::clone(&finder), Arc::clone(&changed));
            move |app, send| search(app, send, &asks, &changed)
        });
        spawn(app, events, {
            let asks = Arc::clone(&preview);
            let language = look.language;
            move |app, send| pages::previews(app, send, &asks, language)
        });
        let last_key = Arc::new(looker::LastKey::default());
        let signals = looker::Signals {
            told: changed,
            hosts: start_hosts(app, events),
            last_key: Arc::clone(&last_key),
        };
        start_looker(app, events, &looker, signals);
        spawn(app, events, {
            let looker = Arc::clone(&looker);
            let language = look.language;
            move |app, send| opener::run(app, send, &opening, (&looker, language))
        });
        Workers {
            finder,
            finding: Cancel::new(),
            preview,
            looker,
            last_key,
            opener,
        }
    }

    /// Passes an ask to its thread.
    pub(crate) fn ask(&mut self, ask: Ask) {
        if matches!(ask, Ask::Find { .. } | Ask::Preview { .. }) {
            self.last_key.press();
        }
        match ask {
            Ask::Find {
                generation,
                query,
                rows,
                hits,
            } => {
                self.stop();
                self.finding = Cancel::new();
                self.finder.put(FindAsk {
                    generation,
                    query,
                    rows,
                    hits,
                    cancel: self.finding.clone(),
                });
            }
            Ask::StopFinding => self.stop(),
            Ask::Preview { session, entry } => self.preview.put((session, entry)),
            Ask::Rows(rows) => self.looker.put(looker::LookAsk::Rows(rows)),
            Ask::Refresh => self.looker.put(looker::LookAsk::Refresh),
            other => {
                // The thread lives as long as the process.
                let _ = self.opener.send(other);
            }
        }
    }

    /// Cancels the search that runs.
    pub(crate) fn stop(&self) {
        self.finding.cancel();
    }
}

/// Starts the thread for hosts, if some are shown; returns what tells that their rows changed.
fn start_hosts(app: &App, events: &Sender<Event>) -> Arc<AtomicBool> {
    let changed = Arc::new(AtomicBool::new(false));
    if app.hosts().iter().any(|host| host.shown) {
        let changed = Arc::clone(&changed);
        spawn(app, events, move |app, send| {
            hosts::run(app, send, &changed)
        });
    }
    changed
}

fn start_looker(
    app: &App,
    events: &Sender<Event>,
    asks: &Arc<Latest<looker::LookAsk>>,
    signals: looker::Signals,
) {
    let asks = Arc::clone(asks);
    spawn(app, events, move |app, send| {
        looker::run(app, send, &asks, &signals)
    });
}

/// Sends answers to the loop.
pub(crate) struct Answers(Sender<Event>);

impl Answers {
    pub(crate) fn send(&self, answer: Answer) {
        // Without a receiver the screen has ended, and so does the process.
        let _ = self.0.send(Event::Answer(answer));
    }
}

fn spawn(app: &App, events: &Sender<Event>, work: impl FnOnce(&App, &Answers) + Send + 'static) {
    let (app, answers) = (app.clone(), Answers(events.clone()));
    std::thread::spawn(move || {
        let _told = TellBroken(&answers.0);
        work(&app, &answers);
    });
}

/// Ends the screen if its thread panics: without a worker it would wait for ever.
struct TellBroken<'e>(&'e Sender<Event>);

impl Drop for TellBroken<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Without a receiver the screen has ended already.
            let _ = self.0.send(Event::Broken);
        }
    }
}

/// After this time without a search nothing is kept for the next one.
const REST: Duration = Duration::from_secs(600);
/// How long the screen is given for its own start before a search is prepared.
const START: Duration = Duration::from_secs(1);
/// Without a key for so long the index is brought up to date: before, that would take a core from
/// the preview and from drawing.
const SETTLED: Duration = Duration::from_millis(250);

fn search(app: &App, answers: &Answers, asks: &Latest<FindAsk>, changed: &AtomicBool) {
    let cwd = app.environment().cwd.display().to_string();
    let mut searcher = app.searcher();
    let mut pause = START;
    loop {
        let Some(ask) = asks.take(Some(pause)) else {
            match pause {
                START => {
                    // A failure is reported when something is searched.
                    let _ = searcher.look();
                }
                SETTLED => searcher.index_a_little(&|| !asks.is_waiting()),
                _ => searcher.forget(),
            }
            pause = REST;
            continue;
        };
        pause = SETTLED;
        if changed.swap(false, Ordering::Relaxed) {
            searcher.files_changed();
        }
        let was_old = searcher.is_old();
        let request = ask.rows.search(&ask.query, ask.hits, &cwd);
        answer(&mut searcher, answers, &ask, &request);
        if was_old && !ask.cancel.is_cancelled() {
            searcher.forget();
            answer(&mut searcher, answers, &ask, &request);
        }
        if !asks.is_waiting() {
            searcher.prepare();
        }
    }
}

fn answer(searcher: &mut Searcher, answers: &Answers, ask: &FindAsk, request: &SearchRequest) {
    let watch = Stopwatch::start();
    let found = match searcher.search(request, &ask.cancel) {
        Ok(answer) => answer.value,
        Err(error) => {
            answers.send(Answer::Found {
                generation: ask.generation,
                found: Err(refusal(&error)),
            });
            return;
        }
    };
    if ask.cancel.is_cancelled() {
        return;
    }
    let scanned = match found.page.scanned_bytes {
        boswell_app::shape::Maybe::Given(bytes) => Some(bytes),
        _ => None,
    };
    answers.send(Answer::Found {
        generation: ask.generation,
        found: Ok(FoundText {
            hits: found.hits.iter().map(TextHit::new).collect(),
            sessions: found.sessions.number,
            exact: found.sessions.exact,
            scanned: scanned.filter(|bytes| *bytes > 0),
            millis: watch.elapsed().as_millis(),
            nearest: (found.nearest.iter())
                .map(|it| (it.word.clone(), it.near.join(", ")))
                .collect(),
        }),
    });
}
