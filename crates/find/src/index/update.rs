//! Updates the index: a source that grew is read from where the index ends, a source that changed
//! is read again from the start.
//!
//! An update reads sources into a [`Builder`] and remembers a [`Claim`] for each; when the builder
//! is full, the segment is written and one commit of the manifest makes the segment and its claims
//! current together. A crash between commits loses only work, never consistency.

use boswell_dialect::{Dialect, Reader};
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use super::Index;
use super::builder::{Builder, SEGMENT_TEXT};
use super::manifest::{Range, SourceRow};
use super::snapshot::Snapshot;
use super::writer::Writer;
use crate::extract;
use crate::normalize;
use crate::source::{
    Body, Form, Record, Source, SourceReader, Step, Tail, TextPosition, WalkBuffers, walk_with,
};

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Number of sources that were read.
    pub sources: u64,
    /// Number of bytes that were read from them.
    pub bytes: u64,
    /// Number of sources that could not be read; searches scan them and report the error.
    pub failed: u64,
    /// Whether all requested sources are covered now.
    pub complete: bool,
}

/// The work that remains until the index covers the given sources.
#[derive(Debug, Default)]
pub struct Backlog<'s> {
    /// Sources that are not covered to their end.
    pub behind: Vec<&'s Source>,
    /// Whether the index contains sources other than the given ones, for example deleted sessions.
    pub strangers: bool,
}

impl Index {
    /// Returns what an [`update`](Index::update) of these sources would have to read.
    pub fn backlog<'s>(&self, sources: impl Iterator<Item = &'s Source>) -> Backlog<'s> {
        let now = self.snapshot();
        let (mut backlog, mut named, mut next) = (Backlog::default(), 0, 0);
        for source in sources {
            let row = now.manifest.source_near(&source.reference, &mut next);
            named += usize::from(row.is_some());
            if left_of(source, row.filter(|row| now.holds(source, row))).is_some() {
                backlog.behind.push(source);
            }
        }
        backlog.strangers = named < now.manifest.sources.len();
        backlog
    }

    /// Reads what is new in these sources, until `go_on` returns false. What was read until then is
    /// kept.
    ///
    /// If another process holds the writer lock, the error is [`ErrorKind::Busy`]; nothing is lost,
    /// because searches scan what is not covered.
    pub fn update(
        &self,
        sources: &mut dyn Iterator<Item = Source>,
        reader: &dyn SourceReader,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        let mut writer = self.writer()?;
        let mut work = Work::new(SEGMENT_TEXT);
        let mut next = 0;
        let mut done = Ok(());
        for source in sources {
            if !go_on() {
                work.progress.complete = false;
                break;
            }
            let from = start_of(&source, &writer.snapshot, &mut next);
            done = work.take((&source, from), reader, go_on, &mut |built| {
                writer.add(built)
            });
            if done.is_err() {
                break;
            }
        }
        let done = done.and_then(|()| work.flush(&mut |built| writer.add(built)));
        self.finish(writer, done.map(|()| work.progress))
    }

    /// Merges small segments after an update, and makes the new state visible to searches.
    pub(super) fn finish(
        &self,
        mut writer: Writer<'_>,
        done: Result<Progress>,
    ) -> Result<Progress> {
        let done = done.and_then(|progress| {
            let tidy = unless_damaged(writer.tidy())?;
            Ok(Progress {
                complete: progress.complete && tidy,
                ..progress
            })
        });
        self.put(std::mem::take(&mut writer.snapshot));
        done
    }

    /// Removes a source: it has no hits any more. Its terms remain in the segment until it is
    /// rewritten; see [`purge`](Index::purge).
    pub fn forget(&self, reference: &SessionRef) -> Result<()> {
        self.retain(&|other| other != reference)
    }

    /// Removes every source for which `keep` returns false.
    pub fn retain(&self, keep: &dyn Fn(&SessionRef) -> bool) -> Result<()> {
        let known = &self.snapshot().manifest;
        if known.sources.iter().all(|row| keep(&known.reference(row))) {
            return Ok(());
        }
        let mut writer = self.writer()?;
        writer.manifest.retain(|all, row| keep(&all.reference(row)));
        let done = writer.commit().and_then(|()| unless_damaged(writer.tidy()));
        self.put(std::mem::take(&mut writer.snapshot));
        done.map(|_| ())
    }

    /// Removes a source and every term that occurs in it alone: afterwards no file of the index
    /// contains anything of it.
    ///
    /// Terms of text that was replaced or removed earlier are dropped too.
    pub fn purge(&self, reference: &SessionRef) -> Result<()> {
        self.purge_where(&|other| other == reference)
    }

    /// As [`Index::purge`], for every source for which `gone` returns true.
    pub fn purge_where(&self, gone: &dyn Fn(&SessionRef) -> bool) -> Result<()> {
        match self.purge_once(gone) {
            // The first attempt marked the damaged segment; the second one drops that segment as a
            // whole.
            Err(error) if error.kind() == ErrorKind::Damaged => self.purge_once(gone),
            done => done,
        }
    }

    fn purge_once(&self, gone: &dyn Fn(&SessionRef) -> bool) -> Result<()> {
        let mut writer = self.writer()?;
        writer
            .manifest
            .retain(|all, row| !gone(&all.reference(row)));
        let living = writer.manifest.living();
        // Every segment with dead blocks is rewritten, not only those of the purged source: an
        // earlier `forget` may have left terms of it elsewhere.
        let dirty: Vec<u64> = (writer.manifest.segments.iter())
            .filter(|row| living.get(&row.number).copied().unwrap_or(0) < u64::from(row.blocks))
            .map(|row| row.number)
            .collect();
        let done = dirty
            .iter()
            .try_for_each(|number| writer.rewrite(&[*number]))
            .and_then(|()| writer.commit());
        self.put(std::mem::take(&mut writer.snapshot));
        done.and_then(|()| self.check_purged(&dirty))
    }

    /// Removes old segment files that are still there; if that fails, so does the purge, because
    /// the file would still contain terms of the purged source.
    fn check_purged(&self, numbers: &[u64]) -> Result<()> {
        let left = self.folder.list();
        let names = numbers
            .iter()
            .map(|number| super::manifest::segment_name(*number));
        for name in names.filter(|name| left.contains(name)) {
            self.folder.remove(&name).map_err(|error| {
                Error::new(
                    ErrorKind::Denied,
                    format!(
                        "`{}/{name}` still holds words of the purged session and cannot be removed",
                        self.folder.root().display()
                    ),
                )
                .because(error.to_string())
                .advising("remove that file: the index is derived and is rebuilt")
            })?;
        }
        Ok(())
    }

    pub(super) fn writer(&self) -> Result<Writer<'_>> {
        let now = self.snapshot();
        let hurt: Vec<u64> = now
            .segments
            .iter()
            .flatten()
            .filter(|s| s.is_hurt())
            .map(|s| s.number)
            .collect();
        Writer::begin(&self.folder, &hurt)
    }
}

/// Turns damage into `Ok(false)`: merging is optional, its damage is handled by the next writer,
/// and what was committed before is valid.
fn unless_damaged(done: Result<()>) -> Result<bool> {
    match done {
        Err(error) if error.kind() == ErrorKind::Damaged => Ok(false),
        done => done.map(|()| true),
    }
}

/// The blocks that a source will own when the segment under construction is written.
#[derive(Debug)]
struct Claim {
    reference: SessionRef,
    generation: u64,
    covered: TextPosition,
    /// Whether the blocks that the source owns already remain valid (it grew), or are replaced.
    keeps: bool,
    first: u32,
    count: u32,
}

/// A segment in memory, and the claims on its blocks.
pub(super) struct Built {
    /// The bytes of the segment, its seal, its number of blocks, and the size of its text. Claims
    /// without any blocks (sources without text) need no segment.
    segment: Option<(Vec<u8>, u32, u32, u64)>,
    claims: Vec<Claim>,
}

/// Receives finished segments.
pub(super) type BuiltSink<'s> = &'s mut dyn FnMut(Built) -> Result<()>;

/// The state of one update, or of one thread of it.
pub(super) struct Work {
    builder: Builder,
    claims: Vec<Claim>,
    buffers: WalkBuffers,
    pub(super) progress: Progress,
    /// The size of text at which a segment is written.
    most: u64,
}

impl Work {
    pub(super) fn new(most: u64) -> Work {
        let progress = Progress {
            complete: true,
            ..Progress::default()
        };
        Work {
            builder: Builder::new(),
            claims: Vec::new(),
            buffers: WalkBuffers::default(),
            progress,
            most,
        }
    }

    fn is_full(&self) -> bool {
        self.builder.is_full(self.most)
    }

    /// Reads a source from a position; passes a segment to `sink` whenever the builder is full.
    pub(super) fn take(
        &mut self,
        (source, mut from): (&Source, Option<TextPosition>),
        reader: &dyn SourceReader,
        go_on: &mut dyn FnMut() -> bool,
        sink: BuiltSink<'_>,
    ) -> Result<()> {
        let begun = from.map_or(source.len, |place| place.at);
        let (mut read, mut ended_at) = (Ok(()), begun);
        let mut companion = match from {
            Some(TextPosition::START) => reader.companion(source),
            _ => None,
        };
        // A source can be larger than several segments: each round continues where the previous one
        // ended.
        while let Some(place) = from.take() {
            let outcome = self.read(companion.as_mut(), (source, reader), place, go_on);
            let ended = self.claims.last().map_or(place, |claim| claim.covered);
            if self.is_full() {
                self.flush(sink)?;
                from = (outcome.is_ok() && ended.at > place.at && ended.at < source.len)
                    .then_some(ended);
            }
            // Positions in rows are no bytes.
            if !matches!(source.form, Form::Rows(_)) {
                self.progress.bytes += ended.at.saturating_sub(place.at);
            }
            (read, ended_at) = (outcome, ended.at);
        }
        let is_whole = |companion: &Reader<'_>| match source.form {
            Form::Rows(_) => ended_at == source.len,
            _ => companion.bytes() == source.len,
        };
        if let Some(companion) = companion.filter(|it| read.is_ok() && is_whole(it)) {
            reader.accompanied(source, companion);
        }
        self.progress.failed += u64::from(read.is_err());
        self.progress.complete &= read.is_ok();
        self.progress.sources += u64::from(begun < source.len);
        Ok(())
    }

    /// Reads a source from `from` until it ends, the segment is full, or `go_on` returns false.
    fn read(
        &mut self,
        companion: Option<&mut Reader<'_>>,
        (source, reader): (&Source, &dyn SourceReader),
        from: TextPosition,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let dialect = reader.dialect(source);
        let first = self.builder.blocks();
        let mut covered = from;
        let mut folded = String::new();
        let (builder, progress, most) = (&mut self.builder, &mut self.progress, self.most);
        let mut step = |step: Step<'_>| match step {
            Step::Record(record) => {
                builder.open(covered);
                add_record(builder, dialect, &record, &mut folded);
                true
            }
            Step::End(place) => {
                covered = place;
                if !builder.block_is_full() {
                    return true;
                }
                builder.close(place);
                let goes_on = go_on();
                progress.complete &= goes_on;
                goes_on && !builder.is_full(most)
            }
        };
        // The last line may be incomplete while its writer is active: it is left for the next
        // update.
        let (range, tail) = ((from, source.len), Tail::Pending);
        let with = (&mut self.buffers, companion);
        let result = walk_with(with, source, reader, range, tail, &mut step);
        self.builder.close(covered);
        // A source without text is claimed too, or it would be read again by every update.
        if covered.at > from.at || from == TextPosition::START {
            self.claims.push(Claim {
                reference: source.reference.clone(),
                generation: source.generation,
                covered,
                keeps: from.at > 0,
                first,
                count: self.builder.blocks() - first,
            });
        }
        result
    }

    /// Passes on the segment together with the claims on its blocks.
    pub(super) fn flush(&mut self, sink: BuiltSink<'_>) -> Result<()> {
        if self.claims.is_empty() {
            return Ok(());
        }
        let mut segment = None;
        if !self.builder.is_empty() {
            let (text, blocks) = (self.builder.text(), self.builder.blocks());
            let (bytes, seal) = self.builder.finish();
            segment = Some((bytes, seal, blocks, text));
        }
        sink(Built {
            segment,
            claims: std::mem::take(&mut self.claims),
        })
    }
}

impl Writer<'_> {
    /// Writes a segment, and commits it together with the claims on its blocks.
    pub(super) fn add(&mut self, built: Built) -> Result<()> {
        let segment = match built.segment {
            Some((bytes, seal, blocks, text)) => Some(self.segment(&bytes, seal, blocks, text)?),
            None => None,
        };
        for claim in built.claims {
            let row = self.manifest.source_mut(&claim.reference);
            if !claim.keeps {
                row.ranges.clear();
            }
            row.generation = claim.generation;
            row.covered = claim.covered;
            if let Some(segment) = segment.filter(|_| claim.count > 0) {
                row.ranges.push(Range {
                    segment,
                    first: claim.first,
                    count: claim.count,
                });
            }
        }
        self.commit()
    }
}

/// Adds the text of a record to the open block. `folded` is a buffer that is used again.
fn add_record(
    builder: &mut Builder,
    dialect: &dyn Dialect,
    record: &Record<'_>,
    folded: &mut String,
) {
    let head = &record.head;
    builder.saw(head.instant().map(|time| time.millis()));
    let mut add = |field, text: &str| {
        folded.clear();
        normalize::fold_into(text, folded);
        builder.add(field, folded);
    };
    match record.body {
        Body::Object(object) => {
            extract::extract(dialect, object, head.kind, head.flags, &mut add);
        }
        Body::Text(field, text) => add(field, text),
    }
}

/// Returns where to begin to read a source; `None` if it is covered to its end.
pub(super) fn start_of(
    source: &Source,
    snapshot: &Snapshot,
    next: &mut usize,
) -> Option<TextPosition> {
    left_of(source, snapshot.known(source, next))
}

/// As [`start_of`], for a row that was looked up already.
fn left_of(source: &Source, known: Option<&SourceRow>) -> Option<TextPosition> {
    match known {
        Some(row) => Some(row.covered).filter(|covered| covered.at < source.len),
        None => Some(TextPosition::START),
    }
}
