//! Finds the candidate blocks of a segment and an upper bound of their rank, from posting lists
//! alone.

use boswell_model::Result;

use super::clause::Tally;
use super::required_terms::RequiredTerms;
use super::{Clause, rank};
use crate::index::{Fit, Segment};

/// Flag in the high bit of a count: a whole term may match the stretch.
const WHOLE: u32 = 1 << 31;

/// Occurrences of the required terms in each block of a segment; `None` if the index cannot decide
/// the condition.
type Counts = Option<Vec<u32>>;

/// The result of the posting lists of one segment for all positive clauses.
#[derive(Debug)]
pub(crate) struct Verdict {
    clauses: Vec<Counts>,
    blocks: u32,
}

impl Verdict {
    /// Reads the posting lists for every clause that is not negated. Negated clauses are ignored: a
    /// block may contain an excluded word in one entry and a hit in another.
    pub(crate) fn of(segment: &Segment, clauses: &[Clause]) -> Result<Verdict> {
        let mut verdict = Verdict {
            clauses: Vec::new(),
            blocks: segment.blocks(),
        };
        for clause in clauses.iter().filter(|clause| !clause.negated) {
            let counts = counts(segment, &clause.need)?;
            let none = counts
                .as_ref()
                .is_some_and(|counts| counts.iter().all(|count| *count == 0));
            verdict.clauses.push(counts);
            if none {
                verdict.blocks = 0;
                break;
            }
        }
        Ok(verdict)
    }

    /// Returns the blocks that contain the required terms of every clause.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u32> {
        (0..self.blocks).filter(|block| {
            let counts = self.clauses.iter().flatten();
            counts
                .into_iter()
                .all(|counts| counts.get(*block as usize).is_some_and(|count| *count > 0))
        })
    }

    /// Returns for each clause the best [`Tally`] that an entry of the block can have. Where the
    /// index knows nothing, the maximum is assumed, so that the bound stays an upper bound.
    pub(crate) fn tallies(&self, block: u32) -> impl Iterator<Item = Tally> {
        self.clauses.iter().map(move |counts| {
            match counts
                .as_ref()
                .and_then(|counts| counts.get(block as usize))
            {
                Some(count) => Tally {
                    count: count & !WHOLE,
                    whole: count & WHOLE != 0,
                },
                None => Tally {
                    count: rank::MOST_COUNT,
                    whole: true,
                },
            }
        })
    }
}

/// Evaluates a condition over all blocks of a segment.
fn counts(segment: &Segment, need: &RequiredTerms) -> Result<Counts> {
    match need {
        RequiredTerms::Anything => Ok(None),
        RequiredTerms::Term(stretch, fit) => term_counts(segment, stretch, *fit).map(Some),
        RequiredTerms::All(parts) => {
            let mut all: Counts = None;
            for part in parts {
                let Some(one) = counts(segment, part)? else {
                    continue;
                };
                let merged = match all.take() {
                    None => one,
                    Some(before) => before.iter().zip(&one).map(|(a, b)| both(*a, *b)).collect(),
                };
                let none = merged.iter().all(|count| *count == 0);
                all = Some(merged);
                if none {
                    break;
                }
            }
            // Whether several terms together form whole words is not known, so the better case is
            // assumed.
            Ok(all.map(|all| {
                all.into_iter()
                    .map(|count| if count > 0 { count | WHOLE } else { 0 })
                    .collect()
            }))
        }
        RequiredTerms::Any(parts) => {
            let mut any = vec![0u32; segment.blocks() as usize];
            for part in parts {
                let Some(one) = counts(segment, part)? else {
                    // One alternative that can match anything makes the whole condition
                    // undecidable.
                    return Ok(None);
                };
                any.iter_mut().zip(&one).for_each(|(a, b)| *a = sum(*a, *b));
            }
            Ok(Some(any))
        }
    }
}

/// Both terms must occur: the rarer one limits the number of matches.
fn both(a: u32, b: u32) -> u32 {
    (a & !WHOLE).min(b & !WHOLE)
}

/// Either term may occur; the count must not reach the flag bit.
fn sum(a: u32, b: u32) -> u32 {
    ((a & !WHOLE).saturating_add(b & !WHOLE)).min(WHOLE - 1) | ((a | b) & WHOLE)
}

fn term_counts(segment: &Segment, stretch: &[u8], fit: Fit) -> Result<Vec<u32>> {
    let mut counts = vec![0u32; segment.blocks() as usize];
    let mut found = Vec::new();
    segment.terms(stretch, fit, &mut |term| {
        found.push(term);
        true
    })?;
    let beyond_ascii = stretch.iter().any(|byte| *byte >= 0x80);
    let mut postings = segment.postings()?;
    for term in found {
        // Ideographs count as whole words everywhere; their terms are only pairs of characters.
        let whole = if beyond_ascii || segment.bytes_of(term).len() == stretch.len() {
            WHOLE
        } else {
            0
        };
        postings.of(term, &mut |block, count| {
            if let Some(place) = counts.get_mut(block as usize) {
                *place = sum(*place, count | whole);
            }
        })?;
    }
    Ok(counts)
}
