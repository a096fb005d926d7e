//! Aggregates usage over sessions and counts a message that occurs in several sessions only once.
//!
//! The caller (`Books::tally` in the catalog) streams rows of the database through these passes,
//! always in this order:
//!
//! 1. [`Aggregate::enter`] registers the [`Head`] of every session.
//! 2. [`Aggregate::choose`] groups sessions that are linked across stores into conversations and
//!    selects the conversations that the caller asked for.
//! 3. [`Aggregate::look`], only if [`Aggregate::must_look`] returns true, reads the shared messages
//!    to find out which sessions contain usage at all.
//! 4. [`Aggregate::settle`] decides for each conversation which side counts for usage and which
//!    side counts for messages.
//! 5. [`Aggregate::add`] sums what each session contains alone, and [`Aggregate::add_shared`]
//!    assigns each shared message to one owner and sums it there.
//!
//! Between the passes only a few numbers per session are in memory, not the messages: a store can
//! contain a hundred thousand sessions. `place` is always the index of a session in the `entries`
//! slice that [`Aggregate::new`] received.

use std::collections::{HashMap, HashSet};

use boswell_dialect::by_name;
use boswell_model::{Instant, SessionRef, Symbol, Usage};
use boswell_store::links::{LinkGraph, LinkedElsewhere};
use boswell_store::store::Stores;

use super::usage_sum::UsageSum;
use super::{By, Grouping, Keys, Tally, Whose};
use crate::catalog::{CatalogRow, Family, Group, Head, Item, Marks, NO_MODEL, Sums, quarter_of};

/// The state of one aggregation; see the module documentation for the order of the calls.
#[derive(Debug)]
pub(crate) struct Aggregate<'e> {
    stores: &'e Stores,
    entries: &'e [CatalogRow],
    keys: Keys,
    /// The registered sessions by `place`; `None` for sessions that were not read as a whole.
    sides: Vec<Option<Side>>,
    links: Vec<(usize, Vec<LinkedElsewhere>)>,
    other_ids: HashMap<usize, String>,
    family: Family,
    /// The selected conversations, each as the places of its sides.
    meant: Vec<Vec<usize>>,
    tally: Tally,
}

/// One session, which is one side of a conversation.
#[derive(Debug, Clone, Copy)]
struct Side {
    created: Option<Instant>,
    last_active: Option<Instant>,
    project: Option<Symbol>,
    agent: Option<Symbol>,
    /// Number of messages, then number of records; the larger pair counts for the conversation.
    weight: (u64, u64),
    marks: Marks,
    is_meant: bool,
    /// Whether a selected session is a subagent of this one, so that the usage that this log only
    /// repeats (relayed) must not be counted.
    has_subagents: bool,
    /// Whether the session contains messages with usage, and whether some of them have a key.
    has_items: bool,
    is_named: bool,
    /// Whether the usage and whether the messages of this side count for its conversation.
    spends: bool,
    holds: bool,
}

impl Side {
    /// Records that the session contains usage (`any`), and that some of it has a key (`named`).
    fn saw(&mut self, any: bool, named: bool) {
        self.has_items |= any;
        self.is_named |= named;
    }

    fn whose(&self, place: usize) -> Whose {
        Whose {
            place,
            project: self.project,
            agent: self.agent,
        }
    }

    fn leaves_out(&self, relayed: bool) -> bool {
        relayed && self.has_subagents
    }
}

impl<'e> Aggregate<'e> {
    pub(crate) fn new(
        stores: &'e Stores,
        entries: &'e [CatalogRow],
        grouping: &Grouping,
    ) -> Aggregate<'e> {
        Aggregate {
            stores,
            entries,
            keys: Keys::new(grouping.clone()),
            sides: vec![None; entries.len()],
            links: Vec::new(),
            other_ids: HashMap::new(),
            family: Family::default(),
            meant: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Registers the session at `place`.
    pub(crate) fn enter(&mut self, place: usize, head: Head) {
        let Some((entry, side)) = self.entries.get(place).zip(self.sides.get_mut(place)) else {
            return;
        };
        *side = Some(Side {
            created: head.created,
            last_active: head.last_active,
            project: self.keys.names.intern(&head.project),
            agent: self.keys.names.intern(&head.agent),
            weight: (head.messages, head.records),
            marks: head.marks,
            is_meant: false,
            has_subagents: false,
            has_items: false,
            is_named: false,
            spends: false,
            holds: false,
        });
        if head.marks.has(Marks::FAMILY) {
            let id = head
                .other_id
                .clone()
                .unwrap_or_else(|| entry.location.id.clone());
            self.family.add(place, id, head.parent);
        }
        let links: Vec<LinkedElsewhere> = head
            .links
            .into_iter()
            .filter_map(|(dialect, id)| Some((by_name(&dialect)?.name(), id)))
            .collect();
        if !links.is_empty() {
            self.links.push((place, links));
        }
        self.other_ids.extend(head.other_id.map(|id| (place, id)));
    }

    /// Groups the registered sessions into conversations and keeps those for which `meant` returns
    /// true.
    pub(crate) fn choose(&mut self, meant: &dyn Fn(&[usize]) -> bool) {
        self.tally.partial = self.sides.iter().any(Option::is_none);
        // Sessions are registered in the order of database rows; sorting by place makes the
        // grouping independent of it.
        self.links.sort_unstable_by_key(|(place, _)| *place);
        let ties = LinkGraph::of(std::mem::take(&mut self.links), |name| {
            for (place, entry) in self
                .entries
                .iter()
                .enumerate()
                .filter(|(place, _)| self.side(*place).is_some())
            {
                let dialect = self
                    .stores
                    .get(entry.store)
                    .map_or("", |store| store.dialect().name());
                name(
                    place,
                    dialect,
                    &entry.location.id,
                    self.other_ids.get(&place).map(String::as_str),
                );
            }
        });
        for place in 0..self.entries.len() {
            // A taken place is another side of a conversation that is found at the place of its
            // first side.
            if self.side(place).is_none() || ties.is_taken(place) {
                continue;
            }
            let conversation = [&[place], ties.sides(place)].concat();
            if self.keys.grouping.has(By::Session) {
                let name = self.name(place);
                let sides = conversation.iter();
                (self.keys.sessions).extend(sides.map(|side| (*side, name.clone())));
            }
            if meant(&conversation) {
                self.meant.push(conversation);
            }
        }
        // Only the link graph needs these ids; the memory is released before the sums are read.
        self.other_ids = HashMap::new();
        if self.keys.grouping.has(By::Session) {
            self.name_subagents();
        }
        self.mark();
    }

    fn name(&self, place: usize) -> String {
        let Some(entry) = self.entries.get(place) else {
            return String::new();
        };
        let store = self.stores.get(entry.store);
        let dialect = store.map_or("", |store| store.dialect().name());
        SessionRef::new(dialect, &entry.location.id).to_string()
    }

    /// Names each subagent as the session that started it.
    fn name_subagents(&mut self) {
        let places = self.entries.iter().enumerate();
        let by_id: HashMap<(usize, &str), usize> = places
            .map(|(place, entry)| ((entry.store.0, entry.location.id.as_str()), place))
            .collect();
        let owned = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(place, entry)| {
                let owner = entry.location.owner.as_deref()?;
                Some((place, *by_id.get(&(entry.store.0, owner))?))
            });
        let owned: Vec<(usize, usize)> = owned.collect();
        for (place, owner) in owned {
            if let Some(name) = self.keys.sessions.get(&owner).cloned() {
                self.keys.sessions.insert(place, name);
            }
        }
    }

    fn mark(&mut self) {
        let places = || self.meant.iter().flatten().copied();
        let entry = |place: usize| self.entries.get(place);
        // The sessions that have at least one selected subagent session.
        let owners: HashSet<(usize, &str)> = places()
            .filter_map(|place| {
                entry(place).and_then(|it| Some((it.store.0, it.location.owner.as_deref()?)))
            })
            .collect();
        for place in self.meant.iter().flatten().copied() {
            let Some((side, entry)) = self
                .sides
                .get_mut(place)
                .and_then(Option::as_mut)
                .zip(self.entries.get(place))
            else {
                continue;
            };
            side.is_meant = true;
            side.has_subagents = owners.contains(&(entry.store.0, entry.location.id.as_str()));
            let marks = side.marks;
            side.saw(marks.has(Marks::SPENT), marks.has(Marks::NAMED));
            if !side.has_subagents {
                side.saw(marks.has(Marks::RELAYS), marks.has(Marks::RELAYS_NAMED));
            }
        }
    }

    /// Returns whether [`Aggregate::look`] is needed: some selected side is still undecided after
    /// the heads alone. With several sides that is a side without keyed usage; with one side it is
    /// a session that states a total and has no usage of its own, because the shared messages
    /// decide whether the stated total is used (see [`stated`]).
    pub(crate) fn must_look(&self) -> bool {
        let open = |place: &usize, alone: bool| {
            self.side(*place).is_some_and(|side| match alone {
                true => !side.has_items && side.marks.has(Marks::STATES),
                false => !side.is_named,
            })
        };
        self.meant
            .iter()
            .any(|sides| sides.iter().any(|place| open(place, sides.len() == 1)))
    }

    /// Records which sessions contain the shared messages `held`.
    pub(crate) fn look(&mut self, mut held: Vec<(usize, Item)>) {
        self.family.settle(&mut held);
        for (place, item) in held {
            let Some(side) = self.sides.get_mut(place).and_then(Option::as_mut) else {
                continue;
            };
            if !side.leaves_out(item.relayed) {
                side.saw(true, item.key.is_some());
            }
        }
    }

    /// Decides which side of each conversation counts. For usage it is the first side that knows
    /// messages by key, else the first side with any usage; for messages and records it is the side
    /// with the most.
    pub(crate) fn settle(&mut self) {
        for sides in std::mem::take(&mut self.meant) {
            let mut spends: Option<(bool, usize)> = None;
            let mut holds: Option<((u64, u64), usize)> = None;
            let is_alone = sides.len() == 1;
            for place in sides {
                let Some(side) = self.side(place) else {
                    continue;
                };
                // A session without usage still counts if it is the only side: nothing else can
                // count for the conversation.
                let knows = is_alone || side.has_items || side.marks.has(Marks::STATES);
                if knows && spends.is_none_or(|(named, _)| side.is_named && !named) {
                    spends = Some((side.is_named, place));
                }
                if holds.is_none_or(|(weight, _)| side.weight > weight) {
                    holds = Some((side.weight, place));
                }
            }
            if let Some(side) = spends.and_then(|(_, place)| self.side_mut(place)) {
                side.spends = true;
            }
            if let Some(side) = holds.and_then(|(_, place)| self.side_mut(place)) {
                side.holds = true;
            }
        }
    }

    /// Adds the counts of a session, and the usage of messages that no other session contains.
    pub(crate) fn add(&mut self, place: usize, sums: &Sums<'_>) {
        let Some(side) = self.side(place).copied() else {
            return;
        };
        if side.holds {
            // A subagent works in the conversation of another session: its messages and its cost
            // count, but it is not a session of its own.
            let one = u64::from(!side.marks.has(Marks::SUBAGENT));
            let at = side.last_active.map(quarter_of);
            if self.keys.grouping.has(By::Model) {
                for model in &sums.models {
                    self.tally
                        .count(self.keys.of(side.whose(place), at, model), one);
                }
            } else {
                let key = self.keys.of(side.whose(place), at, "");
                self.tally.hold(key, one, sums);
            }
        }
        if side.spends {
            for group in sums
                .groups
                .iter()
                .chain(&stated(&side, sums))
                .filter(|it| !side.leaves_out(it.relayed))
            {
                let key = self.keys.of(side.whose(place), group.at, group.model);
                self.tally.spend(key, group);
            }
        }
    }

    /// Adds messages that several sessions contain, each once, for the session that was created
    /// first. `held` must contain every copy of its messages: [`Family::settle`] and the grouping
    /// below compare only within it.
    pub(crate) fn add_shared(&mut self, mut held: Vec<(usize, Item)>) {
        self.family.settle(&mut held);
        // Copies in sides that do not count must be removed before the owner is chosen, or the
        // message would be counted for a session that was not selected.
        held.retain(|(place, item)| {
            self.side(*place)
                .is_some_and(|it| it.spends && !it.leaves_out(item.relayed))
        });
        // Equal keys become neighbours, and the first of them is the owner.
        held.sort_by(|(a, one), (b, other)| {
            one.key
                .cmp(&other.key)
                .then_with(|| self.begun(*a).cmp(&self.begun(*b)))
        });
        for same in held.chunk_by(|(_, one), (_, next)| one.key == next.key) {
            let Some((place, first)) = same.first() else {
                continue;
            };
            let Some(side) = self.side(*place).copied() else {
                continue;
            };
            // A copy may have been made while the answer was still streaming: the copy with the
            // most output tokens is the complete one.
            let fullest = |most: &Usage, (_, item): &(usize, Item)| item.usage.output > most.output;
            let usage = same.iter().fold(first.usage, |most, next| {
                if fullest(&most, next) {
                    next.1.usage
                } else {
                    most
                }
            });
            let at = same
                .iter()
                .find_map(|(_, item)| item.at)
                .or(side.last_active);
            let model = first.model.as_deref().unwrap_or(NO_MODEL);
            let group = Group {
                at: at.map(quarter_of),
                model,
                relayed: false,
                spent: UsageSum::of(&usage),
            };
            let key = self.keys.of(side.whose(*place), group.at, model);
            self.tally.spend(key, &group);
        }
    }

    pub(crate) fn done(self) -> Tally {
        self.tally
    }

    /// Returns the order in which sessions own shared messages: by creation time, then by dialect,
    /// id and place, so that the result does not depend on the order of rows.
    fn begun(&self, place: usize) -> (i64, &str, &str, usize) {
        let created = self
            .side(place)
            .and_then(|side| side.created)
            .map_or(i64::MAX, Instant::millis);
        let Some(entry) = self.entries.get(place) else {
            return (created, "", "", place);
        };
        let dialect = self
            .stores
            .get(entry.store)
            .map_or("", |store| store.dialect().name());
        (created, dialect, &entry.location.id, place)
    }

    fn side(&self, place: usize) -> Option<&Side> {
        self.sides.get(place)?.as_ref()
    }

    fn side_mut(&mut self, place: usize) -> Option<&mut Side> {
        self.sides.get_mut(place)?.as_mut()
    }
}

/// Returns the total that an index or a last line states for the session: all of it, or only the
/// cost where the tokens are known message by message.
fn stated<'s>(side: &Side, sums: &Sums<'s>) -> Option<Group<'s>> {
    let stated = sums.stated;
    let usage = if side.has_items {
        Usage {
            cost: stated.cost,
            ..Usage::default()
        }
    } else {
        stated
    };
    // A total can be assigned to a model only if there is one model, or if it replaces all
    // messages.
    let model = sums
        .models
        .first()
        .filter(|_| sums.models.len() == 1 || !side.has_items);
    let (at, model) = (
        side.last_active.map(quarter_of),
        model.copied().unwrap_or(NO_MODEL),
    );
    (!usage.is_unknown()).then(|| Group {
        at,
        model,
        relayed: false,
        spent: UsageSum::of(&usage),
    })
}
