//! Writes a text as self-contained Markdown that every reader interprets in the same way.

use pulldown_cmark::Alignment;

use super::inline::{InlineCursor, code_span, fenced, push_words};
use super::piece::{Headings, Kind, Piece, parse};
use super::shape::shape;
use crate::text::escape;

/// Largest number of a list item.
const LARGEST_NUMBER: u64 = 999_999_999;

/// The state at the end of a text that the next one needs: two lists with the same marker would
/// become one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::export) struct Tail(Option<char>);

/// Returns a text as Markdown, without active markup and without images that would be loaded.
/// `tail` is that of the text before.
pub(in crate::export) fn markdown(text: &str, tail: &mut Tail) -> String {
    let pieces = parse(text, Headings::BelowOurs);
    let is_mark = |piece: &Piece| matches!(piece, Piece::Open(kind) | Piece::Close(kind) if matches!(kind, Kind::Emphasis(_) | Kind::Strong | Kind::Strike));
    let bare: Vec<Piece> = merged(pieces.iter().filter(|piece| !is_mark(piece)));
    for pieces in [&pieces, &bare] {
        let (written, after) = write(pieces, *tail);
        // The output is parsed again. Only emphasis depends on the characters around it; if the
        // result differs, emphasis is omitted, and nothing else is tried.
        if shape(&parse(&written, Headings::AsTheyAre)) == shape(pieces) {
            *tail = after;
            return written;
        }
    }
    *tail = Tail::default();
    fenced("", &escape(text))
}

/// Merges adjacent words.
fn merged<'p>(pieces: impl Iterator<Item = &'p Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(words)) => before.push_str(words),
            _ => out.push(piece.clone()),
        }
    }
    out
}

fn write(pieces: &[Piece], tail: Tail) -> (String, Tail) {
    let root = Container {
        last_list: tail.0,
        ..Container::default()
    };
    let mut writer = Writer {
        containers: vec![root],
        ..Writer::default()
    };
    let mut skip = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        skip = writer.piece(piece, pieces.get(at + 1..).unwrap_or_default());
    }
    let tail = Tail(writer.containers.first().and_then(|root| root.last_list));
    (writer.out.trim_end_matches('\n').to_owned(), tail)
}

/// A quote, a list item, or the text itself.
#[derive(Debug, Default)]
struct Container {
    /// Prefix of its first line, until that is written.
    first: Option<String>,
    /// Prefix of its other lines.
    rest: String,
    had_block: bool,
    /// Whether it is an item of a tight list.
    tight: bool,
    /// The marker of the list that was its last block.
    last_list: Option<char>,
}

#[derive(Debug)]
struct List {
    mark: char,
    number: Option<u64>,
    tight: bool,
    items: usize,
}

#[derive(Debug, Default)]
struct Writer {
    out: String,
    containers: Vec<Container>,
    lists: Vec<List>,
    line_start: bool,
    in_link: bool,
    in_cell: bool,
    /// Whether lines cannot be broken: in headings and table cells.
    one_line: bool,
    /// Alignments of the open table.
    alignments: Vec<Alignment>,
}

impl Writer {
    /// Writes a piece; returns how many of the following pieces are written with it.
    fn piece(&mut self, piece: &Piece, after: &[Piece]) -> usize {
        match piece {
            Piece::Open(kind) => return self.open(kind, after),
            Piece::Close(kind) => self.close(kind),
            Piece::Text(words) => {
                let before_link = matches!(after.first(), Some(Piece::Open(Kind::Link(_))));
                let place = InlineCursor {
                    line_start: self.line_start,
                    in_link: self.in_link,
                    before_link,
                };
                push_words(&mut self.out, words, place);
                self.line_start &= words.trim_matches([' ', '\t']).is_empty();
            }
            Piece::Code(code) => self.code(code),
            Piece::CodeBlock { language, text } => self.code_block(language, text),
            Piece::Break { hard } => self.line_break(*hard, after),
            Piece::Rule => {
                self.begin_block(false);
                self.out.push_str("___\n");
            }
            Piece::Task(done) => self.push(if *done { "[x] " } else { "[ ] " }),
            Piece::Picture => self.push("\\!"),
        }
        0
    }

    fn push(&mut self, written: &str) {
        self.out.push_str(written);
        self.line_start = false;
    }

    fn code(&mut self, code: &str) {
        let span = code_span(code);
        // In a table a bar ends the cell, even inside code.
        let span = if self.in_cell {
            span.replace('|', "\\|")
        } else {
            span
        };
        self.push(&span);
    }

    fn open(&mut self, kind: &Kind, after: &[Piece]) -> usize {
        match kind {
            Kind::Paragraph => {
                self.begin_block(false);
                self.line_start = true;
            }
            Kind::Heading(level) => {
                self.begin_block(false);
                self.one_line = true;
                self.push(&format!("{} ", "#".repeat(usize::from(*level))));
            }
            Kind::Quote => {
                self.separate(false);
                self.containers.push(Container {
                    rest: "> ".to_owned(),
                    ..Container::default()
                });
            }
            Kind::List { first, tight } => self.open_list(*first, *tight, after),
            Kind::Item => self.open_item(),
            Kind::Table(alignments) => {
                self.separate(false);
                self.alignments.clone_from(alignments);
            }
            Kind::Head | Kind::Row => {
                self.one_line = true;
                self.begin_line();
                self.push("|");
            }
            Kind::Cell => {
                self.in_cell = true;
                self.push(" ");
            }
            Kind::Emphasis(mark) => self.push(&mark.to_string()),
            // Not `__`: some readers render that as underline.
            Kind::Strong => self.push("**"),
            Kind::Strike => self.push("~~"),
            Kind::Link(to) => {
                if let [Piece::Text(words), Piece::Close(Kind::Link(_)), ..] = after
                    && words == to
                    && !to.contains('&')
                {
                    self.push(&format!("<{to}>"));
                    return 2;
                }
                self.push("[");
                self.in_link = true;
            }
        }
        0
    }

    fn close(&mut self, kind: &Kind) {
        match kind {
            Kind::Paragraph => self.end_line(),
            Kind::Heading(_) => {
                // Trailing `#` would be parsed as the end of the heading.
                if self.out.ends_with('#') {
                    self.out.insert(self.out.len() - 1, '\\');
                }
                self.one_line = false;
                self.end_line();
            }
            Kind::Quote | Kind::Item => self.close_container(),
            Kind::List { .. } => {
                if let (Some(list), Some(around)) = (self.lists.pop(), self.containers.last_mut()) {
                    around.last_list = Some(list.mark);
                }
            }
            Kind::Table(_) => {}
            Kind::Head | Kind::Row => {
                self.one_line = false;
                self.out.push('\n');
                if *kind == Kind::Head {
                    self.begin_line();
                    self.out
                        .push_str(&format!("|{}\n", rule_of(&self.alignments)));
                }
            }
            Kind::Cell => {
                self.in_cell = false;
                self.push(" |");
            }
            Kind::Emphasis(mark) => self.push(&mark.to_string()),
            Kind::Strong => self.push("**"),
            Kind::Strike => self.push("~~"),
            Kind::Link(to) => {
                self.push(&format!("]({})", to.replace('&', "&amp;")));
                self.in_link = false;
            }
        }
    }

    fn open_list(&mut self, first: Option<u64>, tight: bool, after: &[Piece]) {
        // Only such a list can follow a paragraph without a blank line.
        let interrupts = matches!(first, None | Some(1))
            && !matches!(
                after,
                [Piece::Open(Kind::Item), Piece::Close(Kind::Item), ..]
            );
        let before = self.containers.last().and_then(|around| around.last_list);
        self.separate(interrupts);
        let marks = if first.is_some() {
            ['.', ')']
        } else {
            ['-', '*']
        };
        let mark = if before == Some(marks[0]) {
            marks[1]
        } else {
            marks[0]
        };
        self.lists.push(List {
            mark,
            number: first,
            tight,
            items: 0,
        });
    }

    fn open_item(&mut self) {
        let Some(list) = self.lists.last_mut() else {
            return;
        };
        let (is_first, tight) = (list.items == 0, list.tight);
        list.items += 1;
        let mark = match &mut list.number {
            Some(number) => {
                let mark = format!("{number}{} ", list.mark);
                *number = (*number + 1).min(LARGEST_NUMBER);
                mark
            }
            None => format!("{} ", list.mark),
        };
        if !is_first && !tight {
            self.blank_line();
        }
        let rest = " ".repeat(mark.len());
        self.containers.push(Container {
            first: Some(mark),
            rest,
            tight,
            ..Container::default()
        });
    }

    fn close_container(&mut self) {
        let empty = self.containers.last().is_some_and(|it| !it.had_block);
        if empty {
            self.begin_line();
            self.end_line();
        }
        self.containers.pop();
    }

    /// Ends the line without trailing blanks: two of them would be a line break.
    fn end_line(&mut self) {
        let kept = self.out.trim_end_matches([' ', '\t']).len();
        self.out.truncate(kept);
        self.out.push('\n');
        self.line_start = false;
    }

    fn line_break(&mut self, hard: bool, after: &[Piece]) {
        if self.one_line {
            self.out.push(' ');
        } else if !self.line_start && !matches!(after.first(), Some(Piece::Close(Kind::Paragraph)))
        {
            let kept = self.out.trim_end_matches([' ', '\t']).len();
            self.out.truncate(kept);
            self.out.push_str(if hard { "\\\n" } else { "\n" });
            self.begin_line();
            self.line_start = true;
        }
    }

    fn code_block(&mut self, language: &str, text: &str) {
        self.begin_block(false);
        let block = fenced(language, text);
        let mut lines = block.lines();
        self.out.push_str(lines.next().unwrap_or(""));
        self.out.push('\n');
        for line in lines {
            if line.is_empty() {
                self.blank_line();
            } else {
                self.begin_line();
                self.out.push_str(line);
                self.out.push('\n');
            }
        }
    }

    fn begin_block(&mut self, joins: bool) {
        self.separate(joins);
        self.begin_line();
    }

    /// Writes a blank line between this block and the one before it, unless it `joins` that in a
    /// tight list.
    fn separate(&mut self, joins: bool) {
        let Some(around) = self.containers.last_mut() else {
            return;
        };
        around.last_list = None;
        if std::mem::replace(&mut around.had_block, true) && !(joins && around.tight) {
            self.blank_line();
        }
    }

    fn blank_line(&mut self) {
        let before: String = self.containers.iter().map(|it| it.rest.as_str()).collect();
        self.out.push_str(before.trim_end());
        self.out.push('\n');
    }

    fn begin_line(&mut self) {
        for it in &mut self.containers {
            match it.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(&it.rest),
            }
        }
    }
}

/// Returns the row between the header of a table and its body.
fn rule_of(alignments: &[Alignment]) -> String {
    let cell = |alignment: &Alignment| match alignment {
        Alignment::None => " --- |",
        Alignment::Left => " :-- |",
        Alignment::Center => " :-: |",
        Alignment::Right => " --: |",
    };
    alignments.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        markdown(text, &mut Tail::default())
    }

    fn rendered(text: &str) -> String {
        let options = pulldown_cmark::Options::ENABLE_TABLES
            | pulldown_cmark::Options::ENABLE_STRIKETHROUGH
            | pulldown_cmark::Options::ENABLE_TASKLISTS;
        let mut out = String::new();
        pulldown_cmark::html::push_html(&mut out, pulldown_cmark::Parser::new_ext(text, options));
        out
    }

    #[test]
    fn ordinary_markdown_reads_as_before() {
        for text in [
            "会话 **重要**，见 `src/会话.rs`。\n\n- 一\n- 二\n  1. 三\n  2. 四\n\n~~~rust\nlet a: Vec<String> = vec![];\n\n    b\n~~~",
            "Done in snake_case, 50% of 1,000 & more: a < b > c.\n\n1. *first*\n2. __second__\n\n   more\n\n> quoted\n> > twice\n\n***\n",
            "| a | b |\n|:--|--:|\n| `x` | ~~y~~ |\n| 1 \\| 2 | [ok](https://ok.test/?a=1&b=2) |\n",
            "- [ ] open\n- [x] done\n\n* loose\n\n* list\n\n      code in it\n",
            "a\\\nb  \nc\n\n    indented code\n\ttabbed\n",
            "see <https://ok.test/a_b> and ``a ` b``, 2*3*4, C:\\path, ~/x, $HOME, {x}, [y]\n",
            "1) one\n2) two\n\n- other\n\n+ third\n",
        ] {
            assert_eq!(
                rendered(&written(text)),
                rendered(text),
                "{}",
                written(text)
            );
        }
    }

    #[test]
    fn text_without_marks_is_written_as_it_is() {
        for text in [
            "会话恢复：第一步，第二步。",
            "Fix the build in src/main.rs, line 12 (see above)!",
            "a\nb\n\nc",
        ] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn markdown_keeps_code_and_loses_markup() {
        let text = "Hi <script>alert(1)</script> and <img src=x onerror=alert(1)>\n\n<iframe src=//evil></iframe>\n\n![x](http://evil/t.png) [y](javascript:alert(1)) [z](https://ok/)\n\n```js\nlet a: Vec<String>;\n```\n`<b>`";
        let out = written(text);
        assert!(
            out.contains("let a: Vec<String>;")
                && out.contains("`<b>`")
                && out.contains("[z](https://ok/)"),
            "{out}"
        );
        for bad in ["<script", "</script", "<img", "<iframe"] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(out.contains("\\![x]") && out.contains("\\[y]"), "{out}");
        assert!(!written(&out).contains("<script"));
    }

    #[test]
    fn what_is_open_at_the_end_is_closed() {
        assert_eq!(written("~~~\ncode"), "```\ncode\n```");
        assert_eq!(written("- a\n  ~~~\n  ```"), "- a\n\n  ````\n  ```\n  ````");
        assert_eq!(written("<!-- open\n\nx"), "&lt;!-- open\n\nx");
        assert_eq!(written("# a\n## b"), "#### a\n\n##### b");
    }

    #[test]
    fn a_definition_is_used_or_shown_and_never_one() {
        assert_eq!(
            written("[x]: javascript:alert(1)"),
            "\\[x]: javascript:alert(1)"
        );
        assert_eq!(
            written("see [x]\n\n[x]: https://ok.test"),
            "see [x](https://ok.test)"
        );
        assert_eq!(
            written("see [x]\n\n[x]: javascript:1"),
            "see \\[x](javascript:1)"
        );
        assert_eq!(written("a\n\n[task]: fix\n\nb"), "a\n\n\\[task]: fix\n\nb");
    }

    #[test]
    fn lists_of_two_texts_stay_two_lists() {
        let mut tail = Tail::default();
        assert_eq!(markdown("1. a", &mut tail), "1. a");
        assert_eq!(markdown("1. b\n\nx\n\n- c", &mut tail), "1) b\n\nx\n\n- c");
        assert_eq!(markdown("- d", &mut tail), "* d");
        assert_eq!(markdown("e", &mut tail), "e");
        assert_eq!(tail, Tail::default());
    }

    #[test]
    fn depth_costs_no_more_than_it_shows() {
        for deep in [
            ">".repeat(100_000),
            "- ".repeat(100_000),
            "1. ".repeat(50_000),
            "> ".repeat(60),
            "- ".repeat(60),
        ] {
            let text = format!("{deep}x\n{}", "lazy\n".repeat(5_000));
            let out = written(&text);
            assert!(
                out.len() < 4 * text.len() + (1 << 19),
                "{} bytes",
                out.len()
            );
        }
        let marks = "*a _b ".repeat(2_000);
        assert!(written(&marks).len() < 3 * marks.len());
    }
}
