//! Wraps Rust comments to the line limit.
//!
//! Only a paragraph with a line that is too wide is wrapped again, so that a change of one comment
//! does not touch others.

use std::ops::Range;

use super::scanner::{self, Comment};
use super::{Breach, lines, paragraphs, width, words};

/// Returns the file with its wide comments wrapped.
pub(super) fn format(code: &str) -> String {
    let mut text = code.to_owned();
    for paragraph in wide_paragraphs(code).iter().rev() {
        text.replace_range(paragraph.at(), &paragraph.filled());
    }
    text
}

/// Returns wide comments that `format` changes, and wide trailing ones, which must be shortened or
/// moved by hand.
pub(super) fn breaches(code: &str) -> Vec<Breach> {
    let number = |at: usize| code[..at].matches('\n').count() + 1;
    let changed = wide_paragraphs(code)
        .into_iter()
        .filter(|paragraph| paragraph.filled() != code[paragraph.at()]);
    let mut found: Vec<Breach> = changed
        .filter_map(|paragraph| {
            let line = paragraph
                .lines
                .iter()
                .find(|line| line.width > width::LIMIT)?;
            let why = format!(
                "a comment of {} columns, the limit is {}",
                line.width,
                width::LIMIT
            );
            Some(Breach {
                line: number(line.at.start),
                why,
            })
        })
        .collect();
    for comment in scanner::comments(code)
        .into_iter()
        .filter(|comment| comment.trailing)
    {
        let line = Line::of(code, &comment);
        if line.width > width::LIMIT && !line.is_one_word() {
            let why = format!(
                "a comment behind code that ends at column {}: move it above the code",
                line.width
            );
            found.push(Breach {
                line: number(comment.at.start),
                why,
            });
        }
    }
    found.sort_by_key(|breach| breach.line);
    found
}

/// One line of a comment.
#[derive(Debug, Clone)]
struct Line<'c> {
    at: Range<usize>,
    /// Columns from the start of the line to the end of the comment.
    width: usize,
    /// The text before the comment on its line.
    before: &'c str,
    /// `//`, `///` or `//!`.
    marker: &'c str,
    body: &'c str,
}

impl<'c> Line<'c> {
    fn of(code: &'c str, comment: &Comment) -> Self {
        let text = code[comment.at.clone()].trim_end();
        let start = code[..comment.at.start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let before = &code[start..comment.at.start];
        let length = if text.starts_with("///") || text.starts_with("//!") {
            3
        } else {
            2
        };
        let (marker, body) = text.split_at(length);
        let at = comment.at.start..comment.at.start + text.len();
        Line {
            at,
            width: width::of(before) + width::of(text),
            before,
            marker,
            body,
        }
    }

    fn text(&self) -> &'c str {
        self.body.trim()
    }

    /// Returns the columns between the marker's own space and the text.
    fn indent(&self) -> usize {
        (self.body.len() - self.body.trim_start_matches(' ').len()).saturating_sub(1)
    }

    fn is_one_word(&self) -> bool {
        !self.text().contains(' ')
    }

    fn is_fence(&self) -> bool {
        self.text().starts_with("```") || self.text().starts_with("~~~")
    }

    /// Whether wrapping would change the meaning of this line: tables, headings, rules, aligned
    /// columns, link targets.
    fn is_verbatim(&self) -> bool {
        let text = self.text();
        let heading = text.trim_start_matches('#').starts_with(' ') && text.starts_with('#');
        let definition = text.starts_with('[') && text.contains("]: ");
        let first = text.split(' ').next().unwrap_or_default();
        !self.body.starts_with(' ')
            || self.indent() >= 4
            || heading
            || definition
            || text.starts_with(['|', '>', '<'])
            || text.ends_with('\\')
            || text.contains("   ")
            || (lines::begins_a_block(first) && self.item_indent() == 0)
    }

    /// Returns the length of a list item's marker with its spaces; 0 if there is none.
    fn item_indent(&self) -> usize {
        let text = self.text();
        let Some((first, rest)) = text.split_once(' ') else {
            return 0;
        };
        let number = first.strip_suffix(['.', ')']).unwrap_or_default();
        let numbered = !number.is_empty() && number.chars().all(|char| char.is_ascii_digit());
        if matches!(first, "-" | "*" | "+") || numbered {
            text.len() - rest.trim_start().len()
        } else {
            0
        }
    }
}

/// Lines of a comment that are wrapped together.
#[derive(Debug)]
struct Paragraph<'c> {
    lines: Vec<Line<'c>>,
    /// Indentation of the lines after the first.
    indent: usize,
}

impl<'c> Paragraph<'c> {
    fn of(line: Line<'c>) -> Self {
        Paragraph {
            indent: line.indent() + line.item_indent(),
            lines: vec![line],
        }
    }

    fn takes(&self, line: &Line<'_>) -> bool {
        let first = &self.lines[0];
        line.before == first.before
            && line.marker == first.marker
            && line.indent() == self.indent
            && line.item_indent() == 0
    }

    fn at(&self) -> Range<usize> {
        self.lines[0].at.start..self.lines[self.lines.len() - 1].at.end
    }

    fn is_wide(&self) -> bool {
        self.lines.iter().any(|line| line.width > width::LIMIT)
    }

    fn filled(&self) -> String {
        let first = &self.lines[0];
        let (item, _) = first.text().split_at(first.item_indent());
        let mut texts: Vec<&str> = self.lines.iter().map(Line::text).collect();
        texts[0] = &texts[0][item.len()..];
        let text = texts.join("\n");
        let start = format!(
            "{}{} {}",
            first.before,
            first.marker,
            " ".repeat(self.indent)
        );
        let limit = width::LIMIT.saturating_sub(width::of(&start));
        let inline = paragraphs::find(&text).into_iter().fold(
            (Vec::new(), Vec::new()),
            |mut all, paragraph| {
                all.0.extend(paragraph.kept);
                all.1.extend(paragraph.unbreakable);
                all
            },
        );
        let lines = lines::filled(&words::cut(&text, &inline.0, &inline.1), limit);
        let head = format!(
            "{} {}{item}",
            first.marker,
            " ".repeat(self.indent - item.len())
        );
        format!("{head}{}", lines.join(&format!("\n{start}")))
    }
}

/// Returns the paragraphs with a line that is too wide, first to last.
fn wide_paragraphs(code: &str) -> Vec<Paragraph<'_>> {
    let mut found: Vec<Paragraph<'_>> = Vec::new();
    let mut open: Option<Paragraph<'_>> = None;
    let mut fenced = false;
    let mut end = 0;
    for comment in scanner::comments(code)
        .iter()
        .filter(|comment| !comment.trailing)
    {
        let line = Line::of(code, comment);
        // Code or an empty line between two comments ends paragraphs and fences.
        if !code[end..comment.at.start]
            .trim_matches([' ', '\t'])
            .eq("\n")
        {
            found.extend(open.take());
            fenced = false;
        }
        end = comment.at.end;
        let fence = line.is_fence();
        if fence || fenced || line.text().is_empty() || line.is_verbatim() {
            found.extend(open.take());
            fenced ^= fence;
        } else if let Some(paragraph) = open.as_mut().filter(|paragraph| paragraph.takes(&line)) {
            paragraph.lines.push(line);
        } else {
            found.extend(open.replace(Paragraph::of(line)));
        }
    }
    found.extend(open);
    found.retain(Paragraph::is_wide);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str =
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

    #[test]
    fn a_wide_line_is_filled_again_with_its_paragraph() {
        let code = format!(
            "    /// {WORDS} {WORDS}\n    /// tail.\n    ///\n    /// Next.\n    fn a() {{}}\n"
        );
        let expected = "    /// one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen one\n    \
                        /// two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen tail.\n    \
                        ///\n    /// Next.\n    fn a() {}\n";
        assert_eq!(format(&code), expected);
        assert_eq!(format(expected), expected);
        assert_eq!(
            breaches(&code)
                .into_iter()
                .map(|breach| breach.line)
                .collect::<Vec<_>>(),
            [1]
        );
        assert!(breaches(expected).is_empty());
    }

    #[test]
    fn paragraphs_within_the_limit_are_left_alone() {
        let code = "// a\n// b\n";
        assert_eq!(format(code), code);
    }

    #[test]
    fn a_list_item_is_filled_below_its_text() {
        let code = format!("//! * {WORDS} {WORDS}\n//!   tail.\n//! * next\n");
        let expected = "//! * one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen one\n\
                        //!   two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen tail.\n\
                        //! * next\n";
        assert_eq!(format(&code), expected);
    }

    #[test]
    fn code_tables_headings_and_strings_stay() {
        let wide = format!("{WORDS} {WORDS}");
        for code in [
            format!("/// ```\n/// {wide}\n/// ```\n"),
            format!("/// | {wide} |\n"),
            format!("/// # {wide}\n"),
            format!("/// [a]: {wide}\n"),
            format!("///     {wide}\n"),
            format!("let a = \"\n// {wide}\n\";\n"),
            format!("let a = r#\"\n// \" {wide}\n\"#;\n"),
            format!("/*\n// {wide}\n*/\n"),
            format!("//{}\n", "-".repeat(120)),
        ] {
            assert_eq!(format(&code), code);
        }
    }

    #[test]
    fn a_code_span_is_not_broken() {
        let code = format!("// {WORDS} and `a b c d` {WORDS} {WORDS}\n");
        assert!(
            format(&code).contains("\n// `a b c d` one"),
            "{}",
            format(&code)
        );
    }

    #[test]
    fn a_wide_comment_behind_code_is_reported_and_left_alone() {
        let code = format!("let a = 1; // {WORDS} {WORDS}\n");
        assert_eq!(format(&code), code);
        let [breach] = breaches(&code).try_into().unwrap();
        assert!(
            breach.line == 1 && breach.why.contains("behind code"),
            "{}",
            breach.why
        );
    }

    #[test]
    fn a_word_that_is_wider_than_the_line_is_not_reported() {
        assert!(
            breaches(&format!(
                "// see\n// https://example.org/{}\n",
                "a".repeat(100)
            ))
            .is_empty()
        );
    }
}
