//! Families of forks: who spent what their logs have in common.
//!
//! An agent that counts on in forks copies what its parent counted, with other times and without ids: only the sums tell that
//! two lines are one. So a line is named by its sum, within the family. What a session counted itself is its own, even if a
//! sibling happened to reach the same sum; what it copied counts for the session it was copied from, and where that is gone, once.

use std::collections::{HashMap, HashSet};

use super::Entry;
use super::ledger::Item;

/// A parent of a parent is looked for so many times, in case a family goes round in a circle.
const DEPTH: usize = 1000;

/// Leaves out what was copied from sessions that are there, and gives all that is left a name that means it alone.
pub(super) fn settle(entries: &[Entry], items: &mut Vec<(usize, Item)>) {
    if items.iter().all(|(_, item)| item.lineage.is_none()) {
        return;
    }
    let family = Family::of(entries, items);
    let mut own: HashSet<(String, String)> = HashSet::new();
    for (_, item) in items.iter().filter(|(_, item)| !item.inherited) {
        if let Some((lineage, key)) = item.lineage.as_deref().zip(item.key.as_deref()) {
            own.insert((family.root(lineage).to_owned(), key.to_owned()));
        }
    }
    items.retain_mut(|(place, item)| {
        let Some((lineage, key)) = item.lineage.take().zip(item.key.take()) else { return true };
        let root = family.root(&lineage).to_owned();
        let within = if item.inherited { &root } else { family.ids.get(place).unwrap_or(&root) };
        item.key = Some(format!("{within} {key}"));
        !(item.inherited && own.contains(&(root, key)))
    });
}

/// Which session of a family descends from which.
struct Family {
    ids: HashMap<usize, String>,
    parents: HashMap<String, String>,
}

impl Family {
    fn of(entries: &[Entry], items: &[(usize, Item)]) -> Family {
        let mut family = Family { ids: HashMap::new(), parents: HashMap::new() };
        for (place, _) in items.iter().filter(|(_, item)| item.lineage.is_some()) {
            let Some(entry) = entries.get(*place).filter(|_| !family.ids.contains_key(place)) else { continue };
            let facts = entry.kept.as_ref().map(|kept| kept.unpack().facts).unwrap_or_default();
            let id = facts.id.unwrap_or_else(|| entry.located.id.clone());
            if let Some(parent) = facts.parent {
                family.parents.insert(id.clone(), parent);
            }
            family.ids.insert(*place, id);
        }
        family
    }

    /// The oldest session that is known of.
    fn root<'r>(&'r self, id: &'r str) -> &'r str {
        std::iter::successors(Some(id), |id| self.parents.get(*id).map(String::as_str)).take(DEPTH).last().unwrap_or(id)
    }
}
