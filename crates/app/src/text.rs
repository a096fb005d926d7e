//! Sanitises text from sessions for display, and measures it in columns.
//!
//! Every face shows text that agents wrote, which may be hostile: control characters, changes of
//! the reading direction, invisible characters.

use std::fmt::Write as _;

use boswell_model::json::Json;
use boswell_model::{is_hostile, without_hostile};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Escapes text for a terminal: everything that could move the cursor, change colours, reverse the
/// reading direction or hide text. Newlines and tabs stay.
pub fn escape(text: &str) -> String {
    let shown = without_hostile(text, |c, out| {
        if c == '\n' || c == '\t' {
            out.push(c);
        } else if (c as u32) < 0x100 {
            let _ = write!(out, "\\x{:02x}", c as u32);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    });
    shown.into_owned()
}

/// Escapes text and puts it on one line.
pub fn one_line(text: &str) -> String {
    escape(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Encodes text in base64, for terminals that take it into their clipboard.
pub fn base64(bytes: &[u8]) -> String {
    crate::base64::encode(bytes)
}

/// Formats a number of bytes.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Returns the width of a text in columns.
pub fn columns(text: &str) -> usize {
    clusters(text).map(UnicodeWidthStr::width).sum()
}

/// Truncates a text to at most `width` columns, with an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for cluster in clusters(text) {
        let wide = cluster.width();
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push_str(cluster);
    }
    out.push('…');
    out
}

/// Iterates over grapheme clusters: an emoji of several parts must not be split, which would leave
/// a lone joiner.
fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        let (_, mut last) = chars.next()?;
        let clings = |c: char| c.width() == Some(0) || matches!(c, '\u{1F3FB}'..='\u{1F3FF}');
        while let Some((_, c)) = chars.next_if(|(_, c)| last == '\u{200D}' || clings(*c)) {
            last = c;
        }
        let (cluster, after) = rest.split_at(chars.peek().map_or(rest.len(), |(at, _)| *at));
        rest = after;
        Some(cluster)
    })
}

/// Truncates or pads a text to exactly `width` columns.
pub fn fit(text: &str, width: usize) -> String {
    let mut out = cut(text, width);
    let used = columns(&out);
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    out
}

/// Formats a value on one line for a terminal: valid UTF-8, with invisible characters as `\u`
/// escapes, so that the parsed value is the same.
///
/// JSON escapes only what it must, and pieces copied from a session may contain bytes that are not
/// UTF-8, and white space other than blanks between tokens.
pub fn json_line(value: &Json) -> String {
    harmless(value.to_bytes())
}

/// Escapes characters in a line of JSON that a terminal would interpret.
pub fn harmless(line: Vec<u8>) -> String {
    let text = String::from_utf8(line)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let text = whole_characters(text);
    if !text.char_indices().any(|(at, c)| is_hostile(&text, at, c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut units = [0; 2];
    let (mut in_string, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if !is_hostile(&text, at, c) {
            out.push(c);
        } else if in_string {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(' ');
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    out
}

/// Whether two bytes begin a `\u` escape, unless the first is itself escaped.
fn is_number(first: u8, second: u8) -> bool {
    (first == b'\\') & (second == b'u')
}

/// Whether `holds` is true for any two adjacent bytes. Checked in blocks, so that the compiler can
/// vectorise the loop (SIMD).
fn any_pair(bytes: &[u8], holds: impl Fn(u8, u8) -> bool) -> bool {
    let seconds = bytes.get(1..).unwrap_or(b"").chunks(256);
    bytes.chunks(256).zip(seconds).any(|(firsts, seconds)| {
        firsts
            .iter()
            .zip(seconds)
            .fold(false, |seen, (first, second)| seen | holds(*first, *second))
    })
}

/// Replaces lone surrogates, which agents that count in UTF-16 leave and strict parsers reject.
fn whole_characters(text: String) -> String {
    if !any_pair(text.as_bytes(), is_number) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (shown, len) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (escape.get(..12), 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), 6),
            _ => (escape.get(..2), 2),
        };
        out.push_str(shown.unwrap_or(escape));
        rest = escape.get(len..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Returns the code unit of a `\u` escape at the beginning of the text.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_reaches_the_terminal() {
        let hostile = "a\x1b[2J\u{9b}31m\u{202e}b\r\x07\u{2066}c\u{200f}\u{feff}\u{61c}会\n\tok";
        let shown = escape(hostile);
        let unseen = |c: char| boswell_model::unseen(c).is_some();
        assert!(
            !shown.chars().any(|c| unseen(c) && c != '\n' && c != '\t'),
            "{shown:?}"
        );
        assert!(
            shown.contains("\\x1b[2J") && shown.contains("\\u{202e}") && shown.contains("会\n\tok")
        );
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(columns("会话ab"), 6);
        assert_eq!(cut("会话恢复", 5), "会话…");
        assert_eq!(fit("会话", 6), "会话  ");
        assert_eq!(columns(&fit("会话恢复一二", 7)), 7);
        assert_eq!(columns("👩\u{200D}💻"), 2);
        assert_eq!(
            cut("👩\u{200D}💻👩\u{200D}💻👩\u{200D}💻", 5),
            "👩\u{200D}💻👩\u{200D}💻…"
        );
    }

    #[test]
    fn json_lines_hold_no_control_characters_and_mean_the_same() {
        let said = "a\u{9b}\u{202e}\u{7f}会\u{e0041}\u{61c}👩\u{200d}💻";
        let text = json_line(&Json::object().with("t", said));
        assert_eq!(
            text,
            "{\"t\":\"a\\u009b\\u202e\\u007f会\\udb40\\udc41\\u061c👩\u{200d}💻\"}"
        );
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["t"], said);
    }

    #[test]
    fn white_space_between_tokens_becomes_blank_and_bytes_that_are_not_utf8_are_replaced() {
        let value = Json::object().with(
            "a",
            Json::Raw(b"{\t\"q\\\\\":\r\n\"\xff\x7f\\\"\t\"}".to_vec()),
        );
        let text = json_line(&value);
        assert_eq!(
            text,
            "{\"a\":{ \"q\\\\\":  \"\u{fffd}\\u007f\\\"\\u0009\"}}"
        );
    }

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_kept() {
        let whole = |text: &str| whole_characters(text.to_owned());
        assert_eq!(
            whole(r#""\ud83d\ude80 \uD83D x \ude80\n\ud83d\u0041""#),
            r#""\ud83d\ude80 \ufffd x \ufffd\n\ufffd\u0041""#
        );
        assert_eq!(whole(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(whole("会话"), "会话");
    }
}
