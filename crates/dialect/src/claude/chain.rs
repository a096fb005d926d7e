//! The chain of messages as the newest client links it: it tolerates missing parents, duplicate
//! ids, cycles and side chains (`isSidechain`) that the tree only reports.
//!
//! The tree of a session shows what the file contains: an entry whose parent is missing is a root.
//! The client repairs more: it links such an entry to the line before it, keeps only the last of
//! several lines with one id, ignores records that follow another record or garbage on their line,
//! and moves the messages that a compaction kept behind its summary. Tip and context are computed
//! on this chain.

use std::collections::HashSet;

use boswell_model::{EntryKind, Flags, Head, Log, Slot, Symbol, Tree};

use super::compaction::PreservedSegment;

const NONE: u32 = u32::MAX;

/// Whether the client keeps the line in its chain: only the first record of a clean line counts.
pub(super) fn counts(head: &Head) -> bool {
    head.flags.has(Flags::CHAIN) && head.nth == 0 && !head.flags.has(Flags::SALVAGED)
}

/// Whether the entry is a message of the user or the model, which is what a leaf can be.
pub(super) fn is_message(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
    )
}

/// The links between the lines that the client keeps.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    log: &'a Log,
    /// For each symbol the line with that id; of several lines the last.
    place: Vec<u32>,
    /// For each line, whether the client can reach it.
    alive: Vec<bool>,
    /// The parent of each line.
    up: Vec<u32>,
    /// The nearest line of the main chain before each line.
    before: Vec<u32>,
    /// Whether every line belongs to a side chain, as in a subagent's transcript. Then the side
    /// chain is the conversation.
    side: bool,
}

impl<'a> Chain<'a> {
    /// Links the lines. If a compaction preserved messages, the lines before it are unreachable,
    /// except for the preserved ones.
    pub(super) fn of(log: &'a Log, kept: Option<&PreservedSegment>) -> Self {
        let count = log.heads.len();
        let side = !log
            .heads
            .iter()
            .any(|h| counts(h) && !h.flags.has(Flags::SIDECHAIN));
        let mut chain = Chain {
            log,
            place: places(log),
            alive: vec![false; count],
            up: vec![NONE; count],
            before: vec![NONE; count],
            side,
        };
        chain.choose(kept);
        chain.link(kept);
        if let Some(kept) = kept {
            chain.move_kept(kept);
        }
        // Last, so that cycles which the steps before may close are cut too.
        chain.break_circles();
        chain
    }

    /// Decides which lines are reachable, and finds the line before each.
    fn choose(&mut self, kept: Option<&PreservedSegment>) {
        let keeps: HashSet<Slot> = kept.iter().flat_map(|k| k.slots.iter().copied()).collect();
        let is_reached =
            |slot: Slot| kept.is_none_or(|k| slot >= k.boundary || keeps.contains(&slot));
        let mut seen = vec![false; self.place.len()];
        let mut last = NONE;
        for (slot, head) in self.log.entries() {
            set(&mut self.before, slot, last);
            let Some(id) = head.id.filter(|_| counts(head)) else {
                continue;
            };
            let Some(line) = self.line(id).filter(|line| is_reached(*line)) else {
                continue;
            };
            if let Some(alive) = self.alive.get_mut(line.index()) {
                *alive = true;
            }
            // A line that is written again has new content, but other lines continue from its first
            // position.
            let is_new = seen
                .get_mut(id.index())
                .is_some_and(|seen| !std::mem::replace(seen, true));
            if is_new && self.is_main(head) {
                last = line.0;
            }
        }
    }

    /// Links each line to its parent: the named one, else the line before it.
    fn link(&mut self, kept: Option<&PreservedSegment>) {
        let tail = kept
            .and_then(|k| k.slots.last())
            .map_or(NONE, |slot| slot.0);
        for (slot, head) in self.log.entries() {
            let Some(parent) = head
                .parent
                .filter(|_| self.is_alive(slot) && !head.flags.has(Flags::CUT))
            else {
                continue;
            };
            let named = self.line(parent);
            let up = match named {
                Some(parent) if self.is_alive(parent) => parent.0,
                // The compaction left its parent out.
                Some(_) => tail,
                None if self.is_main(head) => {
                    self.before.get(slot.index()).copied().unwrap_or(NONE)
                }
                None => NONE,
            };
            set(&mut self.up, slot, up);
        }
    }

    /// Moves the preserved messages behind the anchor, and the anchor's children behind the
    /// preserved messages.
    fn move_kept(&mut self, kept: &PreservedSegment) {
        let (Some(first), Some(last)) = (kept.slots.first(), kept.slots.last()) else {
            return;
        };
        if let Some(anchor) = kept.anchor {
            for (slot, head) in self.log.entries() {
                if head.parent == Some(anchor) && !head.flags.has(Flags::CUT) && self.is_alive(slot)
                {
                    set(&mut self.up, slot, last.0);
                }
            }
        }
        for pair in kept.slots.windows(2) {
            if let [above, below] = pair {
                set(&mut self.up, *below, above.0);
            }
        }
        let anchor = kept
            .anchor
            .and_then(|name| self.line(name))
            .filter(|slot| self.is_alive(*slot));
        set(&mut self.up, *first, anchor.map_or(NONE, |slot| slot.0));
    }

    /// Cuts every cycle at its first line, which then follows the line before it, like a line
    /// without a parent.
    fn break_circles(&mut self) {
        let circles = |up: &[u32]| Tree::circles(up.iter().map(|up| some(Some(up))));
        let found = circles(&self.up);
        if found.is_empty() {
            return;
        }
        for slot in found {
            let before = self.bridge(slot).map_or(NONE, |slot| slot.0);
            set(&mut self.up, slot, before);
        }
        // The line before may itself be a descendant of the cycle.
        for slot in circles(&self.up) {
            set(&mut self.up, slot, NONE);
        }
    }

    /// Returns the line that counts for an id.
    pub(super) fn line(&self, id: Symbol) -> Option<Slot> {
        some(self.place.get(id.index()))
    }

    /// Whether the client can reach the line.
    pub(super) fn is_alive(&self, slot: Slot) -> bool {
        self.alive.get(slot.index()).copied().unwrap_or(false)
    }

    /// Iterates over the lines of the conversation in file order, without progress lines.
    pub(super) fn in_order(&self) -> impl DoubleEndedIterator<Item = Slot> + '_ {
        let is_said = |slot: &Slot, head: &Head| {
            self.is_alive(*slot) && self.is_main(head) && head.kind != EntryKind::Progress
        };
        self.log
            .entries()
            .filter(move |(slot, head)| is_said(slot, head))
            .map(|(slot, _)| slot)
    }

    /// Whether the line belongs to the conversation itself, not to a side chain.
    pub(super) fn is_main(&self, head: &Head) -> bool {
        self.side || !head.flags.has(Flags::SIDECHAIN)
    }

    /// Returns the parent of a line.
    pub(super) fn parent(&self, slot: Slot) -> Option<Slot> {
        some(self.up.get(slot.index()))
    }

    /// Returns the line of the main chain before this one, from which the client continues when a
    /// parent is missing.
    pub(super) fn bridge(&self, slot: Slot) -> Option<Slot> {
        self.log.head(slot).filter(|head| self.is_main(head))?;
        some(self.before.get(slot.index()))
    }

    /// Returns for every line whether it has a child in the conversation. Progress lines can link
    /// others, but the client does not keep them, so they do not count themselves.
    pub(super) fn has_child(&self) -> Vec<bool> {
        let mut out = vec![false; self.up.len()];
        for slot in self.in_order() {
            for above in self.ancestors(slot).skip(1) {
                if let Some(mark) = out.get_mut(above.index()) {
                    *mark = true;
                }
                // A progress line passes the mark on: it links its child to its own parent.
                if self.log.kind(above) != EntryKind::Progress {
                    break;
                }
            }
        }
        out
    }

    /// Iterates from the line up to its root, starting with the line itself.
    pub(super) fn ancestors(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors((slot.index() < self.up.len()).then_some(slot), |slot| {
            self.parent(*slot)
        })
    }

    /// Returns the path from the root down to the line.
    pub(super) fn path(&self, tip: Slot) -> Vec<Slot> {
        let mut path: Vec<Slot> = self.ancestors(tip).collect();
        path.reverse();
        path
    }

    /// Returns the nearest message among the line and its ancestors.
    pub(super) fn message(&self, slot: Slot) -> Option<Slot> {
        self.ancestors(slot)
            .find(|slot| is_message(self.log.kind(*slot)))
    }
}

/// Returns for each symbol the line with that id; of several lines the last.
pub(super) fn places(log: &Log) -> Vec<u32> {
    let mut place = vec![NONE; log.names.len()];
    for (slot, head) in log.entries().filter(|(_, h)| counts(h)) {
        if let Some(last) = head.id.and_then(|id| place.get_mut(id.index())) {
            *last = slot.0;
        }
    }
    place
}

fn set(list: &mut [u32], slot: Slot, value: u32) {
    if let Some(place) = list.get_mut(slot.index()) {
        *place = value;
    }
}

/// Converts a stored index to a slot; `NONE` becomes `None`.
pub(super) fn some(slot: Option<&u32>) -> Option<Slot> {
    slot.filter(|s| **s != NONE).map(|s| Slot(*s))
}
