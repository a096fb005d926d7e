//! Suggestions: terms of the index that are similar to a word without hits (edit distance).

use crate::index::Snapshot;
use crate::tokenizer;

/// Maximum number of suggestions for a word.
const OFFERED: usize = 3;

/// A word that does not occur, and similar words that do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestions {
    /// The word of the query, folded.
    pub word: String,
    /// Words that do occur, most similar first.
    pub near: Vec<String>,
}

/// Returns the most similar terms for a word that is a single run; `None` if the word occurs, or
/// nothing is similar.
pub(crate) fn nearest(snapshot: &Snapshot, word: &str) -> Option<Suggestions> {
    let run = tokenizer::next_run(word, 0).filter(|run| run.class == tokenizer::Class::Word)?;
    if run.start != 0 || run.end != word.len() || word.len() > tokenizer::WINDOW {
        return None;
    }
    let wanted: Vec<char> = word.chars().collect();
    // With two edits almost any word of four letters would match.
    let most = if wanted.len() <= 4 { 1 } else { 2 };
    let mut found: Vec<(usize, String)> = Vec::new();
    for segment in snapshot.segments.iter().flatten() {
        let mut occurs = false;
        let dictionary = segment.dictionary().ok()?;
        dictionary.all(&mut |bytes, _| {
            // Cheap test on byte lengths first: a character has at most four bytes.
            if bytes.len().abs_diff(word.len()) > most * 4 {
                return;
            }
            let Ok(term) = std::str::from_utf8(bytes) else {
                return;
            };
            if let Some(distance) = distance(&wanted, term, most) {
                occurs |= distance == 0;
                found.push((distance, term.to_owned()));
            }
        });
        if occurs {
            return None;
        }
    }
    found.sort();
    found.dedup();
    found.truncate(OFFERED);
    let near: Vec<String> = found.into_iter().map(|(_, term)| term).collect();
    (!near.is_empty()).then(|| Suggestions {
        word: word.to_owned(),
        near,
    })
}

/// Returns the number of edits between two words (optimal string alignment: a swap of two
/// neighbours is one edit), or `None` if it is more than `most`.
pub fn edit_distance(wanted: &str, term: &str, most: usize) -> Option<usize> {
    distance(&wanted.chars().collect::<Vec<_>>(), term, most)
}

fn distance(wanted: &[char], term: &str, most: usize) -> Option<usize> {
    let count = term.chars().count();
    if count.abs_diff(wanted.len()) > most {
        return None;
    }
    let (mut before_last, mut last): (Vec<usize>, Vec<usize>) =
        (Vec::new(), (0..=wanted.len()).collect());
    let mut previous = None;
    for (row, c) in term.chars().enumerate() {
        let mut next = vec![row + 1];
        for (column, w) in wanted.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&last, column) + usize::from(*w != c))
                .min(at(&last, column + 1) + 1)
                .min(at(&next, column) + 1);
            if column > 0 && row > 0 && wanted.get(column - 1) == Some(&c) && previous == Some(*w) {
                cost = cost.min(at(&before_last, column - 1) + 1);
            }
            next.push(cost);
        }
        // Values never decrease from row to row, so the result would be above `most` too.
        if next.iter().min().is_none_or(|least| *least > most) {
            return None;
        }
        before_last = std::mem::replace(&mut last, next);
        previous = Some(c);
    }
    last.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let count = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), b, 2);
        assert_eq!(count("deadlock", "deadlock"), Some(0));
        assert_eq!(count("daedlock", "deadlock"), Some(1));
        assert_eq!(count("dedlok", "deadlock"), Some(2));
        assert_eq!(count("dog", "deadlock"), None);
        assert_eq!(count("héllo", "hello"), Some(1));
        assert_eq!(count("abc", "xyz"), None);
    }
}
