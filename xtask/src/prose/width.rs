//! Display width: a Chinese character has two columns, and joins the next one without a space.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Widest line of Markdown and of a Rust comment, in columns.
pub(crate) const LIMIT: usize = 100;

pub(super) fn of(text: &str) -> usize {
    text.width()
}

pub(super) fn is_wide(char: char) -> bool {
    char.width() == Some(2)
}

/// Whether this character ends a Chinese sentence.
pub(super) fn ends_wide_sentence(char: char) -> bool {
    matches!(char, '。' | '！' | '？')
}

/// Whether a line may end after this character although no space follows: its glyph contains the
/// space, so the one that a browser shows for a line break is not visible.
pub(super) fn is_wide_stop(char: char) -> bool {
    ends_wide_sentence(char) || matches!(char, '，' | '、' | '；' | '：')
}

/// Closing brackets and quotation marks that stay with the stop before them.
pub(super) fn is_wide_closer(char: char) -> bool {
    matches!(char, '”' | '’' | '」' | '』' | '）' | '》' | '】' | '〉')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chinese_character_counts_as_two_columns() {
        assert_eq!(of("一次 a"), 6);
        assert!(is_wide('一') && is_wide('，') && !is_wide('a') && !is_wide('–'));
    }
}
