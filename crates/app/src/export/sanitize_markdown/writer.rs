//! Pieces of a text written as Markdown: prefixes of lines, marks of lists, blank lines between
//! blocks.

use pulldown_cmark::Alignment;

use super::inline::{InlineCursor, code_span, fenced, push_words};
use super::piece::{Kind, Piece};

/// Largest number of a list item.
const LARGEST_NUMBER: u64 = 999_999_999;

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

/// Writes pieces one after the other.
#[derive(Debug, Default)]
pub(super) struct Writer {
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
    /// Begins a text behind one that ends with a list with this mark.
    pub(super) fn after_list(last_list: Option<char>) -> Writer {
        let root = Container {
            last_list,
            ..Container::default()
        };
        Writer {
            containers: vec![root],
            ..Writer::default()
        }
    }

    /// Gives what was written, and the mark of the list that ends it.
    pub(super) fn finish(self) -> (String, Option<char>) {
        let last_list = self.containers.first().and_then(|root| root.last_list);
        (self.out.trim_end_matches('\n').to_owned(), last_list)
    }

    /// Writes a piece; returns how many of the following pieces are written with it.
    pub(super) fn piece(&mut self, piece: &Piece, after: &[Piece]) -> usize {
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
