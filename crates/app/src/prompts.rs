//! Lists prompts of every agent: from sessions, and from the agents' own prompt histories.

use std::collections::{HashMap, HashSet};

use boswell_dialect::Depth;
use boswell_find::{
    Counting, Effort, Field, Hit, Order, Origin, Query, Source, StoreSources, WantedRows,
};
use boswell_model::{Instant, Result};
use boswell_store::prompts::MOST;
use boswell_store::store::{StoreId, Summary};
use boswell_store::{Home, Session};

use crate::sessions::filter::{Filter, SessionFilter, Side};
use crate::sessions::index::SessionIndex;
use crate::sessions::misspelt::refuse_misspelt;
use crate::shape::shape;
use crate::system::workers;
use crate::{App, AppResult, Cancel, RequestContext, agent_history};

/// A request for prompts.
#[derive(Debug, Clone)]
pub struct PromptsRequest {
    /// Only prompts that contain all these words.
    pub query: String,
    /// The sessions to search.
    pub filter: SessionFilter,
    /// Maximum number of prompts.
    pub limit: usize,
}

impl Default for PromptsRequest {
    fn default() -> PromptsRequest {
        PromptsRequest {
            query: String::new(),
            filter: SessionFilter::default(),
            limit: 100,
        }
    }
}

shape! {
    /// A prompt of the user.
    PromptShape: "prompt" {
        /// text of the prompt
        text: String,
        /// time of the prompt
        at: Option<Instant>,
        /// the agent that was asked
        agent: String,
        /// the project folder
        project: Option<String>,
        /// the session
        session: Option<String>,
        /// the entry
        entry: Option<String>,
        /// where it was found: `session`, `history`, `boswell`
        source: &'static str,
    }
}

impl App {
    /// Returns prompts of every agent, newest first.
    ///
    /// # Errors
    ///
    /// Invalid for a time that is not valid.
    pub fn prompts(
        &self,
        request: &PromptsRequest,
        cancel: &Cancel,
    ) -> AppResult<Vec<PromptShape>> {
        self.answer_with(cancel.clone(), |cx| prompts(cx, request))
    }
}

fn prompts(cx: &RequestContext, request: &PromptsRequest) -> Result<Vec<PromptShape>> {
    let filter = Filter::new(cx, &request.filter)?;
    let mut session_index = SessionIndex::create(cx)?;
    let mut prompts = in_sessions(cx, &mut session_index, &filter, request)?;
    let recorded = history_prompts(cx)?;
    let kept = HistoryPrompts::new(cx, &filter, request, &prompts);
    prompts.extend(recorded.into_iter().filter(|prompt| kept.takes(prompt)));
    prompts.sort_by_key(|prompt| std::cmp::Reverse(prompt.at));
    prompts.dedup_by(|later, first| later.text.trim() == first.text.trim());
    prompts.truncate(request.limit);
    session_index.note_rest(cx);
    if prompts.is_empty() {
        refuse_misspelt(cx, &request.filter)?;
    }
    Ok(prompts)
}

/// A session of the catalog: its index among the rows, store and summary.
type Known = (usize, StoreId, Summary);

/// Returns prompts in sessions.
fn in_sessions(
    cx: &RequestContext,
    session_index: &mut SessionIndex,
    filter: &Filter<'_>,
    request: &PromptsRequest,
) -> Result<Vec<PromptShape>> {
    let query = query(cx, filter, request)?;
    let go_on = || !cx.cancel.is_cancelled();
    session_index.fill(cx, WantedRows::Hint, &go_on)?;
    if !go_on() {
        return Ok(Vec::new());
    }
    let known = session_index.summaries(cx);
    let all = session_index.sources(cx, &known)?;
    let is_wanted = |place: &usize| {
        session_at(&all, &known, *place).is_some_and(|(_, _, summary)| {
            summary.hidden() != Some("subagent") && filter.takes_side(&Side::of(summary))
        })
    };
    let places: Vec<usize> = (0..all.sources().len()).filter(is_wanted).collect();
    let sources: Vec<&Source> = places
        .iter()
        .filter_map(|place| all.sources().get(*place))
        .collect();
    let effort = Effort {
        workers: workers(),
        go_on: &go_on,
    };
    let results = session_index
        .index()
        .search(&query, &sources, &all, &effort)?;
    let mut open = HashMap::new();
    let mut prompts = Vec::new();
    for hit in results.hits {
        let place = places.get(hit.source).copied();
        if let Some(session) = place.and_then(|place| session_at(&all, &known, place)) {
            prompts.extend(prompt_of(cx, session, hit, &mut open));
        }
    }
    Ok(prompts)
}

fn query(cx: &RequestContext, filter: &Filter<'_>, request: &PromptsRequest) -> Result<Query> {
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\\\""));
    let words: Vec<String> = request.query.split_whitespace().map(quoted).collect();
    let mut query = Query::parse(
        &format!("role:user {}", words.join(" ")),
        Some((cx.now, &cx.zone)),
    )?;
    query.fields = vec![Field::Prompt];
    (query.order, query.counting, query.limit) = (Order::Newest, Counting::Quick, request.limit);
    (query.filters.since, query.filters.until) = (filter.since, filter.until);
    Ok(query)
}

/// Returns the session of a source; `None` for a memory file.
fn session_at<'k>(all: &StoreSources, known: &'k [Known], place: usize) -> Option<&'k Known> {
    match all.origin(place) {
        Some(Origin::Session(place)) => known.get(*place),
        _ => None,
    }
}

/// Returns the complete text of a prompt; `open` caches the sessions that were read.
fn prompt_of(
    cx: &RequestContext,
    (place, store, summary): &Known,
    hit: Hit,
    open: &mut HashMap<usize, Option<Session>>,
) -> Option<PromptShape> {
    let store = cx.stores.get(*store)?;
    let session = open
        .entry(*place)
        .or_insert_with(|| store.read(&summary.location, Depth::Heads).ok());
    let entry = hit
        .slot
        .zip(session.as_ref())
        .and_then(|(slot, session)| session.entry(slot).ok());
    let text = entry
        .and_then(|entry| entry.view)
        .map(|view| view.text())
        .filter(|text| !text.trim().is_empty());
    let agent = summary.meta.agent.as_deref();
    Some(PromptShape {
        text: text.unwrap_or(hit.snippet),
        at: hit.at,
        agent: agent.unwrap_or(store.dialect().facts().agent).to_owned(),
        project: summary.meta.project.clone(),
        session: Some(summary.reference.to_string()),
        entry: hit.entry,
        source: "session",
    })
}

/// Returns prompts from the histories of agents and boswell.
fn history_prompts(cx: &RequestContext) -> Result<Vec<PromptShape>> {
    let mut prompts = Vec::new();
    for (_, store) in cx.stores.iter() {
        let dialect = store.dialect().name();
        let asked = agent_history::read(store)?
            .into_iter()
            .chain(agent_history::database(cx, store)?);
        prompts.extend(asked.map(|asked| PromptShape {
            text: asked.text,
            at: asked.at,
            agent: store.dialect().facts().agent.to_owned(),
            project: asked.project,
            session: asked.session.map(|id| format!("{dialect}:{id}")),
            entry: None,
            source: "history",
        }));
    }
    if let Some(home) = &cx.home {
        let found = Home::at(home).prompts().recent(MOST)?;
        prompts.extend(found.prompts.into_iter().map(|asked| PromptShape {
            text: asked.text,
            at: Some(asked.at),
            agent: "boswell".to_owned(),
            project: asked.project,
            session: asked.session,
            entry: None,
            source: "boswell",
        }));
    }
    Ok(prompts)
}

/// Filters the prompts of those histories.
struct HistoryPrompts<'a> {
    cx: &'a RequestContext,
    filter: &'a Filter<'a>,
    words: Vec<String>,
    /// Sessions of excluded projects.
    excluded: HashSet<String>,
    /// Session and text of prompts that were already found in sessions (dedupe).
    known: HashSet<(String, String)>,
}

impl<'a> HistoryPrompts<'a> {
    fn new(
        cx: &'a RequestContext,
        filter: &'a Filter<'a>,
        request: &PromptsRequest,
        found: &[PromptShape],
    ) -> HistoryPrompts<'a> {
        let words = request.query.split_whitespace();
        let excluded = cx.stores.excluded();
        let known = |prompt: &PromptShape| {
            let session = prompt.session.clone()?;
            Some((session, prompt.text.trim().to_owned()))
        };
        HistoryPrompts {
            cx,
            filter,
            words: words.map(str::to_lowercase).collect(),
            excluded: excluded
                .iter()
                .filter_map(|held| {
                    let dialect = cx.stores.get(held.store)?.dialect().name();
                    Some(format!("{dialect}:{}", held.location.id))
                })
                .collect(),
            known: found.iter().filter_map(known).collect(),
        }
    }

    fn takes(&self, prompt: &PromptShape) -> bool {
        let lower = prompt.text.to_lowercase();
        let project = prompt.project.as_deref();
        self.cx.shows(project)
            && self.words.iter().all(|word| lower.contains(word.as_str()))
            && self.filter.takes_time(prompt.at)
            && self.filter.takes_prompt(&prompt.agent, project)
            && !prompt.session.as_ref().is_some_and(|session| {
                let known = (session.clone(), prompt.text.trim().to_owned());
                self.excluded.contains(session) || self.known.contains(&known)
            })
    }
}
