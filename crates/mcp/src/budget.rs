//! Tokens of a text, and texts cut to a number of them.

/// Characters that are one token each: Chinese, Japanese and Korean.
fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11FF}'
            | '\u{2E80}'..='\u{9FFF}'
            | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF00}'..='\u{FFEF}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}

/// Quarters of a token that a character costs: four for wide ones, one for each byte of others.
fn quarters(c: char) -> usize {
    if is_wide(c) { 4 } else { c.len_utf8() }
}

/// Estimates the tokens of a text: four bytes each, or one character of Chinese, Japanese or
/// Korean.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

/// Returns the beginning of a text that has at most so many tokens, with an ellipsis if it was cut.
pub(crate) fn cut_to_tokens(text: &str, most: usize) -> String {
    if tokens(text) <= most {
        return text.to_owned();
    }
    // The ellipsis costs three bytes.
    let room = (most * 4).saturating_sub(3);
    let mut used = 0;
    let mut out = String::new();
    for c in text.chars() {
        used += quarters(c);
        if used > room {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// Divides a number of characters among texts of these lengths: short ones leave their rest to the
/// long ones.
pub(crate) fn shares(lengths: &[usize], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|place| lengths.get(*place).copied());
    let mut shares = vec![0; lengths.len()];
    let (mut left, mut waiting) = (most, lengths.len());
    for place in order {
        let length = lengths.get(place).copied().unwrap_or_default();
        let share = length.min(left / waiting.max(1));
        if let Some(it) = shares.get_mut(place) {
            *it = share;
        }
        left -= share;
        waiting -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_or_one_wide_character_are_a_token() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("abcde"), 2);
        assert_eq!(tokens("会话恢复"), 4);
        assert_eq!(tokens("会a"), 2);
    }

    #[test]
    fn a_cut_text_keeps_to_its_tokens() {
        for text in ["a".repeat(400), "会".repeat(100), "a会é ".repeat(50)] {
            for most in 1..40 {
                let cut = cut_to_tokens(&text, most);
                assert!(tokens(&cut) <= most, "{most}: {cut}");
                assert!(cut.ends_with('…'));
            }
        }
        assert_eq!(cut_to_tokens("abc", 1), "abc");
    }

    #[test]
    fn short_texts_leave_their_rest_to_long_ones() {
        assert_eq!(shares(&[10, 100, 1000], 600), [10, 100, 490]);
        assert_eq!(shares(&[1000, 1000], 600), [300, 300]);
        assert_eq!(shares(&[], 600), Vec::<usize>::new());
    }
}
