//! Reads parts of sources and checks every entry in them, on several threads if there is enough to
//! read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cursor::{Cursor, order};
use super::entry::{self, Hit, Scratch};
use super::prefilter::Prefilter;
use super::{Effort, Query};
use crate::source::{Source, SourceReader, Step, Tail, TextPosition, walk};

/// A part of a source to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) source: usize,
    pub(crate) from: TextPosition,
    pub(crate) to: u64,
    pub(crate) tail: Tail,
    /// Where reading stops.
    pub(crate) until: Until,
}

/// When reading a part of a source stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// At the end of the part.
    End,
    /// At the first hit; skipped if its source has a hit already, because only sources are counted.
    Hit,
}

/// The inputs of a search that all threads share.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) query: &'s Query,
    pub(crate) prefilter: &'s Prefilter,
    pub(crate) sources: &'s [&'s Source],
    pub(crate) reader: &'s dyn SourceReader,
    pub(crate) effort: &'s Effort<'s>,
    pub(crate) after: Option<&'s Cursor>,
}

/// The best hits of the page so far, sorted, and counts of all hits.
#[derive(Debug, Default)]
pub(crate) struct TopHits {
    pub(crate) hits: Vec<Hit>,
    pub(crate) found: HashSet<usize>,
    pub(crate) entries: u64,
    /// Whether something could not be read, or the search was stopped.
    pub(crate) unfinished: bool,
    pub(crate) bytes: u64,
    limit: usize,
}

impl TopHits {
    pub(crate) fn new(limit: usize) -> TopHits {
        TopHits {
            limit,
            ..TopHits::default()
        }
    }

    /// Returns the rank that another hit must reach; `None` while the page is not full.
    pub(crate) fn floor(&self) -> Option<f64> {
        if self.limit == 0 {
            return Some(f64::INFINITY);
        }
        self.hits.get(self.limit - 1).map(|hit| hit.score)
    }

    fn is_wanted(&self, rank: f64) -> bool {
        self.floor().is_none_or(|floor| rank >= floor)
    }

    fn keep(&mut self, hit: Hit) {
        let place = self
            .hits
            .partition_point(|other| order(other.key(), hit.key()).is_lt());
        self.hits.insert(place, hit);
        self.hits.truncate(self.limit);
    }

    fn absorb(&mut self, other: TopHits) {
        self.found.extend(other.found);
        self.entries += other.entries;
        self.unfinished |= other.unfinished;
        self.bytes += other.bytes;
        other.hits.into_iter().for_each(|hit| self.keep(hit));
    }
}

/// Number of bytes per thread below which starting another thread does not pay.
///
/// Starting one takes some 50 µs, and reading this much some 400 µs.
const WORTH_A_THREAD: u64 = 64 << 10;

/// Checks everything in `jobs` and adds the hits to `top_hits`.
pub(crate) fn run(scope: Scope<'_>, jobs: &[Job], top_hits: &mut TopHits) {
    let bytes: u64 = jobs
        .iter()
        .map(|job| job.to.saturating_sub(job.from.at))
        .sum();
    let workers = scope
        .effort
        .workers
        .max(1)
        .min(jobs.len())
        .min(usize::try_from(bytes / WORTH_A_THREAD).unwrap_or(1).max(1));
    let next = AtomicUsize::new(0);
    if workers == 1 {
        return work(scope, jobs, &next, top_hits);
    }
    let piles = std::thread::scope(|threads| {
        let one = || {
            let mut top_hits = TopHits::new(scope.query.limit);
            work(scope, jobs, &next, &mut top_hits);
            top_hits
        };
        let running: Vec<_> = (1..workers).map(|_| threads.spawn(one)).collect();
        work(scope, jobs, &next, top_hits);
        running
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect::<Vec<_>>()
    });
    for done in piles {
        // A thread that panicked makes the result incomplete; it does not fail the search.
        match done {
            Ok(other) => top_hits.absorb(other),
            Err(_) => top_hits.unfinished = true,
        }
    }
}

fn work(scope: Scope<'_>, jobs: &[Job], next: &AtomicUsize, top_hits: &mut TopHits) {
    let mut scratch = Scratch::default();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        if !(scope.effort.go_on)() {
            top_hits.unfinished = true;
            return;
        }
        if job.until == Until::End || !top_hits.found.contains(&job.source) {
            one(scope, job, &mut scratch, top_hits);
        }
    }
}

fn one(scope: Scope<'_>, job: &Job, scratch: &mut Scratch, top_hits: &mut TopHits) {
    let Some(source) = scope.sources.get(job.source) else {
        return;
    };
    let dialect = scope.reader.dialect(source);
    let query = scope.query;
    let mut stopped = false;
    let done = walk(
        source,
        scope.reader,
        job.from,
        job.to,
        job.tail,
        &mut |step| {
            let Step::Record(record) = step else {
                // One part can be a gigabyte, so the time limit is checked within it too.
                stopped |= !(scope.effort.go_on)();
                return !stopped;
            };
            if let Some(found) =
                entry::check(query, scope.prefilter, source, dialect, &record, scratch)
            {
                top_hits.found.insert(job.source);
                top_hits.entries += 1;
                // Hits of earlier pages are counted but not shown again.
                let later = (scope.after).is_none_or(|after| {
                    order((found.rank, &source.reference, record.slot), after.key()).is_gt()
                });
                if later && top_hits.is_wanted(found.rank) {
                    let hit = entry::hit(query, source, job.source, &found, scratch);
                    top_hits.keep(entry::placed(hit, &record));
                }
                return job.until == Until::End;
            }
            true
        },
    );
    top_hits.bytes += job.to.saturating_sub(job.from.at);
    top_hits.unfinished |= done.is_err() || stopped;
}

/// Checks the titles that are stored outside of logs.
pub(crate) fn titles(
    scope: Scope<'_>,
    wanted: impl Iterator<Item = usize>,
    top_hits: &mut TopHits,
) {
    let mut scratch = Scratch::default();
    for index in wanted {
        let Some(source) = scope.sources.get(index) else {
            continue;
        };
        let Some(title) = source
            .about
            .as_ref()
            .and_then(|about| about.title.as_deref())
        else {
            continue;
        };
        let Some(found) = entry::check_title(scope.query, source, title, &mut scratch) else {
            continue;
        };
        top_hits.found.insert(index);
        top_hits.entries += 1;
        let key = (found.rank, &source.reference, u32::MAX);
        if scope
            .after
            .is_none_or(|after| order(key, after.key()).is_gt())
            && top_hits.is_wanted(found.rank)
        {
            top_hits.keep(entry::hit(scope.query, source, index, &found, &scratch));
        }
    }
}
