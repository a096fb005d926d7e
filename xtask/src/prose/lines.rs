//! Breaks words into lines: one sentence per line for Markdown, filled lines for comments.

use super::sentences::{self, Seam};
use super::width;
use super::words::{Gap, Word};

/// Minimum length of a line of a broken sentence.
const SHORT: usize = 30;

/// Minimum length of the last line of a filled paragraph.
const STUB: usize = 20;

/// Returns one line per sentence, or several if it is wider than `limit`.
pub(super) fn by_sentence(words: &[Word], limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    for end in 1..=words.len() {
        let last = end == words.len();
        if last
            || (sentences::ends(&words[end - 1], &words[end])
                && may_break(&words[end - 1], &words[end]))
        {
            lines.extend(at_clauses(&words[start..end], limit));
            start = end;
        }
    }
    lines
}

/// Fills each line, or leaves a few words less if the last line would be only a word or two.
pub(super) fn filled(words: &[Word], limit: usize) -> Vec<String> {
    let lines = filled_to(words, limit);
    let longer = |narrower: usize| {
        let other = filled_to(words, narrower);
        let last = other.last().map_or(0, |line| width::of(line));
        (other.len() == lines.len() && last >= STUB).then_some(other)
    };
    let stub = lines.len() > 1 && lines.last().is_some_and(|line| width::of(line) < STUB);
    let better = if stub {
        (limit.saturating_sub(2 * STUB)..limit)
            .rev()
            .find_map(longer)
    } else {
        None
    };
    better.unwrap_or(lines)
}

fn filled_to(words: &[Word], limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let fits = |end: &usize| width_of(&words[start..*end]) <= limit;
        let breakable =
            |end: &usize| *end == words.len() || may_break(&words[end - 1], &words[*end]);
        let candidates = || (start + 1..=words.len()).filter(breakable);
        let end = candidates()
            .take_while(fits)
            .last()
            .or_else(|| candidates().next())
            .unwrap_or(words.len());
        lines.push(joined(&words[start..end]));
        start = end;
    }
    lines
}

/// Finds the cheapest way to break a sentence; a break inside a clause costs more than another
/// line.
fn at_clauses(words: &[Word], limit: usize) -> Vec<String> {
    if width_of(words) <= limit {
        return vec![joined(words)];
    }
    let mut depth = 0;
    let depths: Vec<i32> = words
        .iter()
        .map(|word| {
            depth = 0.max(depth + sentences::nesting(word));
            depth
        })
        .collect();
    // For each end of a line: the cost of the best way to get there, and the start of its last
    // line.
    let mut best: Vec<Option<(u64, usize)>> = vec![None; words.len() + 1];
    best[0] = Some((0, 0));
    for end in 1..=words.len() {
        let Some(seam) = cost_of_break(words, end, &depths) else {
            continue;
        };
        for start in (0..end).rev() {
            let Some((before, _)) = best[start] else {
                continue;
            };
            let width = width_of(&words[start..end]);
            let cost = before + seam.cost(limit.saturating_sub(width)) + cost_of_line(width, limit);
            if best[end].is_none_or(|(known, _)| cost < known) {
                best[end] = Some((cost, start));
            }
        }
    }
    let mut lines = Vec::new();
    let mut end = words.len();
    while end > 0 {
        let start = best[end].map_or(0, |(_, start)| start);
        lines.push(joined(&words[start..end]));
        end = start;
    }
    lines.reverse();
    lines
}

/// The cost of a line break: a fixed part, and one per column that the line leaves free.
struct Break {
    fixed: u64,
    per_free_column: u64,
}

impl Break {
    fn cost(&self, free: usize) -> u64 {
        self.fixed + self.per_free_column * free as u64
    }
}

/// Returns the cost of a break; `None` if no line may end there.
fn cost_of_break(words: &[Word], end: usize, depths: &[i32]) -> Option<Break> {
    let Some(next) = words.get(end) else {
        return Some(Break {
            fixed: 0,
            per_free_column: 0,
        });
    };
    let word = &words[end - 1];
    if !may_break(word, next) {
        return None;
    }
    let (fixed, per_free_column) = match sentences::seam(word, next) {
        Seam::Clause => (0, 0),
        Seam::CommaAndStarter => (5, 0),
        Seam::Comma => (20, 0),
        Seam::Bracket => (60, 0),
        Seam::Enumeration => (60, 0),
        Seam::Starter => (110, 0),
        // If there is no clause, the line is filled.
        Seam::Plain => (250, 2),
        Seam::Glued => (330, 2),
    };
    Some(Break {
        fixed: fixed + 100 * u64::from(depths[end - 1].unsigned_abs()),
        per_free_column,
    })
}

/// Squares make lines of equal length cheapest.
fn cost_of_line(width: usize, limit: usize) -> u64 {
    let free = limit.saturating_sub(width) as u64;
    let excess = width.saturating_sub(limit) as u64;
    let short = 10 * SHORT.saturating_sub(width) as u64;
    let too_wide = if excess > 0 {
        10_000 + 1_000 * excess
    } else {
        0
    };
    100 + free * free / 100 + short + too_wide
}

/// Whether a line may end between two words without a change of meaning in Markdown.
fn may_break(word: &Word, next: &Word) -> bool {
    // Chinese characters on both sides of a line break are joined when the page is parsed again.
    let last = word.text.chars().next_back().is_some_and(width::is_wide);
    let joined = next.gap == Gap::Space && last && next.text.starts_with(width::is_wide);
    // A backslash at the end of a line is a hard break.
    !joined && !word.text.ends_with('\\') && !begins_a_block(&next.text)
}

/// Whether Markdown parses a line that starts with this word as a list, heading, quotation, table,
/// rule or HTML.
pub(super) fn begins_a_block(word: &str) -> bool {
    let all = |set: &[char]| word.chars().all(|char| set.contains(&char));
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    all(&['-', '=', '*', '_', '+', '|', ':'])
        || all(&['#'])
        || word.starts_with(['>', '|', '<', '='])
        || word.starts_with("```")
        || word.starts_with("~~~")
        || (word.starts_with('[') && word.contains("]:"))
        || (!number.is_empty() && number.chars().all(|char| char.is_ascii_digit()))
}

fn width_of(words: &[Word]) -> usize {
    let gaps = words
        .iter()
        .skip(1)
        .filter(|word| word.gap == Gap::Space)
        .count();
    words.iter().map(|word| word.width).sum::<usize>() + gaps
}

fn joined(words: &[Word]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && word.gap == Gap::Space {
            line.push(' ');
        }
        line.push_str(&word.text);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::words::cut;
    use super::*;

    fn broken(text: &str, limit: usize) -> Vec<String> {
        by_sentence(&cut(text, &[], &[]), limit)
    }

    #[test]
    fn a_sentence_that_fits_is_one_line() {
        assert_eq!(
            broken("One two. Three\nfour.", 40),
            ["One two.", "Three four."]
        );
    }

    #[test]
    fn a_long_sentence_is_broken_at_a_clause() {
        let text = "The log is read in one go, and the tail of it is kept until somebody asks for its bytes again";
        let expected = [
            "The log is read in one go,",
            "and the tail of it is kept",
            "until somebody asks for its bytes again",
        ];
        assert_eq!(broken(text, 45), expected);
    }

    #[test]
    fn without_a_clause_the_line_is_filled() {
        let text = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp qqqq rrrr ssss";
        let lines = broken(text, 50);
        assert_eq!(lines.len(), 2);
        assert_eq!(width::of(&lines[0]), 49);
    }

    #[test]
    fn a_line_never_starts_with_what_markdown_takes_for_a_block() {
        for word in [
            "-", "+", "*", "1.", "12)", "#", "###", ">", ">a", "|", "|a", "=", "==", "---", "```",
            "<div>", "[^1]:",
        ] {
            assert!(begins_a_block(word), "{word}");
            let text = format!("aaaa. {word} bbbb cccc dddd eeee ffff gggg");
            for line in broken(&text, 10) {
                assert!(!line.starts_with(word), "{line}");
            }
        }
        for word in [
            "--json", "**bold**", "*it*", "#16", "1.5", "-1", "[a](b)", "`x`", "_x_",
        ] {
            assert!(!begins_a_block(word), "{word}");
        }
    }

    #[test]
    fn a_line_never_ends_in_a_backslash() {
        assert_eq!(
            broken("aaaa bb\\ cccc dddd", 8),
            ["aaaa", "bb\\ cccc", "dddd"]
        );
    }

    #[test]
    fn a_word_wider_than_the_line_has_a_line_of_its_own() {
        assert_eq!(
            broken("aaa bbbbbbbbbbbbbbbb ccc", 10),
            ["aaa", "bbbbbbbbbbbbbbbb", "ccc"]
        );
        let words = cut("aaa bbbbbbbbbbbbbbbb ccc", &[], &[]);
        assert_eq!(filled(&words, 10), ["aaa", "bbbbbbbbbbbbbbbb", "ccc"]);
    }

    #[test]
    fn a_chinese_sentence_is_broken_behind_its_punctuation_only() {
        assert_eq!(
            broken("一个字节也不丢，文件留在原处。格式", 18),
            ["一个字节也不丢，", "文件留在原处。", "格式"]
        );
        for text in ["一个字节也不丢文件留在原处", "一个字节也不丢 文件留在原处"]
        {
            assert_eq!(broken(text, 18), [text]);
        }
    }

    #[test]
    fn a_filled_paragraph_does_not_end_in_a_line_of_one_word() {
        let words = cut(
            "Each line of the branch with such a block gets a note that says what was left out.",
            &[],
            &[],
        );
        let expected = [
            "Each line of the branch with such a block gets a note that",
            "says what was left out.",
        ];
        assert_eq!(filled(&words, 78), expected);
    }

    #[test]
    fn filled_lines_are_as_long_as_they_can_be() {
        let words = cut("aaaa bbbb cccc - dddd", &[], &[]);
        assert_eq!(filled(&words, 14), ["aaaa bbbb", "cccc - dddd"]);
    }
}
