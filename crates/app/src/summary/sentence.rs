//! Splits text into sentences and words, for languages with and without spaces.

/// Returns the sentences of a text, without code fences, heading markers and bullets.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if !in_code {
            split(
                line.trim().trim_start_matches(['#', '>', '*', '-', ' ']),
                &mut out,
            );
        }
    }
    out
}

fn split(line: &str, out: &mut Vec<String>) {
    let mut current = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        current.push(if c.is_control() { ' ' } else { c });
        let ends = match c {
            '。' | '！' | '？' => true,
            // A point inside a number or a name does not end a sentence.
            '.' | '!' | '?' => chars.peek().is_none_or(|next| next.is_whitespace()),
            _ => false,
        };
        if ends {
            finish(&mut current, out);
        }
    }
    finish(&mut current, out);
}

fn finish(current: &mut String, out: &mut Vec<String>) {
    let sentence = current.split_whitespace().collect::<Vec<_>>().join(" ");
    if sentence.chars().any(char::is_alphanumeric) {
        out.push(sentence);
    }
    current.clear();
}

/// Whether a character belongs to a script without spaces.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a text is mostly in a script without spaces.
pub(super) fn is_chinese(text: &str) -> bool {
    let (cjk, letters) =
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .fold((0, 0), |(cjk, all), c| {
                if is_cjk(c) {
                    (cjk + 1, all + 1)
                } else {
                    (cjk, all + 1)
                }
            });
    cjk * 3 > letters
}

/// Returns the first `most` words of a text; two characters of a script without spaces count as a
/// word.
pub(super) fn first_words(text: &str, most: usize) -> String {
    let mut halves = 0;
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let cost = match c {
            _ if is_cjk(c) => 1,
            _ if c.is_alphanumeric() && !in_word => 2,
            _ => 0,
        };
        in_word = !c.is_whitespace() && !is_cjk(c) && (in_word || c.is_alphanumeric());
        halves += cost;
        if halves > most * 2 {
            return text.get(..at).unwrap_or(text).trim_end().to_owned();
        }
    }
    text.trim_end().to_owned()
}

/// Returns at most `most` characters, with an ellipsis if it was truncated.
pub(crate) fn at_most(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_points_but_not_inside_numbers_and_names() {
        assert_eq!(
            sentences("It costs 10.01 in a.rs. Why? Fix it"),
            ["It costs 10.01 in a.rs.", "Why?", "Fix it"]
        );
        assert_eq!(
            sentences("加全文搜索。要支持中文！"),
            ["加全文搜索。", "要支持中文！"]
        );
        assert_eq!(
            sentences("# Plan\n```\nlet a = 1.\n```\n- done"),
            ["Plan", "done"]
        );
        assert_eq!(sentences(" \n---\n...\n"), Vec::<String>::new());
    }

    #[test]
    fn two_chinese_characters_count_as_a_word() {
        assert_eq!(first_words("one two three", 2), "one two");
        assert_eq!(first_words("给博客加全文搜索", 2), "给博客加");
        assert_eq!(first_words("用 rust 写搜索", 2), "用 rust 写");
        assert_eq!(first_words("- \"one, two\" three", 2), "- \"one, two\"");
        assert_eq!(first_words("", 2), "");
    }

    #[test]
    fn a_text_with_some_english_names_is_still_chinese() {
        assert!(is_chinese("给 blog 加全文搜索"));
        assert!(!is_chinese("search for 中文 in every post of the blog"));
    }
}
