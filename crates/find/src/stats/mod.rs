//! Statistics: what was said, done and paid for, each message counted once.
//!
//! A message that stands in several sessions (a fork, a copy, a resumed session) counts for the one that was begun first. What a
//! session repeats of its subagents counts only where they have no transcripts of their own. Of a conversation that is kept in
//! two places, the place that knows messages by name counts. A cost that the agent recorded wins over one that is computed.

mod price_list;
mod prices;
mod tally;

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::{Instant, Usage};
use boswell_store::Summary;

use crate::catalog::Item;

pub use price_list::PRICES_AS_OF;
pub use prices::{Price, Prices};
pub(crate) use tally::Row;
pub use tally::Tally;

/// A session to be counted.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'s> {
    /// What is known of it.
    pub summary: &'s Summary,
    /// The agent.
    pub agent: &'s str,
    /// Which conversation it belongs to: sides of one have the same number.
    pub conversation: usize,
    /// The store that holds it.
    pub store: usize,
}

/// What sums are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// All in one.
    Total,
    /// The day, UTC, on which a message was said; sessions count on their last one.
    Day,
    /// The folder.
    Project,
    /// The agent.
    Agent,
    /// The model. Only usage and sessions are known by model.
    Model,
}

/// A sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    /// Conversations; subagents are part of those that started them.
    pub sessions: u64,
    /// User and assistant messages.
    pub messages: u64,
    /// Prompts.
    pub turns: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Records.
    pub entries: u64,
    /// Time that agents recorded.
    pub duration_ms: Option<u64>,
    /// Records by their own type word.
    pub kinds: BTreeMap<String, u64>,
    /// Tokens, and the cost as far as it is known.
    pub usage: Usage,
    /// Models whose price is not known: the cost leaves them out.
    pub unpriced: Vec<String>,
    /// Whether a session is in it that was not read as a whole.
    pub partial: bool,
}

/// Adds everything up. `items` name sessions by their place.
pub fn count(sessions: &[Counted<'_>], items: Vec<(usize, Item)>, by: By, prices: &Prices) -> BTreeMap<String, Sum> {
    Tally::of(sessions, items, by).sums(prices)
}

/// Of each conversation the side that holds most.
fn fullest<'a, 's>(sessions: &'a [Counted<'s>]) -> impl Iterator<Item = &'a Counted<'s>> {
    let mut best: BTreeMap<usize, &Counted<'_>> = BTreeMap::new();
    for session in sessions {
        let weight = |it: &Counted<'_>| (it.summary.facts.messages, it.summary.records);
        let other = best.entry(session.conversation).or_insert(session);
        if weight(session) > weight(other) {
            *other = session;
        }
    }
    best.into_values()
}

/// Every message once, with the session that it counts for.
fn once(sessions: &[Counted<'_>], items: Vec<(usize, Item)>) -> Vec<(usize, Item)> {
    let begun = |place: usize| {
        sessions
            .get(place)
            .map(|it| (it.summary.facts.created.map_or(i64::MAX, Instant::millis), &it.summary.reference))
    };
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<(usize, Item)> = Vec::new();
    for (place, item) in chosen(sessions, items) {
        let Some(known) = item.key.as_ref().and_then(|key| by_key.get(key).copied()) else {
            if let Some(key) = &item.key {
                by_key.insert(key.clone(), out.len());
            }
            out.push((place, item));
            continue;
        };
        let Some((owner, counted)) = out.get_mut(known) else { continue };
        // A copy may have been taken while the answer was still streaming: the fullest one tells.
        if item.usage.output > counted.usage.output {
            counted.usage = item.usage;
        }
        if begun(place) < begun(*owner) {
            *owner = place;
            counted.at = item.at.or(counted.at);
        }
    }
    out
}

/// Leaves out what is only repeated, and adds what is only stated.
fn chosen(sessions: &[Counted<'_>], items: Vec<(usize, Item)>) -> Vec<(usize, Item)> {
    let parents: HashSet<(usize, &str)> =
        sessions.iter().filter_map(|it| Some((it.store, it.summary.located.owner.as_deref()?))).collect();
    let mut items: Vec<(usize, Item)> = (items.into_iter())
        .filter(|(place, item)| {
            let repeated = |it: &Counted<'_>| parents.contains(&(it.store, it.summary.reference.id.as_str()));
            sessions.get(*place).is_some_and(|it| !item.relayed || !repeated(it))
        })
        .collect();
    let mut with_items: HashSet<usize> = items.iter().map(|(place, _)| *place).collect();
    for (place, session) in sessions.iter().enumerate() {
        items.extend(stated(session, with_items.contains(&place)).map(|item| (place, item)));
    }
    with_items.extend(items.iter().map(|(place, _)| *place));
    // A recorded cost stands for all messages of its session.
    let recorded: HashSet<usize> = (sessions.iter().enumerate())
        .filter(|(_, it)| it.summary.facts.stated.usage.cost.is_some())
        .map(|(place, _)| place)
        .collect();
    for (place, item) in &mut items {
        if recorded.contains(place) && item.usage.cost.is_none() {
            item.usage.cost = Some(0.0);
        }
    }
    one_side(sessions, items, &with_items)
}

/// What an index or a last line states of a session: everything, or the cost alone where its messages are known.
fn stated(session: &Counted<'_>, has_items: bool) -> Option<Item> {
    let facts = &session.summary.facts;
    let stated = facts.stated.usage;
    let usage = if has_items { Usage { cost: stated.cost, ..Usage::default() } } else { stated };
    let model = facts.models.first().filter(|_| facts.models.len() == 1 || !has_items).cloned();
    (!usage.is_unknown()).then(|| Item { at: session.summary.last_active(), model, usage, ..Item::default() })
}

/// Of conversations that several places know usage of, only one place.
fn one_side(sessions: &[Counted<'_>], items: Vec<(usize, Item)>, with_items: &HashSet<usize>) -> Vec<(usize, Item)> {
    let named: HashSet<usize> = items.iter().filter(|(_, item)| item.key.is_some()).map(|(place, _)| *place).collect();
    let mut side: HashMap<usize, usize> = HashMap::new();
    for (place, session) in sessions.iter().enumerate().filter(|(place, _)| with_items.contains(place)) {
        let best = side.entry(session.conversation).or_insert(place);
        if named.contains(&place) && !named.contains(best) {
            *best = place;
        }
    }
    let counts = |place: usize| {
        let conversation = sessions.get(place).map(|it| it.conversation);
        conversation.and_then(|it| side.get(&it)).is_some_and(|best| *best == place)
    };
    items.into_iter().filter(|(place, _)| counts(*place)).collect()
}
