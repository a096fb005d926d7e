//! The sessions of a list, in order; only the shown ones are read completely.
//!
//! Sort keys are enough to sort and count most sessions. Notes, side files and linked conversations
//! are read when a session is shown, unless the list is filtered by them.
//!
//! `--match` looks for a text in title, summary, prompts, project, tags and ref (`has_text`).
//! Hidden sessions (empty, subagent, archived, prepared) are shown with `--hidden`; why one is
//! hidden is `Summary::hidden` of the store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use boswell_find::{CatalogRow, SortKeys};
use boswell_model::{Framing, Instant, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{StoreId, Summaries, Summary};

use crate::RequestContext;
use crate::sessions::cursor::{Key, key_of, parse_cursor, wrong_cursor};
use crate::sessions::deleted;
use crate::sessions::filter::Side;
use crate::sessions::index::{Create, LogsRead, SessionIndex};
use crate::sessions::notes_overlay::NotesOverlay;
use crate::sessions::short_ids::ShortIds;

/// How much must be known about every session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Sort keys, and whether they are hidden.
    Keys,
    /// All columns that filters compare.
    Close,
    /// As [`Look::Close`], including deleted sessions.
    DeletedSessions,
}

/// What a list is ordered by: the same orders as those of the rows that the catalog stores.
pub use boswell_find::ConversationOrder as Sort;

/// A session, with its sort keys or its summary.
enum Row {
    Whole(Box<Conversation>),
    SortKeyed(usize),
}

/// The sessions of a list.
pub(crate) struct SessionList<'m> {
    cx: &'m RequestContext,
    session_index: Option<SessionIndex>,
    rows: Vec<Row>,
    rest: Summaries,
}

impl<'m> SessionList<'m> {
    /// Returns every session.
    pub(crate) fn open(cx: &'m RequestContext, look: Look) -> Result<SessionList<'m>> {
        let mut session_index = SessionIndex::open(cx, Create::No)?;
        if let Some(here) = session_index.as_mut().filter(|_| look == Look::Keys) {
            let rows = from_sort_keys(cx, here)?;
            let rest = here.rest();
            return Ok(SessionList {
                cx,
                session_index,
                rows,
                rest,
            });
        }
        let (mut conversations, rest) = match &mut session_index {
            Some(session_index) => session_index.conversations(cx)?,
            None => cx.stores.conversations(),
        };
        cx.annotate(&mut conversations)?;
        if look == Look::DeletedSessions {
            let mut gone = deleted::all(cx, &conversations)?;
            conversations.append(&mut gone);
        }
        let rows = conversations
            .into_iter()
            .map(|it| Row::Whole(Box::new(it)))
            .collect();
        Ok(SessionList {
            cx,
            session_index,
            rows,
            rest,
        })
    }

    /// Returns what could not be read.
    pub(crate) fn take_rest(&mut self) -> Summaries {
        std::mem::take(&mut self.rest)
    }

    /// Returns the number of sessions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no sessions.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes hidden sessions.
    pub(crate) fn without_hidden(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| !self.is_hidden(row));
        self.rows = rows;
    }

    /// Leaves the conversation that shows this session.
    pub(crate) fn only(&mut self, session: &SessionRef) {
        let wanted = (session.dialect.as_str(), session.id.as_str());
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| self.reference(row) == wanted);
        self.rows = rows;
    }

    /// Removes sessions whose last activity is not selected.
    pub(crate) fn active(&mut self, takes: impl Fn(Option<Instant>) -> bool) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| takes(self.last_active(row)));
        self.rows = rows;
    }

    /// Removes conversations that are not selected. For sessions with sort keys only, `takes_side`
    /// decides by the columns from their log.
    pub(crate) fn retain(
        &mut self,
        takes: impl Fn(&Conversation) -> bool,
        takes_side: impl Fn(&Side<'_>) -> bool,
    ) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| match row {
            Row::Whole(conversation) => takes(conversation),
            Row::SortKeyed(index) => {
                let (dialect, _) = self.reference(row);
                let filter_keys = self.entry(*index).and_then(CatalogRow::filter_keys);
                filter_keys
                    .is_some_and(|filter_keys| takes_side(&Side::alone(dialect, filter_keys)))
            }
        });
        self.rows = rows;
    }

    /// Stores the rows of changed conversations.
    pub(crate) fn keep_conversations(&mut self) {
        if let Some(session_index) = &mut self.session_index {
            session_index.keep_conversations(self.cx, LogsRead::AsTheyAre);
        }
    }

    /// Drops the list; if the process exits soon, its memory is not freed.
    pub(crate) fn leave(self) {
        if let Some(index) = self.session_index {
            index.leave();
        }
    }

    /// Sorts the sessions. Ids break ties, so that the order does not depend on how a folder is
    /// read.
    pub(crate) fn sort(&mut self, by: Sort) {
        let mut keyed: Vec<(Key, Row)> = std::mem::take(&mut self.rows)
            .into_iter()
            .map(|r| (self.key(&r, by), r))
            .collect();
        keyed.sort_by(|(a, one), (b, other)| {
            a.cmp(b)
                .then_with(|| self.reference(one).cmp(&self.reference(other)))
        });
        self.rows = keyed.into_iter().map(|(_, row)| row).collect();
    }

    /// Removes rows that an earlier page showed. A cursor contains the sort key and the ref: a
    /// session that was appended to has moved up, and the next page must start after its old
    /// position.
    pub(crate) fn skip_to(&mut self, by: Sort, cursor: &str) -> Result<()> {
        let place = match parse_cursor(by, cursor) {
            Some((session, key)) => {
                let at = (key, (session.dialect.as_str(), session.id.as_str()));
                Some(
                    self.rows
                        .iter()
                        .take_while(|row| (self.key(row, by), self.reference(row)) <= at)
                        .count(),
                )
            }
            None => {
                let is_named =
                    |(dialect, id): (&str, &str)| cursor.split_once(':') == Some((dialect, id));
                self.rows
                    .iter()
                    .position(|row| is_named(self.reference(row)))
                    .map(|at| at + 1)
            }
        };
        let Some(place) = place else {
            return Err(wrong_cursor(cursor));
        };
        self.rows.drain(..place);
        Ok(())
    }

    /// Returns the conversations of a page.
    pub(crate) fn page(&mut self, offset: usize, limit: usize) -> Result<Vec<Conversation>> {
        let mut page = Vec::new();
        if let Some(session_index) = &mut self.session_index {
            session_index.load_many(self.rows.len().saturating_sub(offset).min(limit))?;
        }
        for row in std::mem::take(&mut self.rows)
            .into_iter()
            .skip(offset)
            .take(limit)
        {
            match (row, &mut self.session_index) {
                (Row::Whole(conversation), _) => page.push(*conversation),
                (Row::SortKeyed(index), Some(session_index)) => {
                    let Some(front) = session_index.summary(self.cx, index)? else {
                        continue;
                    };
                    let mut conversation = Conversation {
                        front,
                        linked: Vec::new(),
                        dangling: Vec::new(),
                    };
                    self.cx.add_status(&mut conversation);
                    page.push(conversation);
                }
                (Row::SortKeyed(..), None) => {}
            }
        }
        Ok(page)
    }

    /// Returns of each conversation as many characters of its id as name it and no other session
    /// that is not hidden.
    pub(crate) fn short_ids(&self, page: &[Conversation]) -> Vec<String> {
        let mut short = ShortIds::of(page);
        match &self.session_index {
            Some(index) => index
                .entries
                .iter()
                .filter(|entry| entry.location.hidden.is_none())
                .for_each(|entry| short.tell_apart(&entry.location.id)),
            None => {
                let sides = page.iter().flat_map(Conversation::sides);
                sides.for_each(|side| short.tell_apart(&side.reference.id));
            }
        }
        short.done()
    }

    fn entry(&self, index: usize) -> Option<&CatalogRow> {
        self.session_index.as_ref()?.entries.get(index)
    }

    fn sort_keys(&self, index: usize) -> Option<(&CatalogRow, SortKeys)> {
        let entry = self.entry(index)?;
        Some((entry, entry.sort_keys()?))
    }

    fn is_hidden(&self, row: &Row) -> bool {
        match row {
            Row::Whole(conversation) => conversation.front.1.hidden().is_some(),
            Row::SortKeyed(index) => {
                let Some((entry, sort_keys)) = self.sort_keys(*index) else {
                    return true;
                };
                is_hidden(self.reference(row).0, entry, &sort_keys)
            }
        }
    }

    fn last_active(&self, row: &Row) -> Option<Instant> {
        match row {
            Row::Whole(conversation) => last_active(conversation),
            Row::SortKeyed(index) => self
                .sort_keys(*index)
                .and_then(|(it, sort_keys)| sort_keys.last_active().or(it.location.modified)),
        }
    }

    fn reference<'r>(&'r self, row: &'r Row) -> (&'r str, &'r str) {
        match row {
            Row::Whole(conversation) => {
                let reference = &conversation.front.1.reference;
                (&reference.dialect, &reference.id)
            }
            Row::SortKeyed(index) => self.entry(*index).map_or(("", ""), |entry| {
                let dialect = self
                    .cx
                    .stores
                    .get(entry.store)
                    .map_or("", |store| store.dialect().name());
                (dialect, &entry.location.id)
            }),
        }
    }

    fn key(&self, row: &Row, by: Sort) -> Key {
        match row {
            Row::Whole(conversation) => key_of(conversation, by),
            Row::SortKeyed(index) => match by {
                Sort::Active => Key::Time(Reverse(self.last_active(row))),
                Sort::Created => Key::Time(Reverse(
                    self.sort_keys(*index)
                        .and_then(|(_, sort_keys)| sort_keys.created()),
                )),
                Sort::Messages => Key::Number(Reverse(self.sort_keys(*index).and_then(
                    |(entry, sort_keys)| {
                        let counts =
                            entry.is_current() && entry.location.framing != Framing::Document;
                        counts
                            .then(|| sort_keys.messages())
                            .or(sort_keys.stated_messages())
                    },
                ))),
                Sort::Size => {
                    Key::Number(Reverse(self.entry(*index).map(|entry| entry.location.size)))
                }
                // Sort keys contain no name, so a list by name is opened with `Look::Close`.
                Sort::Name => Key::Name(String::new()),
            },
        }
    }
}

/// Returns every session, by its sort keys if they are sufficient.
fn from_sort_keys(cx: &RequestContext, session_index: &mut SessionIndex) -> Result<Vec<Row>> {
    session_index.read_for_list(cx)?;
    let Sorted { far, near } = Sorted::of(cx, session_index, &NotesOverlay::read(cx)?)?;
    let mut joined = cx.stores.joined(near.into_values().collect());
    cx.annotate(&mut joined)?;
    let whole = joined.into_iter().map(|it| Row::Whole(Box::new(it)));
    Ok(far.into_iter().map(Row::SortKeyed).chain(whole).collect())
}

/// Sessions by how much must be read of them, as indexes among the rows.
pub(crate) struct Sorted {
    /// The sort keys are sufficient.
    pub(crate) far: Vec<usize>,
    /// Sides of linked conversations, which only a summary can join, and sessions with notes or
    /// side files. Unreadable ones are omitted.
    pub(crate) near: BTreeMap<usize, (StoreId, Summary)>,
}

impl Sorted {
    pub(crate) fn of(
        cx: &RequestContext,
        session_index: &mut SessionIndex,
        noted: &NotesOverlay,
    ) -> Result<Sorted> {
        let (mut far, mut close) = (Vec::new(), Vec::new());
        for (index, entry) in session_index.entries.iter().enumerate() {
            let keys = entry.sort_keys();
            let is_alone = keys.is_some_and(|keys| !keys.is_linked())
                && !noted.speaks_of(dialect_of(cx, entry), &entry.location.id);
            if is_alone { &mut far } else { &mut close }.push(index);
        }
        let mut near = read_rows(cx, session_index, &close)?;
        let links = links_of(cx, near.values());
        if !links.is_empty() {
            let is_side = |entry: &CatalogRow| {
                let keys = entry.sort_keys();
                keys.is_some_and(|keys| keys.is_renamed())
                    || links.contains(&(dialect_of(cx, entry), entry.location.id.clone()))
            };
            (close, far) = far
                .into_iter()
                .partition(|index| session_index.entries.get(*index).is_some_and(is_side));
            near.append(&mut read_rows(cx, session_index, &close)?);
        }
        Ok(Sorted { far, near })
    }
}

fn dialect_of(cx: &RequestContext, entry: &CatalogRow) -> &'static str {
    let store = cx.stores.get(entry.store);
    store.map_or("", |store| store.dialect().name())
}

/// The sessions of other stores that these ones name as the same conversation.
pub(crate) fn links_of<'s>(
    cx: &RequestContext,
    sessions: impl Iterator<Item = &'s (StoreId, Summary)>,
) -> HashSet<(&'static str, String)> {
    let mut links = HashSet::new();
    for (store, summary) in sessions {
        if let Some(store) = cx.stores.get(*store) {
            let id = &summary.location.id;
            for link in store.dialect().linked_sessions(&summary.meta, id) {
                links.insert((link.dialect, link.id));
            }
        }
    }
    links
}

/// Whether lists hide a session of which only the sort keys are known.
pub(crate) fn is_hidden(dialect: &str, entry: &CatalogRow, sort_keys: &SortKeys) -> bool {
    let location = &entry.location;
    let is_empty = || {
        let (records, talk) = (
            sort_keys.has_records(),
            sort_keys.is_conversation() || sort_keys.is_titled(),
        );
        Summary::holds_nothing(dialect, location.framing, records, talk)
    };
    location.hidden.is_some() || sort_keys.is_hidden() || (entry.is_current() && is_empty())
}

/// Returns the summaries of some sessions, in order; unreadable ones are omitted.
fn read_rows(
    cx: &RequestContext,
    session_index: &mut SessionIndex,
    indexes: &[usize],
) -> Result<BTreeMap<usize, (StoreId, Summary)>> {
    session_index.load_many(indexes.len())?;
    let mut seen = BTreeMap::new();
    for index in indexes {
        if let Some(session) = session_index.summary(cx, *index)? {
            seen.insert(*index, session);
        }
    }
    Ok(seen)
}

/// Returns the last activity of any side of the conversation.
pub(crate) fn last_active(conversation: &Conversation) -> Option<Instant> {
    conversation.last_active()
}

pub(crate) fn sides(conversation: &Conversation) -> impl Iterator<Item = &Summary> {
    conversation.sides()
}

/// Returns the number of messages of a session, if they were counted.
pub(crate) fn messages(summary: &Summary) -> Option<u64> {
    // A document describes a conversation that is stored elsewhere, so its own count of zero means
    // nothing.
    let counted = summary.complete
        && summary.location.key.is_some()
        && summary.location.framing != Framing::Document;
    counted
        .then_some(summary.meta.messages)
        .or(summary.meta.stated.messages)
}

/// Whether a text occurs in the name or the prompts of a side.
pub(crate) fn matches(side: &Summary, text: &str) -> bool {
    let meta = &side.meta;
    let texts = [
        &meta.title,
        &meta.summary,
        &meta.first_prompt,
        &meta.last_prompt,
        &meta.project,
    ];
    has_text(
        texts.into_iter().flatten(),
        &meta.tags,
        &side.reference,
        text,
    )
}

/// Whether a lower-case text occurs in one of several texts, in a tag or in a ref.
pub(crate) fn has_text<'t>(
    texts: impl Iterator<Item = &'t String>,
    tags: &'t [String],
    reference: &SessionRef,
    text: &str,
) -> bool {
    let has = |it: &str| it.to_lowercase().contains(text);
    texts.chain(tags).any(|it| has(it)) || has(&reference.to_string())
}
