//! One clause of a query, and how a text is checked against it.
//!
//! Texts, phrases and prefixes are matched on folded text with a substring finder; regular
//! expressions are matched on the original text.

use std::fmt;

use boswell_model::{Advice, Error, ErrorKind, Result};
use memchr::memmem::Finder;

use super::literals;
use super::required_terms::{Edge, RequiredTerms};
use crate::tokenizer::{Class, class_of};

/// A condition that an entry must fulfil, or must not fulfil if `negated`.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    matcher: Matcher,
    pub(crate) negated: bool,
    /// Terms that a block must contain to match.
    pub(crate) need: RequiredTerms,
    /// Whether the posting lists alone prove that a block matches.
    pub(crate) decided: bool,
}

#[derive(Debug, Clone)]
enum Matcher {
    /// A substring of the folded text.
    Text(String, Finder<'static>),
    /// Substrings with any white space between them.
    Phrase(Vec<String>, Finder<'static>),
    /// A substring at the beginning of a word.
    Prefix(String, Finder<'static>),
    /// A regular expression over the original text.
    Regex(regex::Regex),
}

/// How often and how well a text matches a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Number of matches; several matches within one word count once.
    pub(crate) count: u32,
    /// Whether one of the matches is a whole word.
    pub(crate) whole: bool,
}

/// A piece of text in its original and its folded form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'t> {
    pub(crate) text: &'t str,
    pub(crate) folded: &'t str,
}

fn finder(text: &str) -> Finder<'static> {
    Finder::new(text.as_bytes()).into_owned()
}

impl Clause {
    pub(crate) fn text(folded: String) -> Clause {
        let need = RequiredTerms::of(&folded, Edge::Open, Edge::Open);
        let decided = need.decides(&folded);
        Clause {
            need,
            decided,
            negated: false,
            matcher: Matcher::Text(folded.clone(), finder(&folded)),
        }
    }

    pub(crate) fn phrase(parts: Vec<String>) -> Clause {
        let need = RequiredTerms::of(&parts.join(" "), Edge::Open, Edge::Open);
        let first = finder(parts.first().map_or("", String::as_str));
        Clause {
            need,
            decided: false,
            negated: false,
            matcher: Matcher::Phrase(parts, first),
        }
    }

    pub(crate) fn prefix(folded: String) -> Clause {
        let need = RequiredTerms::of(&folded, Edge::Bounded, Edge::Open);
        // Terms of ideographs are pairs that overlap, so the start of a term is not the start of a
        // word.
        let need = if folded.chars().next().and_then(class_of) == Some(Class::Word) {
            need
        } else {
            RequiredTerms::of(&folded, Edge::Open, Edge::Open)
        };
        Clause {
            need,
            decided: false,
            negated: false,
            matcher: Matcher::Prefix(folded.clone(), finder(&folded)),
        }
    }

    pub(crate) fn regex(pattern: &str) -> Result<Clause> {
        let bad = |reason: String| {
            Error::new(ErrorKind::Invalid, "the regular expression cannot be read")
                .because(reason)
                .advising(Advice::SearchSubstring)
        };
        let compiled = regex::RegexBuilder::new(pattern)
            .size_limit(1 << 24)
            .build()
            .map_err(|e| bad(e.to_string()))?;
        let need = literals::need(pattern);
        Ok(Clause {
            need,
            decided: false,
            negated: false,
            matcher: Matcher::Regex(compiled),
        })
    }

    /// Returns the negation of this clause.
    pub(crate) fn negated(self) -> Clause {
        Clause {
            negated: !self.negated,
            ..self
        }
    }

    /// Returns the folded substring of a text clause.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.matcher {
            Matcher::Text(text, _) => Some(text),
            _ => None,
        }
    }

    /// Returns whether matches are positions in the original text instead of the folded one.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self.matcher, Matcher::Regex(_))
    }

    /// Returns start and end of the first match at or after `from`.
    pub(crate) fn find(&self, piece: Piece<'_>, from: usize) -> Option<(usize, usize)> {
        match &self.matcher {
            Matcher::Text(text, finder) => {
                let at = from + finder.find(piece.folded.as_bytes().get(from..)?)?;
                Some((at, at + text.len()))
            }
            Matcher::Phrase(parts, finder) => find_phrase(parts, finder, piece.folded, from),
            Matcher::Prefix(text, finder) => find_prefix(text, finder, piece.folded, from),
            Matcher::Regex(regex) => {
                let start =
                    (from..=piece.text.len()).find(|at| piece.text.is_char_boundary(*at))?;
                regex
                    .find_at(piece.text, start)
                    .map(|found| (found.start(), found.end()))
            }
        }
    }

    /// Counts the matches, and stops when more of them would not change the rank.
    pub(crate) fn tally(&self, piece: Piece<'_>, most: u32) -> Tally {
        let mut tally = Tally::default();
        let mut from = 0;
        while let Some((start, end)) = self.find(piece, from) {
            tally.count += 1;
            // A regular expression can be slow on long text, and its positions are not comparable
            // with words of the folded text: one match is enough.
            if self.is_literal() {
                return tally;
            }
            tally.whole |= is_whole(piece.folded, start, end);
            if tally.count >= most && tally.whole {
                break;
            }
            from = word_end(piece.folded, end).max(start + 1);
        }
        tally
    }
}

/// Returns the end of the word that continues at `at`.
fn word_end(text: &str, at: usize) -> usize {
    let goes_on = |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80;
    at + text
        .as_bytes()
        .get(at..)
        .unwrap_or(b"")
        .iter()
        .take_while(|b| goes_on(b))
        .count()
}

/// Returns whether the characters before and after the match do not belong to the same word.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    !joined(text.get(..start), text.get(start..end)) && !joined(text.get(..end), text.get(end..))
}

/// Returns whether a word continues from the end of `before` to the start of `after`.
fn joined(before: Option<&str>, after: Option<&str>) -> bool {
    let last = before
        .and_then(|text| text.chars().next_back())
        .and_then(class_of);
    let first = after
        .and_then(|text| text.chars().next())
        .and_then(class_of);
    last == Some(Class::Word) && first == Some(Class::Word)
}

fn find_prefix(
    text: &str,
    finder: &Finder<'_>,
    folded: &str,
    mut from: usize,
) -> Option<(usize, usize)> {
    loop {
        let at = from + finder.find(folded.as_bytes().get(from..)?)?;
        if !joined(folded.get(..at), folded.get(at..)) {
            return Some((at, at + text.len()));
        }
        from = at + 1;
    }
}

fn find_phrase(
    parts: &[String],
    finder: &Finder<'_>,
    folded: &str,
    mut from: usize,
) -> Option<(usize, usize)> {
    loop {
        let at = from + finder.find(folded.as_bytes().get(from..)?)?;
        if let Some(end) = phrase_end(parts, folded, at) {
            return Some((at, end));
        }
        from = at + 1;
    }
}

/// Returns the end of the phrase if it begins at `at`.
fn phrase_end(parts: &[String], folded: &str, at: usize) -> Option<usize> {
    let mut rest = folded.get(at..)?;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(part.as_str())?;
    }
    Some(folded.len() - rest.len())
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("!")?;
        }
        match &self.matcher {
            Matcher::Text(text, _) => f.write_str(text),
            Matcher::Phrase(parts, _) => write!(f, "\"{}\"", parts.join(" ")),
            Matcher::Prefix(text, _) => write!(f, "{text}*"),
            Matcher::Regex(regex) => write!(f, "/{}/", regex.as_str()),
        }
    }
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::fold;

    fn tally(clause: &Clause, text: &str) -> Tally {
        clause.tally(
            Piece {
                text,
                folded: &fold(text),
            },
            9,
        )
    }

    #[test]
    fn words_are_found_inside_words_and_whole_ones_are_noticed() {
        let clause = Clause::text("lock".into());
        assert_eq!(
            tally(&clause, "a Deadlock, a lock"),
            Tally {
                count: 2,
                whole: true
            }
        );
        assert_eq!(
            tally(&clause, "deadlocks"),
            Tally {
                count: 1,
                whole: false
            }
        );
        assert_eq!(tally(&clause, "lo ck").count, 0);
        assert_eq!(
            tally(&Clause::text("会话".into()), "恢复会话吧"),
            Tally {
                count: 1,
                whole: true
            }
        );
    }

    #[test]
    fn phrases_see_through_white_space_and_prefixes_begin_words() {
        let phrase = Clause::phrase(vec!["flaky".into(), "web".into()]);
        assert_eq!(tally(&phrase, "a Flaky \n\t websocket").count, 1);
        assert_eq!(tally(&phrase, "flakyweb flaky-web").count, 0);
        let prefix = Clause::prefix("lock".into());
        assert_eq!(tally(&prefix, "deadlock Locks _lock").count, 2);
        assert_eq!(tally(&Clause::prefix("话".into()), "会话").count, 1);
    }

    #[test]
    fn bad_expressions_are_refused_with_their_reason() {
        let error = Clause::regex("a(b").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(
            error
                .reason()
                .is_some_and(|reason| reason.contains("unclosed group"))
        );
        assert!(Clause::regex("(a{1000}){1000}").is_err());
    }
}
