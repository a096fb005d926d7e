//! The names in folders, and which of their changes would survive a crash.

use std::collections::{BTreeMap, BTreeSet};

use crate::Rng;

/// A name: its folder and the last part of its path.
pub(super) type Name = (u64, String);

/// All names: current ones, and unsynced changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    live: BTreeMap<Name, u64>,
    base: BTreeMap<Name, u64>,
    pending: Vec<Change>,
}

/// One change, which survives or is lost as a whole.
#[derive(Clone, Debug)]
struct Change {
    sets: Vec<(Name, Option<u64>)>,
    /// Folders that must still be synced before it is durable.
    waits: BTreeSet<u64>,
    /// Earlier changes that it requires, by number.
    needs: Vec<u64>,
    number: u64,
}

impl Names {
    pub(super) fn settled(names: BTreeMap<Name, u64>) -> Names {
        Names {
            live: names.clone(),
            base: names,
            pending: Vec::new(),
        }
    }

    pub(super) fn get(&self, name: &Name) -> Option<u64> {
        self.live.get(name).copied()
    }

    pub(super) fn in_folder(&self, folder: u64) -> impl Iterator<Item = (&str, u64)> {
        self.live
            .range((folder, String::new())..)
            .take_while(move |((of, _), _)| *of == folder)
            .map(|((_, name), node)| (name.as_str(), *node))
    }

    pub(super) fn links(&self, node: u64) -> u64 {
        self.live.values().filter(|named| **named == node).count() as u64
    }

    /// Returns nodes that have a name now or might have one after a crash.
    pub(super) fn could_be_named(&self) -> BTreeSet<u64> {
        let pending = self
            .pending
            .iter()
            .flat_map(|change| &change.sets)
            .filter_map(|(_, node)| *node);
        self.base
            .values()
            .chain(self.live.values())
            .copied()
            .chain(pending)
            .collect()
    }

    /// Sets a free name of a node.
    pub(super) fn set(&mut self, name: Name, node: u64) {
        self.change(vec![(name, Some(node))], None);
    }

    /// Removes a name. A removed folder must be empty, so changes inside it are required first.
    pub(super) fn unset(&mut self, name: Name, emptied: Option<u64>) {
        self.change(vec![(name, None)], emptied);
    }

    pub(super) fn rename(&mut self, from: Name, to: Name, node: u64) {
        self.change(vec![(from, None), (to, Some(node))], None);
    }

    fn change(&mut self, sets: Vec<(Name, Option<u64>)>, emptied: Option<u64>) {
        // A removal requires the change that set the name, and a new file under a name requires the
        // rename that moved the old one away. Otherwise a chain of renames could leave a file under
        // two names or under none.
        let needs = |change: &&Change| {
            let is_rename = change.sets.len() > 1;
            change.sets.iter().any(|(name, put)| {
                let follows = |(again, now): &(Name, Option<u64>)| {
                    again == name
                        && (put.is_some() && now.is_none()
                            || is_rename && put.is_none() && now.is_some())
                };
                sets.iter().any(follows) || emptied == Some(name.0)
            })
        };
        let needs = self
            .pending
            .iter()
            .filter(needs)
            .map(|change| change.number)
            .collect();
        let number = self.pending.last().map_or(0, |last| last.number + 1);
        let waits = sets.iter().map(|((folder, _), _)| *folder).collect();
        apply(&mut self.live, &sets);
        self.pending.push(Change {
            sets,
            waits,
            needs,
            number,
        });
    }

    /// Makes the names in a folder durable.
    pub(super) fn sync(&mut self, folder: u64) {
        for change in &mut self.pending {
            change.waits.remove(&folder);
        }
        let mut certain: BTreeSet<u64> = self
            .pending
            .iter()
            .filter(|change| change.waits.is_empty())
            .map(|change| change.number)
            .collect();
        with_needs(&self.pending, &mut certain);
        for change in self
            .pending
            .iter_mut()
            .filter(|change| certain.contains(&change.number))
        {
            change.waits.clear();
        }
        // Only from the front: a later change of the same name must not be applied before an
        // earlier one.
        let sure = self
            .pending
            .iter()
            .take_while(|change| change.waits.is_empty())
            .count();
        for change in self.pending.drain(..sure) {
            apply(&mut self.base, &change.sets);
        }
    }

    pub(super) fn with_everything(&self) -> &BTreeMap<Name, u64> {
        &self.live
    }

    pub(super) fn with_nothing(&self) -> BTreeMap<Name, u64> {
        self.kept(|_| false)
    }

    pub(super) fn with_some(&self, rng: &mut Rng) -> BTreeMap<Name, u64> {
        let luck = rng.unit();
        let lucky: Vec<u64> = self
            .pending
            .iter()
            .map(|change| change.number)
            .filter(|_| rng.id_source(luck))
            .collect();
        self.kept(|number| lucky.contains(&number))
    }

    fn kept(&self, lucky: impl Fn(u64) -> bool) -> BTreeMap<Name, u64> {
        let survives = |change: &&Change| change.waits.is_empty() || lucky(change.number);
        let mut numbers = self
            .pending
            .iter()
            .filter(survives)
            .map(|change| change.number)
            .collect();
        with_needs(&self.pending, &mut numbers);
        let mut names = self.base.clone();
        for change in self
            .pending
            .iter()
            .filter(|change| numbers.contains(&change.number))
        {
            apply(&mut names, &change.sets);
        }
        names
    }
}

fn apply(names: &mut BTreeMap<Name, u64>, sets: &[(Name, Option<u64>)]) {
    for (name, node) in sets {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

/// Adds the changes that the chosen ones require. Requirements point backwards, so one pass from
/// the end finds them all.
fn with_needs(pending: &[Change], chosen: &mut BTreeSet<u64>) {
    for change in pending.iter().rev() {
        if chosen.contains(&change.number) {
            chosen.extend(&change.needs);
        }
    }
}
