//! The way of a client through the chain: parents as they are named, and the bridges over those
//! that are missing.

use std::cmp::Reverse;

use boswell_model::{EntryKind, Flags, Slot};

use super::chain::{Chain, LONGEST_BRIDGE, MISSING, NONE, is_message, millis, set_mark};
use super::nearest::nearest;

impl Chain<'_> {
    /// Iterates from the line up to its root by named parents alone.
    fn linked_ancestors(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        let first = (slot.index() < self.links.len()).then_some(slot);
        std::iter::successors(first, |slot| self.linked(*slot)).take(self.links.len())
    }

    /// Returns the nearest message among the line and its ancestors by named parents.
    pub(super) fn linked_message(&self, slot: Slot) -> Option<Slot> {
        let messages = self.linked_messages.get_or_init(|| {
            let parent = |slot: Slot| self.linked(slot);
            nearest(self.links.len(), parent, |slot| self.as_message(slot))
        });
        messages.get(slot.index()).copied().flatten()
    }

    /// Returns the nearest message among the line and its ancestors.
    pub(super) fn message(&self, slot: Slot) -> Option<Slot> {
        let messages = self.messages.get_or_init(|| {
            let parent = |slot: Slot| self.parent(slot);
            nearest(self.links.len(), parent, |slot| self.as_message(slot))
        });
        messages.get(slot.index()).copied().flatten()
    }

    fn as_message(&self, slot: Slot) -> Option<Slot> {
        is_message(self.log.kind(slot)).then_some(slot)
    }

    /// Whether a line descends from another by named parents.
    pub(super) fn descends(&self, slot: Slot, from: Slot) -> bool {
        self.linked_ancestors(slot).any(|above| above == from)
    }

    /// Returns for each line whether it descends from a line by named parents, or is that line.
    pub(super) fn lines_below(&self, from: Slot) -> Vec<bool> {
        let is_it = |slot: Slot| (slot == from).then_some(());
        let below = nearest(self.links.len(), |slot| self.linked(slot), is_it);
        below.into_iter().map(|it| it.is_some()).collect()
    }

    /// Iterates over the lines that the client keeps, also those of side chains.
    pub(super) fn rows(&self) -> impl Iterator<Item = Slot> + '_ {
        let is_row =
            |slot: &Slot| self.is_alive(*slot) && self.log.kind(*slot) != EntryKind::Progress;
        self.log.slots().filter(is_row)
    }

    /// Returns the path from the root down to the line.
    ///
    /// Where a parent is missing, or is on the path already, new clients continue at the newest
    /// line of the file that is not newer and not on the path, if it was written within the five
    /// seconds before.
    pub(super) fn path(&self, tip: Slot) -> Vec<Slot> {
        if !self.client().finds_lost() || self.is_side_only() {
            return self.path_of_parents(tip);
        }
        let mut seen = vec![false; self.links.len()];
        let mut path = Vec::new();
        let mut bridges: [Option<Vec<u32>>; 2] = [None, None];
        // The last line that is not progress: the client does not keep that.
        let mut from = tip;
        let mut next = Some(tip).filter(|slot| slot.index() < seen.len());
        while let Some(slot) = next {
            set_mark(&mut seen, slot);
            path.push(slot);
            if self.log.kind(slot) != EntryKind::Progress {
                from = slot;
            }
            let is_seen = |slot: Slot| seen.get(slot.index()) == Some(&true);
            next = match self.links.get(slot.index()).copied() {
                None | Some(NONE) => None,
                Some(above) if above != MISSING && !is_seen(Slot(above)) => Some(Slot(above)),
                _ => self.bridge_around(from, &seen, &mut bridges),
            };
        }
        path.reverse();
        path
    }

    /// Returns the line from which a path continues whose next line is missing or on it already.
    fn bridge_around(
        &self,
        slot: Slot,
        seen: &[bool],
        bridges: &mut [Option<Vec<u32>>; 2],
    ) -> Option<Slot> {
        let head = self.log.head(slot)?;
        let side = usize::from(head.flags.has(Flags::SIDECHAIN));
        let timed = self.timed.get_or_init(|| self.timed_lines()).get(side)?;
        let before = bridges.get_mut(side)?.get_or_insert_with(|| timed.all());
        timed.newest_before(millis(head)?, seen, before)
    }

    fn timed_lines(&self) -> [TimedLines; 2] {
        let mut lines = [TimedLines::default(), TimedLines::default()];
        for slot in self.rows() {
            let Some((time, head)) = self.log.head(slot).and_then(|it| Some((millis(it)?, it)))
            else {
                continue;
            };
            let side = usize::from(head.flags.has(Flags::SIDECHAIN));
            let place = self.first_of(slot).unwrap_or(slot);
            if let Some(lines) = lines.get_mut(side) {
                lines.0.push((time, Reverse(place.0), slot));
            }
        }
        lines.iter_mut().for_each(|lines| lines.0.sort_unstable());
        lines
    }
}

/// Lines by time; of those with one time the first of the file is last.
#[derive(Debug, Default)]
pub(super) struct TimedLines(Vec<(i64, Reverse<u32>, Slot)>);

impl TimedLines {
    /// Returns the first candidates of [`TimedLines::newest_before`]: each line itself.
    fn all(&self) -> Vec<u32> {
        (0..u32::try_from(self.0.len()).unwrap_or(NONE)).collect()
    }

    /// Returns the newest line that is not newer than a time and was not seen, if it was written
    /// within the five seconds before. `before` leads from lines that were seen to the next
    /// candidate, so that no line is passed twice.
    fn newest_before(&self, time: i64, seen: &[bool], before: &mut [u32]) -> Option<Slot> {
        let mut passed = Vec::new();
        let mut at = self
            .0
            .partition_point(|line| line.0 <= time)
            .checked_sub(1)?;
        let found = loop {
            let (own, _, slot) = self.0.get(at)?;
            let next = usize::try_from(*before.get(at)?).ok()?;
            if next != at {
                passed.push(at);
                at = next;
            } else if seen.get(slot.index()) == Some(&true) {
                passed.push(at);
                match at.checked_sub(1) {
                    Some(next) => at = next,
                    None => return None,
                }
            } else {
                break (at, *own, *slot);
            }
        };
        for passed in passed {
            if let Some(place) = before.get_mut(passed) {
                *place = u32::try_from(found.0).unwrap_or(NONE);
            }
        }
        (time.checked_sub(found.1)? <= LONGEST_BRIDGE).then_some(found.2)
    }
}
