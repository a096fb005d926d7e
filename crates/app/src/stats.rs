//! Statistics of messages, tool calls, tokens and cost, each message counted once.
//!
//! One session is counted with its subagents; a file named by its path is counted even if no store
//! lists it. Sums and `--by` are computed by `boswell-find` (`stats/aggregate.rs`).

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use boswell_dialect::Depth;
pub use boswell_find::By;
use boswell_find::{Catalog, CatalogRow, Grouping, PRICES_AS_OF, Prices, Sum, Tally, WantedRows};
use boswell_model::json::Json;
use boswell_model::{Instant, Result, Usage};
use boswell_store::links::Conversation;
use boswell_store::store::Resolved;

use crate::gaps::require_known_format;
use crate::sessions::filter::{Filter, SessionFilter, Side};
use crate::sessions::index::{IsMeant, LogsRead, SessionIndex};
use crate::sessions::misspelt::refuse_misspelt;
use crate::sessions::notes_overlay::NotesOverlay;
use crate::shape::{Map, Maybe, TokensShape, shape};
use crate::{App, AppResult, Cancel, Config, RequestContext};

/// The groupings by their words, the default first.
pub const GROUPINGS: [(&str, By); 8] = [
    ("total", By::Total),
    ("day", By::Day),
    ("week", By::Week),
    ("month", By::Month),
    ("project", By::Project),
    ("agent", By::Agent),
    ("model", By::Model),
    ("session", By::Session),
];

/// A request for statistics.
#[derive(Debug, Clone)]
pub struct StatsRequest {
    /// Only this session and its subagents.
    pub session: Option<String>,
    /// The grouping of the sums.
    pub by: By,
    /// The grouping of the sums below each of those.
    pub then: Option<By>,
    /// The sessions to count.
    pub filter: SessionFilter,
}

impl Default for StatsRequest {
    fn default() -> StatsRequest {
        StatsRequest {
            session: None,
            by: By::Total,
            then: None,
            filter: SessionFilter::default(),
        }
    }
}

shape! {
    /// Totals over sessions.
    StatShape: "stat" {
        /// grouping: `total`, `day`, `week`, `month`, `project`, `agent`, `model`, `session`,
        /// `host`; days, weeks and months are local
        by: &'static str,
        /// day, project, agent, model, session or host; `null` for the total and for sessions
        /// without a project
        key: Option<String>,
        /// with two groupings: the second
        then_by: Maybe<&'static str>,
        /// with two groupings: the key of the second
        then_key: Maybe<Option<String>>,
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
        prices_as_of: String,
        /// whether the settings override prices
        prices_overridden: bool,
        /// false if some sessions could not be read
        complete: bool,
    }
}

/// Sums, and the sum over all of them.
#[derive(Debug)]
pub struct Statistics {
    /// The sums in the order of their keys.
    pub sums: Vec<StatShape>,
    /// Everything that was counted: a session that is part of several sums counts once here.
    pub total: StatShape,
}

impl App {
    /// Counts messages, turns, tool calls, tokens and cost: one sum, or one per key. Days, weeks
    /// and months are in order, the others by cost.
    ///
    /// A cancelled request returns the sums so far, marked as incomplete.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid for a time or for prices in the settings that
    /// are not valid.
    pub fn stats(&self, request: &StatsRequest, cancel: &Cancel) -> AppResult<Statistics> {
        self.answer_with(cancel.clone(), |cx| stats(cx, request))
    }
}

pub(crate) fn stats(cx: &RequestContext, request: &StatsRequest) -> Result<Statistics> {
    let filter = Filter::new(cx, &request.filter)?;
    let prices = prices(&cx.config)?;
    let session = request.session.as_deref();
    let only = session.map(|session| cx.resolve(session)).transpose()?;
    let grouping = Grouping {
        by: request.by,
        then: request.then,
        zone: cx.zone.clone(),
    };
    let mut session_index = SessionIndex::create(cx)?;
    if let Some(session) = &only
        && places_of(cx, &session_index, session).is_empty()
    {
        let count = |by: &Grouping| unlisted(cx, session, by);
        return statistics(&grouping, &prices, count);
    }
    session_index.read(cx, WantedRows::Whole, &|| !cx.cancel.is_cancelled())?;
    let answer = statistics(&grouping, &prices, |by| {
        session_index.tally(cx, by, &|session_index| match &only {
            Some(session) => Ok(one(cx, session_index, session)),
            None if filter.takes_everything() => Ok(Box::new(|_: &[usize]| true)),
            None => narrowed(cx, session_index, &filter),
        })
    })?;
    session_index.keep_conversations(cx, LogsRead::now(cx));
    session_index.note_rest(cx);
    if answer.total.sessions == 0 {
        refuse_misspelt(cx, &request.filter)?;
    }
    Ok(answer)
}

/// Returns what a session cost: as it was recorded, or computed if one model wrote all of it.
pub(crate) fn cost_of(
    cx: &RequestContext,
    models: &[String],
    usage: &Usage,
) -> Result<Option<f64>> {
    let prices = prices(&cx.config)?;
    let model = models.first().filter(|_| models.len() == 1);
    let price = model.and_then(|model| prices.of(model));
    let computed = price.filter(|_| !usage.is_unknown());
    let computed = computed.map(|price| price.cost(usage));
    Ok(usage.cost.or(computed))
}

impl App {
    /// Returns what each session cost in dollars, by its ref, where that is known. Every log that
    /// changed is read once.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub fn session_costs(&self, cancel: &Cancel) -> AppResult<HashMap<String, f64>> {
        self.answer_with(cancel.clone(), costs)
    }
}

/// Returns what each session cost in dollars, by its ref, where that is known.
pub(crate) fn costs(cx: &RequestContext) -> Result<HashMap<String, f64>> {
    let mut session_index = SessionIndex::create(cx)?;
    session_index.read(cx, WantedRows::Whole, &|| !cx.cancel.is_cancelled())?;
    let tally = session_index.tally(cx, &By::Session.into(), &|_| {
        Ok(Box::new(|_: &[usize]| true))
    })?;
    let sums = tally.sums(&prices(&cx.config)?).into_iter();
    Ok(sums
        .filter_map(|(session, sum)| Some((session, sum.usage.cost?)))
        .collect())
}

fn statistics(
    grouping: &Grouping,
    prices: &Prices,
    mut count: impl FnMut(&Grouping) -> Result<Tally>,
) -> Result<Statistics> {
    let total = total(&count(&By::Total.into())?, prices);
    let sums = match grouping.by {
        By::Total => vec![total.clone()],
        _ => rows(grouping, &count(grouping)?, prices),
    };
    Ok(Statistics { sums, total })
}

fn total(tally: &Tally, prices: &Prices) -> StatShape {
    let none = || Sum {
        partial: tally.is_partial(),
        ..Sum::default()
    };
    let total = tally.sums(prices).remove("").unwrap_or_else(none);
    shape_of(&By::Total.into(), "", total, prices)
}

fn rows(grouping: &Grouping, tally: &Tally, prices: &Prices) -> Vec<StatShape> {
    let sums = tally.sums(prices).into_iter();
    let mut rows: Vec<StatShape> = sums
        .map(|(key, sum)| shape_of(grouping, &key, sum, prices))
        .collect();
    // The keys of the first grouping are ordered by what all of their rows cost.
    let whole = weights_of_keys(&rows);
    let of_key = |row: &StatShape| whole.get(&row.key).copied().unwrap_or_default();
    rows.sort_by(|a, b| {
        let first = match is_time(grouping.by) {
            true => Ordering::Equal,
            false => heavier(of_key(a), of_key(b)),
        };
        let second = || match grouping.then.is_some_and(is_time) {
            true => Ordering::Equal,
            false => heavier(weight(a), weight(b)),
        };
        first
            .then_with(|| a.key.cmp(&b.key))
            .then_with(second)
            .then_with(|| then_key(a).cmp(then_key(b)))
    });
    rows
}

/// Cost and output tokens.
type Weight = (f64, u64);

fn weight(row: &StatShape) -> Weight {
    (row.cost_usd.unwrap_or(0.0), row.tokens.output.unwrap_or(0))
}

/// Orders the heavier before the lighter.
fn heavier(a: Weight, b: Weight) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
}

/// The weight of all rows of each key of the first grouping.
fn weights_of_keys(rows: &[StatShape]) -> HashMap<Option<String>, Weight> {
    let mut whole: HashMap<Option<String>, Weight> = HashMap::new();
    for row in rows {
        let (cost, output) = whole.entry(row.key.clone()).or_default();
        let more = weight(row);
        *cost += more.0;
        *output += more.1;
    }
    whole
}

fn then_key(row: &StatShape) -> &str {
    match &row.then_key {
        Maybe::Given(Some(key)) => key,
        _ => "",
    }
}

fn is_time(by: By) -> bool {
    matches!(by, By::Day | By::Week | By::Month)
}

/// Returns the sums of a session that no store lists, such as a file given by its path, and of its
/// subagents.
fn unlisted(cx: &RequestContext, found: &Resolved, by: &Grouping) -> Result<Tally> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    require_known_format(&session)?;
    let subagents = found.store.subagents(&session)?;
    let subagents = subagents.into_iter().map(|subagent| subagent.location);
    let locations = std::iter::once(found.location.clone()).chain(subagents);
    let locations: Vec<_> = locations.collect();
    let go_on = || !cx.cancel.is_cancelled();
    Catalog::tally_unlisted(&found.store, &locations, by.clone(), &go_on)
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
pub(crate) fn prices(settings: &Config) -> Result<Prices> {
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
            name.clone().into(),
            Json::Object(
                parts
                    .map(|(key, value)| (key.clone().into(), Json::from(number(value))))
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
    let known = GROUPINGS.iter().find(|(_, known)| *known == by);
    known.map_or("total", |(word, _)| word)
}

fn shape_of(grouping: &Grouping, key: &str, sum: Sum, prices: &Prices) -> StatShape {
    // By model, only usage and sessions are known; for unreadable sessions nothing is.
    let is_unknown = grouping.has(By::Model) || sum.partial && sum.sessions == 0;
    let known = |count: u64| (!is_unknown).then_some(count);
    let (key, then_key) = key.split_once(Grouping::SEPARATOR).unwrap_or((key, ""));
    let named = |key: &str| Some(key.to_owned()).filter(|key| !key.is_empty());
    let (then_by, then_key) = match grouping.then {
        Some(then) => (Maybe::Given(word(then)), Maybe::Given(named(then_key))),
        None => (Maybe::Absent, Maybe::Absent),
    };
    StatShape {
        by: word(grouping.by),
        key: named(key),
        then_by,
        then_key,
        sessions: sum.sessions,
        messages: known(sum.messages),
        turns: known(sum.turns),
        tool_calls: known(sum.tool_calls),
        entries: known(sum.entries),
        duration_ms: sum.duration_ms,
        kinds: (!is_unknown).then(|| sum.kinds.into_iter().collect()),
        tokens: TokensShape::from(&sum.usage),
        cost_usd: sum.usage.cost,
        premium_requests: sum.usage.premium_requests,
        unpriced_models: sum.unpriced,
        prices_as_of: PRICES_AS_OF.to_owned(),
        prices_overridden: !prices.is_bundled(),
        complete: !sum.partial,
    }
}
