//! Opens a segment and reads its parts when they are needed.
//!
//! Opening reads only the header. Block rows are read on first use and stay in memory; postings
//! are read page by page. A dictionary belongs to the caller that reads it: a search needs those of
//! all segments one after the other, and memory that is used again costs no page faults. A program
//! that searches with every keystroke keeps them instead ([`Segment::keep`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use boswell_model::Result;

use super::HEADER;
use super::dictionary::Dictionary;
use super::postings::Postings;
use super::row::{ROW, Rows};
use crate::index::checksummed_pages::{Paged, damaged, number};

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pages: Paged,
    blocks: u32,
    terms: usize,
    /// Offsets in the body: start of groups, lengths, dictionary and postings, then the end of the
    /// postings.
    places: [u64; 5],
    rows: OnceLock<Rows>,
    /// The terms, once they were read to be kept.
    dictionary: OnceLock<Dictionary>,
    hurt: AtomicBool,
}

impl Segment {
    pub(crate) fn open(number: u64, pages: Paged) -> Result<Segment> {
        let at = pages
            .len()
            .checked_sub(HEADER as u64)
            .ok_or_else(|| damaged("a segment is too short"))?;
        let (bytes, from) = pages.read(at, pages.len())?;
        let value = |index: usize| number_at(&bytes, from + index * 8);
        let (blocks, terms) = (value(0), value(1));
        let mut places = [blocks
            .checked_mul(ROW as u64)
            .ok_or_else(|| damaged("a segment has too many blocks"))?; 5];
        for index in 0..4 {
            places[index + 1] = places[index].saturating_add(value(index + 2));
        }
        if places[4] != at || value(4) == 0 {
            return Err(damaged("a segment does not have the length that it states"));
        }
        Ok(Segment {
            number,
            pages,
            blocks: u32::try_from(blocks).map_err(|_| damaged("a segment has too many blocks"))?,
            terms: usize::try_from(terms).unwrap_or(0),
            places,
            rows: OnceLock::new(),
            dictionary: OnceLock::new(),
            hurt: AtomicBool::new(false),
        })
    }

    pub(crate) fn seal(&self) -> u32 {
        self.pages.seal()
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Returns whether a read of this segment found damage; then searches treat its sources as not
    /// indexed.
    pub(crate) fn is_hurt(&self) -> bool {
        self.hurt.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_hurt(&self) {
        self.hurt.store(true, Ordering::Relaxed);
    }

    /// Verifies the checksums of the whole body.
    pub(crate) fn check(&self) -> Result<()> {
        self.pages.read(0, self.pages.len()).map(|_| ())
    }

    /// Returns the rows of all blocks.
    pub(crate) fn rows(&self) -> Result<&Rows> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        // The rows are at the start of the body.
        let (bytes, _) = self.pages.read(0, self.places[0])?;
        Ok(self.rows.get_or_init(|| Rows::of(bytes, self.blocks)))
    }

    /// Reads rows and terms, and keeps them for all searches that follow.
    pub(crate) fn keep(&self) -> Result<()> {
        self.rows()?;
        if self.dictionary.get().is_none() {
            let dictionary = self.dictionary()?;
            self.dictionary.get_or_init(|| dictionary);
        }
        Ok(())
    }

    /// Returns how many bytes [`Segment::keep`] keeps.
    pub(crate) fn kept_size(&self) -> u64 {
        self.places[3]
    }

    /// Returns all terms, if they were kept.
    pub(crate) fn kept_dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.get()
    }

    /// Reads all terms.
    pub(crate) fn dictionary(&self) -> Result<Dictionary> {
        let (bytes, groups) = self.pages.read(self.places[0], self.places[3])?;
        let part = |index: usize| {
            groups + usize::try_from(self.places[index] - self.places[0]).unwrap_or(0)
        };
        let end = part(3);
        let mut bytes = bytes;
        bytes.truncate(end);
        Ok(Dictionary {
            terms: self.terms,
            text: part(2),
            lengths: part(1),
            groups,
            bytes,
        })
    }

    /// Returns a reader of postings; asking for terms in order reads each page once.
    pub(crate) fn postings<'s>(&'s self, dictionary: &'s Dictionary) -> Postings<'s> {
        let place = self.places[3]..self.places[4];
        Postings::new(&self.pages, dictionary, place, self.blocks)
    }
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    number(bytes.get(at..at + 8).unwrap_or(b""))
}
