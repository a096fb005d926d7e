//! An immutable part of the index: which terms stand in which blocks of text.
//!
//! The body of its file: the block rows · where each group of terms begins · the length of each
//! term's postings · the dictionary (every term in byte order, each between two newlines, so that
//! one search over it finds terms that are, begin with, end with or hold a stretch) · the postings
//! · the header. A posting is the distance from the block before it and, if it is not 1, how often
//! the term stands there.

mod dictionary;
mod postings;
mod reader;
mod row;
mod writer;

/// How many terms share one place in the table of groups.
const GROUP: usize = 64;
/// Six numbers: blocks, terms, and the lengths of groups, lengths, dictionary, postings.
const HEADER: usize = 6 * 8;

pub(crate) use dictionary::{Fit, Term};
pub(crate) use postings::Postings;
pub(crate) use reader::Segment;
pub(crate) use row::{BlockRow, Rows};
pub(crate) use writer::SegmentWriter;
