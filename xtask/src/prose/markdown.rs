//! Formats Markdown with one sentence per line.

use std::ops::Range;

use super::paragraphs::{self, Paragraph};
use super::rendered::rendered;
use super::{Breach, lines, width, words};

/// Formats a page. Its rendering does not change.
pub(super) fn format(page: &str) -> String {
    apply(page, &changes(page))
}

/// Returns what `format` would change, one item per paragraph.
pub(super) fn breaches(page: &str) -> Vec<Breach> {
    let breach = |(range, text): Change| {
        let same = page[range.clone()]
            .bytes()
            .zip(text.bytes())
            .take_while(|(old, new)| old == new)
            .count();
        let line_start = page[..range.start + same]
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let line = page[line_start..].lines().next().unwrap_or_default();
        let why = match width::of(line) {
            columns if columns > width::LIMIT => {
                format!("{columns} columns wide, the limit is {}", width::LIMIT)
            }
            _ => "not one sentence a line, broken at clauses".to_owned(),
        };
        Breach {
            line: page[..line_start].matches('\n').count() + 1,
            why,
        }
    };
    changes(page).into_iter().map(breach).collect()
}

/// A range of the page, and the text that replaces it.
type Change = (Range<usize>, String);

/// Returns every paragraph with the wrong format, last to first.
fn wanted(page: &str) -> Vec<Change> {
    // No file of the repository has such line ends; such a page is not changed.
    if page.contains('\r') {
        return Vec::new();
    }
    let paragraphs = paragraphs::find(page).into_iter().rev();
    let changes = paragraphs.map(|paragraph| (paragraph.at.clone(), formatted(page, &paragraph)));
    changes
        .filter(|(range, text)| *text != page[range.clone()])
        .collect()
}

/// Returns the changes, without those that would change the meaning.
fn changes(page: &str) -> Vec<Change> {
    let changes = wanted(page);
    let before = rendered(page);
    if rendered(&apply(page, &changes)) == before {
        return changes;
    }
    let mut accepted = Vec::new();
    for change in changes {
        accepted.push(change);
        if rendered(&apply(page, &accepted)) != before {
            accepted.pop();
        }
    }
    accepted
}

/// Applies changes that are sorted last to first.
fn apply(page: &str, changes: &[Change]) -> String {
    let mut page = page.to_owned();
    for (range, text) in changes {
        page.replace_range(range.clone(), text);
    }
    page
}

fn formatted(page: &str, paragraph: &Paragraph) -> String {
    let start = page[..paragraph.at.start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let prefix = continuation(&page[start..paragraph.at.start]);
    let limit = width::LIMIT.saturating_sub(width::of(&prefix));
    let mut text = String::new();
    for part in Part::all(page, paragraph) {
        let kept: Vec<_> = paragraph
            .kept
            .iter()
            .map(|range| part.inner(range))
            .collect();
        let unbreakable: Vec<_> = paragraph
            .unbreakable
            .iter()
            .map(|range| part.inner(range))
            .collect();
        for line in lines::by_sentence(&words::cut(&part.text, &kept, &unbreakable), limit) {
            if !text.is_empty() {
                text.push('\n');
                text.push_str(&prefix);
            }
            text.push_str(&line);
        }
        text.push_str(part.end);
    }
    text
}

/// Returns the prefix of the lines after the first: the marker of a list item becomes spaces, that
/// of a quotation stays.
fn continuation(prefix: &str) -> String {
    prefix
        .chars()
        .map(|char| {
            if matches!(char, '>' | '\t') {
                char
            } else {
                ' '
            }
        })
        .collect()
}

/// A paragraph up to a hard break or its end, without the prefixes of its lines.
#[derive(Default)]
struct Part {
    text: String,
    /// For each line: its offset in `text`, and in the page.
    lines: Vec<(usize, usize)>,
    /// The hard break, as written.
    end: &'static str,
}

impl Part {
    fn all(page: &str, paragraph: &Paragraph) -> Vec<Part> {
        let mut parts = vec![Part::default()];
        let mut at = paragraph.at.start;
        for line in page[paragraph.at.clone()].split_inclusive('\n') {
            let first = at == paragraph.at.start;
            let content = if first {
                line
            } else {
                without_prefix(line, paragraph.quotes)
            };
            let from = at + line.len() - content.len();
            at += line.len();
            let Some(part) = parts.last_mut() else {
                continue;
            };
            if !part.text.is_empty() {
                part.text.push('\n');
            }
            part.lines.push((part.text.len(), from));
            let text = content.trim_end();
            let broken = paragraph
                .hard_breaks
                .iter()
                .any(|range| (from..at).contains(&range.start));
            match text.strip_suffix('\\').filter(|_| broken) {
                Some(text) => {
                    part.text.push_str(text);
                    part.end = "\\";
                }
                None => {
                    part.text.push_str(text);
                    part.end = if broken { "  " } else { "" };
                }
            }
            if broken {
                parts.push(Part::default());
            }
        }
        parts
    }

    /// Converts a range of the page to one of this part's text; empty if it is elsewhere.
    fn inner(&self, range: &Range<usize>) -> Range<usize> {
        self.offset(range.start)..self.offset(range.end)
    }

    fn offset(&self, at: usize) -> usize {
        let line = self.lines.iter().rev().find(|(_, from)| *from <= at);
        line.map_or(0, |(inner, from)| (inner + at - from).min(self.text.len()))
    }
}

/// Returns a line without indentation and the markers of its block quotes.
fn without_prefix(line: &str, quotes: usize) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    for _ in 0..quotes {
        rest = rest
            .strip_prefix('>')
            .unwrap_or(rest)
            .trim_start_matches([' ', '\t']);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_that_would_mean_something_else_is_left_alone() {
        // If it were broken before its last word, the first line would be a link definition.
        let page = format!("[a]: {} bbbbbbbbbb\n\nOne. Two.\n", "a".repeat(90));
        assert_eq!(wanted(&page).len(), 2);
        assert_eq!(format(&page), page.replace("One. Two.", "One.\nTwo."));
    }

    #[test]
    fn every_page_of_the_repository_can_take_its_form() {
        for (file, _) in super::super::files().filter(|(_, form)| form.extension == "md") {
            let page = super::super::read(&file).unwrap();
            assert_eq!(wanted(&page), changes(&page), "{}", file.display());
        }
    }
}
