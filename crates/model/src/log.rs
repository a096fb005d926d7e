//! A log in memory: the heads of its records, without payloads, and the gaps that are damage.
//!
//! Payloads stay in the file and are read by position when they are needed, so that a log of a
//! gigabyte takes some megabytes of memory. Entries are named by their [`Slot`], the index of the
//! head.

use std::borrow::Cow;

use crate::{EntryKind, Head, Interner, Slot, Span, Symbol};

/// The heads of a session's records in file order.
#[derive(Debug, Default, Clone)]
pub struct Log {
    /// One head per record.
    pub heads: Vec<Head>,
    /// The interned ids and type words of the heads.
    pub names: Interner,
    /// How many of the heads, the first ones, are records of other logs that this one continues.
    /// They have no line number here, and an id that names their log and line.
    pub inherited: usize,
    /// Gaps other than line ends and white space: damage, or an append in progress.
    pub gaps: Vec<Span>,
    /// Number of lines of the file.
    pub lines: u64,
    /// Number of bytes of the file.
    pub bytes: u64,
    /// Whether the last byte is a newline, or the file is empty. If not, an append must begin with
    /// a newline.
    pub ended: bool,
    /// Whether every byte was read; false when only the two ends of a large file were.
    pub whole: bool,
}

impl Log {
    /// Returns the head at `slot`.
    pub fn head(&self, slot: Slot) -> Option<&Head> {
        self.heads.get(slot.index())
    }

    /// Iterates over all slots in file order.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.heads.len()).unwrap_or(u32::MAX)).map(Slot)
    }

    /// Iterates over all slots with their heads in file order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Slot, &Head)> {
        self.slots().zip(&self.heads)
    }

    /// Returns the kind of the entry at `slot`.
    pub fn kind(&self, slot: Slot) -> EntryKind {
        self.head(slot).map_or(EntryKind::Unknown, |h| h.kind)
    }

    /// Returns the label of the entry in output: its id, else `#line`, else `#line.n` for the n-th
    /// record of a line.
    pub fn label(&self, slot: Slot) -> Cow<'_, str> {
        match self.head(slot) {
            Some(Head { id: Some(id), .. }) => Cow::Borrowed(self.names.text(*id)),
            Some(head) if head.nth > 0 => Cow::Owned(format!("#{}.{}", head.line, head.nth + 1)),
            Some(head) => Cow::Owned(format!("#{}", head.line)),
            None => Cow::Borrowed("#?"),
        }
    }

    /// Returns the type word that the agent gave the entry; empty if there is none.
    pub fn word(&self, slot: Slot) -> &str {
        self.head(slot)
            .and_then(|h| h.word)
            .map_or("", |w| self.names.text(w))
    }

    /// Finds the entry with this label: an id (the last of duplicates), `#line`, or `#line.n`.
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

    /// Builds a table from each id to the first and the last entry with that id.
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

/// A table from ids to entries. Built once, because `Log` itself has no index by id.
#[derive(Debug)]
pub struct ById {
    /// First and last slot by index of the symbol; `u32::MAX` if no entry has that id.
    slots: Vec<(u32, u32)>,
}

impl ById {
    /// Returns the first entry with that id.
    pub fn first(&self, id: Symbol) -> Option<Slot> {
        self.slots
            .get(id.index())
            .filter(|s| s.0 != u32::MAX)
            .map(|s| Slot(s.0))
    }

    /// Returns the last entry with that id.
    pub fn last(&self, id: Symbol) -> Option<Slot> {
        self.slots
            .get(id.index())
            .filter(|s| s.1 != u32::MAX)
            .map(|s| Slot(s.1))
    }
}
