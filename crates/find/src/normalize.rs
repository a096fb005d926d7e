//! Text normalization: folds text and queries to the same form.
//!
//! ASCII is lower-cased. Everything else goes through NFKC and full case folding, so that
//! full-width letters, ligatures, half-width kana and decomposed accents are found by their usual
//! spelling; invisible characters (zero-width spaces, variation selectors, soft hyphens) are
//! dropped. Query and text use the same function, and a match is decided on the folded forms alone.
//!
//! Folding works on clusters: a character with the combining marks that follow it. A cluster never
//! changes how the next one folds. So a part of a text folds as it does inside the whole, and
//! positions can be traced back to the original ([`Traced`]).

use boswell_model::shows_nothing;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Appends the folded form of `text`.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        push_ascii(text, out);
    } else {
        fold_mixed(text, out, &mut |_, _, _| {});
    }
}

/// Returns the folded form of `text`.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

fn push_ascii(text: &str, out: &mut String) {
    let from = out.len();
    out.push_str(text);
    if let Some(new) = out.get_mut(from..) {
        new.make_ascii_lowercase();
    }
}

/// A folded text with a map from its positions to those of the original.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The folded text.
    pub(crate) text: String,
    /// Start of each stretch in the folded text and in the original, and whether the two correspond
    /// byte by byte (ASCII).
    stretches: Vec<(usize, usize, bool)>,
    original: usize,
}

impl Traced {
    /// Folds `text` and records which part came from where.
    pub(crate) fn new(text: &str) -> Traced {
        let mut out = String::with_capacity(text.len());
        let mut stretches = Vec::new();
        if text.is_ascii() {
            push_ascii(text, &mut out);
            stretches.push((0, 0, true));
        } else {
            fold_mixed(text, &mut out, &mut |folded, original, linear| {
                stretches.push((folded, original, linear))
            });
        }
        Traced {
            text: out,
            stretches,
            original: text.len(),
        }
    }

    /// Returns the part of the original that the folded bytes `from..to` came from. A cluster is
    /// indivisible: a match inside one returns all of it.
    pub(crate) fn origin(&self, from: usize, to: usize) -> (usize, usize) {
        let start = match self.stretch(from) {
            Some((_, (folded, original, true))) => original + (from - folded),
            Some((_, (_, original, false))) => original,
            None => 0,
        };
        let end = match self.stretch(to.saturating_sub(1)) {
            Some((_, (folded, original, true))) => original + (to - folded),
            Some((index, _)) => self
                .stretches
                .get(index + 1)
                .map_or(self.original, |next| next.1),
            None => self.original,
        };
        (
            start.min(self.original),
            end.clamp(start.min(self.original), self.original),
        )
    }

    fn stretch(&self, folded: usize) -> Option<(usize, (usize, usize, bool))> {
        let index = self
            .stretches
            .partition_point(|s| s.0 <= folded)
            .checked_sub(1)?;
        self.stretches.get(index).map(|s| (index, *s))
    }
}

/// Returns the part of a text that folds in the same way within any other text: without a leading
/// mark, and without the last cluster, which a following mark may change.
pub(crate) fn inner_clusters(text: &str) -> &str {
    let mut begins = text
        .char_indices()
        .filter(|(_, c)| begins_cluster(*c))
        .map(|(at, _)| at);
    let first = begins.next();
    let last = begins.next_back();
    first
        .zip(last)
        .and_then(|(first, last)| text.get(first..last))
        .unwrap_or("")
}

/// Folds text that is not pure ASCII, and reports each stretch to `stretch` before it is written.
fn fold_mixed(text: &str, out: &mut String, stretch: &mut dyn FnMut(usize, usize, bool)) {
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or("");
        let plain = ascii_stretch(rest);
        if plain > 0 {
            stretch(out.len(), at, true);
            push_ascii(rest.get(..plain).unwrap_or(""), out);
            at += plain;
            continue;
        }
        let len = cluster(rest);
        stretch(out.len(), at, false);
        fold_cluster(rest.get(..len).unwrap_or(rest), out);
        at += len.max(1);
    }
}

/// Returns the number of leading ASCII bytes without a combining mark: if a mark follows, the last
/// of them belongs to its cluster.
fn ascii_stretch(text: &str) -> usize {
    let len = text
        .as_bytes()
        .iter()
        .position(|b| *b >= 0x80)
        .unwrap_or(text.len());
    match text.get(len..).and_then(|rest| rest.chars().next()) {
        Some(next) if !begins_cluster(next) => len.saturating_sub(1),
        _ => len,
    }
}

/// Returns the length of the first cluster.
fn cluster(text: &str) -> usize {
    let mut chars = text.char_indices();
    chars.next();
    chars
        .find(|(_, c)| begins_cluster(*c))
        .map_or(text.len(), |(at, _)| at)
}

fn fold_cluster(cluster: &str, out: &mut String) {
    let mut chars = cluster.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        if is_plain(only) {
            out.push(only);
            return;
        }
        if shows_nothing(only) {
            return;
        }
    }
    let visible = cluster.chars().filter(|c| !shows_nothing(*c));
    // Case folding can produce text that is not normalized, so NFKC is applied again.
    out.extend(visible.nfkc().flat_map(fold_char).nfkc());
}

/// Full case folding: letters with the same upper-case form become one.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Returns whether NFKC and case folding leave `c` unchanged: the bulk of Chinese, Japanese and
/// Korean text.
fn is_plain(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}' | '\u{AC00}'..='\u{D7A3}' | '\u{3001}' | '\u{3002}')
}

/// Returns whether `c` begins a cluster: nothing before it can combine with it.
fn begins_cluster(c: char) -> bool {
    if c < '\u{300}' || is_plain(c) {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |part| first = first.or(Some(part)));
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0
        && is_nfkc_quick(std::iter::once(first)) != IsNormalized::Maybe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_word_fold_alike() {
        for (one, other) in [
            ("DeadLock", "deadlock"),
            ("ＤｅａｄＬｏｃｋ", "deadlock"),
            ("ﬁle ﬂag", "file flag"),
            ("cafe\u{301}", "CAFÉ"),
            ("Straße", "STRASSE"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ｶﾞｲﾄﾞ", "ガイド"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
            ("foo\u{200B}bar", "foobar"),
            ("foo\u{61C}b\u{202E}ar", "foobar"),
            ("✅\u{FE0F}", "✅"),
            ("Ⅳ ㎏", "iv kg"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        assert_eq!(fold("Привет, МИР"), "привет, мир");
        assert_ne!(fold("e\u{301}"), fold("e"));
    }

    #[test]
    fn places_trace_back_to_the_original() {
        let text = "Ab ﬁx ＣＤ 会话e\u{301}!";
        let traced = Traced::new(text);
        for (needle, original) in [
            ("ab", "Ab"),
            ("fi", "ﬁ"),
            ("x", "x"),
            ("cd", "ＣＤ"),
            ("话", "话"),
            ("é!", "e\u{301}!"),
            ("i", "ﬁ"),
        ] {
            let at = traced.text.find(needle).unwrap();
            let (from, to) = traced.origin(at, at + needle.len());
            assert_eq!(&text[from..to], original, "{needle}");
        }
    }

    proptest! {
        #[test]
        fn folding_never_panics_and_folded_text_stays_as_it_is(text in "\\PC{0,60}") {
            let once = fold(&text);
            prop_assert_eq!(&Traced::new(&text).text, &once);
            let mut joined = String::new();
            fold_into(&text, &mut joined);
            prop_assert_eq!(&joined, &once);
        }

        #[test]
        fn a_stretch_between_spaces_folds_as_inside_the_whole(words in proptest::collection::vec("[a-zA-Zé会ﬁＡ\u{301}が]{0,8}", 1..6)) {
            let whole = fold(&words.join(" "));
            let parts: Vec<String> = words.iter().map(|w| fold(w)).collect();
            // A mark at the start of a word combines with the space before it.
            prop_assume!(!words.iter().any(|w| w.starts_with('\u{301}')));
            prop_assert_eq!(whole, parts.join(" "));
        }

        #[test]
        fn origins_are_inside_the_text_and_on_its_characters(text in "\\PC{0,40}", a in 0usize..80, b in 0usize..80) {
            let traced = Traced::new(&text);
            let (from, to) = (a.min(b).min(traced.text.len()), a.max(b).min(traced.text.len()));
            prop_assume!(traced.text.is_char_boundary(from) && traced.text.is_char_boundary(to));
            let (start, end) = traced.origin(from, to);
            prop_assert!(text.get(start..end).is_some());
        }
    }
}
