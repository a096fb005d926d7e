//! Multi-pattern search: one pass over a text finds the anchor words of all rules.
//!
//! A bit filter over the hash of three bytes shows where a word may be, and only there words are
//! compared. The filter fits in the L1 cache and its steps do not depend on each other, so it is
//! faster than an automaton of several hundred words.

use std::ops::Range;

/// Number of bytes that the filter hashes; no word may be shorter.
pub(super) const WINDOW: usize = 3;

/// Letters by their frequency in text and code.
const COMMON: &[u8] = b"etaoinsrlcdhumpfgbywvkxjqz";

/// Sequences of three bytes that are frequent although none of their letters is rare.
const EVERYWHERE: [&[u8]; 14] = [
    b"ion", b"com", b"git", b"ver", b"er ", b"son", b"lin", b"enc", b"red", b"urc", b"on_", b"try",
    b"pla", b"key",
];

/// The words to search for, each with a value.
#[derive(Debug)]
pub(super) struct Anchors<T> {
    filter: Box<[u64; 1 << 10]>,
    /// The words, sorted by the hash of their window.
    words: Vec<Word<T>>,
    /// For every 64-bit word of the filter, the index of its first entry in `words`.
    starts: Vec<usize>,
}

#[derive(Debug)]
struct Word<T> {
    hash: u16,
    word: &'static [u8],
    /// Offset of the window in the word.
    offset: usize,
    leads: T,
}

impl<T: Copy> Anchors<T> {
    pub(super) fn new(words: &[(&'static str, T)]) -> Anchors<T> {
        let entry = |(word, leads): &(&'static str, T)| {
            let word = word.as_bytes();
            let (offset, window) = rarest(word)?;
            Some(Word {
                hash: hash(window),
                word,
                offset,
                leads: *leads,
            })
        };
        let mut words: Vec<Word<T>> = words.iter().filter_map(entry).collect();
        words.sort_by_key(|word| word.hash);
        let mut filter = Box::new([0; 1 << 10]);
        words
            .iter()
            .for_each(|word| filter[usize::from(word.hash >> 6)] |= 1 << (word.hash & 63));
        let start = |slot: usize| words.partition_point(|word| usize::from(word.hash >> 6) < slot);
        let starts = (0..filter.len()).map(start).collect();
        Anchors {
            filter,
            words,
            starts,
        }
    }

    /// Calls `see` for every occurrence of a word, ignoring ASCII case, with its range.
    pub(super) fn each(&self, text: &[u8], see: &mut dyn FnMut(Range<usize>, T)) {
        for (at, window) in text.windows(WINDOW).enumerate() {
            let hash = hash(window);
            if self.filter[usize::from(hash >> 6)] >> (hash & 63) & 1 == 1 {
                self.compare(text, at, hash, see);
            }
        }
    }

    fn compare(&self, text: &[u8], at: usize, hash: u16, see: &mut dyn FnMut(Range<usize>, T)) {
        let first = self
            .starts
            .get(usize::from(hash >> 6))
            .copied()
            .unwrap_or(0);
        let words = self.words.get(first..).unwrap_or_default().iter();
        for word in words
            .take_while(|word| word.hash <= hash)
            .filter(|word| word.hash == hash)
        {
            let Some(start) = at.checked_sub(word.offset) else {
                continue;
            };
            let range = start..start + word.word.len();
            if text
                .get(range.clone())
                .is_some_and(|it| it.eq_ignore_ascii_case(word.word))
            {
                see(range, word.leads);
            }
        }
    }
}

/// Returns a hash that is equal for upper and lower case.
fn hash(window: &[u8]) -> u16 {
    let [a, b, c] = window else { return 0 };
    let folded = u32::from_le_bytes([*a, *b, *c, 0]) | 0x0020_2020;
    (folded.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Returns the rarest three bytes of a word, and their offset.
fn rarest(word: &[u8]) -> Option<(usize, &[u8])> {
    let rarity = |byte: &u8| match COMMON
        .iter()
        .position(|it| *it == byte.to_ascii_lowercase())
    {
        Some(rank) => rank,
        None if byte.is_ascii_digit() => 18,
        None => 20,
    };
    let score = |window: &[u8]| match EVERYWHERE.iter().any(|it| window.eq_ignore_ascii_case(it)) {
        true => 0,
        false => window.iter().map(rarity).sum::<usize>(),
    };
    word.windows(WINDOW)
        .enumerate()
        .max_by_key(|(at, window)| (score(window), std::cmp::Reverse(*at)))
}
