//! SHA-256 of bytes and of files.

use std::fmt;
use std::path::Path;

use boswell_model::{Error, Result};
use sha2::{Digest as _, Sha256};

use crate::disk::{Disk, DiskFile, OpenMode, read_full};

/// How many bytes of a file are in memory while it is hashed.
pub(crate) const CHUNK: usize = 1 << 20;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.add(bytes);
        hasher.finish()
    }

    /// Returns the 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses 64 lower-case hex digits.
    pub fn parse(hex: &str) -> Option<Self> {
        let hex = hex.as_bytes();
        if hex.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = pair.iter().try_fold(0u8, |value, digit| match digit {
                b'0'..=b'9' => Some(value << 4 | (digit - b'0')),
                b'a'..=b'f' => Some(value << 4 | (digit - b'a' + 10)),
                _ => None,
            })?;
        }
        Some(Digest(out))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes a digest incrementally.
#[derive(Debug, Clone, Default)]
pub struct Hasher {
    sha: Sha256,
    len: u64,
}

impl Hasher {
    /// Adds bytes to the digest.
    pub fn add(&mut self, bytes: &[u8]) {
        self.sha.update(bytes);
        self.len += bytes.len() as u64;
    }

    /// Returns the digest of all bytes that were added.
    pub fn finish(&self) -> Digest {
        Digest(self.sha.clone().finalize().into())
    }

    /// Returns how many bytes were added.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a digest of nothing is a digest"
    )]
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// Passes the bytes of a file from `from` up to `to`, or its end, to the sink chunk by chunk.
pub(crate) fn chunks(
    file: &dyn DiskFile,
    from: u64,
    to: u64,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut at = from;
    let mut buffer = vec![0; CHUNK];
    while at < to {
        let want = usize::try_from(to - at).unwrap_or(CHUNK).min(CHUNK);
        let count = read_full(file, buffer.get_mut(..want).unwrap_or_default(), at)?;
        if count == 0 {
            break;
        }
        sink(buffer.get(..count).unwrap_or_default())?;
        at += count as u64;
    }
    Ok(())
}

/// Hashes the first `limit` bytes of a file, or all of it if it is shorter.
pub(crate) fn hash_file(disk: &dyn Disk, path: &Path, limit: u64) -> Result<Hasher> {
    let fault = |error| Error::io(path.display(), "read", error);
    let file = disk.open(path, OpenMode::Read).map_err(fault)?;
    let mut hasher = Hasher::default();
    chunks(file.as_ref(), 0, limit, &mut |bytes| {
        hasher.add(bytes);
        Ok(())
    })
    .map_err(fault)?;
    Ok(hasher)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_print_and_read_back() {
        let empty = Digest::of(b"");
        assert_eq!(
            empty.to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(Digest::parse(&empty.to_string()), Some(empty));
        for bad in ["", "E3", &"g".repeat(64), &"E".repeat(64)] {
            assert_eq!(Digest::parse(bad), None);
        }
    }
}
