//! Finds the paragraphs of a Markdown page, with the parts of each that must not be broken.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A paragraph, or the text of a list item without blank lines, at a byte range of its page.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    pub(super) at: Range<usize>,
    /// Code spans, links, images, inline HTML.
    pub(super) kept: Vec<Range<usize>>,
    /// Ranges next to the delimiters of emphasis: a line end there would change their meaning.
    pub(super) unbreakable: Vec<Range<usize>>,
    /// Hard line breaks.
    pub(super) hard_breaks: Vec<Range<usize>>,
    /// Number of block quotes around it.
    pub(super) quotes: usize,
}

/// Returns a parser with GitHub's extensions.
pub(super) fn parser(page: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    Parser::new_ext(page, options)
}

/// Returns the paragraphs outside generated blocks, first to last.
pub(super) fn find(page: &str) -> Vec<Paragraph> {
    let mut finder = Finder {
        found: Vec::new(),
        open: None,
        blocks: Vec::new(),
    };
    for (event, range) in parser(page).into_offset_iter() {
        finder.take(&event, range);
    }
    finder.close();
    let generated = generated(page);
    let mut found = finder.found;
    for paragraph in &mut found {
        paragraph.fit(page);
    }
    found.retain(|paragraph| {
        !generated
            .iter()
            .any(|block| block.contains(&paragraph.at.start))
    });
    found
}

/// Returns the ranges between `<!-- name -->` and `<!-- /name -->`, each on a separate line: a
/// program writes their content.
fn generated(page: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let comment = line
            .trim()
            .strip_prefix("<!--")
            .and_then(|rest| rest.strip_suffix("-->"));
        match (comment.map(str::trim), open) {
            (Some(name), Some((opened, start))) if name.strip_prefix('/') == Some(opened) => {
                blocks.push(start..at);
                open = None;
            }
            (Some(name), _) if !name.starts_with('/') => open = Some((name, at)),
            _ => {}
        }
        at += line.len();
    }
    blocks
}

struct Finder {
    found: Vec<Paragraph>,
    open: Option<Paragraph>,
    blocks: Vec<TagEnd>,
}

impl Finder {
    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Paragraph) => {
                self.close();
                self.open = Some(Paragraph {
                    at: range,
                    quotes: self.quotes(),
                    ..Paragraph::default()
                });
            }
            Event::Start(tag) if is_inline(tag.to_end()) => self.inline(event, range),
            Event::Start(tag) => {
                self.close();
                self.blocks.push(tag.to_end());
            }
            Event::End(TagEnd::Paragraph) => self.close(),
            Event::End(tag) if is_inline(*tag) => {}
            Event::End(_) => {
                self.close();
                self.blocks.pop();
            }
            Event::Rule | Event::Html(_) | Event::DisplayMath(_) => self.close(),
            _ => self.inline(event, range),
        }
    }

    /// The text of a list item without blank lines is not in a paragraph.
    fn inline(&mut self, event: &Event<'_>, range: Range<usize>) {
        if self.open.is_none() && self.blocks.last() == Some(&TagEnd::Item) {
            self.open = Some(Paragraph {
                at: range.clone(),
                quotes: self.quotes(),
                ..Paragraph::default()
            });
        }
        let Some(paragraph) = &mut self.open else {
            return;
        };
        paragraph.at.end = paragraph.at.end.max(range.end);
        match event {
            Event::Start(Tag::Emphasis) => paragraph.delimiters(range, 1),
            Event::Start(Tag::Strong | Tag::Strikethrough) => paragraph.delimiters(range, 2),
            Event::Text(_) | Event::SoftBreak => {}
            Event::HardBreak => paragraph.hard_breaks.push(range),
            _ => paragraph.kept.push(range),
        }
    }

    fn quotes(&self) -> usize {
        self.blocks
            .iter()
            .filter(|block| matches!(block, TagEnd::BlockQuote(_)))
            .count()
    }

    fn close(&mut self) {
        self.found.extend(self.open.take());
    }
}

fn is_inline(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image
    )
}

impl Paragraph {
    /// No line may end inside or directly after an opening delimiter, nor directly before, inside
    /// or after a closing one.
    fn delimiters(&mut self, range: Range<usize>, length: usize) {
        self.unbreakable
            .push(range.start + 1..range.start + length + 1);
        self.unbreakable.push(range.end - length..range.end + 1);
    }

    /// Corrects a range: the parser omits the backslash of an escaped first character, and trailing
    /// spaces.
    fn fit(&mut self, page: &str) {
        if page[..self.at.start].ends_with('\\') {
            self.at.start -= 1;
        }
        let text = &page[self.at.clone()];
        self.at.start += text.len() - text.trim_start_matches([' ', '\t']).len();
        self.at.end = self.at.start + page[self.at.clone()].trim_end().len();
        let rest = &page[self.at.end..];
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at.end += line.trim_end().len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<&str> {
        find(page)
            .into_iter()
            .map(|paragraph| &page[paragraph.at])
            .collect()
    }

    #[test]
    fn paragraphs_and_texts_of_list_items_are_found() {
        let page = "# Head\n\nOne\ntwo.\n\n* three\n  four\n  * five\n* [ ] six\n\n> seven\n\n1. eight\n\n   nine\n";
        let expected = [
            "One\ntwo.",
            "three\n  four",
            "five",
            "[ ] six",
            "seven",
            "eight",
            "nine",
        ];
        assert_eq!(found(page), expected);
    }

    #[test]
    fn code_tables_html_headings_rules_and_front_matter_are_not() {
        let page = "---\na: b\n---\n\n```\ncode\n```\n\n    code\n\n| a | b |\n|---|---|\n| c | d |\n\n\
                    <div>\nhtml\n</div>\n\n<!-- comment\nmore -->\n\nSetext\n------\n\n***\n\n[a]: b\n";
        assert_eq!(found(page), Vec::<&str>::new());
    }

    #[test]
    fn what_a_program_writes_is_not() {
        let page =
            "<!-- bench:a -->\n\nOne.\n\n<!-- /bench:a -->\n\nTwo.\n\n<!-- note -->\n\nThree.\n";
        assert_eq!(found(page), ["Two.", "Three."]);
    }

    #[test]
    fn an_escaped_first_character_belongs_to_the_paragraph() {
        assert_eq!(found("* \\*one\n\n\\# two\n"), ["\\*one", "\\# two"]);
    }

    #[test]
    fn code_links_and_html_are_kept_whole() {
        let page = "a `b c` [d e](f) <b> ![g h](i) <http://j> k";
        let [paragraph] = find(page).try_into().unwrap();
        let kept: Vec<&str> = paragraph
            .kept
            .into_iter()
            .map(|range| &page[range])
            .collect();
        let expected = ["`b c`", "[d e](f)", "<b>", "![g h](i)", "<http://j>"];
        assert_eq!(kept, expected);
    }
}
