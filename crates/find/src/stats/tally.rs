//! The result of an aggregation before prices are applied: the user may override prices, so usage
//! is kept by model until [`Tally::sums`].
//!
//! A cost that the agent recorded takes precedence over one computed from list prices.

use std::collections::BTreeMap;

use boswell_model::Usage;

use super::usage_sum::UsageSum;
use super::{Prices, Sum};
use crate::catalog::{Group, Sums};

/// Sums over sessions, grouped by one [`By`](super::By); [`Tally::sums`] applies the prices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    rows: BTreeMap<String, Row>,
    /// Whether sessions are missing because they could not be read.
    pub(crate) partial: bool,
}

/// The counts and the usage under one key.
#[derive(Debug, Clone, PartialEq, Default)]
struct Row {
    /// Counts of sessions, messages and records; its usage stays empty until prices are applied.
    held: Sum,
    /// Usage with a cost that the agent recorded, by model.
    recorded: BTreeMap<String, UsageSum>,
    /// Usage without a recorded cost, by model: its cost is computed from prices.
    priced: BTreeMap<String, UsageSum>,
}

/// Changes the value of `key`; the key is copied only if it is new.
fn at<V: Default>(map: &mut BTreeMap<String, V>, key: &str, change: impl FnOnce(&mut V)) {
    match map.get_mut(key) {
        Some(known) => change(known),
        None => change(map.entry(key.to_owned()).or_default()),
    }
}

impl Tally {
    /// Adds the usage of `group` under `key`.
    pub(crate) fn spend(&mut self, key: &str, group: &Group<'_>) {
        at(&mut self.rows, key, |row| {
            // Kept apart because one recorded cost in a sum would otherwise hide that the rest must
            // be computed.
            let spent = if group.spent.cost.is_some() {
                &mut row.recorded
            } else {
                &mut row.priced
            };
            at(spent, group.model, |sum| sum.add(&group.spent));
        });
    }

    /// Adds a number of sessions under `key`, without their counts.
    pub(crate) fn count(&mut self, key: &str, sessions: u64) {
        at(&mut self.rows, key, |row| row.held.sessions += sessions);
    }

    /// Adds the counts of a session under `key`.
    pub(crate) fn hold(&mut self, key: &str, sessions: u64, sums: &Sums<'_>) {
        at(&mut self.rows, key, |Row { held, .. }| {
            held.sessions += sessions;
            held.messages += sums.messages;
            held.turns += sums.turns;
            held.tool_calls += sums.tool_calls;
            held.entries += sums.entries;
            if let Some(millis) = sums.duration_ms {
                *held.duration_ms.get_or_insert(0) += millis;
            }
            sums.kinds
                .iter()
                .for_each(|(word, count)| at(&mut held.kinds, word, |sum| *sum += count));
        });
    }

    /// Whether sessions are missing in it because they could not be read.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The sums, with what they cost at these prices.
    pub fn sums(&self, prices: &Prices) -> BTreeMap<String, Sum> {
        let priced = |row: &Row| {
            let mut sum = Sum {
                partial: self.partial,
                ..row.held.clone()
            };
            for (model, spent) in row.recorded.iter().chain(&row.priced) {
                sum.spend(model, &spent.usage(), prices);
            }
            sum
        };
        self.rows
            .iter()
            .map(|(key, row)| (key.clone(), priced(row)))
            .collect()
    }
}

impl Sum {
    /// Adds the usage of one model; a cost that the agent recorded takes precedence over a computed
    /// one.
    fn spend(&mut self, model: &str, usage: &Usage, prices: &Prices) {
        self.usage.add(&Usage {
            cost: None,
            ..*usage
        });
        let tokens = Usage {
            cost: None,
            premium_requests: None,
            ..*usage
        };
        let computed = || {
            prices
                .of(model)
                .filter(|_| !tokens.is_unknown())
                .map(|price| price.cost(usage))
        };
        match usage.cost.or_else(computed) {
            Some(cost) => *self.usage.cost.get_or_insert(0.0) += cost,
            None if !tokens.is_unknown() && !self.unpriced.iter().any(|known| known == model) => {
                self.unpriced.push(model.to_owned());
            }
            None => {}
        }
    }
}
