//! A prefilter on the raw bytes of a record: rules out records that cannot match before their text
//! is extracted.
//!
//! An ASCII word occurs in the raw record as it does in its text, except for case, unless the
//! record contains `\u` escapes or a character that folds to ASCII (full-width letters, ligatures)
//! or to nothing. Such records are always let through. The filter may let through too much, never
//! too little.

use boswell_model::EntryKind;
use memchr::memmem::Finder;

use super::Clause;
use super::required_terms::RequiredTerms;

/// Byte strings that the raw bytes of every match contain.
#[derive(Debug, Default)]
pub(crate) struct Prefilter {
    needles: Vec<Finder<'static>>,
}

impl Prefilter {
    /// Collects the literals of all clauses that are not negated, and uses the four longest.
    pub(crate) fn of(clauses: &[Clause]) -> Prefilter {
        let mut stretches = Vec::new();
        for clause in clauses.iter().filter(|clause| !clause.negated) {
            gather(&clause.need, &mut stretches);
        }
        stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
        stretches.truncate(4);
        Prefilter {
            needles: stretches
                .iter()
                .map(|stretch| Finder::new(stretch).into_owned())
                .collect(),
        }
    }

    /// Returns whether a record can match. `room` is a scratch buffer.
    pub(crate) fn lets_through(&self, kind: EntryKind, raw: &[u8], room: &mut Vec<u8>) -> bool {
        // For other kinds a dialect may show text that is not in the record.
        let faithful = matches!(
            kind,
            EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
        );
        if self.needles.is_empty() || !faithful {
            return true;
        }
        room.clear();
        room.extend_from_slice(raw);
        room.make_ascii_lowercase();
        self.needles
            .iter()
            .all(|needle| needle.find(room).is_some())
            || !is_plain(raw)
    }
}

/// Collects the stretches that the raw bytes must contain: ASCII, or Han characters with a single
/// form.
fn gather<'n>(need: &'n RequiredTerms, stretches: &mut Vec<&'n [u8]>) {
    let has_one_form = |stretch: &[u8]| {
        let lead = |byte: &u8| matches!(byte, 0..0x80 | 0x80..0xC0 | 0xE4..=0xE9);
        stretch.is_ascii() || stretch.iter().all(lead)
    };
    match need {
        RequiredTerms::Term(stretch, _) if has_one_form(stretch) => stretches.push(stretch),
        RequiredTerms::All(parts) => parts.iter().for_each(|part| gather(part, stretches)),
        _ => {}
    }
}

/// Returns whether no character of the record folds to ASCII letters, to other Han characters or to
/// nothing.
fn is_plain(raw: &[u8]) -> bool {
    if memchr::memmem::find(raw, b"\\u").is_some() {
        return false;
    }
    if raw.is_ascii() {
        return true;
    }
    let mut at = 0;
    while let Some(lead) = raw.get(at) {
        let byte = |step: usize| raw.get(at + step).copied().unwrap_or(0);
        if *lead >= 0xC0 && !is_plain_char(*lead, byte(1), byte(2)) {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns whether a character is in a known range that folds to characters beyond ASCII: accented
/// Latin, Cyrillic, kana, Han, Hangul, typographic signs, box drawing, arrows, emoji.
fn is_plain_char(lead: u8, second: u8, third: u8) -> bool {
    match (lead, second) {
        (0xC3, second) => second != 0x9F,
        (0xD0 | 0xD1 | 0xE4..=0xE9 | 0xEB | 0xEC, _) => true,
        (0xE3, 0x80) => third <= 0xB5,
        (0xE3, 0x81..=0x83) => true,
        (0xE2, 0x80) => !matches!(third, 0x8B..=0x8F | 0xAA..=0xAE),
        (0xE2, 0x86) => third >= 0x90,
        (0xE2, 0x94 | 0x95 | 0x96 | 0x9C | 0x9D) => true,
        (0xEF, 0xBC) => matches!(third, 0x81..=0x8F | 0x9A..=0xA0),
        (0xF0, 0x9F) => (0x8C..=0xAE).contains(&third),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::fold;

    fn lets_through(query: &str, raw: &str) -> bool {
        let prefilter = Prefilter::of(&[Clause::text(fold(query))]);
        prefilter.lets_through(EntryKind::User, raw.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn records_without_the_word_are_held_back_unless_it_may_be_spelt_otherwise() {
        assert!(lets_through("lock", "{\"a\":\"DeadLock\"}"));
        assert!(!lets_through("lock", "{\"a\":\"nothing — 会话 é\"}"));
        for odd in ["\\u006cock", "ｌｏｃｋ", "lo\u{AD}ck", "ﬂ", "\u{212A}", "ß"] {
            assert!(lets_through("lock", odd), "{odd}");
        }
        assert!(!lets_through("会话", "ascii only") && lets_through("会话", "请会话"));
        assert!(lets_through("が", "か\u{3099}") && lets_through("->", "x"));
    }

    #[test]
    fn no_plain_character_folds_to_ascii_letters_to_nothing_or_to_han() {
        for c in
            ('\u{80}'..='\u{1FFFF}').filter(|c| is_plain(c.encode_utf8(&mut [0; 4]).as_bytes()))
        {
            let folded = fold(&c.to_string());
            let han = |f: char| ('\u{4E00}'..='\u{9FFF}').contains(&f) && f != c;
            assert!(!folded.is_empty(), "{c}");
            assert!(
                !folded.chars().any(|f| f.is_ascii_alphanumeric() || han(f)),
                "{c} {folded}"
            );
        }
    }
}
