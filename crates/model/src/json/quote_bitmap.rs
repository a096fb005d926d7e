//! A bitmap of the unescaped quotes of one line, built with SIMD (64 bytes per step).
//!
//! Text is full of escapes, and stepping from one escape to the next costs more than the rest of
//! the scan. This index compares 64 bytes at a time and stores one bit per quote that no backslash
//! escapes. The method is that of simdjson: a bit mask per block, and a carry bit for a backslash
//! at the end of a block.
//!
//! The same pass validates the contents of strings: control characters and escapes. It does not
//! know which bytes are inside strings, so it also rejects valid lines, for example those with a
//! tab between two tokens. A rejected line is not an error: the caller scans it byte by byte, which
//! decides whether it is valid and reports where it is not.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

/// The unescaped quotes of one line, one bit per byte of the line.
#[derive(Debug, Default)]
pub(super) struct QuoteBitmap {
    /// Bit `n % 64` of word `n / 64` is set if byte `n` is an unescaped quote.
    words: Vec<u64>,
    ascii: bool,
}

impl QuoteBitmap {
    /// Indexes a line. Returns false if the line contains a control character or a backslash that
    /// does not start a valid escape; such a line must be scanned byte by byte.
    pub(super) fn index(&mut self, line: &[u8]) -> bool {
        self.words.clear();
        self.words.reserve(line.len() / 64 + 1);
        let seen = dispatch!(Level::new(), simd => look(simd, line, &mut self.words));
        self.ascii = seen.ascii;
        seen.sound
    }

    /// Whether every byte of the indexed line is ASCII. Callers then skip UTF-8 validation.
    pub(super) fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// Iterates over all unescaped quotes in order.
    pub(super) fn sweep(&self) -> QuoteIter<'_> {
        let (word, words) = self
            .words
            .split_first()
            .map_or((0, &[][..]), |(word, rest)| (*word, rest));
        QuoteIter {
            words,
            base: 0,
            word,
        }
    }

    /// Returns the index of the first unescaped quote at or after `from`.
    #[inline]
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut number = from / 64;
        let mut word = self.words.get(number)? & (u64::MAX << (from % 64));
        while word == 0 {
            number += 1;
            word = *self.words.get(number)?;
        }
        Some(number * 64 + word.trailing_zeros() as usize)
    }
}

/// A forward-only cursor over the quotes of a [`QuoteBitmap`].
pub(super) struct QuoteIter<'q> {
    /// The words after `word`.
    words: &'q [u64],
    /// Index in the line of the first byte that `word` describes.
    base: usize,
    /// The current word, without the quotes that were already returned.
    word: u64,
}

impl QuoteIter<'_> {
    /// Returns the index of the next quote.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        if self.word == 0 {
            // Long text has many words without a quote; `position` skips them in a tight loop.
            let without = self.words.iter().position(|word| *word != 0)?;
            let (word, words) = self.words.get(without..)?.split_first()?;
            (self.word, self.words) = (*word, words);
            self.base += 64 * (without + 1);
        }
        let place = self.base + self.word.trailing_zeros() as usize;
        // Clears the lowest set bit.
        self.word &= self.word - 1;
        Some(place)
    }
}

/// The result of the pass over a line, besides the bitmap.
struct Seen {
    /// Whether there is no control character and every escape is valid.
    sound: bool,
    ascii: bool,
}

/// Pushes one word for every 64 bytes of the line.
#[inline(always)]
fn look<S: Simd>(simd: S, line: &[u8], words: &mut Vec<u64>) -> Seen {
    let mut eye = Eye {
        simd,
        line,
        carry: 0,
        controls: 0,
        sound: true,
        all: u8x64::splat(simd, 0),
    };
    let (blocks, rest) = line.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        words.push(eye.block(block, number * 64));
    }
    if !rest.is_empty() {
        // Spaces are neither quotes nor backslashes nor controls, so padding adds no bits.
        let mut last = [b' '; 64];
        if let Some(start) = last.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        words.push(eye.block(&last, blocks.len() * 64));
    }
    // One comparison for the whole line: OR-ing all bytes keeps every high bit.
    let high = eye.all.simd_ge(u8x64::splat(simd, 0x80)).to_bitmask();
    Seen {
        sound: eye.sound && eye.controls == 0,
        ascii: high == 0,
    }
}

/// The state of the pass, carried from one block of 64 bytes to the next.
struct Eye<'l, S: Simd> {
    simd: S,
    line: &'l [u8],
    /// 1 if a backslash at the end of the previous block escapes the first byte of the next block,
    /// else 0.
    carry: u64,
    /// Nonzero if any block contained a byte below 0x20.
    controls: u64,
    /// Whether all rare escapes so far are valid.
    sound: bool,
    /// The bitwise OR of all blocks so far.
    all: u8x64<S>,
}

impl<S: Simd> Eye<'_, S> {
    /// Returns the unescaped quotes of the block that starts at index `at` of the line.
    #[inline(always)]
    fn block(&mut self, block: &[u8; 64], at: usize) -> u64 {
        let bytes = u8x64::simd_from(self.simd, *block);
        let are = |byte: u8| bytes.simd_eq(u8x64::splat(self.simd, byte));
        let (quotes, slashes) = (are(b'"').to_bitmask(), are(b'\\').to_bitmask());
        let breaks = (are(b'n') | are(b't')).to_bitmask();
        self.controls |= bytes.simd_lt(u8x64::splat(self.simd, 0x20)).to_bitmask();
        self.all |= bytes;
        let escaped = escaped(slashes, &mut self.carry);
        // Nearly all escapes are `\"`, `\\`, `\n` and `\t`; only the others are checked one by one.
        // They are looked up in `line`, not in `block`, because the digits of `\uXXXX` may be in
        // the next block.
        let rare = escaped & !(quotes | slashes | breaks);
        if rare != 0 {
            self.sound &= escapes_are_sound(rare, self.line, at);
        }
        quotes & !escaped
    }
}

/// Returns the bits of the bytes that a backslash escapes, and updates `carry`.
///
/// A run of backslashes escapes the byte after it if the run has odd length. The lengths are not
/// counted: adding the first bit of a run to the run carries to the bit after its end, and the
/// parity of the start and end positions gives the parity of the length.
#[inline(always)]
fn escaped(slashes: u64, carry: &mut u64) -> u64 {
    if slashes == 0 {
        return std::mem::take(carry);
    }
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // A backslash that is itself escaped by the previous block does not start an escape.
    let slashes = slashes & !*carry;
    let follows = slashes << 1 | *carry;
    let odd_starts = slashes & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(slashes);
    // The run reaches the end of the block: it escapes the first byte of the next one if its length
    // is odd.
    *carry = u64::from(overflow);
    (EVEN ^ (even_runs << 1)) & follows
}

/// Checks the escapes whose second byte is marked in `escaped`, for the block at index `at`.
#[cold]
fn escapes_are_sound(mut escaped: u64, line: &[u8], at: usize) -> bool {
    while escaped != 0 {
        let place = at + escaped.trailing_zeros() as usize;
        escaped &= escaped - 1;
        match line.get(place) {
            Some(b'n' | b't' | b'"' | b'\\' | b'/' | b'r' | b'b' | b'f') => {}
            Some(b'u') => {
                if !line
                    .get(place + 1..place + 5)
                    .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
                {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Finds the quotes byte by byte, as the reference.
    fn plainly(line: &[u8]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            match byte {
                0..=0x1F => return None,
                b'"' => found.push(at),
                b'\\' => {
                    at += 1;
                    match line.get(at)? {
                        b'n' | b't' | b'"' | b'\\' | b'/' | b'r' | b'b' | b'f' => {}
                        b'u' if line.get(at + 1..at + 5)?.iter().all(u8::is_ascii_hexdigit) => {}
                        _ => return None,
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Some(found)
    }

    fn indexed(line: &[u8]) -> Option<Vec<usize>> {
        let mut quotes = QuoteBitmap::default();
        let sound = quotes.index(line);
        // The portable code must give the same result as the SIMD code of this machine.
        let mut words = Vec::new();
        let seen = dispatch!(Level::baseline(), simd => look(simd, line, &mut words));
        assert_eq!(
            (seen.sound, seen.ascii, &words),
            (sound, quotes.is_ascii(), &quotes.words)
        );
        assert_eq!(seen.ascii, line.is_ascii());
        if !sound {
            return None;
        }
        let mut swept = quotes.sweep();
        assert!(
            std::iter::from_fn(|| swept.next())
                .eq(std::iter::successors(quotes.next(0), |at| quotes.next(at + 1)))
        );
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = quotes.next(from) {
            found.push(at);
            from = at + 1;
        }
        Some(found)
    }

    #[test]
    fn runs_of_backslashes_over_the_edge_of_a_block_are_counted() {
        for lead in 55..75 {
            for slashes in 0..6 {
                let line = format!("{}{}\"x\"", "a".repeat(lead), "\\".repeat(slashes));
                assert_eq!(
                    indexed(line.as_bytes()),
                    plainly(line.as_bytes()),
                    "{lead} {slashes}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_going_byte_by_byte(line in proptest::collection::vec(prop_oneof![
            Just(b'\\'), Just(b'"'), Just(b'n'), Just(b'u'), Just(b'0'), Just(b'a'), any::<u8>(),
        ], 0..260)) {
            prop_assert_eq!(indexed(&line), plainly(&line));
        }
    }
}
