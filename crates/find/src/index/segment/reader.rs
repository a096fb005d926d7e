//! Opens a segment and reads its parts when they are needed.
//!
//! Opening reads only the header. Dictionary and block rows are read on first use and stay in
//! memory; postings are read page by page.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use boswell_model::Result;

use super::HEADER;
use super::dictionary::{Dictionary, Fit, Term};
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
    dictionary: OnceLock<Dictionary>,
    rows: OnceLock<Rows>,
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
            dictionary: OnceLock::new(),
            rows: OnceLock::new(),
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

    fn dictionary(&self) -> Result<&Dictionary> {
        if let Some(known) = self.dictionary.get() {
            return Ok(known);
        }
        let (bytes, groups) = self.pages.read(self.places[0], self.places[3])?;
        let part = |index: usize| {
            groups + usize::try_from(self.places[index] - self.places[0]).unwrap_or(0)
        };
        let end = part(3);
        let mut bytes = bytes;
        bytes.truncate(end);
        let read = Dictionary {
            text: part(2),
            lengths: part(1),
            groups,
            bytes,
        };
        Ok(self.dictionary.get_or_init(|| read))
    }

    /// Calls `sink` with every term that `stretch` fits, in order, until `sink` returns false.
    pub(crate) fn terms(
        &self,
        stretch: &[u8],
        fit: Fit,
        sink: &mut dyn FnMut(Term) -> bool,
    ) -> Result<()> {
        self.dictionary()?.find(stretch, fit, sink);
        Ok(())
    }

    /// Calls `sink` with every term, in order.
    pub(crate) fn all_terms(&self, sink: &mut dyn FnMut(&[u8], Term)) -> Result<()> {
        self.dictionary()?.all(self.terms, sink);
        Ok(())
    }

    /// Returns the bytes of a term that [`Segment::terms`] or [`Segment::all_terms`] returned.
    pub(crate) fn bytes_of(&self, term: Term) -> &[u8] {
        self.dictionary
            .get()
            .map_or(b"", |dictionary| dictionary.bytes_of(term))
    }

    /// Returns a reader of postings; asking for terms in order reads each page once.
    pub(crate) fn postings(&self) -> Result<Postings<'_>> {
        Ok(Postings::new(
            &self.pages,
            self.dictionary()?,
            self.places[3]..self.places[4],
            self.blocks,
        ))
    }
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    number(bytes.get(at..at + 8).unwrap_or(b""))
}
