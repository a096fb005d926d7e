//! Parses a text as CommonMark, and removes everything that a page must not contain.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag};

use super::inline::{language, target};
use super::linkify::linkify;
use crate::text::{escape, one_line};

/// Maximum number of quotes and lists that a line may open: parsers process all of them on every
/// line, and no readable text has more.
const TOO_DEEP: usize = 64;

/// Maximum depth of quotes and lists: deeper ones are flattened, because each level is written
/// again on every line inside it.
const DEEPEST: usize = 16;

/// Number of heading levels that the page itself uses.
const OWN_HEADINGS: u8 = 3;
const SMALLEST_HEADING: u8 = 6;

/// A piece of a text. Its strings are sanitised, on one line, and not yet escaped for any markup.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Open(Kind),
    Close(Kind),
    Text(String),
    Code(String),
    CodeBlock {
        language: String,
        text: String,
    },
    Break {
        hard: bool,
    },
    Rule,
    Task(bool),
    /// The following link or text was an image.
    Picture,
}

/// A container of other pieces.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Paragraph,
    Heading(u8),
    Quote,
    List {
        first: Option<u64>,
        tight: bool,
    },
    Item,
    Table(Vec<Alignment>),
    Head,
    Row,
    Cell,
    /// Emphasis, with its marker character.
    Emphasis(char),
    Strong,
    Strike,
    Link(String),
}

/// How heading levels are changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Headings {
    /// Headings are moved below those of the page.
    BelowOurs,
    /// Headings are already below those of the page.
    AsTheyAre,
}

/// What ends with the end of a tag.
enum Frame {
    Kind(Kind),
    Words(String),
    Nothing,
}

/// Parses a text.
pub(super) fn parse(text: &str, headings: Headings) -> Vec<Piece> {
    if text.lines().any(|line| depth(line) > TOO_DEEP) {
        return vec![Piece::CodeBlock {
            language: String::new(),
            text: escape(text),
        }];
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(text, options);
    let mut definitions: Vec<Definition> = parser
        .reference_definitions()
        .iter()
        .map(|(_, it)| Definition {
            span: it.span.clone(),
            target: it.dest.to_string(),
            place: None,
        })
        .collect();
    definitions.sort_by_key(|it| it.span.start);
    let mut made = Pieces {
        text,
        headings,
        definitions,
        pieces: Vec::new(),
        open: Vec::new(),
        implicit: false,
        code: None,
        lists: Vec::new(),
        used: Vec::new(),
    };
    for (event, range) in parser.into_offset_iter() {
        made.event(event, &range);
    }
    made.end_implicit();
    made.show_definitions();
    linkify(made.pieces)
}

/// Returns how many quotes and list items a line begins with.
fn depth(line: &str) -> usize {
    let end = line
        .find(|c: char| !(c.is_ascii_digit() || "> \t-+*.)".contains(c)))
        .unwrap_or(line.len());
    let marks = line.get(..end).unwrap_or("").as_bytes();
    let is_item = |pair: &[u8]| matches!(pair, [b'-' | b'+' | b'*' | b'.' | b')', b' ' | b'\t']);
    marks.iter().filter(|b| **b == b'>').count()
        + marks.windows(2).filter(|pair| is_item(pair)).count()
}

/// The target of a reference link. It is not part of the page; an unused one is shown as text.
struct Definition {
    span: Range<usize>,
    target: String,
    /// Index of the piece before which it would be shown.
    place: Option<usize>,
}

struct Pieces<'t> {
    text: &'t str,
    headings: Headings,
    definitions: Vec<Definition>,
    pieces: Vec<Piece>,
    open: Vec<Frame>,
    /// Whether a paragraph is open that the parser did not open: in items of tight lists, and for
    /// markup.
    implicit: bool,
    code: Option<(String, String)>,
    /// Indexes where the open lists begin.
    lists: Vec<usize>,
    /// Names of the reference links that were used.
    used: Vec<String>,
}

impl Pieces<'_> {
    fn event(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(_) => self.end(),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.words(&text),
            },
            Event::InlineHtml(text) => self.words(&text),
            Event::Html(text) => self.markup(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.inline(Piece::Code(escape(&code).replace(['\n', '\t'], " ")));
            }
            Event::SoftBreak => self.inline(Piece::Break { hard: false }),
            Event::HardBreak => self.inline(Piece::Break { hard: true }),
            Event::Rule => {
                self.begin_block(range);
                self.pieces.push(Piece::Rule);
            }
            Event::TaskListMarker(done) => self.inline(Piece::Task(done)),
            Event::FootnoteReference(name) => self.words(&format!("[^{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let frame = match tag {
            Tag::CodeBlock(kind) => {
                self.begin_block(range);
                let info = if let CodeBlockKind::Fenced(info) = kind {
                    info
                } else {
                    CowStr::Borrowed("")
                };
                self.code = Some((language(&info), String::new()));
                Frame::Nothing
            }
            Tag::Emphasis => self.opened(Kind::Emphasis(self.mark_at(range))),
            Tag::Strong => self.opened(Kind::Strong),
            Tag::Strikethrough => self.opened(Kind::Strike),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.link(link_type, &dest_url, ""),
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => self.link(link_type, &dest_url, "!"),
            block => {
                self.begin_block(range);
                match self.block(block) {
                    Some(kind) => self.open(kind),
                    None => Frame::Nothing,
                }
            }
        };
        self.open.push(frame);
    }

    /// Returns the kind of a block; `None` if only its content is kept.
    fn block(&mut self, tag: Tag<'_>) -> Option<Kind> {
        let is_container =
            |frame: &&Frame| matches!(frame, Frame::Kind(Kind::Quote | Kind::List { .. }));
        let deep = self.open.iter().filter(is_container).count() >= DEEPEST;
        Some(match tag {
            Tag::Paragraph => {
                if let (Some(Frame::Kind(Kind::Item)), Some(list)) =
                    (self.open.last(), self.lists.last())
                    && let Some(Piece::Open(Kind::List { tight, .. })) = self.pieces.get_mut(*list)
                {
                    *tight = false;
                }
                Kind::Paragraph
            }
            Tag::Heading { level, .. } => {
                let level = level as u8;
                let below = if self.headings == Headings::BelowOurs {
                    OWN_HEADINGS
                } else {
                    0
                };
                Kind::Heading((level + below).min(SMALLEST_HEADING))
            }
            Tag::BlockQuote(_) if !deep => Kind::Quote,
            Tag::List(first) if !deep => {
                self.lists.push(self.pieces.len());
                Kind::List { first, tight: true }
            }
            Tag::Item if matches!(self.open.last(), Some(Frame::Kind(Kind::List { .. }))) => {
                Kind::Item
            }
            Tag::Table(alignments) => Kind::Table(alignments),
            Tag::TableHead => Kind::Head,
            Tag::TableRow => Kind::Row,
            Tag::TableCell => Kind::Cell,
            _ => return None,
        })
    }

    fn open(&mut self, kind: Kind) -> Frame {
        self.pieces.push(Piece::Open(kind.clone()));
        Frame::Kind(kind)
    }

    /// As above, for inline pieces.
    fn opened(&mut self, kind: Kind) -> Frame {
        self.begin_inline();
        self.open(kind)
    }

    fn link(&mut self, link_type: LinkType, dest: &str, mark: &str) -> Frame {
        let reference = !matches!(
            link_type,
            LinkType::Inline | LinkType::Autolink | LinkType::Email
        );
        if reference {
            self.used.push(dest.to_owned());
        }
        let auto = link_type == LinkType::Autolink;
        let inside = self
            .open
            .iter()
            .any(|frame| matches!(frame, Frame::Kind(Kind::Link(_))));
        let full = if link_type == LinkType::Email {
            format!("mailto:{dest}")
        } else {
            dest.to_owned()
        };
        match target(&full).filter(|_| !inside) {
            Some(safe) => {
                self.begin_inline();
                self.pieces
                    .extend((!mark.is_empty()).then_some(Piece::Picture));
                self.open(Kind::Link(safe))
            }
            None if auto => {
                self.words("<");
                Frame::Words(">".to_owned())
            }
            None => {
                self.words(&format!("{mark}["));
                Frame::Words(format!("]({dest})"))
            }
        }
    }

    fn end(&mut self) {
        let frame = self.open.pop().unwrap_or(Frame::Nothing);
        if let Some((language, text)) = self.code.take() {
            self.pieces.push(Piece::CodeBlock {
                language,
                text: escape(&text),
            });
            return;
        }
        match frame {
            Frame::Words(words) => self.words(&words),
            Frame::Kind(Kind::Link(to)) => {
                if matches!(self.pieces.last(), Some(Piece::Open(Kind::Link(_)))) {
                    self.pieces.push(Piece::Text(to.clone()));
                }
                self.pieces.push(Piece::Close(Kind::Link(to)));
            }
            Frame::Kind(kind) => {
                let in_line = matches!(kind, Kind::Emphasis(_) | Kind::Strong | Kind::Strike);
                if !in_line {
                    self.end_implicit();
                }
                if matches!(kind, Kind::List { .. }) {
                    self.lists.pop();
                }
                self.pieces.push(Piece::Close(kind));
            }
            // It may have been a block: the following text is not part of its paragraph.
            Frame::Nothing => self.end_implicit(),
        }
    }

    /// Ends an implicit paragraph, and places definitions that come before this block.
    fn begin_block(&mut self, range: &Range<usize>) {
        self.end_implicit();
        if self.open.is_empty() {
            let place = self.pieces.len();
            let before = |it: &&mut Definition| it.place.is_none() && it.span.start < range.start;
            self.definitions
                .iter_mut()
                .filter(before)
                .for_each(|it| it.place = Some(place));
        }
    }

    /// Starts an implicit paragraph for words outside of one.
    fn begin_inline(&mut self) {
        let holds = |frame: &Frame| {
            matches!(
                frame,
                Frame::Kind(Kind::Paragraph | Kind::Heading(_) | Kind::Cell)
            )
        };
        if !self.implicit && !self.open.iter().any(holds) {
            self.pieces.push(Piece::Open(Kind::Paragraph));
            self.implicit = true;
        }
    }

    fn end_implicit(&mut self) {
        if std::mem::take(&mut self.implicit) {
            self.pieces.push(Piece::Close(Kind::Paragraph));
        }
    }

    fn inline(&mut self, piece: Piece) {
        self.begin_inline();
        self.pieces.push(piece);
    }

    fn words(&mut self, text: &str) {
        self.begin_inline();
        // Entities were decoded: a character that was harmless as `&#x202e;` is literal now.
        let text = escape(text).replace(['\n', '\t'], " ");
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(&text),
            _ => self.pieces.push(Piece::Text(text)),
        }
    }

    /// Adds lines of markup as words.
    fn markup(&mut self, html: &str) {
        for line in html.lines() {
            if line.trim().is_empty() {
                self.end_implicit();
                continue;
            }
            if self.implicit {
                self.pieces.push(Piece::Break { hard: false });
            }
            self.words(line.trim());
        }
    }

    fn mark_at(&self, range: &Range<usize>) -> char {
        let mark = self
            .text
            .get(range.start..)
            .and_then(|rest| rest.chars().next());
        mark.filter(|c| *c == '_').unwrap_or('*')
    }

    fn show_definitions(&mut self) {
        let definitions = std::mem::take(&mut self.definitions);
        for it in definitions
            .iter()
            .rev()
            .filter(|it| !self.used.contains(&it.target))
        {
            let words = one_line(self.text.get(it.span.clone()).unwrap_or(""));
            let place = it.place.unwrap_or(self.pieces.len());
            let shown = [
                Piece::Open(Kind::Paragraph),
                Piece::Text(words),
                Piece::Close(Kind::Paragraph),
            ];
            self.pieces.splice(place..place, shown);
        }
    }
}
