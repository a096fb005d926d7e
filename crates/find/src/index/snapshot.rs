//! A snapshot of the index: a manifest and the segments that it names, all open.

use std::sync::Arc;

use boswell_model::{Error, Result};

use super::checksummed_pages::{Paged, damaged};
use super::folder::IndexFolder;
use super::manifest::{self, Manifest, Range, SegmentRow, SourceRow};
use super::segment::Segment;
use crate::source::Source;

/// How often the manifest is read again if it is replaced while its segments are opened.
const TRIES: usize = 4;

/// The state that readers use. Files that the writer removes later stay readable, because they are
/// open.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) manifest: Manifest,
    /// Parallel to the rows of the manifest; `None` where the file is missing or damaged.
    pub(crate) segments: Vec<Option<Arc<Segment>>>,
}

impl Snapshot {
    /// Loads the current state. A missing or damaged manifest is taken as empty: searches scan
    /// everything until the index is built again.
    pub(crate) fn load(folder: &IndexFolder) -> Snapshot {
        for _ in 0..TRIES {
            let bytes = match folder.read(manifest::NAME, manifest::LONGEST) {
                Ok(bytes) => bytes,
                Err(_) => return Snapshot::default(),
            };
            let Ok(manifest) = Manifest::decode(bytes) else {
                return Snapshot::default();
            };
            let segments: Vec<_> = manifest
                .segments
                .iter()
                .map(|row| open_segment(folder, row).ok().map(Arc::new))
                .collect();
            // A segment may be missing because a writer replaced the manifest after we read it and
            // removed the file. Only if the manifest is unchanged is the file really missing or
            // damaged.
            let replaced = segments.iter().any(Option::is_none)
                && folder
                    .read(manifest::NAME, manifest::LONGEST)
                    .is_ok_and(|now| manifest.differs_from(&now));
            if !replaced {
                return Snapshot { manifest, segments };
            }
        }
        Snapshot::default()
    }

    /// Returns the segment with this number, unless it is missing or damaged.
    pub(crate) fn segment(&self, number: u64) -> Option<&Arc<Segment>> {
        let index = self
            .manifest
            .segments
            .binary_search_by_key(&number, |row| row.number)
            .ok()?;
        self.segments
            .get(index)?
            .as_ref()
            .filter(|segment| !segment.is_hurt())
    }

    /// Returns the row of a source, if it is still valid. `next` as for [`Manifest::source_near`].
    pub(crate) fn known(&self, source: &Source, next: &mut usize) -> Option<&SourceRow> {
        self.manifest
            .source_near(&source.reference, next)
            .filter(|row| self.holds(source, row))
    }

    /// Returns whether `row` is still valid for `source`: same generation, no shorter than covered,
    /// and all segments readable. A source that does not grow must have exactly the covered length.
    pub(crate) fn holds(&self, source: &Source, row: &SourceRow) -> bool {
        let fits = if source.grows() {
            row.covered.at <= source.len
        } else {
            row.covered.at == source.len
        };
        let sound = |range: &Range| self.segment(range.segment).is_some();
        row.generation == source.generation && fits && row.ranges.iter().all(sound)
    }
}

fn open_segment(folder: &IndexFolder, row: &SegmentRow) -> Result<Segment> {
    let file = folder
        .open(&row.name())
        .map_err(|error| Error::io(row.name(), "open", error))?;
    let segment = Segment::open(row.number, Paged::open(file)?)?;
    if segment.seal() != row.seal || segment.blocks() != row.blocks {
        return Err(damaged("a segment is not the one that the list means"));
    }
    Ok(segment)
}
