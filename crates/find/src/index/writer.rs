//! The writer of the index: holds the lock, writes segments, replaces the manifest, and removes
//! files that the manifest no longer names.
//!
//! There is at most one writer across all processes. A segment is durable before the manifest names
//! it, and a file is removed only after the manifest that no longer names it is durable, so that a
//! crash at any point leaves a consistent index and at most some unused files.

use std::collections::HashMap;

use boswell_model::Result;
use boswell_store::disk::DiskFile;

use super::folder::{IndexFolder, TEMPORARY};
use super::manifest::{self, Manifest, Range, SegmentRow, segment_name};
use super::merge::{GONE, Input, merge};
use super::snapshot::Snapshot;

/// Segments with less text than this are merged once there are [`MANY`] of them.
const SMALL: u64 = 16 << 20;
const MANY: usize = 8;
/// Maximum amount of text of a merged segment.
const MERGED_TEXT: u64 = super::builder::SEGMENT_TEXT;

/// The right to change the index, until it is dropped.
#[derive(Debug)]
pub(crate) struct Writer<'d> {
    folder: &'d IndexFolder,
    /// The state when the writer began or last committed.
    pub(crate) snapshot: Snapshot,
    /// The manifest that the next commit writes.
    pub(crate) manifest: Manifest,
    _lock: Box<dyn DiskFile>,
}

impl<'d> Writer<'d> {
    /// Takes the lock and loads the current state. `hurt` lists segments in which a reader found
    /// damage.
    pub(crate) fn begin(folder: &'d IndexFolder, hurt: &[u64]) -> Result<Writer<'d>> {
        let lock = folder.lock()?;
        let mut snapshot = Snapshot::load(folder);
        for (row, segment) in snapshot
            .manifest
            .segments
            .iter()
            .zip(&mut snapshot.segments)
        {
            if hurt.contains(&row.number) {
                *segment = None;
            }
        }
        // Sources with blocks in a missing or damaged segment are removed, so that they are indexed
        // again.
        let mut manifest = snapshot.manifest.clone();
        let sound = |number: u64| snapshot.segment(number).is_some();
        manifest.retain(|_, row| row.ranges.iter().all(|range| sound(range.segment)));
        manifest.segments.retain(|row| sound(row.number));
        let writer = Writer {
            folder,
            snapshot,
            manifest,
            _lock: lock,
        };
        writer.clear();
        Ok(writer)
    }

    /// Writes a segment file and adds it to the manifest; it is used from the next
    /// [`commit`](Writer::commit) on.
    pub(crate) fn segment(
        &mut self,
        bytes: &[u8],
        seal: u32,
        blocks: u32,
        text: u64,
    ) -> Result<u64> {
        let number = self.manifest.next;
        let name = segment_name(number);
        self.folder.put(&name, bytes)?;
        self.manifest.next += 1;
        self.manifest.segments.push(SegmentRow {
            number,
            blocks,
            seal,
            text,
            bytes: bytes.len() as u64,
        });
        Ok(number)
    }

    /// Replaces the manifest on disk and removes the files that it no longer names.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.folder.put(manifest::NAME, &self.manifest.encode())?;
        self.snapshot = Snapshot::load(self.folder);
        self.clear();
        Ok(())
    }

    /// Removes segment and temporary files that neither the manifest on disk nor the next one
    /// names. Errors are ignored: the next writer tries again.
    fn clear(&self) {
        let named = |name: &str| {
            let rows = self
                .manifest
                .segments
                .iter()
                .chain(&self.snapshot.manifest.segments);
            rows.into_iter().any(|row| row.name() == name)
        };
        for name in self.folder.list() {
            let ours = name.starts_with("segment-") || name.ends_with(TEMPORARY);
            if ours && !named(&name) {
                let _ = self.folder.remove(&name);
            }
        }
    }

    /// Merges small segments if there are many, and rewrites segments of which more than half is
    /// dead. Commits if anything changed.
    pub(crate) fn tidy(&mut self) -> Result<()> {
        let living = self.manifest.living();
        let alive = |row: &SegmentRow| living.get(&row.number).copied().unwrap_or(0);
        let mut small: Vec<u64> = Vec::new();
        let mut text = 0;
        for row in self.manifest.segments.iter().filter(|row| row.text < SMALL) {
            if text + row.text <= MERGED_TEXT {
                text += row.text;
                small.push(row.number);
            }
        }
        let dying: Vec<u64> = (self.manifest.segments.iter())
            .filter(|row| alive(row) * 2 < u64::from(row.blocks))
            .map(|row| row.number)
            .collect();
        // A few small segments cost little to search, and merging them after each update would
        // rewrite the same text again and again.
        if small.len() < MANY {
            small.clear();
        }
        let alone = dying
            .into_iter()
            .filter(|number| !small.contains(number))
            .map(|number| vec![number]);
        let groups: Vec<Vec<u64>> = std::iter::once(small.clone())
            .filter(|group| !group.is_empty())
            .chain(alone)
            .collect();
        groups.iter().try_for_each(|group| self.rewrite(group))?;
        if groups.is_empty() {
            Ok(())
        } else {
            self.commit()
        }
    }

    /// The living blocks of segments with their new numbers, how many they are, and the estimated
    /// size of their text.
    fn inputs(&self, numbers: &[u64]) -> (Vec<Input<'_>>, u32, u64) {
        let mut inputs = Vec::new();
        let mut next = 0u32;
        let mut text = 0;
        for number in numbers {
            let Some(segment) = self.snapshot.segment(*number) else {
                continue;
            };
            let mut blocks = self.living_blocks(*number, segment.blocks());
            let all = blocks.len().max(1) as u64;
            let mut alive = 0u64;
            // New numbers are given in the order of `numbers`, which is the order in which `merge`
            // appends the block rows.
            for block in blocks.iter_mut().filter(|block| **block != GONE) {
                *block = next;
                next += 1;
                alive += 1;
            }
            let mut rows = self.manifest.segments.iter();
            let row = rows.find(|row| row.number == *number);
            // An estimate: the size of the text is known for the segment, not for each block.
            text += row.map_or(0, |row| row.text / all * alive);
            inputs.push(Input { segment, blocks });
        }
        (inputs, next, text)
    }

    /// Replaces segments by one that contains only their living blocks.
    pub(crate) fn rewrite(&mut self, numbers: &[u64]) -> Result<()> {
        let (inputs, next, text) = self.inputs(numbers);
        let maps: HashMap<u64, Vec<u32>> = inputs
            .iter()
            .map(|input| (input.segment.number, input.blocks.clone()))
            .collect();
        // If no block is alive, no new segment is written, and no range refers to number 0.
        let merged = match next {
            0 => None,
            _ => Some(merge(&inputs).inspect_err(|_| find_damage(&inputs))?),
        };
        let number = match merged {
            Some((bytes, seal, blocks)) => self.segment(&bytes, seal, blocks, text)?,
            None => 0,
        };
        self.manifest
            .segments
            .retain(|row| !numbers.contains(&row.number));
        for range in self
            .manifest
            .sources
            .iter_mut()
            .flat_map(|source| source.ranges.iter_mut())
        {
            // The blocks of a range are consecutive and all alive, so they are still consecutive
            // after renumbering: the first number is enough.
            if let Some(map) = maps.get(&range.segment) {
                let first = map.get(range.first as usize).copied().unwrap_or(GONE);
                *range = Range {
                    segment: number,
                    first,
                    count: range.count,
                };
            }
        }
        Ok(())
    }

    /// Returns for each block of a segment 0 if a source owns it, else [`GONE`].
    fn living_blocks(&self, number: u64, blocks: u32) -> Vec<u32> {
        let mut living = vec![GONE; blocks as usize];
        for range in self
            .manifest
            .sources
            .iter()
            .flat_map(|source| source.ranges.iter())
            .filter(|r| r.segment == number)
        {
            let (first, count) = (range.first as usize, range.count as usize);
            if let Some(part) = living.get_mut(first..first.saturating_add(count)) {
                part.fill(0);
            }
        }
        living
    }
}

/// Marks the segments that cannot be read, so that the next writer drops them.
fn find_damage(inputs: &[Input<'_>]) {
    for input in inputs {
        if input.segment.check().is_err() {
            input.segment.mark_hurt();
        }
    }
}
