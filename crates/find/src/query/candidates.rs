//! Finds the candidate blocks of a segment and an upper bound of their rank, from posting lists
//! alone.

use boswell_model::Result;

use super::clause::Tally;
use super::required_terms::RequiredTerms;
use super::{Clause, rank};
use crate::extract::Weight;
use crate::index::{Dictionary, Fit, Segment};

/// Flag in the high bit of a count: a whole term may match the stretch.
const WHOLE: u32 = 1 << 31;
/// Flags of the weights of the fields in which the terms may occur.
const TITLE: u32 = 1 << 30;
const ASKED: u32 = 1 << 29;
const FLAGS: u32 = WHOLE | TITLE | ASKED;

/// Blocks of a segment below which a short stretch is not looked up.
const NARROW: usize = 32;

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
        let read;
        let dictionary = match segment.kept_dictionary() {
            Some(kept) => kept,
            None => {
                read = segment.dictionary()?;
                &read
            }
        };
        let segment = (segment, dictionary);
        for clause in clauses.iter().filter(|clause| !clause.negated) {
            if clause.need.is_short() && verdict.is_narrow() {
                verdict.clauses.push(None);
                continue;
            }
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

    /// Returns whether so few blocks are left that reading them costs less than the posting lists
    /// of a stretch that hundreds of terms contain, as while the first letter of a word is typed.
    fn is_narrow(&self) -> bool {
        self.clauses.iter().any(Option::is_some) && self.blocks().take(NARROW).count() < NARROW
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
                    count: count & !FLAGS,
                    whole: count & WHOLE != 0,
                },
                None => Tally {
                    count: rank::MOST_COUNT,
                    whole: true,
                },
            }
        })
    }

    /// Returns the highest weight that a match in the block can have, if that of all its text is
    /// `all`.
    pub(crate) fn weight(&self, block: u32, all: Weight) -> Weight {
        let of_clause = |counts: &Counts| {
            let known = counts.as_ref()?.get(block as usize)?;
            Some(match known {
                known if known & TITLE != 0 => Weight::Title,
                known if known & ASKED != 0 => Weight::Asked,
                _ => Weight::Plain,
            })
        };
        let clauses = self.clauses.iter();
        let best = clauses.map(|counts| of_clause(counts).unwrap_or(all)).max();
        best.map_or(all, |best| best.min(all))
    }
}

/// A segment with its terms.
type Terms<'s> = (&'s Segment, &'s Dictionary);

/// Evaluates a condition over all blocks of a segment.
fn counts(segment: Terms<'_>, need: &RequiredTerms) -> Result<Counts> {
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
            let mut any = vec![0u32; segment.0.blocks() as usize];
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

/// Both terms must occur: the rarer one limits the number of matches. They may be in different
/// fields, so the higher weight remains possible.
fn both(a: u32, b: u32) -> u32 {
    match (a & !FLAGS).min(b & !FLAGS) {
        0 => 0,
        count => count | (a | b) & (TITLE | ASKED),
    }
}

/// Either term may occur; the count must not reach the flags.
fn sum(a: u32, b: u32) -> u32 {
    ((a & !FLAGS).saturating_add(b & !FLAGS)).min(ASKED - 1) | ((a | b) & FLAGS)
}

fn term_counts((segment, dictionary): Terms<'_>, stretch: &[u8], fit: Fit) -> Result<Vec<u32>> {
    let mut counts = vec![0u32; segment.blocks() as usize];
    let mut found = Vec::new();
    dictionary.find(stretch, fit, &mut |term| {
        found.push(term);
        true
    });
    let beyond_ascii = stretch.iter().any(|byte| *byte >= 0x80);
    let mut postings = segment.postings(dictionary);
    for term in found {
        // Ideographs count as whole words everywhere; their terms are only pairs of characters.
        let whole = if beyond_ascii || dictionary.bytes_of(term).len() == stretch.len() {
            WHOLE
        } else {
            0
        };
        postings.of(term, |posting| {
            let weight = match posting.weight {
                Weight::Plain => 0,
                Weight::Asked => ASKED,
                Weight::Title => TITLE,
            };
            if let Some(place) = counts.get_mut(posting.block as usize) {
                *place = sum(*place, posting.count | weight | whole);
            }
        })?;
    }
    Ok(counts)
}
