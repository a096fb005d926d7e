//! Renders Markdown for a terminal: headings, emphasis, lists, quotes, code and tables.
//!
//! Nothing of it is followed or run: a link is its text and its address, HTML is shown as text.
//! Line ends inside a paragraph stay, because agents mean them.

use boswell_app::text::{columns, fit};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::wrap::ranges;
use super::{Styled, Tone};

/// Returns the lines of a Markdown text.
pub(super) fn markdown(text: &str, width: usize) -> Vec<Styled> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = MarkdownPage {
        width: width.max(8),
        ..MarkdownPage::default()
    };
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.flush();
    page.out
}

/// What is being rendered.
#[derive(Debug, Default)]
struct MarkdownPage {
    width: usize,
    out: Vec<Styled>,
    /// The line that is being filled: pieces with their tones.
    pieces: Vec<(Tone, String)>,
    tones: Vec<Tone>,
    /// Numbers of the lists that are open; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The bullet of an item that has no line yet.
    bullet: Option<String>,
    quotes: usize,
    in_code: bool,
    link: Option<String>,
    table: Option<Vec<Vec<String>>>,
}

impl MarkdownPage {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code(&text),
            Event::Text(text) => self.say(self.tone(), &text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.say(Tone::Code, &text);
            }
            Event::InlineHtml(text) => self.say(self.tone(), &text),
            Event::Html(text) => {
                self.say(self.tone(), text.trim_end_matches('\n'));
                self.flush();
            }
            Event::SoftBreak | Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                self.push(Tone::Faint, "─".repeat(self.width.min(40)));
            }
            Event::TaskListMarker(done) => {
                self.say(Tone::Plain, if done { "[x] " } else { "[ ] " });
            }
            Event::FootnoteReference(name) => self.say(Tone::Faint, &format!("[{name}]")),
        }
    }

    fn tone(&self) -> Tone {
        self.tones.last().copied().unwrap_or(Tone::Plain)
    }

    fn say(&mut self, tone: Tone, text: &str) {
        match &mut self.table {
            Some(rows) => {
                if let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) {
                    cell.push_str(text);
                }
            }
            None => self.pieces.push((tone, text.replace(['\t', '\n'], " "))),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph if self.bullet.is_none() => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.tones.push(Tone::Heading);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                self.in_code = true;
                if let CodeBlockKind::Fenced(word) = kind
                    && !word.is_empty()
                {
                    self.push(Tone::Faint, format!("  {word}"));
                }
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                }
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Strong | Tag::Emphasis => self.tones.push(Tone::Strong),
            Tag::Strikethrough => self.tones.push(Tone::Faint),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(Vec::new());
            }
            other => self.cell(&other),
        }
    }

    fn cell(&mut self, tag: &Tag<'_>) {
        let Some(rows) = &mut self.table else {
            return;
        };
        match tag {
            Tag::TableHead | Tag::TableRow => rows.push(Vec::new()),
            Tag::TableCell => {
                if let Some(row) = rows.last_mut() {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Item | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.tones.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => {
                self.tones.pop();
            }
            TagEnd::Link | TagEnd::Image => self.address(),
            TagEnd::Table => self.draw_table(),
            _ => {}
        }
    }

    /// Adds the address of a link, unless its text is the address.
    fn address(&mut self) {
        let Some(link) = self.link.take() else {
            return;
        };
        let is_text = |(_, text): &(Tone, String)| *text == link;
        if !self.pieces.last().is_some_and(is_text) {
            self.say(Tone::Faint, &format!(" ({link})"));
        }
    }

    /// Begins an item of a list.
    fn item(&mut self) {
        self.flush();
        let depth = self.lists.len().saturating_sub(1);
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "• ".to_owned(),
        };
        self.bullet = Some(format!("{}{bullet}", "  ".repeat(depth)));
    }

    /// Adds an empty line between blocks.
    fn gap(&mut self) {
        self.flush();
        let is_open = self.out.last().is_some_and(|it| !it.text.is_empty());
        if is_open && self.lists.is_empty() {
            self.push(Tone::Plain, String::new());
        }
    }

    fn push(&mut self, tone: Tone, text: String) {
        let marks = Vec::new();
        self.out.push(Styled { tone, text, marks });
    }

    fn code(&mut self, text: &str) {
        let room = self.width.saturating_sub(2);
        for line in super::wrap::wrap(text, room) {
            self.push(Tone::Code, format!("  {line}"));
        }
    }

    /// Ends the line that is being filled.
    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.is_empty() {
            return;
        }
        let quote = "┃ ".repeat(self.quotes);
        let bullet = self.bullet.take();
        let first = format!("{quote}{}", bullet.as_deref().unwrap_or(""));
        let inside = "  ".repeat(self.lists.len());
        let rest = match &bullet {
            Some(bullet) => format!("{quote}{}", " ".repeat(columns(bullet))),
            None => format!("{quote}{inside}"),
        };
        let first = if bullet.is_some() {
            first
        } else {
            rest.clone()
        };
        let (text, marks) = joined(&pieces);
        let tone = if self.quotes > 0 {
            Tone::Faint
        } else {
            Tone::Plain
        };
        let room = self.width.saturating_sub(columns(&rest));
        for (at, range) in ranges(&text, room).into_iter().enumerate() {
            let lead = if at == 0 { &first } else { &rest };
            self.out
                .push(Styled::part(tone, lead, &text, &marks, range));
        }
    }

    /// Draws a table with aligned columns, as far as it fits.
    fn draw_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; count];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = columns(cell).max(*width);
            }
        }
        // The widest column gives way.
        while widths.iter().sum::<usize>() + 2 * count > self.width {
            match widths.iter_mut().max() {
                Some(widest) if *widest > 6 => *widest -= 1,
                _ => break,
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells.map(|(cell, width)| fit(cell, *width)).collect();
            let tone = if at == 0 { Tone::Heading } else { Tone::Plain };
            self.push(tone, cells.join("  ").trim_end().to_owned());
        }
    }
}

/// Joins pieces; returns the text, and the ranges that have a tone of their own.
fn joined(pieces: &[(Tone, String)]) -> (String, Vec<(std::ops::Range<usize>, Tone)>) {
    let (mut text, mut marks) = (String::new(), Vec::new());
    for (tone, piece) in pieces {
        let start = text.len();
        text.push_str(piece);
        if *tone != Tone::Plain {
            marks.push((start..text.len(), *tone));
        }
    }
    (text, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> Vec<String> {
        let lines = markdown(text, width).into_iter();
        lines.map(|it| it.text).collect()
    }

    #[test]
    fn marks_of_markdown_are_not_shown_but_their_meaning_is() {
        let lines = markdown("# Title\n\nSome **bold** and `code`.", 40);
        let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["Title", "", "Some bold and code."]);
        assert_eq!(lines[0].marks, [(0..5, Tone::Heading)]);
        assert_eq!(lines[2].marks, [(5..9, Tone::Strong), (14..18, Tone::Code)]);
    }

    #[test]
    fn lists_are_indented_and_numbered() {
        let text = "Two:\n\n1. one that is longer than the width\n2. two\n   - inside\n";
        assert_eq!(
            shown(text, 20),
            [
                "Two:",
                "",
                "1. one that is",
                "   longer than the",
                "   width",
                "2. two",
                "  • inside"
            ]
        );
    }

    #[test]
    fn code_stays_as_it_is() {
        let text = "```rust\nfn main() {\n    **x**\n}\n```";
        assert_eq!(
            shown(text, 40),
            ["  rust", "  fn main() {", "      **x**", "  }"]
        );
    }

    #[test]
    fn tables_are_aligned_and_links_say_where_they_lead() {
        assert_eq!(
            shown("| a | long |\n|---|---|\n| 会话 | b |", 40),
            ["a     long", "会话  b"]
        );
        assert_eq!(shown("[here](http://x)", 40), ["here (http://x)"]);
        assert_eq!(shown("<http://x>", 40), ["http://x"]);
    }

    #[test]
    fn html_is_text_and_line_ends_stay() {
        assert_eq!(shown("a <b>x</b>\nsecond", 40), ["a <b>x</b>", "second"]);
        assert_eq!(shown("<script>\nalert(1)\n</script>", 40).len(), 3);
    }
}
