//! The tree of a session: entries linked by their parents.
//!
//! The input is not trusted: a parent may come later in the file, be missing, be the entry itself
//! or part of a cycle, and there may be several roots. The tree is built without recursion, cuts
//! every cycle at one entry and reports these entries, so that every walk over it terminates.
//!
//! Which entry is whose parent is decided by the dialect, not here.

use crate::Slot;

const NONE: u32 = u32::MAX;

/// Entries linked by parent, in three vectors of `u32`: twelve bytes per entry.
#[derive(Debug, Default, Clone)]
pub struct Tree {
    up: Vec<u32>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    cycles: Vec<Slot>,
}

impl Tree {
    /// Builds the tree from the parent of each entry. Children keep file order.
    ///
    /// In a cycle, the entry that comes first in the file becomes a root.
    pub fn build(parents: impl IntoIterator<Item = Option<Slot>>) -> Self {
        let mut up = links(parents);
        let count = up.len();
        let cycles = break_cycles(&mut up);
        let mut first_child = vec![NONE; count];
        let mut next_sibling = vec![NONE; count];
        // Backwards, because each child is put in front of its later siblings.
        for child in (0..count).rev() {
            let parent = up.get(child).copied().unwrap_or(NONE);
            if let (Some(first), Some(next)) = (
                first_child.get_mut(parent as usize),
                next_sibling.get_mut(child),
            ) {
                *next = *first;
                *first = child as u32;
            }
        }
        Tree {
            up,
            first_child,
            next_sibling,
            cycles,
        }
    }

    /// Returns one entry of every cycle, without building the tree. In most logs all parents
    /// precede their children; then one pass proves that there is no cycle.
    pub fn circles(parents: impl Iterator<Item = Option<Slot>> + Clone) -> Vec<Slot> {
        if parents
            .clone()
            .enumerate()
            .all(|(child, parent)| parent.is_none_or(|parent| parent.index() < child))
        {
            return Vec::new();
        }
        break_cycles(&mut links(parents))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.up.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.up.is_empty()
    }

    /// Returns the parent of an entry; `None` for a root.
    pub fn parent(&self, slot: Slot) -> Option<Slot> {
        some(self.up.get(slot.index()))
    }

    /// Iterates over the children of an entry in file order.
    pub fn children(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors(some(self.first_child.get(slot.index())), |s| {
            some(self.next_sibling.get(s.index()))
        })
    }

    /// Whether the entry has no children.
    pub fn is_tip(&self, slot: Slot) -> bool {
        some(self.first_child.get(slot.index())).is_none()
    }

    /// Iterates over the entries without a parent.
    pub fn roots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.up
            .iter()
            .enumerate()
            .filter(|(_, up)| **up == NONE)
            .map(|(i, _)| Slot(i as u32))
    }

    /// One entry of every cycle: the one whose parent link was removed.
    pub fn cycles(&self) -> &[Slot] {
        &self.cycles
    }

    /// Iterates from the entry up to its root, starting with the entry itself.
    pub fn ancestors(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors((slot.index() < self.up.len()).then_some(slot), |s| {
            self.parent(*s)
        })
    }

    /// Returns the path from the root down to the entry, inclusive.
    pub fn path(&self, slot: Slot) -> Vec<Slot> {
        let mut path: Vec<_> = self.ancestors(slot).collect();
        path.reverse();
        path
    }

    /// Returns the deepest entry that is on both paths to the root; `a` or `b` itself counts.
    pub fn common_ancestor(&self, a: Slot, b: Slot) -> Option<Slot> {
        let (a, b) = (self.path(a), self.path(b));
        a.iter()
            .zip(&b)
            .take_while(|(x, y)| x == y)
            .last()
            .map(|(x, _)| *x)
    }

    /// Returns the entries that are on the path of `from` but not on that of `to`, oldest first:
    /// the subject of a branch summary. With `to` `None`, the whole path.
    pub fn left_behind(&self, from: Slot, to: Option<Slot>) -> Vec<Slot> {
        let mut path = self.path(from);
        let shared = to.and_then(|to| self.common_ancestor(from, to));
        let start = shared
            .and_then(|shared| path.iter().position(|slot| *slot == shared))
            .map_or(0, |at| at + 1);
        path.drain(..start);
        path
    }
}

/// Converts parents to indexes; a parent outside the log counts as missing.
fn links(parents: impl IntoIterator<Item = Option<Slot>>) -> Vec<u32> {
    let mut up: Vec<u32> = parents
        .into_iter()
        .map(|p| p.map_or(NONE, |s| s.0))
        .collect();
    let count = up.len();
    for parent in &mut up {
        if *parent as usize >= count {
            *parent = NONE;
        }
    }
    up
}

fn some(link: Option<&u32>) -> Option<Slot> {
    link.copied().filter(|up| *up != NONE).map(Slot)
}

/// Cuts every cycle and returns the entries that became roots.
///
/// Every chain is followed once. Each visited entry is marked with the number of the walk; a walk
/// that meets its own mark has found a cycle, one that meets another mark ends there. So the total
/// time is linear.
fn break_cycles(up: &mut [u32]) -> Vec<Slot> {
    if up
        .iter()
        .enumerate()
        .all(|(child, parent)| (*parent as usize) < child || *parent == NONE)
    {
        return Vec::new();
    }
    let mut walk = vec![NONE; up.len()];
    let mut cycles = Vec::new();
    for start in 0..up.len() {
        let mut at = start as u32;
        while let Some(mark) = walk.get_mut(at as usize).filter(|m| **m == NONE) {
            *mark = start as u32;
            at = up.get(at as usize).copied().unwrap_or(NONE);
        }
        if walk.get(at as usize) == Some(&(start as u32)) {
            let first = first_of_circle(up, at);
            if let Some(link) = up.get_mut(first as usize) {
                *link = NONE;
            }
            cycles.push(Slot(first));
        }
    }
    cycles
}

fn first_of_circle(up: &[u32], on_circle: u32) -> u32 {
    let mut first = on_circle;
    let mut at = up.get(on_circle as usize).copied().unwrap_or(NONE);
    while at != on_circle && at != NONE {
        first = first.min(at);
        at = up.get(at as usize).copied().unwrap_or(NONE);
    }
    first
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(parents: &[i64]) -> Tree {
        Tree::build(parents.iter().map(|p| u32::try_from(*p).ok().map(Slot)))
    }

    fn slots(of: impl IntoIterator<Item = Slot>) -> Vec<u32> {
        of.into_iter().map(|s| s.0).collect()
    }

    #[test]
    fn branches_roots_and_forward_parents() {
        let t = tree(&[-1, 0, 1, 0, 5, 1, -1]);
        assert_eq!(slots(t.roots()), [0, 6]);
        assert_eq!(slots(t.children(Slot(0))), [1, 3]);
        assert_eq!(slots(t.children(Slot(1))), [2, 5]);
        assert_eq!(slots(t.path(Slot(4))), [0, 1, 5, 4]);
        assert_eq!(t.common_ancestor(Slot(4), Slot(2)), Some(Slot(1)));
        assert_eq!(t.common_ancestor(Slot(6), Slot(2)), None);
        assert!(t.is_tip(Slot(4)) && !t.is_tip(Slot(5)));
    }

    #[test]
    fn what_is_left_behind_begins_below_the_deepest_common_entry() {
        let t = tree(&[-1, 0, 1, 2, 1, 4, -1]);
        assert_eq!(
            slots(t.left_behind(Slot(3), Some(Slot(5)))),
            [2, 3],
            "to another branch"
        );
        assert_eq!(
            slots(t.left_behind(Slot(3), Some(Slot(2)))),
            [3],
            "to an entry of the branch itself"
        );
        assert_eq!(
            slots(t.left_behind(Slot(3), Some(Slot(0)))),
            [1, 2, 3],
            "to the root"
        );
        assert_eq!(
            slots(t.left_behind(Slot(3), None)),
            [0, 1, 2, 3],
            "before everything"
        );
        assert_eq!(
            slots(t.left_behind(Slot(3), Some(Slot(6)))),
            [0, 1, 2, 3],
            "to another root"
        );
        assert_eq!(
            slots(t.left_behind(Slot(2), Some(Slot(3)))),
            [] as [u32; 0],
            "forward leaves nothing"
        );
    }

    #[test]
    fn circles_and_self_parents_are_broken_at_their_first_entry() {
        let t = tree(&[-1, 3, 1, 2, 3, 5]);
        assert_eq!(slots(t.cycles().iter().copied()), [1, 5]);
        assert_eq!(slots(t.roots()), [0, 1, 5]);
        assert_eq!(slots(t.path(Slot(4))), [1, 2, 3, 4]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_walked() {
        let t = tree(&(-1..99_999).collect::<Vec<_>>());
        assert_eq!(t.path(Slot(99_999)).len(), 100_000);
    }

    #[test]
    fn a_parent_beyond_the_end_is_no_parent() {
        assert_eq!(slots(tree(&[7, 0]).roots()), [0]);
    }

    proptest! {
        #[test]
        fn any_links_give_a_forest(parents in proptest::collection::vec(-1i64..12, 0..12)) {
            let t = tree(&parents);
            let mut seen = vec![0; parents.len()];
            let mut open: Vec<_> = t.roots().collect();
            while let Some(slot) = open.pop() {
                seen[slot.index()] += 1;
                open.extend(t.children(slot));
            }
            prop_assert!(seen.iter().all(|n| *n == 1), "every entry hangs below exactly one root");
            let parents = parents.iter().map(|p| u32::try_from(*p).ok().map(Slot));
            prop_assert_eq!(Tree::circles(parents), t.cycles());
        }
    }
}
