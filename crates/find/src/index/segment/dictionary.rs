//! The dictionary of a segment: all terms in one byte string, searched with substring search (SIMD,
//! `memchr`).
//!
//! Every term is between two newlines, and terms are in byte order. So a whole term, a prefix, a
//! suffix and an infix are each found by searching for the stretch with a newline on the fixed
//! sides. Whole terms and prefixes use a binary search over the groups first; suffixes and infixes
//! scan all terms.

use memchr::memmem;

use super::GROUP;
use crate::index::checksummed_pages::number;
use crate::varint;

/// How a stretch of text must match a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is the whole term.
    Whole,
    /// The term begins with it.
    Start,
    /// The term ends with it.
    End,
    /// The term contains it.
    Inside,
}

/// A term of a segment: its number, and its position in the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) index: usize,
    start: usize,
    end: usize,
}

/// All terms of a segment, and the positions of their postings.
#[derive(Debug)]
pub(crate) struct Dictionary {
    /// Number of terms.
    pub(super) terms: usize,
    pub(super) bytes: Vec<u8>,
    /// Offsets of terms, groups and lengths in `bytes`.
    pub(super) text: usize,
    pub(super) groups: usize,
    pub(super) lengths: usize,
}

impl Dictionary {
    /// Calls `sink` with every term that `stretch` fits, in order, until `sink` returns false.
    pub(crate) fn find(&self, stretch: &[u8], fit: Fit, sink: &mut dyn FnMut(Term) -> bool) {
        let text = self.text();
        let mut needle = Vec::with_capacity(stretch.len() + 2);
        if matches!(fit, Fit::Whole | Fit::Start) {
            needle.push(b'\n');
        }
        needle.extend_from_slice(stretch);
        if matches!(fit, Fit::Whole | Fit::End) {
            needle.push(b'\n');
        }
        let skipped = usize::from(matches!(fit, Fit::Whole | Fit::Start));
        let (mut at, until) = match fit {
            Fit::Whole | Fit::Start => self.range(stretch),
            _ => (0, text.len()),
        };
        let finder = memmem::Finder::new(&needle);
        while let Some(step) = text.get(at..until).and_then(|rest| finder.find(rest)) {
            let term = self.term_at(at + step + skipped);
            if !sink(term) || fit == Fit::Whole {
                break;
            }
            // The newline after this term is also the one before the next, so the search continues
            // on it.
            at = term.end;
        }
    }

    /// Calls `sink` with every term, in order.
    pub(crate) fn all(&self, sink: &mut dyn FnMut(&[u8], Term)) {
        let text = self.text();
        // Byte 0 is the newline before the first term.
        let mut start = 1;
        for index in 0..self.terms {
            let Some(len) = text
                .get(start..)
                .and_then(|rest| memchr::memchr(b'\n', rest))
            else {
                break;
            };
            let term = Term {
                index,
                start,
                end: start + len,
            };
            sink(text.get(start..start + len).unwrap_or(b""), term);
            start += len + 1;
        }
    }

    /// Returns the bytes of `term`.
    pub(crate) fn bytes_of(&self, term: Term) -> &[u8] {
        self.text().get(term.start..term.end).unwrap_or(b"")
    }

    fn text(&self) -> &[u8] {
        self.bytes.get(self.text..).unwrap_or(b"")
    }

    /// Returns offset of the first term, offset of the first length and start of the postings of a
    /// group.
    fn group(&self, index: usize) -> Option<[usize; 3]> {
        let at = self.groups + index * 12;
        let row = self
            .bytes
            .get(at..at + 12)
            .filter(|_| at + 12 <= self.lengths)?;
        let part = |from: usize| number(row.get(from..from + 4).unwrap_or(b"")) as usize;
        Some([part(0), part(4), part(8)])
    }

    fn groups(&self) -> usize {
        (self.lengths - self.groups) / 12
    }

    /// Returns the part of the dictionary that can contain terms which begin with `stretch`.
    fn range(&self, stretch: &[u8]) -> (usize, usize) {
        let first = |index: usize| {
            let start = self.group(index).map_or(0, |group| group[0]);
            let rest = self.text().get(start..).unwrap_or(b"");
            rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()))
                .unwrap_or(b"")
        };
        let past = |below: &dyn Fn(&[u8]) -> bool| {
            let (mut low, mut high) = (0, self.groups());
            while low < high {
                let middle = (low + high) / 2;
                if below(first(middle)) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            low
        };
        // The group before the first one that is not smaller can still contain such terms after its
        // first.
        let from = past(&|term| term < stretch).saturating_sub(1);
        let to = past(&|term| term < stretch || term.starts_with(stretch));
        let start = self
            .group(from)
            // One byte earlier, because the needle begins with the newline before the term.
            .map_or(0, |group| group[0].saturating_sub(1));
        let end = self.group(to).map_or(self.text().len(), |group| group[0]);
        (start, end)
    }

    /// Returns the term that contains the byte at `at`; its number is counted from the start of its
    /// group.
    fn term_at(&self, at: usize) -> Term {
        let text = self.text();
        let start =
            memchr::memrchr(b'\n', text.get(..at).unwrap_or(b"")).map_or(0, |newline| newline + 1);
        let end = text
            .get(start..)
            .and_then(|rest| memchr::memchr(b'\n', rest))
            .map_or(text.len(), |len| start + len);
        let (mut low, mut high) = (0, self.groups());
        while low < high {
            let middle = (low + high) / 2;
            if self.group(middle).is_some_and(|group| group[0] <= start) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        let group = low.saturating_sub(1);
        let from = self.group(group).map_or(0, |g| g[0]);
        let before = memchr::memchr_iter(b'\n', text.get(from..start).unwrap_or(b"")).count();
        Term {
            index: group * GROUP + before,
            start,
            end,
        }
    }

    /// Returns start and end of the postings of a term. Only lengths are stored, so those of the
    /// terms before it in the group are added up.
    pub(super) fn postings_of(&self, term: usize) -> Option<(u64, u64)> {
        let [_, lengths, mut at] = self.group(term / GROUP)?;
        let mut reader = varint::Reader::new(self.bytes.get(self.lengths + lengths..self.text)?);
        for _ in 0..term % GROUP {
            at = at.checked_add(usize::try_from(reader.number()?).ok()?)?;
        }
        let len = reader.number()?;
        Some((at as u64, (at as u64).checked_add(len)?))
    }
}
