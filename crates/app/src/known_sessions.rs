//! Sessions from the catalog alone, before any file is read.
//!
//! A face shows this page immediately and calls [`App::refresh`] in the background. The page is
//! what [`App::list`] would have returned at the last refresh, with the current settings.

use std::collections::HashSet;

use boswell_find::{
    Catalog, ConversationChanges, ConversationCursor, ConversationPage, ConversationQuery,
    WantedRows,
};
use boswell_model::{ErrorKind, Instant, Result, SessionRef};

pub use boswell_find::{ConversationRow, ConversationSide};

use crate::list::ListRequest;
use crate::sessions::cursor::{parse_cursor, wrong_cursor};
use crate::sessions::filter::{Filter, Side};
use crate::sessions::index::{self, LogsRead, SessionIndex};
use crate::sessions::list::{Sort, has_text};
use crate::{App, AppResult, Cancel, RequestContext};

/// A page of sessions as of the last refresh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownPage {
    /// The rows in order.
    pub rows: Vec<ConversationRow>,
    /// The cursor of the next page; `None` at the end.
    pub cursor: Option<String>,
    /// Total number of sessions; `None` if every row would have to be read for it.
    pub total: Option<u64>,
    /// Time of the last refresh; `None` if nothing is known yet.
    pub as_of: Option<Instant>,
}

/// The changes that a refresh found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefreshedSessions {
    /// New sessions.
    pub added: Vec<SessionRef>,
    /// Sessions whose row in a list changed.
    pub changed: Vec<SessionRef>,
    /// Sessions that no longer exist.
    pub gone: Vec<SessionRef>,
    /// Whether every log was read completely, so that all counts are known.
    pub complete: bool,
    /// Whether the result was stored for [`App::known_sessions`].
    pub kept: bool,
}

/// How far a refresh is that reads many logs for the first time.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshProgress {
    /// How many sessions were read.
    pub read: usize,
    /// How many sessions there are.
    pub total: usize,
    /// The newest sessions among those that were read, the most recently active one first. Hidden
    /// sessions are omitted.
    pub rows: Vec<ConversationRow>,
}

impl App {
    /// Lists sessions from the catalog alone: no file of an agent is listed or opened.
    ///
    /// All members of the request except `with_shapes` count. With `hidden`, deleted sessions are
    /// omitted: the agents' prompt histories would have to be read for them. Sessions of projects
    /// that were excluded since are omitted.
    ///
    /// # Errors
    ///
    /// Invalid for a time or a cursor that is not valid.
    pub fn known_sessions(&self, request: &ListRequest) -> AppResult<KnownPage> {
        self.answer_unlooked(|cx| known(cx, request))
    }

    /// Examines every file, reads what changed and updates what
    /// [`known_sessions`](App::known_sessions) returns. Counts of large logs come last; a cancelled
    /// refresh omits them.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub fn refresh(&self, cancel: &Cancel) -> AppResult<RefreshedSessions> {
        self.refresh_with(cancel, &mut |_| ())
    }

    /// As [`refresh`](App::refresh), for a face that shows sessions as they are read. `progress` is
    /// called some times a second while many logs are read that the catalog does not know.
    ///
    /// # Errors
    ///
    /// As [`refresh`](App::refresh).
    pub fn refresh_with(
        &self,
        cancel: &Cancel,
        progress: &mut dyn FnMut(RefreshProgress),
    ) -> AppResult<RefreshedSessions> {
        self.answer_with(cancel.clone(), |cx| refresh(cx, progress))
    }
}

impl RefreshedSessions {
    fn take(&mut self, changes: ConversationChanges) {
        // A moved log is removed in one place and added in another.
        let gone: HashSet<SessionRef> = changes.gone.into_iter().collect();
        let (moved, added): (Vec<_>, Vec<_>) =
            changes.added.into_iter().partition(|it| gone.contains(it));
        let is_moved = |session: &SessionRef| moved.contains(session);
        self.gone = gone.into_iter().filter(|it| !is_moved(it)).collect();
        self.gone.sort();
        self.added = added;
        self.changed = changes.changed.into_iter().chain(moved).collect();
    }
}

pub(crate) fn known(cx: &RequestContext, request: &ListRequest) -> Result<KnownPage> {
    let chosen = Chosen {
        cx,
        filter: Filter::new(cx, &request.filter)?,
        matching: request.matching.as_ref().map(|text| text.to_lowercase()),
    };
    let after = request.cursor.as_deref();
    let after = after.map(|text| cursor(request.sort, text)).transpose()?;
    let takes = |row: &ConversationRow| chosen.takes(row);
    let query = ConversationQuery {
        order: request.sort,
        hidden: request.hidden,
        since: chosen.filter.since,
        until: chosen.filter.until,
        after,
        offset: request.offset,
        limit: request.limit.unwrap_or(usize::MAX),
        takes: (!chosen.takes_all() || cx.exclusion.is_some()).then_some(&takes),
    };
    let Some(mut page) = page(cx, request, &query)? else {
        return Ok(KnownPage::default());
    };
    for row in page.rows.iter_mut().filter(|row| row.open_status) {
        row.front.status = status(cx, row);
        row.open_status = false;
    }
    let all = page.scope.shown + if request.hidden { page.scope.hidden } else { 0 };
    let is_whole = chosen.takes_all() && chosen.filter.takes_everything();
    let last = page.rows.last().filter(|_| page.more);
    Ok(KnownPage {
        cursor: last.map(|row| cursor_behind(row, request.sort)),
        total: is_whole.then_some(all),
        as_of: Some(page.scope.as_of),
        rows: page.rows,
    })
}

/// Returns the page from the catalog; `None` if there is no catalog, or it has no usable rows.
fn page(
    cx: &RequestContext,
    request: &ListRequest,
    query: &ConversationQuery<'_>,
) -> Result<Option<ConversationPage>> {
    let path = cx.home.as_ref().map(|home| home.join("catalog.db"));
    // A catalog cannot be opened without writing files next to it.
    let Some(path) = path.filter(|path| !cx.is_read_only() && path.is_file()) else {
        return Ok(None);
    };
    let mut catalog = Catalog::open(&path)?;
    match catalog.conversation_page(&cx.conversation_scope(), query) {
        Err(error) if error.kind() == ErrorKind::Damaged => {
            // The next refresh computes the rows again, or all if more than these is damaged.
            let _ = catalog.drop_conversations();
            Ok(None)
        }
        Err(error) if error.is_not_found() => {
            Err(wrong_cursor(request.cursor.as_deref().unwrap_or_default()))
        }
        page => page,
    }
}

/// The filter of the request, except the time.
struct Chosen<'r> {
    cx: &'r RequestContext,
    filter: Filter<'r>,
    /// The text in lower case.
    matching: Option<String>,
}

impl Chosen<'_> {
    /// Whether the filter selects every row.
    fn takes_all(&self) -> bool {
        self.filter.takes_all() && self.matching.is_none()
    }

    fn takes(&self, row: &ConversationRow) -> bool {
        row.sides()
            .all(|side| self.cx.shows(side.project.as_deref()))
            && self.takes_side(row)
            && self.matches(row)
    }

    fn takes_side(&self, row: &ConversationRow) -> bool {
        let front = status(self.cx, row);
        let side = |side, status| self.filter.takes_side(&Side::known(side, status));
        side(&row.front, front.as_deref())
            || (row.linked.iter()).any(|linked| side(linked, linked.status.as_deref()))
    }

    fn matches(&self, row: &ConversationRow) -> bool {
        self.matching
            .as_deref()
            .is_none_or(|text| row.sides().any(|side| is_match(side, text)))
    }
}

/// Returns the current status of the shown session.
fn status(cx: &RequestContext, row: &ConversationRow) -> Option<String> {
    if row.open_status {
        Some(cx.open_status(row.front_active))
    } else {
        row.front.status.clone()
    }
}

/// Parses a cursor. It is the same as for a list, so that a page of one can be followed by a page
/// of the other.
fn cursor(sort: Sort, text: &str) -> Result<ConversationCursor> {
    if let Some((session, key)) = parse_cursor(sort, text) {
        return Ok(ConversationCursor::Behind(key.number(), session));
    }
    let (dialect, id) = text.split_once(':').ok_or_else(|| wrong_cursor(text))?;
    Ok(ConversationCursor::Session(SessionRef::new(dialect, id)))
}

fn cursor_behind(row: &ConversationRow, sort: Sort) -> String {
    let session = &row.front.reference;
    let key = match sort {
        Sort::Active => row.last_active.map(Instant::to_rfc3339),
        Sort::Created => row.created.map(Instant::to_rfc3339),
        Sort::Messages => row.messages.map(|count| count.to_string()),
        Sort::Size => Some(row.bytes.to_string()),
        Sort::Name => None,
    };
    key.map_or_else(|| session.to_string(), |key| format!("{session}@{key}"))
}

/// Whether a text occurs in the name or the prompts of a side.
fn is_match(side: &ConversationSide, text: &str) -> bool {
    has_text(side.texts(), &side.tags, &side.reference, text)
}

fn refresh(
    cx: &RequestContext,
    progress: &mut dyn FnMut(RefreshProgress),
) -> Result<RefreshedSessions> {
    let mut session_index = SessionIndex::create(cx)?;
    session_index.read_in_steps(cx, progress)?;
    let mut refreshed = RefreshedSessions {
        kept: session_index.unkept.is_none(),
        ..RefreshedSessions::default()
    };
    if refreshed.kept {
        session_index.read_for_list(cx)?;
        let mut changes = session_index.keep_conversations(cx, LogsRead::AsTheyAre);
        let go_on = || !cx.cancel.is_cancelled();
        let read = session_index.read(cx, WantedRows::Whole, &go_on)?;
        if read.read > 0 {
            let more = session_index.keep_conversations(cx, LogsRead::AsTheyAre);
            index::join(&mut changes, more);
        }
        refreshed.complete = read.complete;
        refreshed.take(changes);
    }
    session_index.note_rest(cx);
    session_index.leave();
    Ok(refreshed)
}

#[cfg(test)]
mod tests;
