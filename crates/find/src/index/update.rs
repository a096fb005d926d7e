//! Brings the index up to date: what grew is read from where it was left, what
//! changed is read again.

use boswell_model::{Error, ErrorKind, Result, SessionRef};

use super::Index;
use super::builder::Builder;
use super::manifest::{Range, SourceRow};
use super::snapshot::Snapshot;
use super::writer::Writer;
use crate::extract;
use crate::normalize;
use crate::source::{Body, Source, SourceReader, Step, Tail, TextPosition, walk};

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Sources that were read.
    pub sources: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Sources that could not be read; searches scan them, and say so.
    pub failed: u64,
    /// Whether all that was asked for is covered now.
    pub complete: bool,
}

/// What is to be done before the index covers what it is asked to cover.
#[derive(Debug, Default)]
pub struct Backlog<'s> {
    /// Sources that are not covered to their end.
    pub behind: Vec<&'s Source>,
    /// Whether the index knows sources beside those that were named.
    pub strangers: bool,
}

impl Index {
    /// What an [`update`](Index::update) of these sources would have to read.
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

    /// Reads what is new in these sources, until `go_on` answers false. What was
    /// read by then is kept.
    ///
    /// Another process that writes makes this [`ErrorKind::Busy`]; nothing is lost, searches scan
    /// what is not covered.
    pub fn update(
        &self,
        sources: &mut dyn Iterator<Item = Source>,
        reader: &dyn SourceReader,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        let mut writer = self.writer()?;
        let mut work = Work {
            builder: Builder::new(),
            claims: Vec::new(),
            progress: Progress::default(),
        };
        work.progress.complete = true;
        let done = work
            .take(sources, reader, go_on, &mut writer)
            .and_then(|()| work.flush(&mut writer));
        let done = done.and_then(|()| unless_damaged(writer.tidy()));
        self.put(std::mem::take(&mut writer.snapshot));
        done.map(|tidy| Progress {
            complete: work.progress.complete && tidy,
            ..work.progress
        })
    }

    /// Forgets a source: it has no hits any more. Its terms go with the next rewrite; see
    /// [`purge`](Index::purge).
    pub fn forget(&self, reference: &SessionRef) -> Result<()> {
        self.retain(&|other| other != reference)
    }

    /// Forgets every source that `keep` does not want.
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

    /// Forgets a source and every term that stood in it alone: afterwards no file of the index
    /// holds anything of it.
    ///
    /// Terms of text that was replaced or forgotten earlier go too.
    pub fn purge(&self, reference: &SessionRef) -> Result<()> {
        self.purge_where(&|other| other == reference)
    }

    /// The same for every source that `gone` names.
    pub fn purge_where(&self, gone: &dyn Fn(&SessionRef) -> bool) -> Result<()> {
        match self.purge_once(gone) {
            // The damaged segment is known now and goes as a whole.
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

    /// A file that could not be removed would still hold what was to go: it is removed now, or the
    /// purge fails with what the system said.
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
                .hinting("remove that file yourself: the index is derived and comes back")
            })?;
        }
        Ok(())
    }

    fn writer(&self) -> Result<Writer<'_>> {
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

/// Damage met while tidying is dealt with by the next writer: it is no failure of
/// what was done before.
fn unless_damaged(done: Result<()>) -> Result<bool> {
    match done {
        Err(error) if error.kind() == ErrorKind::Damaged => Ok(false),
        done => done.map(|()| true),
    }
}

/// What a source will own once the segment under construction is written.
struct Claim {
    reference: SessionRef,
    generation: u64,
    covered: TextPosition,
    /// Whether its older blocks stay.
    keeps: bool,
    first: u32,
    count: u32,
}

struct Work {
    builder: Builder,
    claims: Vec<Claim>,
    progress: Progress,
}

impl Work {
    fn take(
        &mut self,
        sources: &mut dyn Iterator<Item = Source>,
        reader: &dyn SourceReader,
        go_on: &mut dyn FnMut() -> bool,
        writer: &mut Writer<'_>,
    ) -> Result<()> {
        let mut next = 0;
        for source in sources {
            if !go_on() {
                self.progress.complete = false;
                return Ok(());
            }
            let mut from = start_of(&source, &writer.snapshot, &mut next);
            let begun = from.map_or(source.len, |place| place.at);
            let mut read = Ok(());
            // A source may outgrow several segments; each round goes on where the one before ended.
            while let Some(place) = from.take() {
                let outcome = self.read(&source, reader, place, go_on);
                let ended = self.claims.last().map_or(place, |claim| claim.covered);
                if self.builder.is_full() {
                    self.flush(writer)?;
                    from = (outcome.is_ok() && ended.at > place.at && ended.at < source.len)
                        .then_some(ended);
                }
                self.progress.bytes += ended.at.saturating_sub(place.at);
                read = outcome;
            }
            self.progress.failed += u64::from(read.is_err());
            self.progress.complete &= read.is_ok();
            self.progress.sources += u64::from(begun < source.len);
        }
        Ok(())
    }

    /// Reads a source from `from` until it ends, the segment is full or time is up.
    fn read(
        &mut self,
        source: &Source,
        reader: &dyn SourceReader,
        from: TextPosition,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let dialect = reader.dialect(source);
        let first = self.builder.blocks();
        let mut covered = from;
        let mut folded = String::new();
        let (builder, progress) = (&mut self.builder, &mut self.progress);
        let result = walk(
            source,
            reader,
            from,
            source.len,
            Tail::Pending,
            &mut |step| match step {
                Step::Record(record) => {
                    builder.open(covered);
                    builder.saw(record.head.instant().map(|time| time.millis()));
                    let mut add = |field, text: &str| {
                        folded.clear();
                        normalize::fold_into(text, &mut folded);
                        builder.add(field, &folded);
                    };
                    match record.body {
                        Body::Object(object) => {
                            extract::extract(
                                dialect,
                                object,
                                record.head.kind,
                                record.head.flags,
                                &mut add,
                            );
                        }
                        Body::Text(field, text) => add(field, text),
                    }
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
                    goes_on && !builder.is_full()
                }
            },
        );
        self.builder.close(covered);
        if covered.at > from.at || from == TextPosition::START {
            let count = self.builder.blocks() - first;
            let (reference, generation, keeps) =
                (source.reference.clone(), source.generation, from.at > 0);
            self.claims.push(Claim {
                reference,
                generation,
                covered,
                keeps,
                first,
                count,
            });
        }
        result
    }

    /// Writes what was gathered, and puts it in force together with the sources it covers.
    fn flush(&mut self, writer: &mut Writer<'_>) -> Result<()> {
        if self.claims.is_empty() {
            return Ok(());
        }
        let mut segment = None;
        if !self.builder.is_empty() {
            let (text, blocks) = (self.builder.text(), self.builder.blocks());
            let (bytes, seal) = self.builder.finish();
            segment = Some(writer.segment(&bytes, seal, blocks, text)?);
        }
        for claim in self.claims.drain(..) {
            let row = writer.manifest.source_mut(&claim.reference);
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
        writer.commit()
    }
}

/// Where to begin to read a source; none if everything is known already.
fn start_of(source: &Source, snapshot: &Snapshot, next: &mut usize) -> Option<TextPosition> {
    left_of(source, snapshot.known(source, next))
}

/// The same by what is known of the source.
fn left_of(source: &Source, known: Option<&SourceRow>) -> Option<TextPosition> {
    match known {
        Some(row) => Some(row.covered).filter(|covered| covered.at < source.len),
        None => Some(TextPosition::START),
    }
}
