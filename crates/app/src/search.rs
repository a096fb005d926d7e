//! Searches text in every session and memory file.
//!
//! It turns words of `--in` into fields, limits and cursors into a query, and adds names of
//! sessions to hits. The query language is `query/parse.rs` of `boswell-find`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub use boswell_find::{Count, Counting, Order, Suggestions};
use boswell_find::{
    Effort, Field, Hit, Index, Origin, Query, Results, Source, StoreSources, WantedRows,
};
use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind, Instant, RequestInput, Result};
use boswell_store::store::{StoreId, Summary};

mod conversations;
mod holder;
mod searcher;

pub use conversations::FoundConversation;
use holder::Holder;
pub(crate) use searcher::Look;
pub use searcher::Searcher;

use crate::sessions::filter::{Filter, SessionFilter, Side};
use crate::sessions::index::{LogsRead, SessionIndex};
use crate::sessions::linked_transcript;
use crate::sessions::misspelt::{nearest, refuse_misspelt};
use crate::shape::{Maybe, Page, Schema, ToJson, shape};
use crate::system::workers;
use crate::{App, AppResult, Cancel, RequestContext, time};

/// A search request.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// Words, phrases and filters, or text as in `form`.
    pub query: String,
    /// How the query is parsed.
    pub form: QueryForm,
    /// Only text in these fields, by name: `prompts`, `answers`…; empty for all.
    pub fields: Vec<String>,
    /// Only this session, as users name it.
    pub session: Option<String>,
    /// The sessions to search.
    pub filter: SessionFilter,
    /// Order.
    pub order: Order,
    /// Maximum number of hits.
    pub limit: usize,
    /// Continue after an earlier page.
    pub cursor: Option<String>,
    /// Whether the sessions with hits are counted to the last one.
    pub counting: Counting,
}

impl Default for SearchRequest {
    fn default() -> SearchRequest {
        SearchRequest {
            query: String::new(),
            form: QueryForm::default(),
            fields: Vec::new(),
            session: None,
            filter: SessionFilter::default(),
            order: Order::default(),
            limit: 20,
            cursor: None,
            counting: Counting::default(),
        }
    }
}

/// How a query is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueryForm {
    /// Words, `"phrases"`, `prefix*`, `!not`, and filters such as `agent:claude`.
    #[default]
    Words,
    /// Any substring, literally.
    Substring,
    /// A regular expression.
    Regex,
}

shape! {
    /// A match in a session or a memory file.
    HitShape: "hit" {
        /// the session; for memory: the path
        session: String,
        /// the entry
        entry: Option<String>,
        /// its line in the log
        line: Option<u32>,
        /// what the entry is
        kind: &'static str,
        /// role: `user`, `assistant` and others
        role: Option<&'static str>,
        /// part of the entry: `prompts`, `answers`, `thinking`, `calls`, `results`,
        /// `titles`, `summaries`, `memory`, `context`
        field: &'static str,
        /// when it was written, else when the session last changed
        at: Option<Instant>,
        /// the text around the match
        snippet: String,
        /// byte ranges of the snippet that match
        ranges: Vec<Range<usize>>,
        /// relevance, higher is better
        score: f64,
        /// the agent that wrote it
        agent: String,
        /// project folder; for memory: the agent's key of the project
        project: Option<String>,
        /// name of the session, as in `session`
        name: String,
    }
}

impl ToJson for Range<usize> {
    fn schema() -> Schema {
        Schema::List(Box::new(Schema::Integer))
    }

    fn to_json(self) -> Option<Json> {
        Some(Json::Array(vec![self.start.into(), self.end.into()]))
    }
}

/// A page of hits.
#[derive(Debug)]
pub struct Found {
    /// The hits in order.
    pub hits: Vec<HitShape>,
    /// The hits of each conversation, as indexes; the conversation with the best hit first.
    pub conversations: Vec<FoundConversation>,
    /// The end of the page.
    pub page: Page,
    /// Number of sessions with hits; a lower bound unless it is exact.
    pub sessions: Count,
    /// If nothing was found: similar words.
    pub nearest: Vec<Suggestions>,
    /// The sessions with hits, by their references.
    pub(crate) places: HashMap<String, (StoreId, Summary)>,
    unindexed: Option<Unindexed>,
}

/// Sources that the index does not cover yet.
#[derive(Debug)]
struct Unindexed {
    session_index: SessionIndex,
    index: Index,
    sources: StoreSources,
    exits_soon: bool,
}

impl App {
    /// Searches text in every session and memory file, one page at a time.
    ///
    /// Text that the index does not cover is read. A cancelled request returns the hits so far, and
    /// its page is not complete.
    ///
    /// # Errors
    ///
    /// Invalid for a query, field, time or cursor that is not valid.
    pub fn search(&self, request: &SearchRequest, cancel: &Cancel) -> AppResult<Found> {
        self.answer_with(cancel.clone(), |cx| search(cx, request))
    }
}

impl Found {
    /// Updates the index for a short time, so that the next search has less to read. A face calls
    /// it after it has shown the answer.
    pub fn index_a_little(mut self) {
        let Some(rest) = self.unindexed.take() else {
            return;
        };
        rest.session_index
            .index_a_little(&rest.index, &rest.sources);
        rest.session_index.leave();
        if rest.exits_soon {
            // Freeing each source would take longer than many searches.
            std::mem::forget(rest.sources);
        }
    }

    /// Returns the answer to a request that was cancelled before the search started.
    fn cancelled(cx: &RequestContext) -> Found {
        let results = Results::default();
        Found {
            page: page(cx, &results, results.sessions),
            hits: Vec::new(),
            conversations: Vec::new(),
            sessions: results.sessions,
            nearest: Vec::new(),
            places: HashMap::new(),
            unindexed: None,
        }
    }
}

pub(crate) fn search(cx: &RequestContext, request: &SearchRequest) -> Result<Found> {
    let asked = Asked::new(cx, request)?;
    let mut session_index = SessionIndex::create(cx)?;
    if !asked.read(cx, &mut session_index)? {
        return Ok(Found::cancelled(cx));
    }
    let index = session_index.index();
    let (found, sources) = asked.answer(cx, &mut session_index, &index, None)?;
    session_index.keep_conversations(cx, logs_read(cx, asked.chosen));
    session_index.note_rest(cx);
    Ok(Found {
        unindexed: Some(Unindexed {
            session_index,
            index,
            sources,
            exits_soon: cx.exits_soon,
        }),
        ..found
    })
}

/// A request that was understood.
struct Asked<'r> {
    request: &'r SearchRequest,
    query: Query,
    filter: Filter<'r>,
    /// Whether sessions are selected.
    chosen: bool,
}

impl<'r> Asked<'r> {
    fn new(cx: &'r RequestContext, request: &'r SearchRequest) -> Result<Asked<'r>> {
        let query = query(cx, request)?;
        let filter = Filter::new(cx, &request.filter)?;
        Ok(Asked {
            chosen: query.filters.ask_about_sessions() || !filter.takes_all(),
            request,
            query,
            filter,
        })
    }

    /// Reads what is missing in the catalog; returns false if the request was cancelled meanwhile.
    fn read(&self, cx: &RequestContext, session_index: &mut SessionIndex) -> Result<bool> {
        let go_on = || !cx.cancel.is_cancelled();
        session_index.read(cx, wanted_rows(self.chosen), &go_on)?;
        Ok(go_on())
    }

    /// Returns the answer, and the sources that it is from. `known` are those of an earlier answer
    /// from all sessions, if the files were not looked at since.
    fn answer(
        &self,
        cx: &RequestContext,
        session_index: &mut SessionIndex,
        index: &Index,
        known: Option<StoreSources>,
    ) -> Result<(Found, StoreSources)> {
        let mut scope = match known.filter(|_| !self.chosen) {
            Some(sources) => Scope::of(sources, &self.filter, &HashSet::new()),
            None => Scope::new(cx, session_index, &self.filter, self.chosen)?,
        };
        if let Some(name) = &self.request.session {
            // The conversation of a front program's session may be in the log of its engine.
            let found = linked_transcript::followed(cx, cx.resolve(name)?)?;
            let session = found.reference();
            scope.narrow(|index| session_index.is_session(cx, index, &session));
        }
        let effort = Effort {
            workers: workers(),
            go_on: &|| !cx.cancel.is_cancelled(),
        };
        let results = index.search(&self.query, &scope.wanted(), &scope.sources, &effort)?;
        let sessions = scope.sessions(cx, session_index, &results.hits)?;
        let counted = Count {
            number: results.sessions.number - scope.doubles(cx, session_index, &results.found)?,
            exact: results.sessions.exact,
        };
        let page = page(cx, &results, counted);
        let conversations = scope.conversations(cx, &sessions, &results.hits);
        let hits = scope.shapes(cx, &sessions, results.hits);
        let places = sessions.into_values();
        let places = places.map(|place| (place.1.reference.to_string(), place));
        let places = places.collect();
        if hits.is_empty() {
            refuse_misspelt(cx, &self.request.filter)?;
        }
        let found = Found {
            hits,
            conversations,
            page,
            sessions: counted,
            nearest: results.nearest,
            places,
            unindexed: None,
        };
        Ok((found, scope.sources))
    }
}

/// An outdated catalog row is sufficient to show a hit, but not to select sessions.
fn wanted_rows(chosen: bool) -> WantedRows {
    match chosen {
        true => WantedRows::Ends,
        false => WantedRows::Hint,
    }
}

/// How many of the logs were read, if sessions were selected or not.
fn logs_read(cx: &RequestContext, chosen: bool) -> LogsRead {
    match chosen {
        true => LogsRead::now(cx),
        false => LogsRead::Partly,
    }
}

fn query(cx: &RequestContext, request: &SearchRequest) -> Result<Query> {
    let text = &request.query;
    let mut query = match request.form {
        QueryForm::Words => Query::parse(text, Some((cx.now, &cx.zone)))?,
        QueryForm::Substring => Query::substring(text)?,
        QueryForm::Regex => Query::regex(text)?,
    };
    for word in &request.fields {
        query.fields.push(field(word.trim())?);
    }
    let time = |text: &Option<String>| {
        text.as_deref()
            .map(|t| time::parse(t, cx.now, &cx.zone))
            .transpose()
    };
    query.filters.since = time(&request.filter.since)?.or(query.filters.since);
    query.filters.until = time(&request.filter.until)?.or(query.filters.until);
    query.order = request.order;
    query.limit = request.limit;
    query.cursor.clone_from(&request.cursor);
    query.counting = request.counting;
    Ok(query)
}

fn field(word: &str) -> Result<Field> {
    Field::named(word).ok_or_else(|| {
        let known: Vec<&str> = Field::ALL.iter().map(|field| field.word()).collect();
        let what = format!(
            "`{}` is not a part of a session that can be searched",
            word.escape_debug()
        );
        let error = Error::new(ErrorKind::Invalid, what);
        match nearest(word, known.iter().copied()) {
            Some(near) => error.advising(format!("did you mean `{near}`?")),
            None => error.advising(Advice::Give(RequestInput::SearchScope {
                known: known.iter().map(ToString::to_string).collect(),
            })),
        }
    })
}

fn page(cx: &RequestContext, results: &Results, sessions: Count) -> Page {
    let exact = |count: Count| count.exact.then_some(count.number);
    Page {
        shown: results.hits.len(),
        total: exact(results.entries),
        sessions: Maybe::Given(exact(sessions)),
        cursor: results.cursor.clone(),
        complete: results.complete,
        scanned_bytes: Maybe::Given(results.scanned),
        as_of: cx.now,
    }
}

/// Sessions with hits, by the index of their source.
type Sessions = HashMap<usize, (StoreId, Summary)>;

/// The scope of a search.
struct Scope {
    /// Everything that can be searched.
    sources: StoreSources,
    /// Indexes of the selected sources.
    places: Vec<usize>,
}

impl Scope {
    fn new(
        cx: &RequestContext,
        session_index: &mut SessionIndex,
        filter: &Filter<'_>,
        chosen: bool,
    ) -> Result<Scope> {
        let mut left_out = HashSet::new();
        let mut look = |place: usize, side: &Side<'_>| {
            if !filter.takes_side(side) {
                left_out.insert(place);
            }
        };
        let sources = session_index
            .sources_by_filter_keys(cx, if chosen { Some(&mut look) } else { None })?;
        Ok(Scope::of(sources, filter, &left_out))
    }

    /// Selects everything but some sessions, and but memory that the filter leaves out.
    fn of(sources: StoreSources, filter: &Filter<'_>, left_out: &HashSet<usize>) -> Scope {
        let is_wanted = |place: &usize| match sources.origin(*place) {
            Some(Origin::Session(session)) => !left_out.contains(session),
            Some(Origin::Memory(memory)) => filter.takes_memory(memory.dialect, &memory.project),
            None => false,
        };
        let places = (0..sources.sources().len()).filter(is_wanted).collect();
        Scope { sources, places }
    }

    /// Keeps the logs of some sessions only, by their indexes among the rows.
    fn narrow(&mut self, is_wanted: impl Fn(usize) -> bool) {
        let sources = &self.sources;
        self.places.retain(|place| match sources.origin(*place) {
            Some(Origin::Session(index)) => is_wanted(*index),
            _ => false,
        });
    }

    fn wanted(&self) -> Vec<&Source> {
        let places = self.places.iter();
        places
            .filter_map(|place| self.sources.sources().get(*place))
            .collect()
    }

    fn origin(&self, hit: &Hit) -> Option<&Origin> {
        self.sources.origin(*self.places.get(hit.source)?)
    }

    /// Returns the sessions with hits.
    fn sessions(
        &self,
        cx: &RequestContext,
        session_index: &mut SessionIndex,
        hits: &[Hit],
    ) -> Result<Sessions> {
        let mut sessions = Sessions::new();
        for hit in hits {
            let Some(Origin::Session(place)) = self.origin(hit) else {
                continue;
            };
            if !sessions.contains_key(place)
                && let Some(session) = session_index.summary(cx, *place)?
            {
                sessions.insert(*place, session);
            }
        }
        cx.add_notes(sessions.values_mut().map(|(_, summary)| summary))?;
        Ok(sessions)
    }

    /// Returns the shapes of hits.
    fn shapes(&self, cx: &RequestContext, sessions: &Sessions, hits: Vec<Hit>) -> Vec<HitShape> {
        let hits = hits.into_iter();
        hits.map(|hit| self.shape(cx, sessions, hit)).collect()
    }

    fn shape(&self, cx: &RequestContext, sessions: &Sessions, hit: Hit) -> HitShape {
        let holder = match self.origin(&hit) {
            Some(Origin::Memory(memory)) => Holder {
                reference: memory.path.clone(),
                agent: memory.dialect.to_owned(),
                project: Some(memory.project.clone()),
                name: "memory".to_owned(),
            },
            Some(Origin::Session(place)) => match sessions.get(place) {
                Some((store, summary)) => Holder::session(cx, *store, summary),
                None => Holder::unknown(&hit),
            },
            None => Holder::unknown(&hit),
        };
        HitShape {
            session: holder.reference,
            entry: hit.entry,
            line: Some(hit.line).filter(|line| *line > 0),
            kind: hit.kind.word(),
            role: hit.kind.role(),
            field: hit.field.word(),
            at: hit.at,
            snippet: hit.snippet,
            ranges: hit.ranges.iter().map(|(from, to)| *from..*to).collect(),
            score: hit.score,
            agent: holder.agent,
            project: holder.project,
            name: holder.name,
        }
    }
}

#[cfg(test)]
mod tests;
