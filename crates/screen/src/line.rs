//! A line of text that is being edited.

use crate::keys::Action;

/// The text and the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    text: String,
    /// Byte offset of the cursor; always at a character.
    cursor: usize,
}

impl Line {
    /// Creates a line with the cursor at its end.
    pub(crate) fn new(text: impl Into<String>) -> Line {
        let text = text.into();
        Line {
            cursor: text.len(),
            text,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or("")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.cursor == self.text.len()
    }

    /// Inserts text at the cursor. Pasted line ends become blanks.
    pub(crate) fn insert(&mut self, text: &str) {
        let text: String = text
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Edits the line; returns whether the text changed. Other actions do nothing.
    pub(crate) fn edit(&mut self, action: Action) -> bool {
        let before = self.text.len();
        match action {
            Action::LineStart => self.cursor = 0,
            Action::LineEnd => self.cursor = self.text.len(),
            Action::Left => self.cursor = self.previous(),
            Action::Right => self.cursor = self.next(),
            Action::EraseBefore => self.erase(self.previous(), self.cursor),
            Action::EraseAfter => self.erase(self.cursor, self.next()),
            Action::EraseWord => self.erase(self.word_start(), self.cursor),
            Action::EraseLine => self.erase(0, self.cursor),
            _ => {}
        }
        self.text.len() != before
    }

    fn erase(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn previous(&self) -> usize {
        let last = self.before().chars().next_back();
        self.cursor - last.map_or(0, char::len_utf8)
    }

    fn next(&self) -> usize {
        let rest = self.text.get(self.cursor..).unwrap_or("");
        self.cursor + rest.chars().next().map_or(0, char::len_utf8)
    }

    fn word_start(&self) -> usize {
        let trimmed = self.before().trim_end();
        let last = trimmed
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_whitespace());
        last.map_or(0, |(at, c)| at + c.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_words_are_erased_whole() {
        let mut line = Line::new("find 二元组 fast");
        assert!(line.edit(Action::EraseWord));
        assert_eq!(line.text(), "find 二元组 ");
        line.edit(Action::Left);
        assert!(line.edit(Action::EraseBefore));
        assert_eq!(line.text(), "find 二元 ");
        assert!(line.edit(Action::EraseLine));
        assert_eq!((line.text(), line.before()), (" ", ""));
    }

    #[test]
    fn the_cursor_stays_inside_the_text() {
        let mut line = Line::new("会");
        for action in [
            Action::Right,
            Action::EraseAfter,
            Action::Left,
            Action::Left,
        ] {
            assert!(!line.edit(action));
        }
        assert!(line.edit(Action::EraseAfter));
        assert!(!line.edit(Action::EraseBefore) && line.is_empty());
    }

    #[test]
    fn pasted_control_characters_do_not_reach_the_text() {
        let mut line = Line::new("ad");
        line.edit(Action::Left);
        line.insert("b\n\x1bc");
        assert_eq!(line.text(), "ab cd");
    }
}
