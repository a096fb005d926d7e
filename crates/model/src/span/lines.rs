//! Assembles lines from the chunks in which a file is read.

use memchr::memchr;

use super::Line;

/// Assembles lines from chunks of any size. A line within one chunk is passed on without a copy.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of a line that did not end in the chunks so far.
    held: Vec<u8>,
    /// Position in the file of the next line.
    at: u64,
    /// Number of the next line.
    number: u64,
}

impl Lines {
    /// Starts with the line number `number`, which begins at position `at` of the file.
    pub fn new(at: u64, number: u64) -> Self {
        Lines {
            held: Vec::new(),
            at,
            number,
        }
    }

    /// Passes every line that ends in this chunk to `sink` and buffers the rest.
    pub fn push(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end + 1);
            if self.held.is_empty() {
                self.emit(head, sink);
            } else {
                self.held.extend_from_slice(head);
                let line = std::mem::take(&mut self.held);
                self.emit(&line, sink);
                // The buffer is reused for the next split line, unless one long line made it so
                // large that it would occupy memory until the end of the file.
                if line.capacity() <= 1 << 20 {
                    self.held = line;
                    self.held.clear();
                }
            }
            rest = tail;
        }
        self.held.extend_from_slice(rest);
    }

    /// Passes the bytes after the last newline to `sink`, if there are any.
    pub fn finish(mut self, sink: &mut dyn FnMut(Line<'_>)) {
        if !self.held.is_empty() {
            let line = std::mem::take(&mut self.held);
            self.emit(&line, sink);
        }
    }

    fn emit(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        sink(Line {
            at: self.at,
            number: self.number,
            bytes,
        });
        self.at += bytes.len() as u64;
        self.number += 1;
    }
}
