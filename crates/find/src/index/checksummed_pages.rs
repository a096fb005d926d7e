//! Files with a checksum per page, so that a part can be read and verified without reading the
//! rest.
//!
//! Layout: `body · CRC-32 of each 16 KB page of the body · footer`. The footer contains a magic
//! number, the version, the length of the body, a CRC-32 of the page checksums, and a CRC-32 of the
//! footer itself. That last number covers the whole file indirectly and is called its seal: the
//! manifest records it to recognise the file.

use std::sync::Arc;

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::disk::DiskFile;

use super::folder::read_exact_at;

const PAGE: usize = 1 << 14;
const MAGIC: &[u8; 8] = b"boswellf";
/// Raised whenever bytes or meaning change; files of another version are rebuilt.
pub(crate) const VERSION: u32 = 5;
const FOOTER: usize = 8 + 4 + 8 + 4 + 4;

/// Appends page checksums and footer to `body`; returns the file and its seal.
pub(crate) fn seal(mut body: Vec<u8>) -> (Vec<u8>, u32) {
    let sums: Vec<u8> = body
        .chunks(PAGE)
        .flat_map(|page| crc32fast::hash(page).to_le_bytes())
        .collect();
    let len = body.len() as u64;
    let sum = crc32fast::hash(&sums);
    body.extend_from_slice(&sums);
    let at = body.len();
    body.extend_from_slice(MAGIC);
    body.extend_from_slice(&VERSION.to_le_bytes());
    body.extend_from_slice(&len.to_le_bytes());
    body.extend_from_slice(&sum.to_le_bytes());
    let footer = crc32fast::hash(body.get(at..).unwrap_or(b""));
    body.extend_from_slice(&footer.to_le_bytes());
    (body, footer)
}

/// Returns an error for a damaged index. It never leaves this crate: the reader scans the sources
/// instead.
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("the search index is damaged: {what}"),
    )
    .advising(Advice::RebuildSearchIndex)
}

/// An open file that [`seal`] made.
#[derive(Debug)]
pub(crate) struct Paged {
    file: Arc<dyn DiskFile>,
    body: u64,
    sums: Vec<u8>,
    seal: u32,
}

impl Paged {
    /// Opens a file and verifies the footer and the page checksums, but not the pages.
    pub(crate) fn open(file: Arc<dyn DiskFile>) -> Result<Paged> {
        let io = |_| damaged("a file cannot be read");
        let len = file.stat().map_err(io)?.len;
        let mut footer = [0; FOOTER];
        let at = len
            .checked_sub(FOOTER as u64)
            .ok_or_else(|| damaged("a file is too short"))?;
        read_exact_at(file.as_ref(), &mut footer, at).map_err(io)?;
        let (stated, seal) = footer.split_at(FOOTER - 4);
        let seal = number(seal) as u32;
        if crc32fast::hash(stated) != seal || !stated.starts_with(MAGIC) {
            return Err(damaged("a file does not end as it should"));
        }
        if number(stated.get(8..12).unwrap_or(b"")) != u64::from(VERSION) {
            return Err(damaged("a file is of another version"));
        }
        let body = number(stated.get(12..20).unwrap_or(b""));
        let pages = body.div_ceil(PAGE as u64);
        if body.checked_add(pages * 4) != Some(at) {
            return Err(damaged("a file does not have the length that it states"));
        }
        let mut sums = vec![0; usize::try_from(pages * 4).unwrap_or(0)];
        read_exact_at(file.as_ref(), &mut sums, body).map_err(io)?;
        if u64::from(crc32fast::hash(&sums)) != number(stated.get(20..24).unwrap_or(b"")) {
            return Err(damaged("its checksums do not agree"));
        }
        Ok(Paged {
            file,
            body,
            sums,
            seal,
        })
    }

    /// Returns the seal of the file.
    pub(crate) fn seal(&self) -> u32 {
        self.seal
    }

    /// Returns the length of the body.
    pub(crate) fn len(&self) -> u64 {
        self.body
    }

    /// Reads and verifies the bytes `from..to` of the body. The returned bytes begin at a page
    /// boundary; the second value is the offset of `from` in them.
    pub(crate) fn read(&self, from: u64, to: u64) -> Result<(Vec<u8>, usize)> {
        if from > to || to > self.body {
            return Err(damaged("a place outside of a file"));
        }
        let first = from / PAGE as u64;
        let start = first * PAGE as u64;
        let end = to
            .div_ceil(PAGE as u64)
            .saturating_mul(PAGE as u64)
            .min(self.body)
            .max(start);
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
        read_exact_at(self.file.as_ref(), &mut bytes, start)
            .map_err(|_| damaged("a file cannot be read"))?;
        for (index, page) in bytes.chunks(PAGE).enumerate() {
            let at = (usize::try_from(first)
                .unwrap_or(usize::MAX)
                .saturating_add(index))
            .saturating_mul(4);
            if self.sums.get(at..at.saturating_add(4))
                != Some(&crc32fast::hash(page).to_le_bytes()[..])
            {
                return Err(damaged("a page does not agree with its checksum"));
            }
        }
        Ok((bytes, usize::try_from(from - start).unwrap_or(0)))
    }
}

/// Returns a little-endian number of up to eight bytes.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .enumerate()
        .fold(0, |value, (index, byte)| {
            value | u64::from(*byte) << (8 * index)
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use boswell_store::disk::{Disk, MemoryDisk, OpenMode, durable};

    use super::*;

    fn held(bytes: Vec<u8>) -> Result<Paged> {
        let (disk, path) = (MemoryDisk::default(), Path::new("/index/file"));
        durable::make_folders(&disk, Path::new("/index"))?;
        durable::create(&disk, path, &bytes)?;
        Paged::open(disk.open(path, OpenMode::Read).unwrap().into())
    }

    #[test]
    fn any_part_reads_back() {
        let body: Vec<u8> = (0..70_000u32).map(|i| (i * 7 % 251) as u8).collect();
        let (file, seal) = seal(body.clone());
        let paged = held(file).unwrap();
        assert_eq!((paged.seal(), paged.len()), (seal, 70_000));
        for (from, to) in [
            (0, 70_000),
            (0, 0),
            (16_384, 16_385),
            (16_383, 32_769),
            (69_999, 70_000),
            (70_000, 70_000),
        ] {
            let (bytes, at) = paged.read(from, to).unwrap();
            assert_eq!(
                bytes[at..at + (to - from) as usize],
                body[from as usize..to as usize],
                "{from}..{to}"
            );
        }
        assert!(paged.read(5, 70_001).is_err());
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_seen() {
        let body: Vec<u8> = (0..20_000u32).map(|i| (i % 251) as u8).collect();
        let (file, _) = seal(body);
        for at in (0..file.len())
            .step_by(97)
            .chain(file.len() - 40..file.len())
        {
            let mut hurt = file.clone();
            hurt[at] ^= 0x10;
            assert!(
                held(hurt).and_then(|paged| paged.read(0, 20_000)).is_err(),
                "byte {at}"
            );
        }
        for len in (0..file.len()).step_by(83) {
            assert!(held(file[..len].to_vec()).is_err(), "cut at {len}");
        }
    }
}
