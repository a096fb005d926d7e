//! Reference implementation of the counting rules, simple and slow.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use boswell_model::{Instant, Usage};
use boswell_store::store::{Stores, Summary};

use crate::TimeZone;
use crate::catalog::{CatalogRow, Family, Item, messages_of};
use crate::stats::{By, Prices, Sum};

struct One {
    summary: Summary,
    agent: String,
    store: usize,
    conversation: usize,
}

/// All sessions and messages, in memory.
pub(super) struct Honest {
    sessions: Vec<One>,
    /// Every message with the place of its session.
    items: Vec<(usize, Item)>,
}

impl Honest {
    pub(super) fn new(
        stores: &Stores,
        entries: &[CatalogRow],
        meant: &dyn Fn(&[usize]) -> bool,
    ) -> Honest {
        let summary = |entry: &CatalogRow| {
            let store = stores.get(entry.store).unwrap();
            let summary = store.summary(&entry.location).unwrap();
            assert!(summary.complete, "the test makes small logs");
            (entry.store, summary)
        };
        let mut all: Vec<(usize, Item)> = Vec::new();
        let mut family = Family::default();
        for (place, entry) in entries.iter().enumerate() {
            let items = messages_of(stores.get(entry.store).unwrap(), entry);
            if items.iter().any(|item| item.lineage.is_some()) {
                let meta = summary(entry).1.meta;
                family.add(
                    place,
                    meta.id.unwrap_or_else(|| entry.location.id.clone()),
                    meta.parent,
                );
            }
            all.extend(items.into_iter().map(|item| (place, item)));
        }
        family.settle(&mut all);
        let place_of: HashMap<_, usize> = (entries.iter().enumerate())
            .map(|(place, it)| {
                (
                    (it.store, it.location.key.clone(), it.location.id.clone()),
                    place,
                )
            })
            .collect();
        let (mut sessions, mut chosen) = (Vec::new(), HashMap::new());
        for (conversation, joined) in stores
            .joined(entries.iter().map(summary).collect())
            .into_iter()
            .enumerate()
        {
            let sides: Vec<_> = std::iter::once(joined.front).chain(joined.linked).collect();
            let place = |(store, it): &(_, Summary)| {
                place_of[&(*store, it.location.key.clone(), it.location.id.clone())]
            };
            let places: Vec<usize> = sides.iter().map(place).collect();
            if !meant(&places) {
                continue;
            }
            for (place, (store, summary)) in places.into_iter().zip(sides) {
                chosen.insert(place, sessions.len());
                let own = stores.get(store).unwrap().dialect().facts().agent;
                let agent = summary.meta.agent.clone().unwrap_or_else(|| own.to_owned());
                sessions.push(One {
                    summary,
                    agent,
                    store: store.0,
                    conversation,
                });
            }
        }
        let items = all
            .into_iter()
            .filter_map(|(place, item)| Some((*chosen.get(&place)?, item)))
            .collect();
        Honest { sessions, items }
    }

    pub(super) fn sums(&self, by: By, prices: &Prices) -> BTreeMap<String, Sum> {
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for session in self.fullest() {
            let (meta, one) = (
                &session.summary.meta,
                u64::from(session.summary.hidden() != Some("subagent")),
            );
            if by == By::Model {
                meta.models
                    .iter()
                    .for_each(|model| sums.entry(model.clone()).or_default().sessions += one);
                continue;
            }
            let sum = sums
                .entry(key(session, session.summary.last_active(), None, by))
                .or_default();
            sum.sessions += one;
            sum.messages += meta.messages.max(meta.stated.messages.unwrap_or(0));
            sum.turns += meta.turns.max(meta.stated.turns.unwrap_or(0));
            sum.tool_calls += meta.tool_calls;
            sum.entries += session.summary.records;
            if let Some(millis) = meta.duration_ms {
                *sum.duration_ms.get_or_insert(0) += millis;
            }
            meta.kinds
                .iter()
                .for_each(|(word, count)| *sum.kinds.entry(word.clone()).or_default() += count);
        }
        let mut unpriced: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (place, item) in self.once() {
            let session = &self.sessions[place];
            let model = item.model.unwrap_or_else(|| "unknown".to_owned());
            let at = item.at.or_else(|| session.summary.last_active());
            let key = key(session, at, Some(&model), by);
            let usage = &mut sums.entry(key.clone()).or_default().usage;
            usage.add(&Usage {
                cost: None,
                ..item.usage
            });
            let has_tokens = !Usage {
                cost: None,
                premium_requests: None,
                ..item.usage
            }
            .is_unknown();
            match item.usage.cost.or_else(|| {
                prices
                    .of(&model)
                    .filter(|_| has_tokens)
                    .map(|it| it.cost(&item.usage))
            }) {
                Some(cost) => *usage.cost.get_or_insert(0.0) += cost,
                None if has_tokens => _ = unpriced.entry(key).or_default().insert(model),
                None => {}
            }
        }
        for (key, models) in unpriced {
            sums.entry(key).or_default().unpriced = models.into_iter().collect();
        }
        sums
    }

    /// Returns the side with the most messages of each conversation.
    fn fullest(&self) -> Vec<&One> {
        let weight = |it: &One| (it.summary.meta.messages, it.summary.records);
        let mut best: BTreeMap<usize, &One> = BTreeMap::new();
        for session in &self.sessions {
            let other = best.entry(session.conversation).or_insert(session);
            if weight(session) > weight(other) {
                *other = session;
            }
        }
        best.into_values().collect()
    }

    /// Returns every message once, with the session that it counts for.
    fn once(&self) -> Vec<(usize, Item)> {
        let begun = |place: usize| {
            let summary = &self.sessions[place].summary;
            let created = summary.meta.created.map_or(i64::MAX, Instant::millis);
            (
                created,
                summary.reference.clone(),
                summary.location.key.clone(),
            )
        };
        let mut items = self.chosen();
        items.sort_by_key(|(place, _)| begun(*place));
        let mut out: Vec<(usize, Item)> = Vec::new();
        for (place, item) in items {
            let same =
                |(_, other): &&mut (usize, Item)| item.key.is_some() && other.key == item.key;
            let Some((_, counted)) = out.iter_mut().find(same) else {
                out.push((place, item));
                continue;
            };
            if item.usage.output > counted.usage.output {
                counted.usage = item.usage;
            }
            counted.at = counted.at.or(item.at);
        }
        out
    }

    /// Returns messages that are not relayed, and totals that are only stated.
    fn chosen(&self) -> Vec<(usize, Item)> {
        let owners: HashSet<(usize, &str)> = self
            .sessions
            .iter()
            .filter_map(|it| Some((it.store, it.summary.location.owner.as_deref()?)))
            .collect();
        let mut items = self.items.clone();
        items.retain(|(place, item)| {
            let session = &self.sessions[*place];
            !item.relayed
                || !owners.contains(&(session.store, session.summary.reference.id.as_str()))
        });
        for (place, session) in self.sessions.iter().enumerate() {
            let (meta, stated) = (&session.summary.meta, session.summary.meta.stated.usage);
            let has_items = items.iter().any(|(other, _)| *other == place);
            let usage = if has_items {
                Usage {
                    cost: stated.cost,
                    ..Usage::default()
                }
            } else {
                stated
            };
            let model = meta
                .models
                .first()
                .filter(|_| meta.models.len() == 1 || !has_items)
                .cloned();
            if !usage.is_unknown() {
                items.push((
                    place,
                    Item {
                        at: session.summary.last_active(),
                        model,
                        usage,
                        ..Item::default()
                    },
                ));
            }
            if stated.cost.is_some() {
                let own = items.iter_mut().filter(|(other, _)| *other == place);
                own.for_each(|(_, item)| _ = item.usage.cost.get_or_insert(0.0));
            }
        }
        // If several stores know the usage of a conversation, only one of them counts.
        let knows = |place: usize, named: bool| {
            items
                .iter()
                .any(|(other, item)| *other == place && (item.key.is_some() || !named))
        };
        let mut side: HashMap<usize, usize> = HashMap::new();
        for (place, session) in self
            .sessions
            .iter()
            .enumerate()
            .filter(|(place, _)| knows(*place, false))
        {
            let best = side.entry(session.conversation).or_insert(place);
            if knows(place, true) && !knows(*best, true) {
                *best = place;
            }
        }
        items
            .iter()
            .filter(|(place, _)| side[&self.sessions[*place].conversation] == *place)
            .cloned()
            .collect()
    }
}

fn key(session: &One, at: Option<Instant>, model: Option<&str>, by: By) -> String {
    match by {
        By::Total => String::new(),
        By::Day => at.map_or_else(
            || "unknown".to_owned(),
            |at| at.to_rfc3339()[..10].to_owned(),
        ),
        By::Week => at.map_or_else(|| "unknown".to_owned(), |at| TimeZone::utc().week(at)),
        By::Month => at.map_or_else(
            || "unknown".to_owned(),
            |at| at.to_rfc3339()[..7].to_owned(),
        ),
        By::Session => unreachable!("sessions are counted by the tests of the program"),
        By::Project => session.summary.meta.project.clone().unwrap_or_default(),
        By::Agent => session.agent.clone(),
        By::Model => model.unwrap_or_default().to_owned(),
    }
}
