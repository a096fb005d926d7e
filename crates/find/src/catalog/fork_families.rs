//! Families of forks: who spent what their logs have in common.
//!
//! An agent that counts on in forks copies what its parent counted, with other times and without
//! ids: only the sums tell that two lines are one. So a line is named by its sum, within the
//! family. What a session counted itself is its own, even if a sibling happened to reach the same
//! sum; what it copied counts for the session it was copied from, and where that is gone, once.

use std::collections::{HashMap, HashSet};

use super::message_usage::Item;

/// A parent of a parent is looked for so many times, in case a family goes round in a circle.
const DEPTH: usize = 1000;

/// Which session of a family descends from which.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// By their places, how sessions that count on are called.
    ids: HashMap<usize, String>,
    parents: HashMap<String, String>,
}

impl Family {
    /// Adds a session that counts on from its parent, or may have forks that do.
    pub(crate) fn add(&mut self, place: usize, id: String, parent: Option<String>) {
        if let Some(parent) = parent {
            self.parents.insert(id.clone(), parent);
        }
        self.ids.insert(place, id);
    }

    /// The oldest session that is known of.
    fn root<'r>(&'r self, id: &'r str) -> &'r str {
        std::iter::successors(Some(id), |id| self.parents.get(*id).map(String::as_str))
            .take(DEPTH)
            .last()
            .unwrap_or(id)
    }

    /// Leaves out what was copied from sessions that are there, and gives all that is left a name
    /// that means it alone. All that may be one message must be handed over at once.
    pub(crate) fn settle(&self, items: &mut Vec<(usize, Item)>) {
        if items.iter().all(|(_, item)| item.lineage.is_none()) {
            return;
        }
        let mut own: HashSet<(String, String)> = HashSet::new();
        for (_, item) in items.iter().filter(|(_, item)| !item.inherited) {
            if let Some((lineage, key)) = item.lineage.as_deref().zip(item.key.as_deref()) {
                own.insert((self.root(lineage).to_owned(), key.to_owned()));
            }
        }
        items.retain_mut(|(place, item)| {
            // Messages of other agents keep the name they have.
            let Some((lineage, key)) = item.lineage.take().zip(item.key.clone()) else {
                return true;
            };
            let root = self.root(&lineage).to_owned();
            let within = if item.inherited {
                &root
            } else {
                self.ids.get(place).unwrap_or(&root)
            };
            item.key = Some(format!("{within} {key}"));
            !(item.inherited && own.contains(&(root, key)))
        });
    }
}
