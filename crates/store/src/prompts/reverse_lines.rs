//! Iterates over the lines of a file from its end.

use std::io;

use memchr::memrchr;

use crate::disk::{DiskFile, read_full};

const CHUNK: u64 = 64 * 1024;

/// Reads lines backwards, a chunk at a time. What is appended meanwhile is not seen.
pub(super) struct Backwards<'a> {
    file: &'a dyn DiskFile,
    /// How much of the file lies before what was read.
    unread: u64,
    /// Bytes that were read and not returned yet, in order.
    held: Vec<u8>,
    /// How many bytes at the end of `held` are known to hold no newline.
    searched: usize,
    is_pending: bool,
    is_over: bool,
}

/// A line without its newline.
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Whether it is the last one and has no newline yet.
    pub(super) is_pending: bool,
}

impl<'a> Backwards<'a> {
    pub(super) fn new(file: &'a dyn DiskFile) -> io::Result<Self> {
        let unread = file.stat()?.len;
        let mut lines = Backwards {
            file,
            unread,
            held: Vec::new(),
            searched: 0,
            is_pending: false,
            is_over: unread == 0,
        };
        lines.read_more()?;
        lines.is_pending = lines.held.pop_if(|last| *last == b'\n').is_none();
        Ok(lines)
    }

    /// Returns the line before the one that was returned last.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line>> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            let fresh = self.held.len().saturating_sub(self.searched);
            if let Some(newline) = memrchr(b'\n', self.held.get(..fresh).unwrap_or(b"")) {
                let bytes = self.held.split_off(newline + 1);
                self.held.truncate(newline);
                self.searched = 0;
                return Ok(Some(self.line(bytes)));
            }
            self.searched = self.held.len();
            if self.unread == 0 {
                self.is_over = true;
                let bytes = std::mem::take(&mut self.held);
                return Ok(Some(self.line(bytes)));
            }
            self.read_more()?;
        }
    }

    fn line(&mut self, bytes: Vec<u8>) -> Line {
        Line {
            bytes,
            is_pending: std::mem::take(&mut self.is_pending),
        }
    }

    /// Reads what lies before; twice as much when a long line is not yet whole, so that it is
    /// not copied too often.
    fn read_more(&mut self) -> io::Result<()> {
        let size = CHUNK.max(self.held.len() as u64).min(self.unread);
        let start = self.unread - size;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        let done = read_full(self.file, &mut bytes, start)?;
        if done < bytes.len() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was read",
            ));
        }
        bytes.append(&mut self.held);
        (self.held, self.unread) = (bytes, start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::{Disk, OpenMode, RealDisk, durable};

    fn lines(content: &[u8]) -> Vec<(Vec<u8>, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        durable::create(&RealDisk, &path, content).unwrap();
        let file = RealDisk.open(&path, OpenMode::Read).unwrap();
        let mut lines = Backwards::new(file.as_ref()).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.bytes, line.is_pending));
        }
        found
    }

    #[test]
    fn lines_come_from_the_end_and_the_unfinished_one_is_told() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(b"".to_vec(), false)]);
        assert_eq!(
            lines(b"a\n\nb"),
            [
                (b"b".to_vec(), true),
                (b"".to_vec(), false),
                (b"a".to_vec(), false)
            ]
        );
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let long = vec![b'x'; 300_000];
        let content = [b"first\n", long.as_slice(), b"\nlast\n"].concat();
        let found = lines(&content);
        assert_eq!(
            found,
            [
                (b"last".to_vec(), false),
                (long, false),
                (b"first".to_vec(), false)
            ]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn lines_backwards_are_the_lines(sizes in proptest::collection::vec(0usize..90_000, 1..6)) {
            let expected: Vec<Vec<u8>> = sizes.iter().map(|size| vec![b'y'; *size]).collect();
            let content: Vec<u8> = expected.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
            let mut found: Vec<Vec<u8>> = lines(&content).into_iter().map(|(line, _)| line).collect();
            found.reverse();
            prop_assert_eq!(found, expected);
        }
    }
}
