//! Infers the parent of an entry whose parent link is lost.
//!
//! An agent writes each entry as a child of its current leaf, so the parent is the end of the
//! branch that was written last. If only one branch is open at that point of the file, the result
//! is certain; if several are, the nearest one is likely.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use boswell_model::{EntryKind, Log, Slot, Symbol};

use crate::Confidence;

/// The entries of a log that can be parents or children.
#[derive(Debug)]
pub(crate) struct Neighbours<'a> {
    log: &'a Log,
    /// For every entry `None` if it is not part of the tree, else whether it belongs to a side
    /// chain.
    writer: Vec<Option<bool>>,
    up: Vec<Option<Slot>>,
    /// Whether some parent comes after its child in the file: only then can an earlier entry be a
    /// descendant of a later one.
    forward: bool,
}

/// What is known of an entry whose parent link is lost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lost {
    /// The missing parent that it names: entries that name the same one keep the same parent.
    pub(crate) family: Option<Symbol>,
    /// The entry that it belongs to for another reason.
    pub(crate) known: Option<Slot>,
}

/// The maximal number of ancestors of a candidate that are examined.
const FARTHEST: usize = 100_000;

impl<'a> Neighbours<'a> {
    /// Creates the search. `writer` is `None` for entries that are not part of the tree, else
    /// whether they belong to a side chain; `up` is the parent of each entry.
    pub(crate) fn new(log: &'a Log, writer: Vec<Option<bool>>, up: Vec<Option<Slot>>) -> Self {
        let forward = up
            .iter()
            .enumerate()
            .any(|(at, up)| up.is_some_and(|up| up.index() >= at));
        Neighbours {
            log,
            writer,
            up,
            forward,
        }
    }

    /// Returns the parent that is known, or that entries with the same lost parent got; `None` if
    /// neither can be above `slot`.
    fn known_parent(
        &self,
        up: &[Option<Slot>],
        slot: Slot,
        known: Option<Slot>,
        brothers: Option<Option<Slot>>,
    ) -> Option<(Option<Slot>, Confidence)> {
        let free =
            |above: &Slot| *above != slot && (!self.forward || !is_descendant(up, *above, slot));
        if let Some(known) = known.filter(free) {
            return Some((Some(known), Confidence::Certain));
        }
        let brothers = brothers.filter(|above| above.as_ref().is_none_or(free));
        brothers.map(|above| (above, Confidence::Likely))
    }

    /// Returns the likely parent of each entry of `lost`; `None` if nothing precedes it. Their own
    /// links are ignored.
    pub(crate) fn find(
        &self,
        lost: &BTreeMap<Slot, Lost>,
    ) -> HashMap<Slot, (Option<Slot>, Confidence)> {
        let mut up = self.up.clone();
        lost.keys().for_each(|slot| set(&mut up, *slot, None));
        let mut found = HashMap::new();
        let mut adopted: HashMap<Symbol, Option<Slot>> = HashMap::new();
        let mut ends = [Ends::default(), Ends::default()];
        for (slot, head) in self.log.entries() {
            let Some(side) = self.writer.get(slot.index()).copied().flatten() else {
                continue;
            };
            let ends = if side { &mut ends[1] } else { &mut ends[0] };
            if let Some(lost) = lost.get(&slot) {
                let brothers = lost.family.and_then(|family| adopted.get(&family).copied());
                let known = self.known_parent(&up, slot, lost.known, brothers);
                let (near, confidence) = known.unwrap_or_else(|| self.nearest(&up, ends, slot));
                if let Some(family) = lost.family.filter(|_| lost.known.is_none()) {
                    adopted.entry(family).or_insert(near);
                }
                set(&mut up, slot, near);
                found.insert(slot, (near, confidence));
            }
            if head.kind == EntryKind::Progress {
                continue;
            }
            if let Some(above) = up.get(slot.index()).copied().flatten() {
                ends.open.remove(&above);
            }
            // The conversation continues from one of several parallel results; the others are not
            // open ends.
            if let Some(last) = ends
                .order
                .last()
                .filter(|last| self.log.kind(**last) == EntryKind::ToolResult)
            {
                ends.open.remove(last);
            }
            ends.open.insert(slot);
            ends.order.push(slot);
        }
        found
    }

    fn nearest(&self, up: &[Option<Slot>], ends: &Ends, slot: Slot) -> (Option<Slot>, Confidence) {
        let free = |candidate: &&Slot| !self.forward || !is_descendant(up, **candidate, slot);
        match ends.order.iter().rev().find(free) {
            None => (None, Confidence::Certain),
            Some(near) => {
                let alone = ends.open.len() == 1 && ends.open.contains(near);
                (
                    Some(*near),
                    if alone {
                        Confidence::Certain
                    } else {
                        Confidence::Likely
                    },
                )
            }
        }
    }
}

/// The branches that are open at a point of the file.
#[derive(Default)]
struct Ends {
    open: BTreeSet<Slot>,
    order: Vec<Slot>,
}

fn is_descendant(up: &[Option<Slot>], slot: Slot, above: Slot) -> bool {
    let mut at = Some(slot);
    for _ in 0..FARTHEST {
        match at {
            None => return false,
            Some(slot) if slot == above => return true,
            Some(slot) => at = up.get(slot.index()).copied().flatten(),
        }
    }
    true
}

fn set(list: &mut [Option<Slot>], slot: Slot, value: Option<Slot>) {
    if let Some(place) = list.get_mut(slot.index()) {
        *place = value;
    }
}
