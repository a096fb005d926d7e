//! Families of forks: decides the owner of usage that forked logs have in common.
//!
//! Some agents copy the usage counters of the parent into a fork, with other times and without
//! message ids: only equal running totals show that two lines are the same message. So such a
//! message has its running total as key, which is valid only within the family. Usage that a
//! session counted itself is its own, even if a sibling happens to reach the same total. Copied
//! (inherited) usage counts for the session that it was copied from; if that session no longer
//! exists, it counts once for the family.

use std::collections::{HashMap, HashSet};

use super::message_usage::Item;

/// Maximum number of steps to the root, in case the parents of a damaged store form a cycle.
const DEPTH: usize = 1000;

/// The parent relation of the sessions that continue the counters of their parent.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// Ids of these sessions by their place in the entries.
    ids: HashMap<usize, String>,
    parents: HashMap<String, String>,
}

impl Family {
    /// Adds a session that continues the counters of its parent, or that may have forks that do.
    pub(crate) fn add(&mut self, place: usize, id: String, parent: Option<String>) {
        if let Some(parent) = parent {
            self.parents.insert(id.clone(), parent);
        }
        self.ids.insert(place, id);
    }

    /// Returns the oldest known ancestor of `id`; a parent that was deleted still counts by its id.
    fn root<'r>(&'r self, id: &'r str) -> &'r str {
        std::iter::successors(Some(id), |id| self.parents.get(*id).map(String::as_str))
            .take(DEPTH)
            .last()
            .unwrap_or(id)
    }

    /// Removes inherited messages whose original is among `items`, and gives each remaining one a
    /// key that is unique across families. All copies of a message must be in `items`.
    pub(crate) fn settle(&self, items: &mut Vec<(usize, Item)>) {
        if items.iter().all(|(_, item)| item.lineage.is_none()) {
            return;
        }
        // Pass 1: the messages that sessions of each family counted themselves.
        let mut own: HashSet<(String, String)> = HashSet::new();
        for (_, item) in items.iter().filter(|(_, item)| !item.inherited) {
            if let Some((lineage, key)) = item.lineage.as_deref().zip(item.key.as_deref()) {
                own.insert((self.root(lineage).to_owned(), key.to_owned()));
            }
        }
        items.retain_mut(|(place, item)| {
            // Messages without a lineage are from other agents and have a global key already.
            let Some((lineage, key)) = item.lineage.take().zip(item.key.clone()) else {
                return true;
            };
            let root = self.root(&lineage).to_owned();
            // An inherited message is named by the family, so that copies in several forks become
            // one; an own message by its session, so that equal totals of siblings stay two.
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
