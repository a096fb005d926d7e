//! Statistics of messages, tool calls, tokens and cost, each message counted once.
//!
//! One session is counted with its subagents; a file named by its path is counted even if no store
//! lists it. Sums and `--by` are computed by `boswell-find` (`stats/aggregate.rs`).

use std::collections::{HashMap, HashSet};

use boswell_dialect::Depth;
pub use boswell_find::By;
use boswell_find::{Catalog, CatalogRow, PRICES_AS_OF, Prices, Sum, Tally, WantedRows};
use boswell_model::json::Json;
use boswell_model::{Instant, Result};
use boswell_store::links::Conversation;
use boswell_store::store::Resolved;

use crate::gaps::require_known_format;
use crate::sessions::filter::{Filter, SessionFilter, Side};
use crate::sessions::index::{IsMeant, LogsRead, SessionIndex};
use crate::sessions::notes_overlay::NotesOverlay;
use crate::shape::{Map, TokensShape, shape};
use crate::{App, AppResult, Cancel, Config, RequestContext};

/// A request for statistics.
#[derive(Debug, Clone)]
pub struct StatsRequest {
    /// Only this session and its subagents.
    pub session: Option<String>,
    /// The grouping of the sums.
    pub by: By,
    /// The sessions to count.
    pub filter: SessionFilter,
}

impl Default for StatsRequest {
    fn default() -> StatsRequest {
        StatsRequest {
            session: None,
            by: By::Total,
            filter: SessionFilter::default(),
        }
    }
}

shape! {
    /// Totals over sessions.
    StatShape: "stat" {
        /// grouping: `total`, `day`, `project`, `agent`, `model`
        by: &'static str,
        /// day, project, agent or model; `null` for the total and for sessions without a project
        key: Option<String>,
        /// conversations; a subagent counts as part of the session that started it
        sessions: u64,
        /// messages of user and model
        messages: Option<u64>,
        /// prompts of the user
        turns: Option<u64>,
        /// tool calls
        tool_calls: Option<u64>,
        /// records
        entries: Option<u64>,
        /// working time of agents, where they recorded it
        duration_ms: Option<u64>,
        /// records by kind
        kinds: Option<Map<u64>>,
        /// tokens of all messages
        tokens: TokensShape,
        /// cost, as recorded or computed from prices
        cost_usd: Option<f64>,
        /// premium requests of a subscription; may be a fraction
        premium_requests: Option<f64>,
        /// models without a price; their cost is not included
        unpriced_models: Vec<String>,
        /// date of the price list
        prices_as_of: &'static str,
        /// whether the settings override prices
        prices_overridden: bool,
        /// false if some sessions could not be read
        complete: bool,
    }
}

impl App {
    /// Counts messages, turns, tool calls, tokens and cost: one sum, or one per day, project, agent
    /// or model. Days are in order, the others by the number of output tokens.
    ///
    /// A cancelled request returns the sums so far, marked as incomplete.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid for a time or for prices in the settings that
    /// are not valid.
    pub fn stats(&self, request: &StatsRequest, cancel: &Cancel) -> AppResult<Vec<StatShape>> {
        self.answer_with(cancel.clone(), |cx| stats(cx, request))
    }
}

fn stats(cx: &RequestContext, request: &StatsRequest) -> Result<Vec<StatShape>> {
    let filter = Filter::new(cx, &request.filter)?;
    let prices = prices(&cx.config)?;
    let session = request.session.as_deref();
    let only = session.map(|session| cx.resolve(session)).transpose()?;
    let mut session_index = SessionIndex::create(cx)?;
    if let Some(session) = &only
        && places_of(cx, &session_index, session).is_empty()
    {
        return Ok(rows(
            request.by,
            &unlisted(cx, session, request.by)?,
            &prices,
        ));
    }
    session_index.read(cx, WantedRows::Whole, &|| !cx.cancel.is_cancelled())?;
    let tally = session_index.tally(cx, request.by, &|session_index| match &only {
        Some(session) => Ok(one(cx, session_index, session)),
        None if filter.takes_everything() => Ok(Box::new(|_: &[usize]| true)),
        None => narrowed(cx, session_index, &filter),
    })?;
    session_index.keep_conversations(cx, LogsRead::now(cx));
    session_index.note_rest(cx);
    Ok(rows(request.by, &tally, &prices))
}

fn rows(by: By, tally: &Tally, prices: &Prices) -> Vec<StatShape> {
    let mut sums = tally.sums(prices);
    if by == By::Total {
        let none = || Sum {
            partial: tally.is_partial(),
            ..Sum::default()
        };
        let total = sums.remove("").unwrap_or_else(none);
        return vec![shape_of(By::Total, String::new(), total, prices)];
    }
    let mut rows: Vec<(String, Sum)> = sums.into_iter().collect();
    if by != By::Day {
        let weight = |sum: &Sum| (sum.usage.output.unwrap_or(0), sum.sessions);
        rows.sort_by(|a, b| weight(&b.1).cmp(&weight(&a.1)).then_with(|| a.0.cmp(&b.0)));
    }
    let rows = rows.into_iter();
    rows.map(|(key, sum)| shape_of(by, key, sum, prices))
        .collect()
}

/// Returns the sums of a session that no store lists, such as a file given by its path, and of its
/// subagents.
fn unlisted(cx: &RequestContext, found: &Resolved, by: By) -> Result<Tally> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    require_known_format(&session)?;
    let subagents = found.store.subagents(&session)?;
    let subagents = subagents.into_iter().map(|subagent| subagent.location);
    let locations = std::iter::once(found.location.clone()).chain(subagents);
    let locations: Vec<_> = locations.collect();
    let go_on = || !cx.cancel.is_cancelled();
    Catalog::tally_unlisted(&found.store, &locations, by, &go_on)
}

/// Selects the conversation of a session, and its subagents.
fn one(cx: &RequestContext, session_index: &SessionIndex, session: &Resolved) -> IsMeant<'static> {
    let places = places_of(cx, session_index, session);
    Box::new(move |sides| sides.iter().any(|side| places.contains(side)))
}

fn places_of(
    cx: &RequestContext,
    session_index: &SessionIndex,
    session: &Resolved,
) -> HashSet<usize> {
    let (dialect, own) = (session.store.dialect().name(), &session.location);
    let is_side = |entry: &CatalogRow| {
        let location = &entry.location;
        let is_meant = (location.key == own.key && location.id == own.id)
            || location.owner.as_deref() == Some(&own.id);
        is_meant
            && cx
                .stores
                .get(entry.store)
                .is_some_and(|store| store.dialect().name() == dialect)
    };
    let entries = session_index.entries.iter().enumerate();
    entries
        .filter(|(_, entry)| is_side(entry))
        .map(|(place, _)| place)
        .collect()
}

/// Selects the filtered conversations.
fn narrowed<'f>(
    cx: &RequestContext,
    session_index: &mut SessionIndex,
    filter: &'f Filter<'f>,
) -> Result<IsMeant<'f>> {
    session_index.fill(cx, WantedRows::Whole, &|| !cx.cancel.is_cancelled())?;
    let noted = NotesOverlay::read(cx)?;
    let mut sides: HashMap<usize, (bool, Option<Instant>)> = HashMap::new();
    session_index.each_summary(cx, &mut |place, store, summary| {
        let mut alone = Conversation {
            front: (store, summary),
            linked: Vec::new(),
            dangling: Vec::new(),
        };
        cx.add_status(&mut alone);
        noted.add_to(std::iter::once(&mut alone.front.1));
        sides.insert(
            place,
            (
                filter.takes_side(&Side::of(&alone.front.1)),
                alone.front.1.last_active(),
            ),
        );
    });
    Ok(Box::new(move |places| {
        let known = || places.iter().filter_map(|place| sides.get(place));
        known().any(|(takes, _)| *takes)
            && filter.takes_time(known().filter_map(|(_, at)| *at).max())
    }))
}

/// Returns the built-in prices, and those that the user set.
fn prices(settings: &Config) -> Result<Prices> {
    let Some(set) = settings.get("prices").and_then(toml::Value::as_table) else {
        return Ok(Prices::default());
    };
    let number = |value: &toml::Value| {
        value
            .as_float()
            .or_else(|| value.as_integer().map(|whole| whole as f64))
    };
    let model = |(name, parts): (&String, &toml::Value)| {
        let parts = parts.as_table().into_iter().flatten();
        (
            name.clone(),
            Json::Object(
                parts
                    .map(|(key, value)| (key.clone(), Json::from(number(value))))
                    .collect(),
            ),
        )
    };
    Prices::parse(&Json::Object(set.iter().map(model).collect()).to_bytes()).map_err(|error| {
        let why = error
            .reason()
            .unwrap_or("they are not as they should be")
            .to_owned();
        error.because(format!("among the settings under `prices` {why}"))
    })
}

fn word(by: By) -> &'static str {
    match by {
        By::Total => "total",
        By::Day => "day",
        By::Project => "project",
        By::Agent => "agent",
        By::Model => "model",
    }
}

fn shape_of(by: By, key: String, sum: Sum, prices: &Prices) -> StatShape {
    // By model, only usage and sessions are known; for unreadable sessions nothing is.
    let is_known = by != By::Model && !(sum.partial && sum.sessions == 0);
    let known = |count: u64| is_known.then_some(count);
    StatShape {
        by: word(by),
        key: Some(key).filter(|key| !key.is_empty()),
        sessions: sum.sessions,
        messages: known(sum.messages),
        turns: known(sum.turns),
        tool_calls: known(sum.tool_calls),
        entries: known(sum.entries),
        duration_ms: sum.duration_ms,
        kinds: is_known.then(|| sum.kinds.into_iter().collect()),
        tokens: TokensShape::from(&sum.usage),
        cost_usd: sum.usage.cost,
        premium_requests: sum.usage.premium_requests,
        unpriced_models: sum.unpriced,
        prices_as_of: PRICES_AS_OF,
        prices_overridden: !prices.is_bundled(),
        complete: !sum.partial,
    }
}
