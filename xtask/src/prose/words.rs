//! Splits a paragraph into words that are never broken: a code span or a link is part of one word.

use std::ops::Range;

use super::width;

/// Placeholder for each character of a code span or link, where only the shape of a word matters.
pub(super) const HIDDEN: char = '\u{FFFC}';

/// How a word is joined to the one before it on the same line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Space,
    /// After full-width punctuation: a line may end here, but no space is printed.
    Tight,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// The text with every character of a code span or link replaced, so that punctuation inside
    /// them does not look like the end of a sentence.
    pub(super) shape: String,
    pub(super) width: usize,
    pub(super) gap: Gap,
}

/// Splits `text` at spaces and after full-width punctuation, but not inside `kept` ranges.
///
/// `unbreakable` contains offsets at which no line may end although punctuation precedes them: next
/// to the delimiters of emphasis, whose meaning depends on the character on either side.
pub(super) fn cut(text: &str, kept: &[Range<usize>], unbreakable: &[Range<usize>]) -> Vec<Word> {
    let mut cutter = Cutter {
        words: Vec::new(),
        text: String::new(),
        shape: String::new(),
        gap: Gap::Space,
    };
    let mut characters = text.char_indices().peekable();
    while let Some((at, char)) = characters.next() {
        if kept.iter().any(|range| range.contains(&at)) {
            cutter.push(if char == '\n' { ' ' } else { char }, HIDDEN);
            continue;
        }
        if is_space(char) {
            let mut broken = char == '\n';
            while let Some((_, next)) = characters.next_if(|(_, next)| is_space(*next)) {
                broken |= next == '\n';
            }
            cutter.space(broken, characters.peek().map(|(_, next)| *next));
            continue;
        }
        cutter.push(char, char);
        let Some((end, next)) = characters.peek().copied() else {
            continue;
        };
        let forbidden = unbreakable.iter().any(|range| range.contains(&end));
        if !is_space(next) && !stays_with_stop(next) && cutter.ends_in_stop() && !forbidden {
            cutter.end(Gap::Tight);
        }
    }
    cutter.end(Gap::Space);
    cutter.words
}

fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n')
}

/// Whether a character stays with the stop before it. A straight quotation mark may close the
/// quotation, so it is never the first of a line.
fn stays_with_stop(char: char) -> bool {
    width::is_wide_stop(char)
        || width::is_wide_closer(char)
        || matches!(char, '"' | '\'' | ')' | ']')
}

struct Cutter {
    words: Vec<Word>,
    text: String,
    shape: String,
    gap: Gap,
}

impl Cutter {
    fn push(&mut self, char: char, shown: char) {
        self.text.push(char);
        self.shape.push(shown);
    }

    fn ends_in_stop(&self) -> bool {
        ends_in_stop(&self.shape)
    }

    fn space(&mut self, broken: bool, next: Option<char>) {
        let last = self.shape.chars().next_back();
        let (Some(last), Some(next)) = (last, next) else {
            return self.end(Gap::Space);
        };
        if self.ends_in_stop() {
            self.end(Gap::Tight);
        } else if !(broken && width::is_wide(last) && width::is_wide(next)) {
            self.end(Gap::Space);
        }
        // Otherwise the source broke a line between two Chinese characters: they become one word
        // again.
    }

    fn end(&mut self, next: Gap) {
        if !self.text.is_empty() {
            let (text, shape) = (
                std::mem::take(&mut self.text),
                std::mem::take(&mut self.shape),
            );
            let width = width::of(&text);
            self.words.push(Word {
                text,
                shape,
                width,
                gap: self.gap,
            });
        }
        self.gap = next;
    }
}

/// Whether full-width punctuation ends the word, optionally followed by closing quotation marks.
fn ends_in_stop(shape: &str) -> bool {
    shape
        .trim_end_matches(width::is_wide_closer)
        .chars()
        .next_back()
        .is_some_and(width::is_wide_stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, kept: &[Range<usize>]) -> Vec<String> {
        cut(text, kept, &[])
            .into_iter()
            .map(|word| word.text)
            .collect()
    }

    #[test]
    fn a_kept_range_is_part_of_one_word_and_its_line_breaks_become_spaces() {
        let span = 5..12;
        assert_eq!(
            texts("see (`a b\nc`), d", &[span]),
            ["see", "(`a b c`),", "d"]
        );
    }

    #[test]
    fn chinese_is_cut_behind_punctuation_and_joined_across_lines() {
        assert_eq!(
            texts("问了什么，定\n了什么。”文件", &[]),
            ["问了什么，", "定了什么。”", "文件"]
        );
        assert_eq!(texts("读出来，\n一个", &[]), ["读出来，", "一个"]);
        assert_eq!(texts("见\nREADME 文件", &[]), ["见", "README", "文件"]);
    }

    #[test]
    fn an_unbreakable_place_is_not_cut() {
        let text = "**粗体。**，下";
        let close = text.find("。").unwrap() + "。".len();
        let delimiter = close..close + 3;
        let words = cut(text, &[], &[delimiter]);
        assert_eq!(words.len(), 2, "{words:?}");
    }
}
