//! The chain of messages as a client links it: it tolerates missing parents, duplicate ids, cycles
//! and side chains (`isSidechain`) that the tree only reports.
//!
//! The tree of a session shows what the file contains: an entry whose parent is missing is a root.
//! The newest client repairs more: it links such an entry to the line written just before it, keeps
//! only the last of several lines with one id, ignores records that follow another record or
//! garbage on their line, passes over messages that are not well formed, and moves the messages
//! that a compaction kept behind its summary. Lines without an id share the id that is missing. Tip
//! and context are computed on this chain.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use boswell_model::{EntryKind, Flags, Head, Instant, Log, Slot, Symbol, Tree};

use super::client::Client;
use super::compaction::PreservedSegment;
use super::lines::CountedLines;
use super::walk::TimedLines;

pub(super) const NONE: u32 = u32::MAX;
/// The parent of a line that names one which does not exist.
pub(super) const MISSING: u32 = u32::MAX - 1;
/// The longest time in milliseconds between a line whose parent is missing and the line before it,
/// from which the client then continues.
pub(super) const LONGEST_BRIDGE: i64 = 5000;

/// Whether the newest client keeps the line in its chain, and it can be named as a parent: only the
/// first record of a clean line counts.
pub(super) fn counts(head: &Head) -> bool {
    head.flags.has(Flags::CHAIN) && head.nth == 0 && !head.flags.has(Flags::SALVAGED)
}

/// Whether lines of this kind are part of a chain.
pub(super) fn is_chain_kind(kind: EntryKind) -> bool {
    let is_other = matches!(
        kind,
        EntryKind::System | EntryKind::Compaction | EntryKind::Attachment | EntryKind::Progress
    );
    is_other || is_message(kind)
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
    pub(super) log: &'a Log,
    client: Client,
    /// The lines that count.
    lines: CountedLines,
    /// For each symbol the line with that id, and at the end the line without one; of several lines
    /// the last.
    place: Vec<u32>,
    /// The parents of lines that the client skips: their children follow those.
    skipped: HashMap<Symbol, Option<Symbol>>,
    /// For each line, whether the client can reach it.
    alive: Vec<bool>,
    /// For each symbol the first line with that id, and at the end the first without one: where the
    /// client keeps it in its order.
    first: Vec<u32>,
    /// The parent of each line as it is named; [`MISSING`] if there is no such line.
    pub(super) links: Vec<u32>,
    /// The parent of each line, or the line before it if that is missing.
    up: Vec<u32>,
    /// Whether a compaction kept messages.
    keeps: bool,
    /// The lines with a time, of the conversation and of side chains; see [`TimedLines`].
    pub(super) timed: OnceCell<[TimedLines; 2]>,
    /// For each line the nearest message among it and its ancestors: by named parents, and with
    /// bridges.
    pub(super) linked_messages: OnceCell<Vec<Option<Slot>>>,
    pub(super) messages: OnceCell<Vec<Option<Slot>>>,
    /// For each line the newest one before it in the file that is not newer. Needed only where a
    /// parent is missing.
    before: OnceCell<Vec<u32>>,
    /// Whether every line belongs to a side chain, as in a subagent's transcript. Then the side
    /// chain is the conversation.
    side: bool,
}

impl<'a> Chain<'a> {
    /// Links the lines as the newest client does. If a compaction preserved messages, the lines
    /// before it are unreachable, except for the preserved ones.
    pub(super) fn of(log: &'a Log, kept: Option<&PreservedSegment>) -> Self {
        Chain::seen_by(Client::NEWEST, log, CountedLines::of(log), kept)
    }

    /// Links the lines that count as a version of the client does.
    pub(super) fn seen_by(
        client: Client,
        log: &'a Log,
        lines: CountedLines,
        kept: Option<&PreservedSegment>,
    ) -> Self {
        let count = log.heads.len();
        let side = !log
            .entries()
            .any(|(slot, h)| lines.counts(slot) && !h.flags.has(Flags::SIDECHAIN));
        let mut chain = Chain {
            log,
            client,
            place: places(log, &lines),
            first: first_places(log, &lines),
            links: vec![NONE; count],
            keeps: kept.is_some(),
            timed: OnceCell::new(),
            linked_messages: OnceCell::new(),
            messages: OnceCell::new(),
            skipped: lines.skipped(log),
            lines,
            alive: vec![false; count],
            up: vec![NONE; count],
            before: OnceCell::new(),
            side,
        };
        chain.choose(kept);
        chain.link(kept);
        if let Some(kept) = kept {
            chain.break_circles();
            chain.move_kept(kept);
        }
        if client.finds_lost() {
            // Last, so that cycles which the steps before may close are cut too.
            chain.break_circles();
        }
        chain
    }

    /// Decides which lines are reachable.
    fn choose(&mut self, kept: Option<&PreservedSegment>) {
        let keeps: HashSet<Slot> = kept.iter().flat_map(|k| k.slots.iter().copied()).collect();
        // A line that repeats an id takes the place of the first with that id.
        let first = |slot: Slot| self.first_of(slot).unwrap_or(slot);
        let is_reached =
            |slot: Slot| kept.is_none_or(|k| first(slot) >= k.boundary || keeps.contains(&slot));
        let mut alive = vec![false; self.alive.len()];
        for (slot, head) in self.log.entries() {
            if !self.lines.counts(slot) {
                continue;
            }
            let line = some(self.place.get(key(self.log, head)));
            if let Some(line) = line.filter(|line| is_reached(*line)) {
                set_mark(&mut alive, line);
            }
        }
        self.alive = alive;
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
            let Some(parent) = self.not_skipped(parent) else {
                continue;
            };
            let is_later = |line: Slot| line > slot && self.log.kind(line) == EntryKind::Progress;
            let (link, up) = match self.line(parent) {
                // News of progress links only what was written after it.
                Some(line) if self.is_alive(line) && is_later(line) => (MISSING, line.0),
                Some(line) if self.is_alive(line) => (line.0, line.0),
                // The compaction left its parent out.
                Some(_) if is_message(head.kind) => (tail, tail),
                Some(_) => (MISSING, tail),
                None => (MISSING, self.bridge(slot).map_or(NONE, |slot| slot.0)),
            };
            set(&mut self.links, slot, link);
            set(&mut self.up, slot, up);
        }
    }

    /// Returns the nearest parent that is not a skipped line; `None` if that is the root.
    fn not_skipped(&self, parent: Symbol) -> Option<Symbol> {
        let mut at = parent;
        for _ in 0..=self.skipped.len() {
            match self.skipped.get(&at) {
                Some(next) if self.line(at).is_none() => at = (*next)?,
                _ => break,
            }
        }
        Some(at)
    }

    /// Moves the preserved messages behind the anchor, and the anchor's children behind the
    /// preserved messages.
    fn move_kept(&mut self, kept: &PreservedSegment) {
        let (Some(first), Some(last)) = (kept.slots.first(), kept.slots.last()) else {
            return;
        };
        let above = kept.anchor.and_then(|anchor| self.line(anchor));
        if let Some(anchor) = above.filter(|anchor| {
            let up = self.parent(*anchor);
            up.is_some_and(|up| kept.slots.contains(&up))
        }) {
            set(&mut self.up, anchor, NONE);
        }
        self.move_links(kept, *first, *last);
        if let Some(anchor) = kept.anchor {
            for (slot, head) in self.log.entries() {
                if self.follows(head, anchor) && self.is_alive(slot) {
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

    /// Whether a line follows another by the name of its parent. What follows a skipped line
    /// follows its parent instead.
    fn follows(&self, head: &Head, above: Symbol) -> bool {
        let parent = head.parent.filter(|_| !head.flags.has(Flags::CUT));
        parent.and_then(|parent| self.not_skipped(parent)) == Some(above)
    }

    /// Moves the named links in the same way.
    fn move_links(&mut self, kept: &PreservedSegment, first: Slot, last: Slot) {
        let anchor = kept.anchor.and_then(|anchor| self.line(anchor));
        let anchor = anchor.filter(|anchor| self.is_alive(*anchor));
        for (slot, head) in self.log.entries() {
            let is_below = kept.anchor.is_some_and(|anchor| self.follows(head, anchor));
            if is_below && self.is_alive(slot) {
                set(&mut self.links, slot, last.0);
            }
        }
        for pair in kept.slots.windows(2) {
            if let [above, below] = pair {
                set(&mut self.links, *below, above.0);
            }
        }
        set(
            &mut self.links,
            first,
            anchor.map_or(MISSING, |slot| slot.0),
        );
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

    /// Returns the line that counts of those without an id.
    pub(super) fn nameless(&self) -> Option<Slot> {
        some(self.place.last())
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

    /// Whether the line counts for the client.
    pub(super) fn counts(&self, slot: Slot) -> bool {
        self.lines.counts(slot)
    }

    /// Returns the version that links the lines like this.
    pub(super) fn client(&self) -> Client {
        self.client
    }

    /// Whether every line belongs to a side chain.
    pub(super) fn is_side_only(&self) -> bool {
        self.side
    }

    /// Whether the line belongs to the conversation itself, not to a side chain.
    pub(super) fn is_main(&self, head: &Head) -> bool {
        self.side || !head.flags.has(Flags::SIDECHAIN)
    }

    /// Returns the parent of a line.
    pub(super) fn parent(&self, slot: Slot) -> Option<Slot> {
        some(self.up.get(slot.index()))
    }

    /// Returns the line from which the client continues when the parent of this one is missing: of
    /// the lines before it in the file the newest that is not newer, if it was written within the
    /// five seconds before.
    pub(super) fn bridge(&self, slot: Slot) -> Option<Slot> {
        let head = self.log.head(slot)?;
        if !self.is_main(head) || !self.client.finds_lost() {
            return None;
        }
        if self.side {
            // No client resumes such a file; a reader wants all of it.
            return self.line_before(slot);
        }
        let before = self.before.get_or_init(|| self.lines_before());
        let before = some(before.get(slot.index()))?;
        let apart = millis(head)?.checked_sub(millis(self.log.head(before)?)?)?;
        (apart <= LONGEST_BRIDGE).then_some(before)
    }

    /// Returns the line of the main chain before this one in the file.
    pub(super) fn line_before(&self, slot: Slot) -> Option<Slot> {
        let is_one = |slot: &Slot| {
            let head = self.log.head(*slot);
            self.is_alive(*slot) && head.is_some_and(|head| self.is_main(head))
        };
        (0..slot.0).rev().map(Slot).find(is_one)
    }

    fn lines_before(&self) -> Vec<u32> {
        let mut before = vec![NONE; self.up.len()];
        let mut by_time: BTreeSet<(i64, u32)> = BTreeSet::new();
        for (slot, head) in self.log.entries() {
            let Some(time) = millis(head).filter(|_| self.is_alive(slot) && self.is_main(head))
            else {
                continue;
            };
            let own = (time, slot.0);
            if let Some((_, line)) = by_time.range(..own).next_back() {
                set(&mut before, slot, *line);
            }
            by_time.insert(own);
        }
        before
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

    /// Iterates from the line up to its root, starting with the line itself. In a cycle, which only
    /// the chain of an old client can have, it ends after as many steps as there are lines.
    pub(super) fn ancestors(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        let first = (slot.index() < self.up.len()).then_some(slot);
        std::iter::successors(first, |slot| self.parent(*slot)).take(self.up.len())
    }

    /// Returns the parent that a line names, if it exists.
    pub(super) fn linked(&self, slot: Slot) -> Option<Slot> {
        some(self.links.get(slot.index())).filter(|slot| slot.0 != MISSING)
    }

    /// Whether a compaction kept messages.
    pub(super) fn keeps_messages(&self) -> bool {
        self.keeps
    }

    /// Returns the first line with the id of a line.
    pub(super) fn first_of(&self, slot: Slot) -> Option<Slot> {
        some(self.first.get(key(self.log, self.log.head(slot)?)))
    }

    /// Returns the path from the root down to the line by the parents of [`Chain::parent`].
    pub(super) fn path_of_parents(&self, tip: Slot) -> Vec<Slot> {
        let mut seen = vec![false; self.up.len()];
        let is_new = |slot: &Slot| {
            let mark = seen.get_mut(slot.index());
            mark.is_some_and(|mark| !std::mem::replace(mark, true))
        };
        let mut path: Vec<Slot> = self.ancestors(tip).take_while(is_new).collect();
        path.reverse();
        path
    }
}

/// Returns for each symbol the first line with that id, and at the end the first without one.
fn first_places(log: &Log, lines: &CountedLines) -> Vec<u32> {
    let mut place = vec![NONE; log.names.len() + 1];
    for (slot, head) in log.entries().filter(|(slot, _)| lines.counts(*slot)) {
        if let Some(first) = place.get_mut(key(log, head)).filter(|it| **it == NONE) {
            *first = slot.0;
        }
    }
    place
}

/// Returns for each symbol the line with that id, and at the end the line without one; of several
/// lines the last.
pub(super) fn places(log: &Log, lines: &CountedLines) -> Vec<u32> {
    let mut place = vec![NONE; log.names.len() + 1];
    for (slot, head) in log.entries().filter(|(slot, _)| lines.counts(*slot)) {
        if let Some(last) = place.get_mut(key(log, head)) {
            *last = slot.0;
        }
    }
    place
}

/// The place of a line in lists by id.
fn key(log: &Log, head: &Head) -> usize {
    head.id.map_or(log.names.len(), Symbol::index)
}

fn set(list: &mut [u32], slot: Slot, value: u32) {
    if let Some(place) = list.get_mut(slot.index()) {
        *place = value;
    }
}

pub(super) fn set_mark(list: &mut [bool], slot: Slot) {
    if let Some(mark) = list.get_mut(slot.index()) {
        *mark = true;
    }
}

pub(super) fn millis(head: &Head) -> Option<i64> {
    head.time.map(|time| Instant::from(time).millis())
}

/// Converts a stored index to a slot; `NONE` becomes `None`.
pub(super) fn some(slot: Option<&u32>) -> Option<Slot> {
    slot.filter(|s| **s != NONE).map(|s| Slot(*s))
}
