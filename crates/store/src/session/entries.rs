//! Iterates over entries and reads each one on demand.
//!
//! Entries come in file order (the order of insertion), of one branch, or after an entry.

use boswell_model::{EntryId, Result, Slot};

use super::{Entry, Session};

/// Entries of a session, read one by one. See [`Session::entries`].
#[derive(Debug, Clone)]
#[must_use = "entries are read when the iterator is advanced"]
pub struct Entries<'s> {
    session: &'s Session,
    slots: std::vec::IntoIter<Slot>,
}

impl Session {
    /// Iterates over every entry in file order, including the header if the format has one;
    /// `.rev()` begins at the end.
    ///
    /// A record is read when the iterator reaches it, so that memory is bounded by one entry, not
    /// by the session.
    pub fn entries(&self) -> Entries<'_> {
        self.entries_of(self.log().slots().collect())
    }

    /// Iterates over the entries of the current branch, from its root to the tip.
    ///
    /// # Errors
    ///
    /// An I/O error if the records that decide the branch cannot be read.
    pub fn branch_entries(&self) -> Result<Entries<'_>> {
        Ok(self.entries_of(self.branch(self.tip()?)?))
    }

    /// Returns a page of entries in file order: up to `limit` entries after the entry `after`, or
    /// the first ones.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no entry `after`; an I/O error if an entry cannot be read.
    pub fn entries_after(&self, after: Option<&EntryId>, limit: usize) -> Result<Vec<Entry>> {
        let passed = match after {
            Some(entry) => self.find(entry)?.index() + 1,
            None => 0,
        };
        let slots = self.log().slots().skip(passed).take(limit);
        self.entries_of(slots.collect()).collect()
    }

    /// Returns a page of entries from the end: up to `limit` entries before the entry `before`, or
    /// the last ones, the last entry first. A caller that shows the end of a session reads no more
    /// than that.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no entry `before`; an I/O error if an entry cannot be read.
    pub fn entries_before(&self, before: Option<&EntryId>, limit: usize) -> Result<Vec<Entry>> {
        let slots = self.log().slots();
        let end = match before {
            Some(entry) => self.find(entry)?.index(),
            None => slots.len(),
        };
        let slots = slots.take(end).rev().take(limit);
        self.entries_of(slots.collect()).collect()
    }

    fn entries_of(&self, slots: Vec<Slot>) -> Entries<'_> {
        Entries {
            session: self,
            slots: slots.into_iter(),
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.slots.next().map(|slot| self.session.entry(slot))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }

    // Skipped entries are not read.
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.slots.nth(n).map(|slot| self.session.entry(slot))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.slots.next_back().map(|slot| self.session.entry(slot))
    }
}

impl ExactSizeIterator for Entries<'_> {}
