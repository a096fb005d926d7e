//! Checks whether an entry matches a query, and makes a [`Hit`] of it.
//!
//! The steps go from cheap to expensive: filters on the head, the prefilter on raw bytes,
//! extraction of the text, filters on the view, and the clauses.

use boswell_dialect::Dialect;
use boswell_model::{EntryKind, Instant, SessionRef, Slot};

use super::clause::{Piece, Tally};
use super::prefilter::Prefilter;
use super::rank::{self, MOST_COUNT};
use super::{Query, snippet};
use crate::extract::{self, Field};
use crate::normalize;
use crate::source::{Body, Record, Source};

/// An entry, or the title of a session, that matches a query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The session that contains the entry.
    pub reference: SessionRef,
    /// Index of the session in the sources that were searched.
    pub source: usize,
    /// Slot of the entry in the log; `None` for a title that is stored outside of the log.
    pub slot: Option<Slot>,
    /// Label of the entry: its id, else `#line`.
    pub entry: Option<String>,
    /// Line number, from 1.
    pub line: u32,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Field that contains the first match.
    pub field: Field,
    /// Time of the entry, else the modification time of the session.
    pub at: Option<Instant>,
    /// Text around the first match.
    pub snippet: String,
    /// Byte ranges of the matches in `snippet`.
    pub ranges: Vec<(usize, usize)>,
    /// Rank of the hit; comparable within one query and order.
    pub score: f64,
}

impl Hit {
    pub(crate) fn key(&self) -> (f64, &SessionRef, u32) {
        (
            self.score,
            &self.reference,
            self.slot.map_or(u32::MAX, |slot| slot.0),
        )
    }
}

/// Buffers for the text of one entry, reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    text: String,
    folded: String,
    /// Field of each piece, and its end in `text` and in `folded`.
    pieces: Vec<(Field, usize, usize)>,
    raw: Vec<u8>,
}

impl Scratch {
    fn clear(&mut self) {
        self.text.clear();
        self.folded.clear();
        self.pieces.clear();
    }

    fn push(&mut self, field: Field, text: &str) {
        self.text.push_str(text);
        normalize::fold_into(text, &mut self.folded);
        self.pieces
            .push((field, self.text.len(), self.folded.len()));
    }

    fn pieces(&self) -> impl Iterator<Item = (Field, Piece<'_>)> {
        let mut before = (0, 0);
        self.pieces.iter().map(move |(field, text, folded)| {
            let piece = Piece {
                text: self.text.get(before.0..*text).unwrap_or(""),
                folded: self.folded.get(before.1..*folded).unwrap_or(""),
            };
            before = (*text, *folded);
            (*field, piece)
        })
    }
}

/// A match: the rank of the entry, its time, and the piece that contains the first match.
pub(crate) struct EntryMatch {
    pub(crate) rank: f64,
    pub(crate) at: Option<i64>,
    piece: usize,
}

/// Checks a record against the query; `None` if it does not match. `scratch` contains its text
/// afterwards.
pub(crate) fn check(
    query: &Query,
    prefilter: &Prefilter,
    source: &Source,
    dialect: &dyn Dialect,
    record: &Record<'_>,
    scratch: &mut Scratch,
) -> Option<EntryMatch> {
    let at = record
        .head
        .instant()
        .or(source.modified)
        .map(|time| time.millis());
    if !query.filters.admit_head(&record.head, at) {
        return None;
    }
    scratch.clear();
    match &record.body {
        Body::Object(object) => {
            let head = &record.head;
            if !prefilter.lets_through(head.kind, object.raw().bytes(), &mut scratch.raw) {
                return None;
            }
            let mut push = |field: Field, text: &str| scratch.push(field, text);
            extract::extract(dialect, object, head.kind, head.flags, &mut push);
            if query.filters.look_at_views()
                && !query.filters.admit_view(dialect, &dialect.view(object))
            {
                return None;
            }
        }
        Body::Text(..) if !(query.filters.tools.is_empty() && query.filters.files.is_empty()) => {
            return None;
        }
        Body::Text(field, text) => scratch.push(*field, text),
    }
    matches(query, scratch, at)
}

/// Checks the title of a source; filters on entries (role, tool, file) exclude all titles.
pub(crate) fn check_title(
    query: &Query,
    source: &Source,
    title: &str,
    scratch: &mut Scratch,
) -> Option<EntryMatch> {
    let at = source.modified.map(|time| time.millis());
    let filters = &query.filters;
    let of_entries =
        !(filters.roles.is_empty() && filters.tools.is_empty() && filters.files.is_empty());
    let timed = filters.since.is_none() && filters.until.is_none()
        || at.is_some_and(|at| filters.admit_times(at, at));
    if of_entries || !timed {
        return None;
    }
    scratch.clear();
    scratch.push(Field::Title, title);
    matches(query, scratch, at)
}

fn matches(query: &Query, scratch: &Scratch, at: Option<i64>) -> Option<EntryMatch> {
    let wanted = |field: Field| query.fields.is_empty() || query.fields.contains(&field);
    let mut tallies = Vec::with_capacity(query.clauses.len());
    let mut best: Option<(usize, Field)> = None;
    for clause in &query.clauses {
        let mut tally = Tally::default();
        for (index, (field, piece)) in scratch
            .pieces()
            .enumerate()
            .filter(|(_, (field, _))| wanted(*field))
        {
            let here = clause.tally(piece, if clause.negated { 1 } else { MOST_COUNT });
            if here.count > 0 && best.is_none() && !clause.negated {
                best = Some((index, field));
            }
            tally.count += here.count;
            tally.whole |= here.whole;
            if tally.count > 0 && clause.negated || tally.count >= MOST_COUNT && tally.whole {
                break;
            }
        }
        if (tally.count > 0) == clause.negated {
            return None;
        }
        if !clause.negated {
            tallies.push(tally);
        }
    }
    // A query of filters only has no match to show, so the first piece is shown.
    let any = || {
        scratch
            .pieces()
            .enumerate()
            .find(|(_, (field, _))| wanted(*field))
            .map(|(i, (field, _))| (i, field))
    };
    let (piece, field) = best.or_else(any)?;
    let rank = rank::rank(query.order, tallies.into_iter(), field, at.unwrap_or(0));
    Some(EntryMatch { rank, at, piece })
}

/// Makes a hit of a match; `scratch` must still contain the text of that entry.
pub(crate) fn hit(
    query: &Query,
    source: &Source,
    index: usize,
    found: &EntryMatch,
    scratch: &Scratch,
) -> Hit {
    let (field, piece) = scratch.pieces().nth(found.piece).unwrap_or((
        Field::Context,
        Piece {
            text: "",
            folded: "",
        },
    ));
    let (snippet, ranges) = snippet::snippet(piece.text, &query.clauses);
    Hit {
        reference: source.reference.clone(),
        source: index,
        slot: None,
        entry: None,
        line: 0,
        kind: EntryKind::Title,
        field,
        at: found.at.map(Instant::from_millis),
        snippet,
        ranges,
        score: found.rank,
    }
}

/// Adds the position of the record to a hit.
pub(crate) fn placed(hit: Hit, record: &Record<'_>) -> Hit {
    let head = &record.head;
    let label = match head.id {
        Some(id) => record.names.text(id).to_owned(),
        None if head.nth > 0 => format!("#{}.{}", head.line, head.nth + 1),
        None => format!("#{}", head.line),
    };
    Hit {
        slot: Some(Slot(record.slot)),
        entry: Some(label),
        line: head.line,
        kind: head.kind,
        ..hit
    }
}
