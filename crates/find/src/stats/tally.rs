//! Everything added up, but for the prices: those the user may change.

use std::collections::BTreeMap;

use boswell_model::{Instant, Usage};

use super::{By, Counted, Prices, Sum, fullest, once};
use crate::catalog::Item;

const DAY: i64 = 86_400_000;

/// Sums over sessions, by one of the things they can be made by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    pub(crate) rows: BTreeMap<String, Row>,
}

/// One sum.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Row {
    /// What sessions hold, without what they cost.
    pub(crate) held: Sum,
    /// What was spent, by model and by whether the agent recorded the cost.
    pub(crate) spent: BTreeMap<(String, bool), Usage>,
}

impl Tally {
    /// Adds everything up. `items` name sessions by their place.
    pub fn of(sessions: &[Counted<'_>], items: Vec<(usize, Item)>, by: By) -> Tally {
        let mut tally = Tally::default();
        for session in fullest(sessions) {
            tally.add_session(session, by);
        }
        let mut items = once(sessions, items);
        // Money is added up in one order, whatever order it was written down in: then equal questions get equal answers.
        items.sort_by(|(a, one), (b, other)| (a, one.at, &one.key).cmp(&(b, other.at, &other.key)));
        for (place, item) in items {
            let Some(session) = sessions.get(place) else { continue };
            let model = item.model.unwrap_or_else(|| "unknown".to_owned());
            let key = if by == By::Model { model.clone() } else { key(session, item.at, by) };
            let spent = &mut tally.rows.entry(key).or_default().spent;
            spent.entry((model, item.usage.cost.is_some())).or_default().add(&item.usage);
        }
        tally
    }

    fn add_session(&mut self, session: &Counted<'_>, by: By) {
        let facts = &session.summary.facts;
        // A subagent works in the conversation of another: what it says and costs counts, it is no session of its own.
        let one = u64::from(session.summary.hidden() != Some("subagent"));
        if by == By::Model {
            for model in &facts.models {
                self.rows.entry(model.clone()).or_default().held.sessions += one;
            }
            return;
        }
        let held = &mut self.rows.entry(key(session, None, by)).or_default().held;
        held.sessions += one;
        held.messages += facts.messages.max(facts.stated.messages.unwrap_or(0));
        held.turns += facts.turns.max(facts.stated.turns.unwrap_or(0));
        held.tool_calls += facts.tool_calls;
        held.entries += session.summary.records;
        held.partial |= !session.summary.complete;
        if let Some(millis) = facts.duration_ms {
            *held.duration_ms.get_or_insert(0) += millis;
        }
        for (word, count) in &facts.kinds {
            *held.kinds.entry(word.clone()).or_default() += count;
        }
    }

    /// The sums, with what they cost at these prices.
    pub fn sums(&self, prices: &Prices) -> BTreeMap<String, Sum> {
        let priced = |row: &Row| {
            let mut sum = row.held.clone();
            row.spent.iter().for_each(|((model, _), usage)| sum.spend(model, usage, prices));
            sum
        };
        self.rows.iter().map(|(key, row)| (key.clone(), priced(row))).collect()
    }
}

fn key(session: &Counted<'_>, at: Option<Instant>, by: By) -> String {
    match by {
        By::Total | By::Model => String::new(),
        By::Day => at.or_else(|| session.summary.last_active()).map_or_else(|| "unknown".to_owned(), day),
        By::Project => session.summary.facts.project.clone().unwrap_or_default(),
        By::Agent => session.agent.to_owned(),
    }
}

fn day(at: Instant) -> String {
    Instant::from_millis(at.millis().div_euclid(DAY) * DAY).to_rfc3339().chars().take(10).collect()
}

impl Sum {
    /// A cost that the agent recorded wins over one that is computed.
    fn spend(&mut self, model: &str, usage: &Usage, prices: &Prices) {
        self.usage.add(&Usage { cost: None, ..*usage });
        let tokens = Usage { cost: None, premium_requests: None, ..*usage };
        let computed = || prices.of(model).filter(|_| !tokens.is_unknown()).map(|price| price.cost(usage));
        match usage.cost.or_else(computed) {
            Some(cost) => *self.usage.cost.get_or_insert(0.0) += cost,
            None if !tokens.is_unknown() && !self.unpriced.iter().any(|known| known == model) => {
                self.unpriced.push(model.to_owned());
            }
            None => {}
        }
    }
}
