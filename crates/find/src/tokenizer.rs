//! The tokenizer: divides folded text into the terms of the index.
//!
//! A run of letters and digits of any script is a word; `_` and punctuation end it. Chinese,
//! Japanese and Korean text has no spaces, so each pair of neighbouring characters (bigram) is a
//! term, and so is a single character between other text. Other characters beyond ASCII are terms
//! of one character. Words longer than [`LONGEST`] bytes (hashes, base64) are divided into
//! overlapping pieces, so that every substring of up to [`WINDOW`] bytes lies inside one piece.
//!
//! Queries must be divided in the same way (`query/required_terms.rs`); a change here needs a new
//! format version of the index.

use unicode_normalization::char::canonical_combining_class;

/// Maximum length of a term in bytes.
pub(crate) const LONGEST: usize = 64;
/// Distance between the starts of the pieces of a longer word.
const STRIDE: usize = 32;
/// Every substring of a word up to this length lies inside one of its terms.
pub(crate) const WINDOW: usize = LONGEST - STRIDE + 1;

/// The kind of characters in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Letters and digits.
    Word,
    /// Chinese, Japanese or Korean characters.
    Ideographs,
    /// One other character beyond ASCII.
    Symbol,
}

/// A run of characters of one class in folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) class: Class,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

const SEPARATOR: u8 = 0;
const WORD: u8 = 1;
const BEYOND: u8 = 2;

/// The class of each byte of folded text: separator, part of an ASCII word, or part of a character
/// beyond ASCII.
const CLASSES: [u8; 256] = {
    let mut table = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte >= 0x80 {
            table[byte] = BEYOND;
        } else if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = WORD;
        }
        byte += 1;
    }
    table
};

/// Returns the class of a character beyond ASCII; `None` for white space and control characters.
fn class(c: char) -> Option<Class> {
    if is_ideograph(c) {
        Some(Class::Ideographs)
    } else if c.is_alphanumeric() || canonical_combining_class(c) != 0 {
        Some(Class::Word)
    } else if c.is_whitespace() || c.is_control() {
        None
    } else {
        Some(Class::Symbol)
    }
}

/// Returns the class of any folded character; `None` for separators.
pub(crate) fn class_of(c: char) -> Option<Class> {
    if c.is_ascii() {
        c.is_ascii_alphanumeric().then_some(Class::Word)
    } else {
        class(c)
    }
}

/// Returns whether `c` is Han, kana, Hangul or bopomofo.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{3400}'..='\u{4DBF}' | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{3105}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}' | '\u{D7B0}'..='\u{D7FF}'
        | '\u{2E80}'..='\u{2FDF}' | '\u{F900}'..='\u{FAFF}' | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{323AF}')
}

/// Returns the next run at or after `at`.
#[inline]
pub(crate) fn next_run(text: &str, at: usize) -> Option<Run> {
    let bytes = text.as_bytes();
    let mut start = at;
    loop {
        match CLASSES[usize::from(*bytes.get(start)?)] {
            SEPARATOR => start += 1,
            WORD => return Some(word_from(text, start)),
            _ => match beyond(text, start) {
                (None, len) => start += len,
                (Some(Class::Word), _) => return Some(word_from(text, start)),
                (Some(Class::Symbol), len) => {
                    return Some(Run {
                        class: Class::Symbol,
                        start,
                        end: start + len,
                    });
                }
                (Some(Class::Ideographs), len) => return Some(ideographs_from(text, start, len)),
            },
        }
    }
}

#[inline]
fn word_from(text: &str, start: usize) -> Run {
    let end = ascii_word_end(text.as_bytes(), start);
    if text.as_bytes().get(end).is_none_or(|byte| *byte < 0x80) {
        return Run {
            class: Class::Word,
            start,
            end,
        };
    }
    mixed_word_from(text, start, end)
}

/// Returns the end of the ASCII letters and digits from `start` on. Tests eight bytes in one 64-bit
/// word (SWAR), because most words end within eight.
#[inline]
fn ascii_word_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let others = !is_word(u64::from_le_bytes(*eight)) & HIGH;
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes
        .get(at..)
        .unwrap_or(b"")
        .iter()
        .take_while(|b| CLASSES[usize::from(**b)] == WORD)
        .count()
}

#[cold]
/// Continues a word that contains characters beyond ASCII; rare, so it is kept out of the hot loop.
fn mixed_word_from(text: &str, start: usize, mut end: usize) -> Run {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(end) {
        match CLASSES[usize::from(*byte)] {
            WORD => end = ascii_word_end(bytes, end),
            SEPARATOR => break,
            _ => match beyond(text, end) {
                (Some(Class::Word), len) => end += len,
                _ => break,
            },
        }
    }
    Run {
        class: Class::Word,
        start,
        end,
    }
}

#[cold]
fn ideographs_from(text: &str, start: usize, first: usize) -> Run {
    let mut end = start + first;
    while let (Some(Class::Ideographs), len) = beyond(text, end) {
        end += len;
    }
    Run {
        class: Class::Ideographs,
        start,
        end,
    }
}

/// Returns class and length of the character at `at`, if it is beyond ASCII.
fn beyond(text: &str, at: usize) -> (Option<Class>, usize) {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(c) if !c.is_ascii() => (class(c), c.len_utf8()),
        _ => (None, 1),
    }
}

/// Calls `sink` with start and end of every term of a folded text.
///
/// Most text is ASCII and most words are short: these are found in windows of 64 bytes, with one
/// bit per byte for letters and digits. A word that touches the end of its window or a character
/// beyond ASCII is processed run by run.
#[inline]
pub(crate) fn terms(text: &str, sink: &mut impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        if let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WIDTH>()) {
            let words = Words::of(window);
            let mut left = words.letters;
            while let Some((start, end)) = Words::first(left).filter(|(_, end)| *end < words.ascii)
            {
                sink(at + start, at + end);
                // `end` is below 64 here, so the shift is valid.
                left = left >> end << end;
            }
            let rest = Words::first(left).map_or(words.ascii, |(start, _)| start);
            at += rest;
            // A word that touches the end of the window is complete in the next window, which
            // begins at the word, unless the word itself is longer than a window (`rest == 0`).
            if rest > 0 && words.ascii == WIDTH {
                continue;
            }
        }
        let Some(run) = next_run(text, at) else {
            return;
        };
        at = run.end;
        match run.class {
            Class::Word if run.end - run.start <= LONGEST => sink(run.start, run.end),
            Class::Word => pieces(run, sink),
            Class::Symbol => sink(run.start, run.end),
            Class::Ideographs => pairs(text, run, sink),
        }
    }
}

/// Size of a window in bytes: one bit of a `u64` for each.
const WIDTH: usize = 64;

/// The letters and digits of a window as bits, up to the first byte beyond ASCII.
struct Words {
    letters: u64,
    /// Number of bytes before the first byte beyond ASCII.
    ascii: usize,
}

impl Words {
    #[inline]
    fn of(window: &[u8; WIDTH]) -> Words {
        let (mut letters, mut beyond) = (0, 0);
        for (nth, eight) in window.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*eight);
            letters |= first_bits(is_word(word)) << (8 * nth);
            beyond |= first_bits(word & HIGH) << (8 * nth);
        }
        let ascii = beyond.trailing_zeros() as usize;
        Words {
            letters: if ascii < WIDTH {
                letters & !(u64::MAX << ascii)
            } else {
                letters
            },
            ascii,
        }
    }

    /// Returns start and end of the first run of set bits.
    #[inline]
    fn first(bits: u64) -> Option<(usize, usize)> {
        let start = bits.trailing_zeros();
        let len = (!bits.checked_shr(start)?).trailing_zeros();
        Some((start as usize, (start + len) as usize))
    }
}

const HIGH: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Sets the high bit of each byte that is an ASCII letter or digit. Folded text has no upper-case
/// ASCII, so `A` to `Z` are not tested.
#[inline]
fn is_word(word: u64) -> u64 {
    // The high bit of each byte below 0x80 that is at least `low`.
    let at_least = |low: u8| (word & !HIGH) + ONES * u64::from(0x80 - low);
    let letters = at_least(b'a') & !at_least(b'z' + 1);
    let digits = at_least(b'0') & !at_least(b'9' + 1);
    (letters | digits) & !word & HIGH
}

/// Collects the high bits of eight bytes into the low byte, the first byte in the lowest bit.
#[inline]
fn first_bits(high: u64) -> u64 {
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Emits the overlapping pieces of a long word; the last one ends where the word ends.
fn pieces(run: Run, sink: &mut impl FnMut(usize, usize)) {
    let mut start = run.start;
    loop {
        let end = (start + LONGEST).min(run.end);
        sink(start, end);
        if end == run.end {
            break;
        }
        start += STRIDE;
    }
}

/// Emits each pair of neighbouring characters, or the character itself if it is alone.
fn pairs(text: &str, run: Run, sink: &mut impl FnMut(usize, usize)) {
    let inside = text.get(run.start..run.end).unwrap_or("");
    let mut before: Option<usize> = None;
    let mut alone = true;
    for (at, c) in inside.char_indices() {
        if let Some(before) = before {
            sink(run.start + before, run.start + at + c.len_utf8());
            alone = false;
        }
        before = Some(at);
    }
    if alone {
        sink(run.start, run.end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::fold;

    fn cut(text: &str) -> Vec<String> {
        let folded = fold(text);
        let mut found = Vec::new();
        terms(&folded, &mut |from, to| {
            found.push(String::from_utf8_lossy(&folded.as_bytes()[from..to]).into_owned())
        });
        found
    }

    #[test]
    fn words_end_at_punctuation_and_underscores() {
        assert_eq!(
            cut("std::fs::read_dir(\"/tmp\") != Err(E404)"),
            ["std", "fs", "read", "dir", "tmp", "err", "e404"]
        );
        assert_eq!(cut("Café ПРИВЕТ"), ["café", "привет"]);
    }

    #[test]
    fn ideographs_are_cut_into_pairs_and_signs_stand_alone() {
        assert_eq!(cut("会话恢复"), ["会话", "话恢", "恢复"]);
        assert_eq!(cut("用React写"), ["用", "react", "写"]);
        assert_eq!(
            cut("セッション 한국어"),
            ["セッ", "ッシ", "ショ", "ョン", "한국", "국어"]
        );
        assert_eq!(cut("✅ done → ok"), ["✅", "done", "→", "ok"]);
    }

    #[test]
    fn long_words_are_cut_into_overlapping_pieces() {
        let word: String = (0..150)
            .map(|i| char::from(b'a' + (i % 26) as u8))
            .collect();
        let pieces = cut(&word);
        assert_eq!(
            pieces,
            [&word[..64], &word[32..96], &word[64..128], &word[96..150]]
        );
    }

    proptest! {
        #[test]
        fn every_stretch_of_a_long_word_lies_in_a_piece(len in 65usize..400, at in 0usize..400, size in 1usize..=WINDOW) {
            let mut bounds = Vec::new();
            pieces(Run { class: Class::Word, start: 0, end: len }, &mut |from, to| bounds.push((from, to)));
            let at = at.min(len - size);
            prop_assert!(bounds.iter().any(|(from, to)| *from <= at && at + size <= *to));
            prop_assert!(bounds.iter().all(|(from, to)| to - from <= LONGEST && to - from >= WINDOW));
        }

        #[test]
        fn words_end_where_their_last_letter_does(text in "[a-z0-9 _.é会A-Z\\x7f`{/:]{0,40}") {
            let folded = fold(&text);
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            for start in 0..=folded.len() {
                let wanted = start + folded.as_bytes()[start..].iter().take_while(|b| plain(**b)).count();
                prop_assert_eq!(ascii_word_end(folded.as_bytes(), start), wanted);
            }
        }

        #[test]
        fn windows_find_the_same_terms_as_one_run_after_the_other(text in "[a-z0-9 _.é会话✅Ａ\\x7f`{/:\n]{0,40}([a-z0-9]{0,140}[ é会.]{0,3}){0,6}[a-z .会]{0,80}") {
            let folded = fold(&text);
            let (mut found, mut wanted, mut at) = (Vec::new(), Vec::new(), 0);
            terms(&folded, &mut |from, to| found.push((from, to)));
            while let Some(run) = next_run(&folded, at) {
                at = run.end;
                let mut sink = |from, to| wanted.push((from, to));
                match run.class {
                    Class::Word if run.end - run.start > LONGEST => pieces(run, &mut sink),
                    Class::Ideographs => pairs(&folded, run, &mut sink),
                    _ => sink(run.start, run.end),
                }
            }
            prop_assert_eq!(found, wanted);
        }

        #[test]
        fn any_text_can_be_cut(text in "\\PC{0,80}") {
            let folded = fold(&text);
            terms(&folded, &mut |from, to| assert!(from < to && folded.as_bytes().get(from..to).is_some()));
        }
    }
}
