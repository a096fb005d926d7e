//! A segment: an immutable file that maps terms to posting lists of blocks.
//!
//! The body of the file contains, in this order:
//!
//! * the block rows ([`BlockRow`], 40 bytes each),
//! * the group table: for every 64th term the offsets of its text, of its length and of its
//!   postings,
//! * the length of each term's postings,
//! * the dictionary: all terms in byte order, each between two newlines, so that one substring
//!   search finds terms that are equal to, begin with, end with or contain a stretch,
//! * the postings: the distance to the previous block, shifted left by one; the low bit says that
//!   count and weight follow ([`Posting`]), otherwise the term occurs once and in a plain field,
//! * the header ([`HEADER`]).
//!
//! The body is wrapped in checksummed pages, so that each part can be read alone.

mod dictionary;
mod postings;
mod reader;
mod row;
mod writer;

/// Number of terms per entry of the group table.
const GROUP: usize = 64;
/// Size of the header, six numbers: blocks, terms, and the lengths of groups, lengths, dictionary
/// and postings.
const HEADER: usize = 6 * 8;

pub(crate) use dictionary::{Dictionary, Fit, Term};
pub(crate) use postings::{Posting, Postings};
pub(crate) use reader::Segment;
pub(crate) use row::{BlockRow, Rows};
pub(crate) use writer::SegmentWriter;
