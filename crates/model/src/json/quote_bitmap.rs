//! A bitmap of unescaped quotes, built for a whole line at once (SIMD within 64-bit words).
//!
//! Text is full of escapes, and going from one to the next costs more than everything else in
//! scanning. This index reads 64 bytes at a time and keeps one bit per quote that no backslash
//! escapes. It also validates what strings may hold; if a line fails, the scanner goes byte by byte
//! and says where and why.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

/// Quotes of one line that are not escaped, a bit each.
#[derive(Debug, Default)]
pub(super) struct QuoteBitmap {
    words: Vec<u64>,
    ascii: bool,
}

impl QuoteBitmap {
    /// Indexes a line. False if it holds a control character or a backslash that starts no escape:
    /// then it must be scanned byte by byte.
    pub(super) fn index(&mut self, line: &[u8]) -> bool {
        self.words.clear();
        self.words.reserve(line.len() / 64 + 1);
        let seen = dispatch!(Level::new(), simd => look(simd, line, &mut self.words));
        self.ascii = seen.ascii;
        seen.sound
    }

    /// Whether the line that was indexed is ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// All unescaped quotes, in order.
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

    /// The first quote at or after `from` that is not escaped.
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

/// Goes from quote to quote.
pub(super) struct QuoteIter<'q> {
    words: &'q [u64],
    /// Where the word begins in the line.
    base: usize,
    word: u64,
}

impl QuoteIter<'_> {
    /// The next quote.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        if self.word == 0 {
            // A long text has many words without a quote.
            let without = self.words.iter().position(|word| *word != 0)?;
            let (word, words) = self.words.get(without..)?.split_first()?;
            (self.word, self.words) = (*word, words);
            self.base += 64 * (without + 1);
        }
        let place = self.base + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(place)
    }
}

/// What was seen of a line besides its quotes.
struct Seen {
    /// Whether everything in it may stand in a string.
    sound: bool,
    ascii: bool,
}

/// Leaves a word for every sixty-four bytes of the line.
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
        let mut last = [b' '; 64];
        if let Some(start) = last.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        words.push(eye.block(&last, blocks.len() * 64));
    }
    let high = eye.all.simd_ge(u8x64::splat(simd, 0x80)).to_bitmask();
    Seen {
        sound: eye.sound && eye.controls == 0,
        ascii: high == 0,
    }
}

/// Looks at sixty-four bytes after the other.
struct Eye<'l, S: Simd> {
    simd: S,
    line: &'l [u8],
    /// Whether the last backslash of the block before escapes the first byte of the next.
    carry: u64,
    controls: u64,
    sound: bool,
    /// Every byte so far, one on top of the other.
    all: u8x64<S>,
}

impl<S: Simd> Eye<'_, S> {
    /// The quotes of the block at `at` that are not escaped.
    #[inline(always)]
    fn block(&mut self, block: &[u8; 64], at: usize) -> u64 {
        let bytes = u8x64::simd_from(self.simd, *block);
        let are = |byte: u8| bytes.simd_eq(u8x64::splat(self.simd, byte));
        let (quotes, slashes) = (are(b'"').to_bitmask(), are(b'\\').to_bitmask());
        let breaks = (are(b'n') | are(b't')).to_bitmask();
        self.controls |= bytes.simd_lt(u8x64::splat(self.simd, 0x20)).to_bitmask();
        self.all |= bytes;
        let escaped = escaped(slashes, &mut self.carry);
        // Nearly all escapes are of these four; only the others are looked at one by one.
        let rare = escaped & !(quotes | slashes | breaks);
        if rare != 0 {
            self.sound &= escapes_are_sound(rare, self.line, at);
        }
        quotes & !escaped
    }
}

/// Bits of characters that a backslash escapes. A run of backslashes escapes what follows it
/// if it is of odd length; runs are told apart by adding their first bit, which carries
/// through to their end.
#[inline(always)]
fn escaped(slashes: u64, carry: &mut u64) -> u64 {
    if slashes == 0 {
        return std::mem::take(carry);
    }
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let slashes = slashes & !*carry;
    let follows = slashes << 1 | *carry;
    let odd_starts = slashes & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(slashes);
    *carry = u64::from(overflow);
    (EVEN ^ (even_runs << 1)) & follows
}

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

    /// The same, character by character.
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
        // What every machine can do must give the same as what this one can.
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
