//! Text for terminals: hostile text made harmless, wide characters measured.

use std::fmt::Write as _;

use boswell_model::without_hostile;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Makes text harmless on a terminal: everything that could move the cursor, change colours, turn
/// the reading direction or hide is shown as what it is. Newlines and tabs stay.
pub(crate) fn escape(text: &str) -> String {
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

/// Makes text harmless and puts it on one line.
pub(crate) fn one_line(text: &str) -> String {
    escape(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Columns that the text takes.
pub(crate) fn columns(text: &str) -> usize {
    clusters(text).map(UnicodeWidthStr::width).sum()
}

/// Cuts the text to at most `width` columns, with an ellipsis where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
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

/// Characters with all that is drawn onto them: an emoji of several parts must not be cut between
/// two of them, which would leave a joiner that joins nothing.
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
        if color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", self.code())
        } else {
            text.to_owned()
        }
    }
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
}
