//! A log in memory: heads of its records, and what stands between them.

use std::borrow::Cow;

use crate::{EntryKind, Head, Interner, Slot, Span, Symbol};

/// The heads of a session's records in file order. A session of a gigabyte costs some megabytes.
#[derive(Debug, Default, Clone)]
pub struct Log {
    /// One head a record.
    pub heads: Vec<Head>,
    /// Their ids and words.
    pub names: Interner,
    /// Gaps that are more than line ends and white space.
    pub gaps: Vec<Span>,
    /// How many lines the file has.
    pub lines: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Whether the last byte is a newline (or there is none).
    pub ended: bool,
    /// Whether every byte was looked at; false when only the ends of a large file were.
    pub whole: bool,
}

impl Log {
    /// The head at `slot`.
    pub fn head(&self, slot: Slot) -> Option<&Head> {
        self.heads.get(slot.index())
    }

    /// Every slot, in file order.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.heads.len()).unwrap_or(u32::MAX)).map(Slot)
    }

    /// Every slot with its head, in file order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Slot, &Head)> {
        self.slots().zip(&self.heads)
    }

    /// What kind of entry stands at `slot`.
    pub fn kind(&self, slot: Slot) -> EntryKind {
        self.head(slot).map_or(EntryKind::Unknown, |h| h.kind)
    }

    /// How people name the entry: its id, else `#line`, else `#line.n` for the
    /// n-th record of a line.
    pub fn label(&self, slot: Slot) -> Cow<'_, str> {
        match self.head(slot) {
            Some(Head { id: Some(id), .. }) => Cow::Borrowed(self.names.text(*id)),
            Some(head) if head.nth > 0 => Cow::Owned(format!("#{}.{}", head.line, head.nth + 1)),
            Some(head) => Cow::Owned(format!("#{}", head.line)),
            None => Cow::Borrowed("#?"),
        }
    }

    /// The type word that the agent gave the entry.
    pub fn word(&self, slot: Slot) -> &str {
        self.head(slot)
            .and_then(|h| h.word)
            .map_or("", |w| self.names.text(w))
    }

    /// The entry that `label` names: an id (of doubled ones the last), `#line`, or `#line.n`.
    pub fn find(&self, label: &str) -> Option<Slot> {
        if let Some(name) = self.names.find(label)
            && let Some((slot, _)) = self.entries().rev().find(|(_, h)| h.id == Some(name))
        {
            return Some(slot);
        }
        let place = label.strip_prefix('#')?;
        let (line, nth) = place.split_once('.').unwrap_or((place, "1"));
        let (line, nth) = (
            line.parse::<u32>().ok()?,
            nth.parse::<u16>().ok()?.checked_sub(1)?,
        );
        self.entries()
            .find(|(_, h)| h.line == line && h.nth == nth)
            .map(|(slot, _)| slot)
    }

    /// For each name the slots that bear it as their id: first and last one.
    pub fn by_id(&self) -> ById {
        let mut slots = vec![(u32::MAX, u32::MAX); self.names.len()];
        for (slot, head) in self.entries() {
            if let Some(place) = head.id.and_then(|id| slots.get_mut(id.index())) {
                if place.0 == u32::MAX {
                    place.0 = slot.0;
                }
                place.1 = slot.0;
            }
        }
        ById { slots }
    }
}

/// Where each id stands.
#[derive(Debug)]
pub struct ById {
    slots: Vec<(u32, u32)>,
}

impl ById {
    /// The first entry with that id.
    pub fn first(&self, id: Symbol) -> Option<Slot> {
        self.slots
            .get(id.index())
            .filter(|s| s.0 != u32::MAX)
            .map(|s| Slot(s.0))
    }

    /// The last entry with that id.
    pub fn last(&self, id: Symbol) -> Option<Slot> {
        self.slots
            .get(id.index())
            .filter(|s| s.1 != u32::MAX)
            .map(|s| Slot(s.1))
    }
}
