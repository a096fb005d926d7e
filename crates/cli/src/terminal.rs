//! Text for terminals: hostile text made harmless, wide characters measured.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// Makes text harmless on a terminal: everything that could move the cursor, change colours or turn the reading
/// direction is shown as what it is. Newlines and tabs stay.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !is_harmful(c) {
            out.push(c);
        } else if (c as u32) < 0x100 {
            let _ = write!(out, "\\x{:02x}", c as u32);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
    out
}

/// Makes text harmless and puts it on one line.
pub(crate) fn one_line(text: &str) -> String {
    escape(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether a character can change what a terminal shows beyond its own cell.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Columns that the text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Cuts the text to at most `width` columns, with an ellipsis where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push(c);
    }
    out.push('…');
    out
}

/// Cuts or fills the text to exactly `width` columns.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let mut out = cut(text, width);
    let used = columns(&out);
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    out
}

/// Colours by what they mean; ANSI names only, so that the terminal's own theme decides.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Strong,
    Faint,
    User,
    Assistant,
    Tool,
    Warning,
    Match,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::User => "1;36",
            Style::Assistant => "1;32",
            Style::Tool => "33",
            Style::Warning => "1;31",
            Style::Match => "1;33",
        }
    }

    /// Puts the style around a text that is harmless already.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        if color && !text.is_empty() { format!("\x1b[{}m{text}\x1b[0m", self.code()) } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_reaches_the_terminal() {
        let hostile = "a\x1b[2J\u{9b}31m\u{202e}b\r\x07\u{2066}c\u{200f}\u{feff}会\n\tok";
        let shown = escape(hostile);
        assert!(!shown.chars().any(|c| is_harmful(c) && c != '\n' && c != '\t'), "{shown:?}");
        assert!(shown.contains("\\x1b[2J") && shown.contains("\\u{202e}") && shown.contains("会\n\tok"));
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(columns("会话ab"), 6);
        assert_eq!(cut("会话恢复", 5), "会话…");
        assert_eq!(fit("会话", 6), "会话  ");
        assert_eq!(columns(&fit("会话恢复一二", 7)), 7);
    }
}
