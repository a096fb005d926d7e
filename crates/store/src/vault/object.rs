//! The file format of a copy: `BOSWELL-OBJECT 1\n`, then chunks of up to 1 MiB of the content.
//!
//! A chunk consists of its length and the length of its stored form (both 32 bits, little-endian),
//! then the stored form: LZ4 if that is shorter, else the bytes themselves, with both lengths
//! equal. So a copy of a gigabyte is written and read with little memory, and an object can be
//! decompressed without its record.

use std::path::Path;

use boswell_model::{Error, ErrorKind, Result};

use crate::disk::{Disk, DiskFile, OpenMode, durable, read_full};
use crate::sha256::{CHUNK, Digest, Hasher, chunks};

const MAGIC: &[u8] = b"BOSWELL-OBJECT 1\n";

/// Writes the first `len` bytes of a file as an object and returns their hash. The object is
/// synced, its name is not.
pub(super) fn pack_file(disk: &dyn Disk, source: &Path, len: u64, to: &Path) -> Result<Digest> {
    let file = disk
        .open(source, OpenMode::Read)
        .map_err(|error| Error::io(source.display(), "copy", error))?;
    pack(disk, to, |sink| chunks(file.as_ref(), 0, len, sink))
}

/// Writes bytes as an object and returns their hash. The object is synced, its name is not.
pub(super) fn pack_bytes(disk: &dyn Disk, bytes: &[u8], to: &Path) -> Result<Digest> {
    pack(disk, to, |sink| bytes.chunks(CHUNK).try_for_each(sink))
}

/// Writes bytes as an object, and returns the open file. Neither the object nor its name is synced.
pub(super) fn write_bytes(disk: &dyn Disk, bytes: &[u8], to: &Path) -> Result<Box<dyn DiskFile>> {
    write(disk, to, |sink| bytes.chunks(CHUNK).try_for_each(sink)).map(|(_, file)| file)
}

type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>;

fn pack(
    disk: &dyn Disk,
    to: &Path,
    feed: impl FnOnce(Sink<'_>) -> std::io::Result<()>,
) -> Result<Digest> {
    let (hash, file) = write(disk, to, feed)?;
    file.sync()
        .map_err(|error| Error::io(to.display(), "write", error))?;
    Ok(hash)
}

fn write(
    disk: &dyn Disk,
    to: &Path,
    feed: impl FnOnce(Sink<'_>) -> std::io::Result<()>,
) -> Result<(Digest, Box<dyn DiskFile>)> {
    let fault = |error| Error::io(to.display(), "write", error);
    let out = disk.open(to, OpenMode::CreateNew).map_err(fault)?;
    durable::append_all(out.as_ref(), MAGIC).map_err(fault)?;
    let mut hasher = Hasher::default();
    feed(&mut |chunk| {
        hasher.add(chunk);
        durable::append_all(out.as_ref(), &stored(chunk))
    })
    .map_err(fault)?;
    Ok((hasher.finish(), out))
}

fn stored(chunk: &[u8]) -> Vec<u8> {
    let packed = lz4_flex::block::compress(chunk);
    let body = if packed.len() < chunk.len() {
        packed.as_slice()
    } else {
        chunk
    };
    // Both fit: a chunk is at most 1 MiB.
    let mut out = Vec::with_capacity(body.len() + 8);
    for len in [chunk.len(), body.len()] {
        out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend_from_slice(body);
    out
}

/// The length of the chunk at `at`, unpacked and as it is stored; nothing if it is impossible. That
/// is checked before the allocation: a damaged length must not cost memory.
fn lengths(file: &dyn DiskFile, at: u64) -> std::io::Result<Option<(usize, usize)>> {
    let mut lens = [0; 8];
    let got = read_full(file, &mut lens, at)?;
    let [a, b, c, d, e, f, g, h] = lens;
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    let packed = u32::from_le_bytes([e, f, g, h]) as usize;
    let possible = got == lens.len() && len <= CHUNK && packed <= len;
    Ok(possible.then_some((len, packed)))
}

/// Passes the content of an object to `sink`, chunk by chunk, and returns its hash.
pub(super) fn unpack(file: &dyn DiskFile, path: &Path, sink: Sink<'_>) -> Result<Digest> {
    let fault = |error| Error::io(path.display(), "read", error);
    let damaged = |why: &str| {
        Error::new(
            ErrorKind::Damaged,
            format!("the copy `{}` is damaged", path.display()),
        )
        .because(why)
    };
    let mut magic = vec![0; MAGIC.len()];
    read_full(file, &mut magic, 0).map_err(fault)?;
    if magic != MAGIC {
        return Err(damaged("it does not begin as copies do"));
    }
    let end = file.stat().map_err(fault)?.len;
    let mut at = MAGIC.len() as u64;
    let mut hasher = Hasher::default();
    while at < end {
        let Some((len, packed)) = lengths(file, at).map_err(fault)? else {
            return Err(damaged("a chunk has an impossible length"));
        };
        let mut body = vec![0; packed];
        if read_full(file, &mut body, at + 8).map_err(fault)? < packed {
            return Err(damaged("it ends within a chunk"));
        }
        if packed < len {
            body = lz4_flex::block::decompress(&body, len)
                .map_err(|_| damaged("a chunk cannot be unpacked"))?;
        }
        hasher.add(&body);
        sink(&body).map_err(fault)?;
        at += 8 + packed as u64;
    }
    Ok(hasher.finish())
}
