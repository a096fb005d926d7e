//! Where strings end, found for a whole line at once.
//!
//! Text is full of escapes, and going from one to the next costs more than everything else that scanning does. This index
//! looks at sixty-four bytes at a time and keeps one bit for each quote that no backslash escapes. It also checks what
//! strings may hold; on a line that fails, the scanner goes byte by byte and says where and why.

use wide::u8x16;

/// Quotes of one line that are not escaped, a bit each.
#[derive(Debug, Default)]
pub struct Quotes {
    words: Vec<u64>,
}

impl Quotes {
    /// Indexes a line. False if it holds a control character or a backslash that starts no escape: then it must be scanned
    /// byte by byte.
    pub fn index(&mut self, line: &[u8]) -> bool {
        self.words.clear();
        self.words.reserve(line.len() / 64 + 1);
        let mut carry = 0;
        let mut controls = u8x16::splat(0);
        let (blocks, rest) = line.as_chunks::<64>();
        for (number, block) in blocks.iter().enumerate() {
            if !self.block(block, line, number * 64, &mut carry, &mut controls) {
                return false;
            }
        }
        if !rest.is_empty() {
            let mut last = [b' '; 64];
            if let Some(start) = last.get_mut(..rest.len()) {
                start.copy_from_slice(rest);
            }
            if !self.block(&last, line, blocks.len() * 64, &mut carry, &mut controls) {
                return false;
            }
        }
        controls.to_bitmask() == 0
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

    #[inline]
    fn block(&mut self, block: &[u8; 64], line: &[u8], at: usize, carry: &mut u64, controls: &mut u8x16) -> bool {
        let (mut quotes, mut slashes, mut breaks) = (0, 0, 0);
        let (quote, slash, last_control) = (u8x16::splat(b'"'), u8x16::splat(b'\\'), u8x16::splat(0x1F));
        let (newline, tab) = (u8x16::splat(b'n'), u8x16::splat(b't'));
        let (lanes, _) = block.as_chunks::<16>();
        for (i, lane) in lanes.iter().enumerate() {
            let bytes = u8x16::new(*lane);
            quotes |= u64::from(bytes.simd_eq(quote).to_bitmask()) << (16 * i);
            slashes |= u64::from(bytes.simd_eq(slash).to_bitmask()) << (16 * i);
            breaks |= u64::from((bytes.simd_eq(newline) | bytes.simd_eq(tab)).to_bitmask()) << (16 * i);
            *controls |= bytes.min(last_control).simd_eq(bytes);
        }
        let escaped = escaped(slashes, carry);
        self.words.push(quotes & !escaped);
        // Nearly all escapes are of these four; only the others are looked at one by one.
        let rare = escaped & !(quotes | slashes | breaks);
        rare == 0 || escapes_are_sound(rare, line, at)
    }
}

/// Bits of characters that a backslash escapes. A run of backslashes escapes what follows it if it is of odd length; runs
/// are told apart by adding their first bit, which carries through to their end.
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

fn escapes_are_sound(mut escaped: u64, line: &[u8], at: usize) -> bool {
    while escaped != 0 {
        let place = at + escaped.trailing_zeros() as usize;
        escaped &= escaped - 1;
        match line.get(place) {
            Some(b'n' | b't' | b'"' | b'\\' | b'/' | b'r' | b'b' | b'f') => {}
            Some(b'u') => {
                if !line.get(place + 1..place + 5).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
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
        let mut quotes = Quotes::default();
        if !quotes.index(line) {
            return None;
        }
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
                assert_eq!(indexed(line.as_bytes()), plainly(line.as_bytes()), "{lead} {slashes}");
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
