//! The part of a text that shows why it was found.

use super::Clause;
use super::clause::Piece;
use crate::fold::Traced;

/// How many bytes are shown before the first place, and in all.
const BEFORE: usize = 60;
const LONGEST: usize = 240;
/// More places are not marked.
const MOST_MARKS: usize = 20;

/// A stretch of text around the first place where a clause is fulfilled, and the places inside it.
pub(crate) fn snippet(text: &str, clauses: &[Clause]) -> (String, Vec<(usize, usize)>) {
    // Folding a text of megabytes with all its places is too much for a line of output.
    let rough = rough_window(text, clauses);
    let text = text.get(rough..(rough + 4 * LONGEST).min(text.len())).unwrap_or_else(|| tail(text, rough));
    let places = places(text, clauses);
    let first = places.first().map_or(0, |place| place.0);
    let start = boundary(text, first.saturating_sub(BEFORE));
    let end = boundary(text, (start + LONGEST).min(text.len()));
    let (from_start, to_end) = (rough == 0 && start == 0, end == text.len());
    let mark = "…";
    let shift = if from_start { 0 } else { mark.len() };
    let shown = text.get(start..end).unwrap_or("");
    let snippet = format!("{}{shown}{}", if from_start { "" } else { mark }, if to_end { "" } else { mark });
    let inside = places.into_iter().filter(|(from, to)| *from >= start && *to <= end);
    (snippet, inside.map(|(from, to)| (from - start + shift, to - start + shift)).collect())
}

/// Near the first place of any clause, at the start of a character.
fn rough_window(text: &str, clauses: &[Clause]) -> usize {
    if text.len() <= 4 * LONGEST {
        return 0;
    }
    let traced = Traced::new(text);
    let piece = Piece { text, folded: &traced.text };
    let first = |clause: &Clause| {
        let (from, to) = clause.find(piece, 0)?;
        Some(if clause.is_literal() { from } else { traced.origin(from, to).0 })
    };
    let first = clauses.iter().filter(|clause| !clause.negated).filter_map(first).min().unwrap_or(0);
    boundary(text, first.saturating_sub(BEFORE + 4))
}

fn tail(text: &str, from: usize) -> &str {
    let end = boundary(text, (from + 4 * LONGEST).min(text.len()));
    text.get(from..end).unwrap_or("")
}

/// Where clauses are fulfilled, in order, none overlapping another.
fn places(text: &str, clauses: &[Clause]) -> Vec<(usize, usize)> {
    let traced = Traced::new(text);
    let piece = Piece { text, folded: &traced.text };
    let mut places = Vec::new();
    for clause in clauses.iter().filter(|clause| !clause.negated) {
        let mut from = 0;
        for _ in 0..MOST_MARKS {
            let Some((start, end)) = clause.find(piece, from) else { break };
            places.push(if clause.is_literal() { (start, end) } else { traced.origin(start, end) });
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
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_places_in_the_snippet() {
        let text = format!("{} the DeadLock and ＬＯＣＫ {}", "会话 ".repeat(500), "x ".repeat(500));
        let (snippet, marks) = snippet(&text, &[Clause::text("lock".into())]);
        let marked: Vec<&str> = marks.iter().map(|(from, to)| &snippet[*from..*to]).collect();
        assert_eq!(marked, ["Lock", "ＬＯＣＫ"]);
        assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.len() < 300);
    }

    #[test]
    fn a_short_text_is_shown_as_it_is() {
        let (snippet, marks) = snippet("a lock", &[Clause::text("lock".into()), Clause::text("nothing".into())]);
        assert_eq!((snippet.as_str(), marks), ("a lock", vec![(2, 6)]));
    }
}
