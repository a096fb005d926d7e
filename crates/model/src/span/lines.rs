//! Lines, put together from the chunks in which a file is read.

use memchr::memchr;

use super::Line;

/// Puts lines together from chunks of a file, whatever their size.
#[derive(Debug)]
pub struct Lines {
    held: Vec<u8>,
    at: u64,
    number: u64,
}

impl Lines {
    /// Starts at a line that begins at position `at` and has the number `number`.
    pub fn new(at: u64, number: u64) -> Self {
        Lines {
            held: Vec::new(),
            at,
            number,
        }
    }

    /// Hands over every line that ends in this chunk and keeps the rest.
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
                // One long line must not cost its size until the end of the file.
                if line.capacity() <= 1 << 20 {
                    self.held = line;
                    self.held.clear();
                }
            }
            rest = tail;
        }
        self.held.extend_from_slice(rest);
    }

    /// Hands over what stands after the last newline.
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
