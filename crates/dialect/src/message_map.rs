//! Replays a log of operations: which messages remain, in which order, and who follows whom.
//!
//! Lines of such a log add messages, replace earlier ones by id, go back, or replace everything.
//! Messages that no longer count keep their place in the tree as abandoned branches, so that they
//! can still be found.

use std::collections::HashMap;

use boswell_model::{Log, Slot, Symbol};

/// What a record does to the messages before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation<'l> {
    /// Nothing: bookkeeping.
    None,
    /// Adds a message, or replaces the one with the same id at its place.
    Put(Option<Symbol>),
    /// Drops the message with this id and all after it; everything if no message has that id.
    RewindTo(Option<Symbol>),
    /// Drops the last turns.
    Undo(usize),
    /// Drops everything.
    Clear,
    /// Replaces the first messages by this one.
    Summarise(usize),
    /// Replaces everything by the messages that the record contains.
    Snapshot(Vec<Contained<'l>>),
}

/// What begins with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// A turn, with the message of the user.
    Turn,
    /// Another message.
    Message,
    /// Nothing: it goes on with the message before it.
    Nothing,
}

/// A message inside another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contained<'l> {
    /// Its id; empty if it has none.
    pub(crate) id: &'l str,
    /// Whether it says something that may be nowhere else; false for text that the agent injects.
    pub(crate) speaks: bool,
}

/// A message that remains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiveMessage {
    /// The record that contains it.
    pub(crate) slot: Slot,
    /// Its place among the messages of that record, if it is a snapshot.
    pub(crate) part: Option<u32>,
    /// The record that shows it: for a message of a snapshot, the earlier record with its id;
    /// `None` for what the agent injects, which no record of its own shows.
    pub(crate) shown: Option<Slot>,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// The remaining messages, in order.
    pub(crate) live: Vec<LiveMessage>,
    /// The parent of each record.
    pub(crate) parents: Vec<Option<Slot>>,
    /// Records that a later one replaced at the same place.
    pub(crate) superseded: Vec<Slot>,
    /// Snapshots with messages that no earlier record has.
    pub(crate) telling: Vec<Slot>,
    /// Snapshots that only repeat earlier messages.
    pub(crate) repeating: Vec<Slot>,
    /// The place of each id among the remaining messages.
    places: HashMap<Symbol, usize>,
    /// The last record with an id, whether it still counts or not.
    known: HashMap<Symbol, Slot>,
}

impl Replayed {
    /// Returns the record where the conversation stands.
    pub(crate) fn tip(&self) -> Option<Slot> {
        self.live.iter().rev().find_map(|message| message.shown)
    }
}

/// Replays the first `count` records of a log. `begins` says what begins with a record: records
/// that begin nothing go on with the message before them.
pub(crate) fn replay<'l>(
    log: &'l Log,
    count: usize,
    operation: impl Fn(&'l Log, Slot) -> Operation<'l>,
    begins: impl Fn(Slot) -> Beginning,
) -> Replayed {
    let mut out = Replayed::default();
    for slot in log.slots().take(count) {
        let parent = out.tip();
        out.parents.push(parent);
        match operation(log, slot) {
            Operation::None => {}
            Operation::Put(id) => out.put(slot, id),
            Operation::RewindTo(id) => {
                let place = id.and_then(|id| out.places.get(&id).copied());
                out.truncate(place.unwrap_or(0));
            }
            Operation::Undo(turns) => out.undo(turns, &begins),
            Operation::Clear => out.truncate(0),
            Operation::Summarise(first) => out.summarise(slot, first, &begins),
            Operation::Snapshot(messages) => out.snapshot(log, slot, &messages),
        }
    }
    out
}

impl Replayed {
    fn put(&mut self, slot: Slot, id: Option<Symbol>) {
        let message = LiveMessage {
            slot,
            part: None,
            shown: Some(slot),
        };
        let Some(id) = id else {
            self.live.push(message);
            return;
        };
        let earlier = self.known.insert(id, slot);
        let place = *self.places.entry(id).or_insert(self.live.len());
        let Some(replaced) = self.live.get_mut(place) else {
            self.live.push(message);
            return;
        };
        let is_same = earlier.is_some() && replaced.shown == earlier;
        *replaced = message;
        if let Some(earlier) = earlier.filter(|_| is_same) {
            self.supersede(earlier, slot, place);
        }
    }

    /// Gives a record the links of the one that it replaces.
    fn supersede(&mut self, earlier: Slot, slot: Slot, place: usize) {
        self.superseded.push(earlier);
        let parent = self.parents.get(earlier.index()).copied().flatten();
        if let Some(own) = self.parents.get_mut(slot.index()) {
            *own = parent;
        }
        let next = self.live.get(place + 1).and_then(|it| it.shown);
        if let Some(parent) = next.and_then(|next| self.parents.get_mut(next.index()))
            && *parent == Some(earlier)
        {
            *parent = Some(slot);
        }
    }

    fn truncate(&mut self, length: usize) {
        self.live.truncate(length);
        self.places.retain(|_, place| *place < length);
    }

    fn undo(&mut self, turns: usize, begins: &impl Fn(Slot) -> Beginning) {
        let prompts = self.live.iter().enumerate().rev();
        let mut prompts = prompts.filter(|(_, it)| begins(it.slot) == Beginning::Turn);
        if let Some((place, _)) = turns.checked_sub(1).and_then(|nth| prompts.nth(nth)) {
            self.truncate(place);
        } else if turns > 0 {
            self.truncate(0);
        }
    }

    fn summarise(&mut self, slot: Slot, first: usize, begins: &impl Fn(Slot) -> Beginning) {
        let records = self.live.iter().enumerate();
        let mut messages = records.filter(|(_, it)| begins(it.slot) != Beginning::Nothing);
        let end = messages
            .nth(first)
            .map_or(self.live.len(), |(place, _)| place);
        let kept = self.live.split_off(end);
        let summary = LiveMessage {
            slot,
            part: None,
            shown: Some(slot),
        };
        self.live = std::iter::once(summary).chain(kept).collect();
        // Messages are found by id only in logs that replace them, which have snapshots instead.
        self.places.clear();
    }

    fn snapshot(&mut self, log: &Log, slot: Slot, messages: &[Contained<'_>]) {
        let known = |id: &str| {
            let id = log.names.find(id)?;
            self.known.get(&id).copied().map(|slot| (id, slot))
        };
        let tells = messages
            .iter()
            .any(|it| it.speaks && known(it.id).is_none());
        let mut live = Vec::with_capacity(messages.len());
        let mut places = HashMap::new();
        for (part, message) in (0..).zip(messages) {
            let earlier = known(message.id).map(|(_, slot)| slot);
            if let Some(id) = log.names.find(message.id) {
                places.insert(id, live.len());
            }
            live.push(LiveMessage {
                slot,
                part: Some(part),
                shown: if tells { Some(slot) } else { earlier },
            });
        }
        (self.live, self.places) = (live, places);
        match tells {
            true => self.telling.push(slot),
            false => self.repeating.push(slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::{EntryKind, Head, Span, SpanKind};

    use super::*;

    /// Builds a log from words: `+a` adds or replaces `a`, `<a` goes back to it, `=ab` is a
    /// snapshot, `u2` an undo, `s2` a summary of the first two.
    fn log(words: &[&str]) -> Log {
        let mut log = Log::default();
        for (at, word) in words.iter().enumerate() {
            let span = Span {
                at: at as u64,
                len: 1,
                line: at as u64 + 1,
                kind: SpanKind::Record {
                    nth: 0,
                    bad_utf8: false,
                    salvaged: false,
                },
            };
            let mut head = Head::of(&span);
            head.word = log.names.intern(word);
            if let Some(id) = word.strip_prefix('+') {
                (head.id, head.kind) = (log.names.intern(id), EntryKind::User);
            }
            log.heads.push(head);
        }
        log
    }

    fn operation(log: &Log, slot: Slot) -> Operation<'_> {
        let (word, rest) = log.word(slot).split_at(1);
        let count = || rest.parse().unwrap_or(0);
        match word {
            "+" => Operation::Put(log.head(slot).and_then(|head| head.id)),
            "<" => Operation::RewindTo(log.names.find(rest)),
            "u" => Operation::Undo(count()),
            "s" => Operation::Summarise(count()),
            "=" => Operation::Snapshot(
                (0..rest.len())
                    .filter_map(|at| rest.get(at..=at))
                    .map(|id| Contained { id, speaks: true })
                    .collect(),
            ),
            _ => Operation::None,
        }
    }

    fn shown(words: &[&str]) -> (Vec<u32>, Vec<Option<u32>>) {
        let log = log(words);
        let out = replay(&log, usize::MAX, operation, |_| Beginning::Turn);
        let live = out.live.iter().filter_map(|it| it.shown).map(|it| it.0);
        let live = live.collect();
        let parents = out.parents.iter().map(|it| it.map(|slot| slot.0)).collect();
        (live, parents)
    }

    #[test]
    fn a_repeated_id_replaces_at_the_place_of_the_first() {
        let (live, parents) = shown(&["+a", "+b", "+c", "+b"]);
        assert_eq!(live, [0, 3, 2]);
        assert_eq!(parents, [None, Some(0), Some(3), Some(0)]);
    }

    #[test]
    fn going_back_leaves_a_branch_and_an_unknown_id_drops_everything() {
        let (live, parents) = shown(&["+a", "+b", "<b", "+c"]);
        assert_eq!((live, parents[3]), (vec![0, 3], Some(0)));
        assert_eq!(shown(&["+a", "+b", "<z", "+c"]).0, [3]);
        assert_eq!(shown(&["+a", "+b", "+c", "u2"]).0, [0]);
        assert_eq!(shown(&["+a", "+b", "u9"]).0, [] as [u32; 0]);
        assert_eq!(shown(&["+a", "+b", "+c", "s2", "+d"]).0, [3, 2, 4]);
    }

    #[test]
    fn a_snapshot_of_known_messages_shows_them_where_they_are() {
        let (live, parents) = shown(&["+a", "+b", "=ab", "+c"]);
        assert_eq!((live, parents[3]), (vec![0, 1, 3], Some(1)));
        let (live, parents) = shown(&["+a", "+b", "=a", "+c"]);
        assert_eq!((live, parents[3]), (vec![0, 3], Some(0)), "b is abandoned");
        let (live, parents) = shown(&["+a", "+b", "=zb", "+c"]);
        assert_eq!((live, parents[3]), (vec![2, 2, 3], Some(2)), "z is new");
    }
}
