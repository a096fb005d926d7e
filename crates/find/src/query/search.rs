//! Answers a query: titles, then text that the index does not cover, then candidate blocks of the
//! index, best first.
//!
//! Each candidate has an upper bound of its rank. Candidates are read in descending order of that
//! bound, and reading stops when the worst hit of the full page is better than the next bound. The
//! same result as a full scan follows, because the bound is never too low. If the number of
//! sessions must be exact, the remaining candidates of sources without a hit are read afterwards.

use std::borrow::Borrow;

use boswell_model::Result;

use super::candidates::Verdict;
use super::cursor::Cursor;
use super::parallel::in_parallel;
use super::prefilter::Prefilter;
use super::scan::{self, Job, Scope, TopHits, Until};
use super::suggestions::{self, Suggestions};
use super::{Counting, Order, Query, rank};
use crate::index::{BlockRow, Index, Rows, Snapshot};
use crate::source::{Source, SourceReader, Tail, TextPosition};

pub use super::entry::Hit;

/// Number of blocks that are read before the bound is compared again.
const BATCH: usize = 8;
/// Number of candidates that are sorted first.
const FIRST: usize = 256;

/// Limits of a search.
#[derive(Clone, Copy)]
pub struct Effort<'e> {
    /// Maximum number of threads.
    pub workers: usize,
    /// Called often; when it returns false, the search ends with what it has found.
    pub go_on: &'e (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Effort")
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

/// A number that may be a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// The count, or a lower bound of it.
    pub number: u64,
    /// Whether the number is exact.
    pub exact: bool,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Results {
    /// The hits of this page, best first.
    pub hits: Vec<Hit>,
    /// Number of sessions with hits.
    pub sessions: Count,
    /// Indexes of the sources with hits.
    pub found: Vec<usize>,
    /// Number of entries that are hits.
    pub entries: Count,
    /// Whether every source was searched to its end, in the index or by reading it.
    pub complete: bool,
    /// Cursor of the next page; `None` after the last page.
    pub cursor: Option<String>,
    /// Number of bytes that were scanned because the index does not cover them.
    pub scanned: u64,
    /// Similar words of the index, if nothing was found.
    pub nearest: Vec<Suggestions>,
}

impl Index {
    /// Searches these sources. Every hit was verified in its source, and if the result is complete,
    /// no hit is missing.
    pub fn search<S: Borrow<Source>>(
        &self,
        query: &Query,
        sources: &[S],
        reader: &dyn SourceReader,
        effort: &Effort<'_>,
    ) -> Result<Results> {
        let sources: Vec<&Source> = sources.iter().map(Borrow::borrow).collect();
        self.answer(query, &sources, reader, effort)
    }

    fn answer(
        &self,
        query: &Query,
        sources: &[&Source],
        reader: &dyn SourceReader,
        effort: &Effort<'_>,
    ) -> Result<Results> {
        let after = query
            .cursor
            .as_deref()
            .map(|text| Cursor::decode(text, query))
            .transpose()?;
        let prefilter = Prefilter::of(&query.clauses);
        let scope = Scope {
            query,
            prefilter: &prefilter,
            sources,
            reader,
            effort,
            after: after.as_ref(),
        };
        let snapshot = self.snapshot();
        loop {
            let plan = Plan::new(scope, &snapshot);
            match plan.candidates() {
                Ok(blocks) => return Ok(plan.answer(blocks)),
                // The segment is marked as damaged now, and its sources count as not covered. Each
                // round marks another segment, so the loop ends: in the worst case everything is
                // scanned.
                Err(segment) => snapshot
                    .segments
                    .iter()
                    .flatten()
                    .filter(|s| s.number == segment)
                    .for_each(|s| s.mark_hurt()),
            }
        }
    }
}

/// A block that can contain hits.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    bound: f64,
    source: u32,
    /// Index of the segment in the snapshot; `block` is the number within it.
    segment: u32,
    block: u32,
}

/// Candidates, sorted lazily: of tens of thousands only a few hundred are usually read.
#[derive(Debug, Default)]
struct Candidates {
    all: Vec<Candidate>,
    sorted: usize,
}

impl Candidates {
    /// Returns up to `count` candidates after the best `from`, best first.
    fn best(&mut self, from: usize, count: usize) -> &[Candidate] {
        let end = from.saturating_add(count).min(self.all.len());
        while self.sorted < end {
            let rest = self.all.get_mut(self.sorted..).unwrap_or_default();
            // Each step sorts twice as many as all steps before it, so that the total work stays
            // close to one sort even if all are read.
            let step = FIRST.max(self.sorted * 2).min(rest.len());
            if step < rest.len() {
                rest.select_nth_unstable_by(step, Candidate::order);
            }
            rest.get_mut(..step)
                .unwrap_or_default()
                .sort_unstable_by(Candidate::order);
            self.sorted += step;
        }
        self.all.get(from..end).unwrap_or(&[])
    }
}

impl Candidate {
    fn order(&self, other: &Candidate) -> std::cmp::Ordering {
        other
            .bound
            .total_cmp(&self.bound)
            .then_with(|| (self.segment, self.block).cmp(&(other.segment, other.block)))
    }
}

/// Which source owns which blocks, and which parts of sources no block covers.
struct Plan<'p> {
    scope: Scope<'p>,
    snapshot: &'p Snapshot,
    /// For each segment the owner of each block; [`NO_OWNER`] for blocks that are dead or not
    /// requested.
    owners: Vec<Vec<u32>>,
    tails: Vec<Job>,
    wanted: Vec<usize>,
}

/// Owner of a block that no requested source owns.
const NO_OWNER: u32 = u32::MAX;

impl<'p> Plan<'p> {
    fn new(scope: Scope<'p>, snapshot: &'p Snapshot) -> Plan<'p> {
        let rows = &snapshot.manifest.segments;
        let owners = rows
            .iter()
            .map(|row| vec![NO_OWNER; row.blocks as usize])
            .collect();
        let mut plan = Plan {
            scope,
            snapshot,
            owners,
            tails: Vec::new(),
            wanted: Vec::new(),
        };
        let mut next = 0;
        for (index, source) in scope.sources.iter().enumerate() {
            if scope.query.filters.admit_source(source) {
                plan.wanted.push(index);
                plan.add(index, source, &mut next);
            }
        }
        plan
    }

    fn add(&mut self, index: usize, source: &Source, next: &mut usize) {
        let row = self.snapshot.known(source, next);
        let covered = row.map_or(TextPosition::START, |row| row.covered);
        if covered.at < source.len {
            let (from, to) = (covered, source.len);
            self.tails.push(Job {
                source: index,
                from,
                to,
                tail: Tail::Whole,
                until: Until::End,
            });
        }
        for range in row.into_iter().flat_map(|row| row.ranges.iter()) {
            let segments = &self.snapshot.manifest.segments;
            let Ok(segment) = segments.binary_search_by_key(&range.segment, |row| row.number)
            else {
                continue;
            };
            let (first, count) = (range.first as usize, range.count as usize);
            let blocks = self
                .owners
                .get_mut(segment)
                .and_then(|owners| owners.get_mut(first..first.saturating_add(count)));
            if let Some(blocks) = blocks {
                blocks.fill(u32::try_from(index).unwrap_or(NO_OWNER));
            }
        }
    }

    /// Returns the candidate blocks; the error is the number of a damaged segment.
    fn candidates(&self) -> std::result::Result<Candidates, u64> {
        let places = 0..self.snapshot.segments.len();
        let places: Vec<usize> = places.filter(|place| self.is_wanted(*place)).collect();
        let workers = self.scope.effort.workers.min(places.len());
        // A part of a word of two letters has millions of postings.
        let found = in_parallel(workers, &places, |place| self.candidates_of(*place));
        let mut all = Vec::new();
        for found in found {
            all.extend(found?);
        }
        Ok(Candidates { all, sorted: 0 })
    }

    /// Whether a source that is requested owns blocks of a segment.
    fn is_wanted(&self, place: usize) -> bool {
        let owners = self.owners.get(place);
        owners.is_some_and(|owners| owners.iter().any(|owner| *owner != NO_OWNER))
    }

    /// Returns the candidate blocks of a segment, by its place in the snapshot.
    fn candidates_of(&self, place: usize) -> std::result::Result<Vec<Candidate>, u64> {
        let mut all = Vec::new();
        let segment = self.snapshot.segments.get(place).and_then(Option::as_ref);
        let (Some(segment), Some(owners)) = (segment, self.owners.get(place)) else {
            return Ok(all);
        };
        let damaged = |_| segment.number;
        let verdict = Verdict::of(segment, &self.scope.query.clauses).map_err(damaged)?;
        let mut rows: Option<&Rows> = None;
        for block in verdict.blocks() {
            let owner = owners.get(block as usize).copied().unwrap_or(NO_OWNER);
            let Some(source) = self.scope.sources.get(owner as usize) else {
                continue;
            };
            // Rows are loaded only if the segment has a candidate.
            let known = match rows {
                Some(rows) => rows,
                None => *rows.insert(segment.rows().map_err(damaged)?),
            };
            let Some(row) = known.get(block) else {
                continue;
            };
            let modified = source.modified.map_or(0, |time| time.millis());
            if self.is_out_of_time(&row, modified) {
                continue;
            }
            all.push(Candidate {
                bound: self.bound(&verdict, block, &row, modified),
                source: owner,
                segment: place as u32,
                block,
            });
        }
        Ok(all)
    }

    /// Returns an upper bound of the rank of a block's entries.
    fn bound(&self, verdict: &Verdict, block: u32, row: &BlockRow, modified: i64) -> f64 {
        rank::bound(
            self.scope.query.order,
            verdict.tallies(block),
            verdict.weight(block, row.weight),
            row.latest(modified),
        )
    }

    /// Returns the row of a candidate. [`Plan::candidates`] loaded the rows of its segment, so this
    /// does not fail.
    fn row(&self, candidate: &Candidate) -> Option<BlockRow> {
        let segment = self
            .snapshot
            .segments
            .get(candidate.segment as usize)?
            .as_ref()?;
        segment.rows().ok()?.get(candidate.block)
    }

    /// Returns whether every entry of a block is outside of the requested time.
    fn is_out_of_time(&self, row: &BlockRow, modified: i64) -> bool {
        !self
            .scope
            .query
            .filters
            .admit_times(row.oldest, row.latest(modified))
    }

    fn answer(self, mut candidates: Candidates) -> Results {
        let query = self.scope.query;
        let mut top_hits = TopHits::new(query.limit);
        scan::titles(self.scope, self.wanted.iter().copied(), &mut top_hits);
        scan::run(self.scope, &self.tails, &mut top_hits);
        // Titles and tails come first: they must be read in any case, and their hits raise the rank
        // that candidates must reach.
        let scanned = top_hits.bytes;
        let decided = self.is_decided();
        if decided {
            // The blocks of one source are neighbours here, before sorting. The index alone proves
            // that each source has a hit, so sessions are counted without reading them.
            let sources = candidates
                .all
                .chunk_by(|a, b| a.source == b.source)
                .filter_map(|blocks| blocks.first());
            top_hits
                .found
                .extend(sources.map(|candidate| candidate.source as usize));
        }
        let (done, skipped) = self.best(&mut candidates, &mut top_hits);
        let all_read = done == candidates.all.len();
        if !all_read && !decided && query.counting == Counting::Exact {
            self.count(&mut candidates, done, &mut top_hits);
        }
        let sessions_counted = decided || query.counting == Counting::Exact || all_read && !skipped;
        self.results(top_hits, scanned, sessions_counted, all_read && !skipped)
    }

    /// Returns whether every candidate block contains a hit for certain: one positive clause that
    /// the index decides, and no condition on fields or entries.
    fn is_decided(&self) -> bool {
        let query = self.scope.query;
        matches!(query.clauses.as_slice(), [only] if only.decided && !only.negated)
            && query.fields.is_empty()
            && !query.filters.look_at_entries()
    }

    fn time_is_up(&self, top_hits: &TopHits) -> bool {
        top_hits.unfinished && !(self.scope.effort.go_on)()
    }

    /// Reads candidates until no remaining one can be better than the page. Returns how many were
    /// processed, and whether some of them were skipped because they belong to earlier pages.
    fn best(&self, candidates: &mut Candidates, top_hits: &mut TopHits) -> (usize, bool) {
        let (mut done, mut skipped) = (0, false);
        while let [next, ..] = candidates.best(done, BATCH) {
            if top_hits.floor().is_some_and(|floor| floor > next.bound) || self.time_is_up(top_hits)
            {
                break;
            }
            let batch = candidates.best(done, BATCH);
            let is_later =
                |it: &&Candidate| !self.row(it).is_some_and(|row| self.is_before(row.oldest));
            let jobs: Vec<Job> = batch
                .iter()
                .filter(is_later)
                .filter_map(|it| self.job(it))
                .collect();
            skipped |= jobs.len() < batch.len();
            done += batch.len();
            scan::run(self.scope, &jobs, top_hits);
        }
        (done, skipped)
    }

    /// Returns whether all entries of a block belong to earlier pages and need not be counted. Only
    /// with newest first is the rank a time that can be compared.
    fn is_before(&self, oldest: i64) -> bool {
        let query = self.scope.query;
        let counted = query.counting == Counting::Quick || self.is_decided();
        let after = self
            .scope
            .after
            .filter(|_| query.order == Order::Newest && counted);
        after.is_some_and(|after| oldest as f64 > after.rank)
    }

    /// Reads the remaining candidates of sources without a hit, to count sessions exactly.
    fn count(&self, candidates: &mut Candidates, mut done: usize, top_hits: &mut TopHits) {
        while done < candidates.all.len() && !self.time_is_up(top_hits) {
            let batch = candidates.best(done, BATCH * 32);
            let is_new =
                |candidate: &&Candidate| !top_hits.found.contains(&(candidate.source as usize));
            let only = |job: Job| Job {
                until: Until::Hit,
                ..job
            };
            let jobs: Vec<Job> = batch
                .iter()
                .filter(is_new)
                .filter_map(|it| self.job(it))
                .map(only)
                .collect();
            done += batch.len();
            scan::run(self.scope, &jobs, top_hits);
        }
    }

    fn job(&self, candidate: &Candidate) -> Option<Job> {
        let row = self.row(candidate)?;
        let (source, from, to) = (candidate.source as usize, row.place(), row.at + row.len);
        Some(Job {
            source,
            from,
            to,
            tail: Tail::Whole,
            until: Until::End,
        })
    }

    fn results(
        &self,
        top_hits: TopHits,
        scanned: u64,
        sessions_counted: bool,
        entries_counted: bool,
    ) -> Results {
        let query = self.scope.query;
        // A page that is not full is the last one, so it has no cursor.
        let is_full = query.limit > 0 && top_hits.hits.len() == query.limit;
        let cursor = top_hits.hits.last().filter(|_| is_full).map(|hit| {
            let (rank, reference, slot) = hit.key();
            Cursor {
                rank,
                reference: reference.clone(),
                slot,
            }
            .encode(query)
        });
        let nothing = top_hits.found.is_empty();
        let words = query
            .clauses
            .iter()
            .filter(|clause| nothing && !clause.negated)
            .filter_map(|clause| clause.word());
        let nearest = words
            .filter_map(|word| suggestions::nearest(self.snapshot, word))
            .collect();
        let complete = !top_hits.unfinished;
        Results {
            sessions: Count {
                number: top_hits.found.len() as u64,
                exact: complete && sessions_counted,
            },
            entries: Count {
                number: top_hits.entries,
                exact: complete && entries_counted,
            },
            found: top_hits.found.into_iter().collect(),
            complete,
            cursor,
            scanned,
            nearest,
            hits: top_hits.hits,
        }
    }
}
