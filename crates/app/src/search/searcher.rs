//! Searches one after the other, for a face that searches with every keystroke.
//!
//! A search looks at every file before it answers, which takes longer than the search itself. The
//! searches of a [`Searcher`] share a look. Once it is old, the face shows the answer of the old
//! look at first, and then that of a new one.

use std::path::PathBuf;
use std::time::Duration;

use boswell_find::{Index, StoreSources};
use boswell_model::Result;

use super::{Asked, Found, SearchRequest, logs_read, wanted_rows};
use crate::sessions::index::SessionIndex;
use crate::system::Stopwatch;
use crate::{App, AppResult, Cancel, RequestContext};

/// After which time a look is old if files changed: an agent at work changes its log every second.
const WHILE_CHANGING: Duration = Duration::from_secs(2);
/// After which time it is old otherwise: not every change is noticed at once.
const LONGEST: Duration = Duration::from_secs(30);

/// How many bytes of the index are kept in memory: the terms of some hundred thousand sessions.
const MOST_KEPT: u64 = 48 << 20;

/// Answers searches that follow each other.
#[derive(Debug)]
pub struct Searcher {
    app: App,
    last: Option<Look>,
}

/// What was seen at a look at every file. A request that searches more than once shares one.
#[derive(Debug)]
pub(crate) struct Look {
    /// Dialect and root of every store.
    stores: Vec<(&'static str, PathBuf)>,
    session_index: SessionIndex,
    index: Index,
    /// The sources of the last answer, and whether all sessions were selected for it.
    sources: Option<(StoreSources, bool)>,
    since: Stopwatch,
    has_changed: bool,
    /// Whether nothing was searched with it yet.
    is_new: bool,
    /// Whether what every search needs was read.
    is_prepared: bool,
}

impl App {
    /// Returns what answers searches that follow each other faster than single ones.
    pub fn searcher(&self) -> Searcher {
        Searcher {
            app: self.clone(),
            last: None,
        }
    }
}

impl Searcher {
    /// As [`App::search`], but with the files as they were at the last look.
    ///
    /// # Errors
    ///
    /// Invalid for a query, field, time or cursor that is not valid.
    pub fn search(&mut self, request: &SearchRequest, cancel: &Cancel) -> AppResult<Found> {
        let last = &mut self.last;
        self.app.answer_with(cancel.clone(), |cx| {
            let asked = Asked::new(cx, request)?;
            let known = last.take().filter(|look| look.stores == stores(cx));
            let mut look = match known {
                Some(look) => look,
                None => Look::new(cx)?,
            };
            // If this fails, the next search looks again.
            let found = look.answer(cx, &asked)?;
            *last = Some(look);
            Ok(found)
        })
    }

    /// Updates the index while `go_on` returns true, for a short time, so that the next search has
    /// less to read. A face calls it after it has shown the answer.
    pub fn index_a_little(&self, go_on: &dyn Fn() -> bool) {
        if let Some(look) = &self.last {
            look.index_a_little(go_on);
        }
    }

    /// Looks at every file and reads what every search needs of the index, so that the next search
    /// need not.
    ///
    /// # Errors
    ///
    /// As [`App::search`].
    pub fn look(&mut self) -> AppResult<()> {
        let last = &mut self.last;
        self.app.answer(|cx| {
            let mut look = Look::new(cx)?;
            look.prepare(cx)?;
            *last = Some(look);
            Ok(())
        })
    }

    /// Reads what every search needs of the index, if it was not read yet. A face calls it after
    /// it has shown the answer.
    pub fn prepare(&mut self) {
        let last = &mut self.last;
        // A failure is reported when something is searched.
        let _: AppResult<()> = self.app.answer(|cx| match last {
            Some(look) => look.prepare(cx),
            None => Ok(()),
        });
    }

    /// Whether there was a look, and the files may be different by now.
    pub fn is_old(&self) -> bool {
        self.last.as_ref().is_some_and(Look::is_old)
    }

    /// Notes that files changed.
    pub fn files_changed(&mut self) {
        if let Some(look) = &mut self.last {
            look.has_changed = true;
        }
    }

    /// Forgets the look: the next search makes another one.
    pub fn forget(&mut self) {
        self.last = None;
    }
}

impl Look {
    pub(crate) fn new(cx: &RequestContext) -> Result<Look> {
        let since = Stopwatch::start();
        let session_index = SessionIndex::create(cx)?;
        Ok(Look {
            stores: stores(cx),
            index: session_index.index(),
            session_index,
            sources: None,
            since,
            has_changed: false,
            is_new: true,
            is_prepared: false,
        })
    }

    /// As [`search`](super::search), but with the files as they were at this look.
    pub(crate) fn search(&mut self, cx: &RequestContext, request: &SearchRequest) -> Result<Found> {
        self.answer(cx, &Asked::new(cx, request)?)
    }

    fn answer(&mut self, cx: &RequestContext, asked: &Asked<'_>) -> Result<Found> {
        if !asked.read(cx, &mut self.session_index)? {
            return Ok(Found::cancelled(cx));
        }
        let known = self.sources.take().filter(|(_, all)| *all).map(|it| it.0);
        let session_index = &mut self.session_index;
        let (found, sources) = asked.answer(cx, session_index, &self.index, known)?;
        if std::mem::take(&mut self.is_new) {
            session_index.keep_conversations(cx, logs_read(cx, asked.chosen));
            session_index.note_rest(cx);
        }
        self.sources = Some((sources, !asked.chosen));
        Ok(found)
    }

    /// Lists the sources of all sessions, and keeps the terms of the index in memory.
    fn prepare(&mut self, cx: &RequestContext) -> Result<()> {
        if std::mem::replace(&mut self.is_prepared, true) {
            return Ok(());
        }
        let go_on = || true;
        self.session_index.read(cx, wanted_rows(false), &go_on)?;
        if self.sources.is_none() {
            let sources = self.session_index.sources_by_filter_keys(cx, None)?;
            self.sources = Some((sources, true));
        }
        self.index.keep_in_memory(MOST_KEPT);
        if let Some((sources, _)) = &self.sources {
            // Finding the rows of the sources makes the table by which they are found.
            self.index.backlog(sources.settled());
        }
        Ok(())
    }

    /// Updates the index while `go_on` returns true, for a short time.
    pub(crate) fn index_a_little(&self, go_on: &dyn Fn() -> bool) {
        if let Some((sources, _)) = &self.sources {
            self.session_index
                .index_a_little_while(&self.index, sources, go_on);
        }
    }

    fn is_old(&self) -> bool {
        let longest = if self.has_changed {
            WHILE_CHANGING
        } else {
            LONGEST
        };
        self.since.elapsed() >= longest
    }
}

/// Rows name stores by their number, so all must be the same.
fn stores(cx: &RequestContext) -> Vec<(&'static str, PathBuf)> {
    let stores = cx.stores.iter_with_archived();
    stores
        .map(|(_, store)| (store.dialect().name(), store.root().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use boswell_store::store::Stores;
    use boswell_testkit::disk;

    use super::*;

    fn prompt(text: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{text}\",\"parentUuid\":null,\"sessionId\":\"{ID}\",\"cwd\":\"/w\",\"timestamp\":\"2026-10-05T08:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    }

    const ID: &str = "11111111-1111-4111-8111-111111111111";

    #[test]
    fn searches_share_a_look_until_files_changed() {
        let temp = tempfile::tempdir().unwrap();
        let log = temp.path().join(format!("claude/projects/-w/{ID}.jsonl"));
        disk::write(&log, prompt("first").as_bytes());
        let mut stores = Stores::default();
        stores.add("claude", temp.path().join("claude")).unwrap();
        let home = temp.path().join("home");
        let app = App::of_test(stores, Some(home), temp.path().to_path_buf());
        let mut searcher = app.searcher();
        let found = |searcher: &mut Searcher, text: &str| {
            let request = SearchRequest {
                query: text.to_owned(),
                ..SearchRequest::default()
            };
            let answer = searcher.search(&request, &Cancel::new()).unwrap();
            answer.value.hits.len()
        };
        assert_eq!(found(&mut searcher, "first"), 1);
        disk::write(&log, (prompt("first") + &prompt("second")).as_bytes());
        assert_eq!(found(&mut searcher, "second"), 0, "no other look yet");
        let cancelled = Cancel::new();
        cancelled.cancel();
        let request = SearchRequest {
            query: "second".to_owned(),
            ..SearchRequest::default()
        };
        let answer = searcher.search(&request, &cancelled).unwrap().value;
        assert!(!answer.page.complete);
        assert!(!searcher.is_old());
        searcher.forget();
        assert_eq!(found(&mut searcher, "second"), 1);
        searcher.index_a_little(&|| true);
        assert_eq!(found(&mut searcher, "second"), 1);
        disk::write(&log, (prompt("second") + &prompt("third")).as_bytes());
        searcher.files_changed();
        while !searcher.is_old() {
            std::thread::yield_now();
        }
        assert_eq!(found(&mut searcher, "third"), 0, "the old look answers");
        let _ = searcher.look().unwrap();
        assert!(!searcher.is_old());
        assert_eq!(found(&mut searcher, "third"), 1);
    }
}
