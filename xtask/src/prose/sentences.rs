//! Finds the ends of sentences, and rates positions for a line break.

use super::width;
use super::words::{Gap, Word};

/// Words with a period that does not end a sentence.
const ABBREVIATIONS: [&str; 12] = [
    "e.g.", "i.e.", "cf.", "vs.", "resp.", "approx.", "dr.", "mr.", "mrs.", "al.", "incl.", "esp.",
];

/// Words with a period that does not end a sentence if a number follows.
const BEFORE_NUMBERS: [&str; 6] = ["no.", "nos.", "p.", "pp.", "fig.", "sec."];

/// Words that begin a clause.
const CLAUSE_STARTERS: [&str; 23] = [
    "and", "or", "but", "so", "nor", "yet", "which", "that", "who", "whose", "where", "when",
    "while", "because", "since", "if", "unless", "until", "before", "after", "although", "though",
    "instead",
];

/// Words that belong to the next one.
const GLUED: [&str; 27] = [
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "is",
    "are", "its", "no", "not", "that", "this", "which", "each", "every", "one", "two", "as",
];

/// What a line break after a word separates, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seam {
    /// `;`, `:` or a dash.
    Clause,
    /// A comma before a word such as `and` or `which`.
    CommaAndStarter,
    Comma,
    /// Before or after a bracket.
    Bracket,
    /// Between the items of a Chinese enumeration.
    Enumeration,
    /// Before a word that begins a clause.
    Starter,
    Plain,
    /// After an article, before a unit or a dash.
    Glued,
}

/// Whether a sentence ends with `word`, given the next one.
pub(super) fn ends(word: &Word, next: &Word) -> bool {
    let opened = word.shape.trim_start_matches(is_opener);
    let core = opened.trim_end_matches(is_closer);
    let closed = core.len() < opened.len();
    let Some(last) = core.chars().next_back() else {
        return false;
    };
    if width::ends_wide_sentence(last) {
        return true;
    }
    if next.gap == Gap::Tight || core.chars().count() == 1 {
        return false;
    }
    match last {
        '.' => period_ends(core, closed, next),
        '!' | '?' => !starts(next, char::is_lowercase),
        '…' => starts(next, char::is_uppercase),
        _ => false,
    }
}

fn period_ends(core: &str, closed: bool, next: &Word) -> bool {
    let lower = core.to_lowercase();
    let before = &core[..core.len() - 1];
    if ABBREVIATIONS.contains(&lower.as_str()) || is_initials(core) {
        return false;
    }
    if BEFORE_NUMBERS.contains(&lower.as_str()) {
        return !starts(next, |char| char.is_ascii_digit());
    }
    if before.ends_with('.') || lower == "etc." {
        return starts(next, char::is_uppercase);
    }
    if before.chars().all(|char| char.is_ascii_digit()) {
        return !next.shape.chars().all(char::is_lowercase);
    }
    // Names such as `pi` begin a sentence in lower case, but not after a quotation or a bracket.
    !(closed && starts(next, char::is_lowercase))
}

/// Whether a word consists of initials: `J.`, `U.S.`, `a.m.`. One lower-case letter is a name such
/// as `x`.
fn is_initials(core: &str) -> bool {
    let single = |part: &str| part.chars().count() == 1 && part.chars().all(char::is_alphabetic);
    core.split_terminator('.').all(single)
        && (core.len() > 2 || core.starts_with(char::is_uppercase))
}

fn starts(word: &Word, is: impl Fn(char) -> bool) -> bool {
    word.shape
        .trim_start_matches(is_opener)
        .chars()
        .next()
        .is_some_and(is)
}

fn is_opener(char: char) -> bool {
    matches!(
        char,
        '(' | '[' | '{' | '"' | '\'' | '“' | '‘' | '«' | '*' | '_' | '~'
    )
}

fn is_closer(char: char) -> bool {
    matches!(char, ')' | ']' | '}' | '"' | '\'' | '»' | '*' | '_' | '~')
        || width::is_wide_closer(char)
}

/// Returns what a line break between two words separates.
pub(super) fn seam(word: &Word, next: &Word) -> Seam {
    let core = word.shape.trim_end_matches(is_closer);
    let plain = |word: &Word| {
        word.shape
            .trim_matches(|char: char| !char.is_alphanumeric())
            .to_lowercase()
    };
    let (this, following) = (plain(word), plain(next));
    let starter = next.shape.starts_with(char::is_alphabetic)
        && CLAUSE_STARTERS.contains(&following.as_str());
    if is_dash(&next.shape) {
        return Seam::Glued;
    }
    match core.chars().next_back() {
        Some(';' | ':' | '；' | '：' | '–' | '—') => return Seam::Clause,
        Some(',' | '，') => {
            return if starter {
                Seam::CommaAndStarter
            } else {
                Seam::Comma
            };
        }
        Some('、') => return Seam::Enumeration,
        // An abbreviation: it does not end a sentence.
        Some('.') => return Seam::Glued,
        _ => {}
    }
    if next.shape.starts_with(['(', '（']) || word.shape.ends_with([')', '）']) {
        Seam::Bracket
    } else if GLUED.contains(&this.as_str())
        || this.chars().all(|char| char.is_ascii_digit()) && !this.is_empty()
    {
        Seam::Glued
    } else if starter && !CLAUSE_STARTERS.contains(&this.as_str()) {
        Seam::Starter
    } else {
        Seam::Plain
    }
}

fn is_dash(shape: &str) -> bool {
    matches!(shape, "–" | "—" | "-")
}

/// Returns how many brackets a word opens minus how many it closes.
pub(super) fn nesting(word: &Word) -> i32 {
    let one = |char| match char {
        '(' | '[' | '（' => 1,
        ')' | ']' | '）' => -1,
        _ => 0,
    };
    word.shape.chars().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::super::words::cut;
    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let kept: Vec<_> = text.match_indices('`').map(|(at, _)| at).collect();
        let kept: Vec<_> = kept
            .chunks_exact(2)
            .map(|pair| pair[0]..pair[1] + 1)
            .collect();
        let words = cut(text, &kept, &[]);
        let mut found = vec![String::new()];
        for (at, word) in words.iter().enumerate() {
            let line = found.last_mut().unwrap();
            if !line.is_empty() && word.gap == Gap::Space {
                line.push(' ');
            }
            line.push_str(&word.text);
            if words.get(at + 1).is_some_and(|next| ends(word, next)) {
                found.push(String::new());
            }
        }
        found
    }

    #[test]
    fn a_period_question_mark_or_exclamation_mark_ends_a_sentence() {
        assert_eq!(
            sentences("One. Two? Three! Four"),
            ["One.", "Two?", "Three!", "Four"]
        );
        assert_eq!(
            sentences("**One.** Two (see x.) Three"),
            ["**One.**", "Two (see x.)", "Three"]
        );
        assert_eq!(
            sentences("It works. pi does not. `x` too."),
            ["It works.", "pi does not.", "`x` too."]
        );
        assert_eq!(
            sentences("Is it 1.89? It is 42. Then"),
            ["Is it 1.89?", "It is 42.", "Then"]
        );
        assert_eq!(
            sentences("It is 42. docs/a.md says 7. `x` too"),
            ["It is 42.", "docs/a.md says 7.", "`x` too"]
        );
    }

    #[test]
    fn abbreviations_versions_file_names_and_initials_do_not_end_a_sentence() {
        for text in [
            "one, e.g. Two",
            "(i.e. Two) three",
            "a, b etc. and c",
            "Pi vs. Claude",
            "version 1.2.3 Beta",
            "see a.md Now",
            "by J. R. Smith",
            "the U.S. Army",
            "wait... and see",
            "wait … and see",
            "`One. Two.` three",
            "\"Really?\" he asked",
            "the folder . Then",
            "step 1. of two",
            "see Nos. 3 and 4",
        ] {
            assert_eq!(sentences(text), [text]);
        }
        assert_eq!(
            sentences("The answer is no. Then"),
            ["The answer is no.", "Then"]
        );
        assert_eq!(
            sentences("a, b etc. Then c… Done"),
            ["a, b etc.", "Then c…", "Done"]
        );
    }

    #[test]
    fn a_chinese_sentence_ends_without_a_space() {
        assert_eq!(
            sentences("他说：“好。”然后走了。完！"),
            ["他说：“好。”", "然后走了。", "完！"]
        );
    }

    fn seam_in(text: &str) -> Seam {
        let words = cut(text, &[], &[]);
        seam(&words[0], &words[1])
    }

    #[test]
    fn a_break_is_best_at_a_clause() {
        assert_eq!(seam_in("one; two"), Seam::Clause);
        assert_eq!(seam_in("one, which"), Seam::CommaAndStarter);
        assert_eq!(seam_in("one, two"), Seam::Comma);
        assert_eq!(seam_in("一，二"), Seam::Comma);
        assert_eq!(seam_in("one (two"), Seam::Bracket);
        assert_eq!(seam_in("waits because"), Seam::Starter);
        assert_eq!(seam_in("open files"), Seam::Plain);
        assert_eq!(seam_in("the one"), Seam::Glued);
        assert_eq!(seam_in("of which"), Seam::Glued);
        assert_eq!(seam_in("12 µs"), Seam::Glued);
        assert_eq!(seam_in("one –"), Seam::Glued);
        assert_eq!(seam_in("no. 8"), Seam::Glued);
    }
}
