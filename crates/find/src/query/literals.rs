//! Extracts the literals that every match of a regular expression must contain, so that the index
//! can return candidates for it.
//!
//! The result may be too weak (more candidates), never too strong: a match must not be missed.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::required_terms::{Edge, RequiredTerms};
use crate::normalize::{self, fold};

/// A character class with more members than this is taken as any character.
const LARGEST_CLASS: usize = 8;

/// Returns the terms that a block must contain to contain a match.
pub(super) fn need(pattern: &str) -> RequiredTerms {
    match regex_syntax::Parser::new().parse(pattern) {
        Ok(hir) => of(&hir),
        Err(_) => RequiredTerms::Anything,
    }
}

// Nesting is limited by the parser, which refuses expressions more than 250 levels deep.
/// Returns the required terms of a part of the expression.
fn of(hir: &Hir) -> RequiredTerms {
    match hir.kind() {
        HirKind::Alternation(parts) => RequiredTerms::any(parts.iter().map(of).collect()),
        HirKind::Repetition(repeated) if repeated.min > 0 => of(&repeated.sub),
        HirKind::Concat(parts) => concat(parts),
        HirKind::Capture(capture) => of(&capture.sub),
        HirKind::Literal(_) | HirKind::Class(_) => {
            fixed(hir).map_or(RequiredTerms::Anything, |text| stretch_need(&text))
        }
        HirKind::Repetition(_) | HirKind::Look(_) | HirKind::Empty => RequiredTerms::Anything,
    }
}

/// Joins neighbouring parts with one possible (folded) text into one stretch.
fn concat(parts: &[Hir]) -> RequiredTerms {
    let mut needs = Vec::new();
    let mut stretch = String::new();
    for part in parts {
        match fixed(part) {
            Some(text) => stretch.push_str(&text),
            None => {
                needs.push(stretch_need(&std::mem::take(&mut stretch)));
                needs.push(of(part));
            }
        }
    }
    needs.push(stretch_need(&stretch));
    RequiredTerms::all(needs)
}

/// Returns the text of a part if all its matches have the same folded form.
fn fixed(part: &Hir) -> Option<String> {
    match part.kind() {
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(str::to_owned),
        HirKind::Class(Class::Unicode(class)) => {
            let mut members = class
                .iter()
                .flat_map(|range| range.start()..=range.end())
                .take(LARGEST_CLASS + 1);
            let first = members.next()?;
            let folded = fold(first.encode_utf8(&mut [0; 4]));
            let mut count = 1;
            for member in members {
                count += 1;
                if fold(member.encode_utf8(&mut [0; 4])) != folded {
                    return None;
                }
            }
            (count <= LARGEST_CLASS).then(|| first.to_string())
        }
        _ => None,
    }
}

/// Returns the required terms of a literal, without its first and last cluster where they are not
/// certain: in the text a combining mark may follow the last letter and change how it folds, and
/// the literal may itself begin with a mark.
fn stretch_need(stretch: &str) -> RequiredTerms {
    let inner = normalize::inner_clusters(stretch);
    if inner.is_empty() {
        RequiredTerms::Anything
    } else {
        RequiredTerms::of(&fold(inner), Edge::Open, Edge::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Fit;

    fn inside(text: &str) -> RequiredTerms {
        RequiredTerms::Term(text.as_bytes().to_vec(), Fit::Inside)
    }

    #[test]
    fn what_every_match_holds_is_found() {
        assert_eq!(need("deadlocks"), inside("deadlock"));
        assert_eq!(need("(?i)DeadLocks"), inside("deadlock"));
        assert_eq!(
            need("x+(?:alpha|betas?)[0-9]"),
            RequiredTerms::Any(vec![inside("alph"), inside("bet")])
        );
        assert_eq!(need("(foobar)+"), inside("fooba"));
        assert_eq!(need("[a-z]+ed|x*"), RequiredTerms::Anything);
        assert_eq!(need(r"\d{4}-\d\d"), RequiredTerms::Anything);
    }
}
