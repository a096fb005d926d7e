//! The index as it stood at one moment: a manifest and the segments it names, all opened.

use std::sync::Arc;

use boswell_model::{Error, Result};

use super::checksummed_pages::{Paged, damaged};
use super::folder::IndexFolder;
use super::manifest::{self, Manifest, Range, SegmentRow, SourceRow};
use super::segment::Segment;
use crate::source::Source;

/// How often a list is read again when one of its files has just been replaced.
const TRIES: usize = 4;

/// What readers look at. Files that are removed later stay readable.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) manifest: Manifest,
    /// Beside the rows of the manifest; none where the file is missing or damaged.
    pub(crate) segments: Vec<Option<Arc<Segment>>>,
}

impl Snapshot {
    /// Reads what is there. A missing or damaged list is an empty one: everything is scanned
    /// until it is built again.
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

    /// The segment of that number, if it is sound.
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

    /// What is known of a source, if it still holds. `next` as for [`Manifest::source_near`].
    pub(crate) fn known(&self, source: &Source, next: &mut usize) -> Option<&SourceRow> {
        self.manifest
            .source_near(&source.reference, next)
            .filter(|row| self.holds(source, row))
    }

    /// Whether what a row says still holds.
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
