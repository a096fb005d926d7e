//! Required terms: which terms a block must contain so that its text can contain a stretch.
//!
//! A stretch is divided into the same runs as indexed text. A run with separators on both sides
//! must be a whole term. A run at the start or end of the stretch may continue in the text, so a
//! term need only end with, begin with or contain it. A stretch that is a single run is decided by
//! the index alone.

use crate::index::Fit;
use crate::tokenizer::{self, Class, LONGEST, Run, WINDOW};

/// A condition on the terms of a block. It may accept too many blocks, never too few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequiredTerms {
    /// Every block is accepted.
    Anything,
    /// Some term that the stretch fits.
    Term(Vec<u8>, Fit),
    /// All conditions.
    All(Vec<RequiredTerms>),
    /// At least one of the conditions.
    Any(Vec<RequiredTerms>),
}

/// Whether a run may continue in the text beyond an end of the stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// A letter may follow.
    Open,
    /// The run ends here.
    Bounded,
}

impl RequiredTerms {
    /// Returns the terms that a text must contain to contain `folded`.
    pub(crate) fn of(folded: &str, left: Edge, right: Edge) -> RequiredTerms {
        let mut needs = Vec::new();
        let mut at = 0;
        while let Some(run) = tokenizer::next_run(folded, at) {
            at = run.end;
            let left = if run.start == 0 { left } else { Edge::Bounded };
            let right = if run.end == folded.len() {
                right
            } else {
                Edge::Bounded
            };
            of_run(folded, run, left, right, &mut needs);
        }
        RequiredTerms::all(needs)
    }

    /// Returns whether very many terms fit: some part of a word of a letter or two.
    pub(crate) fn is_short(&self) -> bool {
        matches!(self, RequiredTerms::Term(stretch, fit) if stretch.len() <= 2 && *fit != Fit::Whole)
    }

    /// Returns the conjunction of `needs`, simplified.
    pub(crate) fn all(mut needs: Vec<RequiredTerms>) -> RequiredTerms {
        needs.retain(|need| *need != RequiredTerms::Anything);
        needs.dedup();
        match needs.len() {
            0 => RequiredTerms::Anything,
            1 => needs.swap_remove(0),
            _ => RequiredTerms::All(needs),
        }
    }

    /// Returns the disjunction of `needs`, simplified.
    pub(crate) fn any(mut needs: Vec<RequiredTerms>) -> RequiredTerms {
        if needs.contains(&RequiredTerms::Anything) || needs.is_empty() {
            return RequiredTerms::Anything;
        }
        if needs.len() == 1 {
            needs.swap_remove(0)
        } else {
            RequiredTerms::Any(needs)
        }
    }

    /// Returns whether every block that fulfils this condition contains the stretch.
    pub(crate) fn decides(&self, folded: &str) -> bool {
        let one_run = tokenizer::next_run(folded, 0)
            .is_some_and(|run| run.start == 0 && run.end == folded.len());
        one_run && matches!(self, RequiredTerms::Term(stretch, _) if stretch.len() == folded.len())
    }
}

fn of_run(text: &str, run: Run, left: Edge, right: Edge, needs: &mut Vec<RequiredTerms>) {
    let stretch = text.as_bytes().get(run.start..run.end).unwrap_or(b"");
    let fit = match (left, right) {
        (Edge::Bounded, Edge::Bounded) => Fit::Whole,
        (Edge::Bounded, Edge::Open) => Fit::Start,
        (Edge::Open, Edge::Bounded) => Fit::End,
        (Edge::Open, Edge::Open) => Fit::Inside,
    };
    match run.class {
        Class::Symbol => needs.push(RequiredTerms::Term(stretch.to_vec(), Fit::Whole)),
        Class::Ideographs => {
            let inside = text.get(run.start..run.end).unwrap_or("");
            let alone = inside.chars().nth(1).is_none();
            let fit = if alone { fit } else { Fit::Whole };
            // The tokenizer divides indexed text in the same way: into pairs, or one single
            // character.
            tokenizer::terms(inside, &mut |from, to| {
                needs.push(RequiredTerms::Term(
                    inside.as_bytes().get(from..to).unwrap_or(b"").to_vec(),
                    fit,
                ));
            });
        }
        Class::Word
            if stretch.len() <= WINDOW || (left == Edge::Bounded && stretch.len() <= LONGEST) =>
        {
            needs.push(RequiredTerms::Term(stretch.to_vec(), fit));
        }
        Class::Word => windows(stretch, needs),
    }
}

/// Adds parts of a long run that each lie inside one term, independently of where the indexed word
/// was divided.
fn windows(stretch: &[u8], needs: &mut Vec<RequiredTerms>) {
    let last = stretch.len() - WINDOW;
    for start in (0..last).step_by(WINDOW - 1).chain([last]) {
        let part = stretch.get(start..start + WINDOW).unwrap_or(b"");
        needs.push(RequiredTerms::Term(part.to_vec(), Fit::Inside));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str, fit: Fit) -> RequiredTerms {
        RequiredTerms::Term(text.as_bytes().to_vec(), fit)
    }

    fn open(text: &str) -> RequiredTerms {
        RequiredTerms::of(text, Edge::Open, Edge::Open)
    }

    #[test]
    fn runs_at_the_ends_may_go_on_and_those_between_may_not() {
        assert_eq!(open("lock"), term("lock", Fit::Inside));
        assert_eq!(
            open("a_b.c"),
            RequiredTerms::All(vec![
                term("a", Fit::End),
                term("b", Fit::Whole),
                term("c", Fit::Start)
            ])
        );
        assert_eq!(open(".a."), term("a", Fit::Whole));
        assert_eq!(open("…"), term("…", Fit::Whole));
        assert_eq!(open("->"), RequiredTerms::Anything);
    }

    #[test]
    fn ideographs_are_asked_for_in_pairs() {
        assert_eq!(open("恢"), term("恢", Fit::Inside));
        assert_eq!(open("会话"), term("会话", Fit::Whole));
        assert_eq!(
            open("会话恢"),
            RequiredTerms::All(vec![term("会话", Fit::Whole), term("话恢", Fit::Whole)])
        );
        assert_eq!(
            open("用x"),
            RequiredTerms::All(vec![term("用", Fit::End), term("x", Fit::Start)])
        );
    }

    #[test]
    fn only_single_runs_are_decided_by_the_index() {
        for (text, decided) in [
            ("lock", true),
            ("会话", true),
            ("恢", true),
            ("会话恢", false),
            ("a b", false),
            (".a", false),
        ] {
            assert_eq!(open(text).decides(text), decided, "{text}");
        }
        let long = "a".repeat(40);
        assert!(!open(&long).decides(&long));
    }
}
