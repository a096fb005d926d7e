//! Snippets: the part of a text around the first match, with the matches marked.

use super::Clause;
use super::clause::Piece;
use crate::normalize::Traced;

/// Number of bytes before the first match, and in total.
const BEFORE: usize = 60;
const LONGEST: usize = 240;
/// Maximum number of marked matches.
const MOST_MARKS: usize = 20;

/// Returns a snippet around the first match, and the byte ranges of the matches in it.
pub(crate) fn snippet(text: &str, clauses: &[Clause]) -> (String, Vec<(usize, usize)>) {
    // Tracing every match in megabytes of text would cost too much for one line of output: only the
    // first match is searched in the whole text, the others near it.
    let first = if text.len() > 4 * LONGEST {
        first_place(text, clauses)
    } else {
        None
    };
    let rough = first.map_or(0, |(from, _)| {
        boundary(text, from.saturating_sub(BEFORE + 4))
    });
    let near = tail(text, rough);
    let mut places = places(near, clauses);
    if places.is_empty() {
        places.extend(first.map(|(from, to)| (from - rough, to - rough)));
    }
    let start = boundary(
        near,
        places
            .first()
            .map_or(0, |place| place.0)
            .saturating_sub(BEFORE),
    );
    let end = boundary(near, (start + LONGEST).min(near.len()));
    let (from_start, to_end) = (rough + start == 0, rough + end == text.len());
    let mark = "…";
    let shift = if from_start { 0 } else { mark.len() };
    let shown = near.get(start..end).unwrap_or("");
    let snippet = format!(
        "{}{shown}{}",
        if from_start { "" } else { mark },
        if to_end { "" } else { mark }
    );
    // A match that is longer than the snippet is marked up to its end.
    let inside = places
        .into_iter()
        .filter(|(from, _)| *from >= start && *from < end);
    (
        snippet,
        inside
            .map(|(from, to)| (from - start + shift, to.min(end) - start + shift))
            .collect(),
    )
}

/// Returns the first match of any positive clause, in the original text.
fn first_place(text: &str, clauses: &[Clause]) -> Option<(usize, usize)> {
    let traced = Traced::new(text);
    let piece = Piece {
        text,
        folded: &traced.text,
    };
    let first = |clause: &Clause| {
        let (from, to) = clause.find(piece, 0)?;
        Some(if clause.is_literal() {
            (from, to)
        } else {
            traced.origin(from, to)
        })
    };
    clauses
        .iter()
        .filter(|clause| !clause.negated)
        .filter_map(first)
        .min()
}

fn tail(text: &str, from: usize) -> &str {
    let end = boundary(text, (from + 4 * LONGEST).min(text.len()));
    text.get(from..end).unwrap_or("")
}

/// Returns the matches of all positive clauses, in order and without overlaps.
fn places(text: &str, clauses: &[Clause]) -> Vec<(usize, usize)> {
    let traced = Traced::new(text);
    let piece = Piece {
        text,
        folded: &traced.text,
    };
    let mut places = Vec::new();
    for clause in clauses.iter().filter(|clause| !clause.negated) {
        let mut from = 0;
        for _ in 0..MOST_MARKS {
            let Some((start, end)) = clause.find(piece, from) else {
                break;
            };
            places.push(if clause.is_literal() {
                (start, end)
            } else {
                traced.origin(start, end)
            });
            from = end.max(start + 1);
        }
    }
    places.sort_unstable();
    let mut apart: Vec<(usize, usize)> = Vec::new();
    for place in places {
        if apart.last().is_none_or(|last| place.0 >= last.1) && place.0 < place.1 {
            apart.push(place);
        }
    }
    apart.truncate(MOST_MARKS);
    apart
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_places_in_the_snippet() {
        let text = format!(
            "{} the DeadLock and ＬＯＣＫ {}",
            "会话 ".repeat(500),
            "x ".repeat(500)
        );
        let (snippet, marks) = snippet(&text, &[Clause::text("lock".into())]);
        let marked: Vec<&str> = marks
            .iter()
            .map(|(from, to)| &snippet[*from..*to])
            .collect();
        assert_eq!(marked, ["Lock", "ＬＯＣＫ"]);
        assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.len() < 300);
    }

    #[test]
    fn a_short_text_is_shown_as_it_is() {
        let (snippet, marks) = snippet(
            "a lock",
            &[Clause::text("lock".into()), Clause::text("nothing".into())],
        );
        assert_eq!((snippet.as_str(), marks), ("a lock", vec![(2, 6)]));
    }
}
