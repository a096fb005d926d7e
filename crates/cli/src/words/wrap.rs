//! Text of messages on a terminal: words are wrapped, and Markdown is shown instead of its marks.

use crate::output::Output;
use crate::terminal::{Style, columns};

/// Lines of a message for a terminal of so many columns. The text is harmless already.
pub(crate) fn render(text: &str, width: usize, out: &Output) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            // Code is copied, so that its lines stay as they are.
            (Some(_), _) => lines.push(format!("    {}", out.paint(Style::Tool, line))),
            (None, None) => paragraph(line, width, out, &mut lines),
        }
    }
    lines
}

fn paragraph(line: &str, width: usize, out: &Output, lines: &mut Vec<String>) {
    let start = line.trim_start();
    let heading = start.trim_start_matches('#');
    let depth = start.len() - heading.len();
    if (1..=6).contains(&depth) && heading.starts_with(' ') {
        let wrapped = wrap(heading.trim(), width, 0);
        lines.extend(wrapped.iter().map(|it| out.paint(Style::Strong, it)));
        return;
    }
    // What follows a bullet or a number is aligned with its text.
    let indent = line.len() - start.len();
    let bullet = ["- ", "* ", "+ ", "> "]
        .iter()
        .find(|it| start.starts_with(**it));
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let number = digits > 0 && start.get(digits..).is_some_and(|it| it.starts_with(". "));
    let indent_of_rest = match (bullet, number) {
        (Some(_), _) => indent + 2,
        (None, true) => indent + digits + 2,
        (None, false) => indent,
    };
    // A row of a table is of use only as a whole.
    if start.starts_with('|') {
        lines.push(line.to_owned());
        return;
    }
    let wrapped = wrap(line, width, indent_of_rest.min(width / 2));
    lines.extend(wrapped.iter().map(|it| inline(it, out)));
}

/// Bold text and code without their marks, where both marks are on the line.
fn inline(line: &str, out: &Output) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['*', '`']) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let (mark, style) = match from {
            it if it.starts_with("**") => ("**", Style::Strong),
            it if it.starts_with('`') && !it.starts_with("``") => ("`", Style::Tool),
            _ => {
                let width = from.chars().take_while(|c| matches!(c, '*' | '`')).count();
                let (marks, after) = from.split_at(width);
                shown.push_str(marks);
                rest = after;
                continue;
            }
        };
        let inner = from.get(mark.len()..).unwrap_or_default();
        match inner
            .split_once(mark)
            .filter(|(text, _)| !text.trim().is_empty())
        {
            Some((text, after)) => {
                shown.push_str(&out.paint(style, text));
                rest = after;
            }
            None => {
                shown.push_str(mark);
                rest = inner;
            }
        }
    }
    shown + rest
}

/// Breaks a line between words; the lines after the first are indented by `indent_of_rest`.
pub(crate) fn wrap(line: &str, width: usize, indent_of_rest: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = Vec::new();
    let mut now = String::new();
    for word in line.split_inclusive(' ') {
        let mut word = word;
        if columns(&now) + columns(word.trim_end()) > width && !now.trim().is_empty() {
            lines.push(now.trim_end().to_owned());
            now = " ".repeat(indent_of_rest);
        }
        // A word that is longer than a line, as texts without spaces are.
        while columns(&now) + columns(word.trim_end()) > width {
            let room = width.saturating_sub(columns(&now)).max(2);
            let mut fits = 0;
            for (at, c) in word.char_indices() {
                let end = at + c.len_utf8();
                if columns(word.get(..end).unwrap_or_default()) > room {
                    break;
                }
                fits = end;
            }
            let (part, rest) =
                word.split_at(fits.max(word.chars().next().map_or(1, char::len_utf8)));
            lines.push(format!("{now}{part}"));
            now = " ".repeat(indent_of_rest);
            word = rest;
        }
        now.push_str(word);
    }
    lines.push(now.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_the_rest_is_indented() {
        assert_eq!(wrap("- one two three", 11, 2), ["- one two", "  three"]);
        assert_eq!(wrap("", 20, 0), [""]);
        assert_eq!(
            wrap("短语也切成二元组然后", 10, 0),
            ["短语也切成", "二元组然后"]
        );
        for width in 10..60 {
            let text =
                "a long-winded sentence, 中文 included, and-a-word-that-is-far-too-long-for-it";
            let lines = wrap(text, width, 4);
            assert!(
                lines.iter().all(|line| columns(line) <= width),
                "{width}: {lines:?}"
            );
            let all: String = lines.concat().split_whitespace().collect();
            let words: String = text.split_whitespace().collect();
            assert_eq!(all, words, "nothing is lost");
        }
    }
}
