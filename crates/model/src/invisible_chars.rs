//! A table of the characters that are invisible or change how other characters are displayed.
//!
//! It is the only such table: terminal output, JSON, Markdown, HTML, file names, tags and search
//! use it. It covers every code point of the categories Cc, Cf, Zl and Zp and of the properties
//! `Bidi_Control` and `Default_Ignorable_Code_Point`; a test compares it with Unicode's own data.
//!
//! Some of these characters are part of ordinary text: the joiner inside an emoji, the variation
//! selector of an emoji or ideograph, the tags of a flag, the (non-)joiners of Persian and Indic
//! words. They are kept in these positions only, because the same characters elsewhere can hide
//! text.

use std::borrow::Cow;

use crate::emoji::is_pictographic;

/// Why a character is in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// Controls of C0 and C1, DEL, and the two separators that end a line.
    Control,
    /// Changes the reading direction of the text around it.
    Bidi,
    /// Displays nothing and has no use in the text of a session.
    Invisible,
    /// Looks like a space or like nothing, but counts as a letter: fillers, inherent vowels.
    Filler,
    /// U+200C and U+200D: connect or separate letters, and combine several emoji into one.
    Joiner,
    /// Selects a form of the character before it.
    Variation,
    /// Spells the name of a flag after a black flag; anywhere else it is hidden ASCII.
    Tag,
    /// In category Cf, yet displayed like any other sign (Arabic number signs, for example).
    Sign,
}

use Unseen::{Bidi, Control, Filler, Invisible, Joiner, Sign, Tag, Variation};

/// The table: ranges in ascending order, each with its class.
const TABLE: [(char, char, Unseen); 39] = [
    ('\u{0}', '\u{1F}', Control),
    ('\u{7F}', '\u{9F}', Control),
    ('\u{AD}', '\u{AD}', Invisible),
    ('\u{34F}', '\u{34F}', Invisible),
    ('\u{600}', '\u{605}', Sign),
    ('\u{61C}', '\u{61C}', Bidi),
    ('\u{6DD}', '\u{6DD}', Sign),
    ('\u{70F}', '\u{70F}', Sign),
    ('\u{890}', '\u{891}', Sign),
    ('\u{8E2}', '\u{8E2}', Sign),
    ('\u{115F}', '\u{1160}', Filler),
    ('\u{17B4}', '\u{17B5}', Filler),
    ('\u{180B}', '\u{180D}', Variation),
    ('\u{180E}', '\u{180E}', Invisible),
    ('\u{180F}', '\u{180F}', Variation),
    ('\u{200B}', '\u{200B}', Invisible),
    ('\u{200C}', '\u{200D}', Joiner),
    ('\u{200E}', '\u{200F}', Bidi),
    ('\u{2028}', '\u{2029}', Control),
    ('\u{202A}', '\u{202E}', Bidi),
    ('\u{2060}', '\u{2065}', Invisible),
    ('\u{2066}', '\u{2069}', Bidi),
    ('\u{206A}', '\u{206F}', Invisible),
    ('\u{3164}', '\u{3164}', Filler),
    ('\u{FE00}', '\u{FE0F}', Variation),
    ('\u{FEFF}', '\u{FEFF}', Invisible),
    ('\u{FFA0}', '\u{FFA0}', Filler),
    ('\u{FFF0}', '\u{FFF8}', Invisible),
    ('\u{FFF9}', '\u{FFFB}', Invisible),
    ('\u{110BD}', '\u{110BD}', Sign),
    ('\u{110CD}', '\u{110CD}', Sign),
    // They arrange hieroglyphs, which no terminal font supports.
    ('\u{13430}', '\u{1343F}', Invisible),
    ('\u{1BCA0}', '\u{1BCA3}', Invisible),
    ('\u{1D173}', '\u{1D17A}', Invisible),
    ('\u{E0000}', '\u{E001F}', Invisible),
    ('\u{E0020}', '\u{E007F}', Tag),
    ('\u{E0080}', '\u{E00FF}', Invisible),
    ('\u{E0100}', '\u{E01EF}', Variation),
    ('\u{E01F0}', '\u{E0FFF}', Invisible),
];

/// Returns the class of a character; `None` for characters that are simply displayed.
pub fn unseen(c: char) -> Option<Unseen> {
    if (' '..='~').contains(&c) {
        return None;
    }
    let at = TABLE.partition_point(|(_, last, _)| *last < c);
    TABLE
        .get(at)
        .filter(|(first, ..)| *first <= c)
        .map(|(.., why)| *why)
}

/// Whether a character displays nothing, regardless of its context. Controls do not count, because
/// they separate words.
pub fn shows_nothing(c: char) -> bool {
    unseen(c).is_some_and(|why| !matches!(why, Control | Sign))
}

/// Whether the character `c` at byte `at` of `text` must not be displayed as it is.
///
/// Line feeds and tabs count as controls too; the caller decides where to allow them.
pub fn is_hostile(text: &str, at: usize, c: char) -> bool {
    let Some(why) = unseen(c) else { return false };
    let before = || text.get(..at).unwrap_or("").chars().rev();
    let after = || text.get(at + c.len_utf8()..).unwrap_or("").chars();
    let belongs = match why {
        Control | Bidi | Filler => false,
        Invisible => c == '\u{180E}' && joins_letters(before().next(), after().next()),
        Joiner => {
            joins_letters(before().next(), after().next()) || joins_emoji(c, before(), after())
        }
        Variation => before().next().is_some_and(|base| has_forms(base, c)),
        Tag => is_of_flag(before(), c, after()),
        Sign => true,
    };
    !belongs
}

/// Copies a text and calls `instead` for every hostile character in it.
pub fn without_hostile<'t>(
    text: &'t str,
    mut instead: impl FnMut(char, &mut String),
) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    for (at, c) in text
        .char_indices()
        .filter(|(at, c)| is_hostile(text, *at, *c))
    {
        out.push_str(text.get(done..at).unwrap_or(""));
        instead(c, &mut out);
        done = at + c.len_utf8();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or(""));
    Cow::Owned(out)
}

/// Whether two letters belong to one script in which joiners are part of the spelling.
fn joins_letters(before: Option<char>, after: Option<char>) -> bool {
    let script = |c: char| match c {
        // Format characters of the script are excluded, so that two of them cannot justify a third.
        _ if unseen(c).is_some() => None,
        '\u{620}'..='\u{6FF}' | '\u{750}'..='\u{77F}' | '\u{8A0}'..='\u{8FF}' => Some(0x600),
        '\u{710}'..='\u{74F}' => Some(0x700),
        '\u{1820}'..='\u{18AA}' => Some(0x1800),
        // The blocks of the Indic scripts, 128 code points each, from Devanagari to Sinhala.
        '\u{900}'..='\u{DFF}' => Some(c as u32 & !0x7F),
        _ => None,
    };
    before
        .and_then(script)
        .is_some_and(|of| after.and_then(script) == Some(of))
}

/// Whether a joiner combines two emoji: a pictograph with optional selector and skin tone before
/// it, and a pictograph after it.
fn joins_emoji(
    c: char,
    before: impl Iterator<Item = char>,
    mut after: impl Iterator<Item = char>,
) -> bool {
    let is_extra = |c: &char| matches!(c, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
    let base = before.take(3).find(|c| !is_extra(c));
    c == '\u{200D}'
        && base.is_some_and(is_pictographic)
        && after.next().is_some_and(is_pictographic)
}

/// Whether `base` has forms that `selector` can select.
fn has_forms(base: char, selector: char) -> bool {
    let is_ideograph = matches!(base, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}');
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => is_pictographic(base) || matches!(base, '0'..='9' | '#' | '*'),
        '\u{FE00}'..='\u{FE02}' => {
            let is_sign = matches!(base, '\u{2200}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}' | '\u{3001}'..='\u{3002}' | '\u{FF01}'..='\u{FF1F}');
            is_ideograph || is_sign
        }
        '\u{180B}'..='\u{180F}' => matches!(base, '\u{1820}'..='\u{18AA}'),
        '\u{E0100}'..='\u{E01EF}' => is_ideograph,
        _ => false,
    }
}

/// Whether a tag character is part of a flag: a black flag, a region such as `gbsct`, and an end
/// tag.
fn is_of_flag(
    before: impl Iterator<Item = char>,
    c: char,
    after: impl Iterator<Item = char>,
) -> bool {
    // Two letters for the country and up to four for the subdivision; more would be room for hidden
    // text.
    const LONGEST: usize = 6;
    let is_name = |c: &char| matches!(c, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}');
    let end = '\u{E007F}';
    let mut before = before;
    let mut named = 0;
    let flag = loop {
        match before.next() {
            Some(c) if is_name(&c) && named < LONGEST => named += 1,
            other => break other,
        }
    };
    let mut after = after;
    if c != end {
        named += 1;
        let ends = loop {
            match after.next() {
                Some(c) if is_name(&c) && named < LONGEST => named += 1,
                other => break other,
            }
        };
        if !is_name(&c) || ends != Some(end) {
            return false;
        }
    }
    flag == Some('\u{1F3F4}') && (3..=LONGEST).contains(&named)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn every_char() -> impl Iterator<Item = char> {
        ('\0'..=char::MAX).filter(|c| *c != char::REPLACEMENT_CHARACTER)
    }

    fn shown(text: &str) -> String {
        without_hostile(text, |c, out| out.push_str(&format!("<{:X}>", c as u32))).into_owned()
    }

    #[test]
    fn the_table_decides_every_code_point_that_unicode_calls_a_control_format_or_ignorable() {
        let unicode = Regex::new(
            r"^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]$",
        )
        .unwrap();
        let mut buffer = [0; 4];
        for c in every_char() {
            let listed = unicode.is_match(c.encode_utf8(&mut buffer));
            assert_eq!(unseen(c).is_some(), listed, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn every_bidi_control_is_called_one_and_only_drawn_signs_are_let_through_alone() {
        let bidi = Regex::new(r"^\p{Bidi_Control}$").unwrap();
        let ignorable = Regex::new(r"^\p{Default_Ignorable_Code_Point}$").unwrap();
        let mut buffer = [0; 4];
        for c in every_char() {
            let text: &str = c.encode_utf8(&mut buffer);
            assert_eq!(
                unseen(c) == Some(Bidi),
                bidi.is_match(text),
                "U+{:04X}",
                c as u32
            );
            if unseen(c).is_some_and(|why| why != Sign) {
                assert!(is_hostile(text, 0, c), "U+{:04X} alone", c as u32);
            }
            if ignorable.is_match(text) {
                assert!(
                    is_hostile(text, 0, c) && shows_nothing(c),
                    "U+{:04X} is ignorable",
                    c as u32
                );
            }
        }
    }

    #[test]
    fn ranges_are_in_order_and_do_not_overlap() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{pair:?}");
        }
        assert!(TABLE.iter().all(|(first, last, _)| first <= last));
    }

    #[test]
    fn joiners_selectors_and_tags_stay_inside_emoji() {
        for text in [
            "👩\u{200D}💻",
            "👩🏽\u{200D}🚀",
            "🏳\u{FE0F}\u{200D}🌈",
            "👨\u{200D}👩\u{200D}👧\u{200D}👦",
            "❤\u{FE0F}\u{200D}🔥",
            "1\u{FE0F}\u{20E3}",
            "☺\u{FE0E}",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            "葛\u{E0100}飾",
            "نمی\u{200C}خواهم",
            "क्\u{200D}ष",
            "ᠨ\u{180E}ᠠ",
            "ᠠ\u{180B}",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn the_same_characters_elsewhere_are_hostile() {
        for (text, expected) in [
            ("a\u{200D}b", "a<200D>b"),
            ("👩\u{200D}", "👩<200D>"),
            ("👩\u{200D}\u{200D}💻", "👩<200D><200D>💻"),
            ("a\u{200C}b", "a<200C>b"),
            ("ن\u{200C}\u{200C}خ", "ن<200C><200C>خ"),
            ("a\u{FE0F}", "a<FE0F>"),
            ("😀\u{FE0F}\u{FE0E}\u{E0101}", "😀\u{FE0F}<FE0E><E0101>"),
            ("葛\u{E0100}\u{E0101}", "葛\u{E0100}<E0101>"),
            ("x\u{E0041}", "x<E0041>"),
            ("🏴\u{E0067}\u{E0062}", "🏴<E0067><E0062>"),
            ("🏴\u{E007F}", "🏴<E007F>"),
            (
                "😀\u{E0067}\u{E0062}\u{E0073}\u{E007F}",
                "😀<E0067><E0062><E0073><E007F>",
            ),
            ("n\u{180E}", "n<180E>"),
        ] {
            assert_eq!(shown(text), expected);
        }
        let long = format!("🏴{}\u{E007F}", "\u{E0061}".repeat(40));
        assert_eq!(
            shown(&long).matches("<E0061>").count(),
            40,
            "a flag with a long name hides text"
        );
    }

    #[test]
    fn ordinary_text_of_any_script_is_not_copied() {
        for text in [
            "会话 ab",
            "مرحبا ١٢",
            "\u{600}١٢",
            "नमस्ते",
            "Ünïcödé",
            "\u{3000}\u{A0}",
            "\u{E0B0}",
        ] {
            assert!(
                matches!(without_hostile(text, |_, _| {}), Cow::Borrowed(_)),
                "{text}"
            );
        }
    }
}
