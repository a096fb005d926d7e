//! Generated fake credentials of every kind, and texts around them.
//!
//! Written from the issuers' own descriptions, and separately from the rules that find them, so
//! that a mistake is not made in both.

mod forms;
mod surroundings;

pub use surroundings::{Surrounding, around, escaped};

use crate::Rng;

/// A fake credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The issuer, such as `github classic`; not the name that the program uses.
    pub issuer: &'static str,
    /// The text that contains it: the key itself, or the line that makes it recognisable.
    pub text: String,
    /// The part of the text that must be redacted.
    pub secret: String,
    /// Whether other letters may precede and follow the text without a gap.
    pub joins: bool,
}

/// Returns one credential of every kind.
pub fn all(rng: &mut Rng) -> Vec<Credential> {
    let mut all: Vec<Credential> = forms::keys(rng);
    all.extend(forms::assigned(rng));
    all.extend(forms::placed(rng));
    all
}

/// Returns random letters of a key.
pub(crate) fn draw(rng: &mut Rng, letters: &str, count: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    (0..count)
        .map(|_| letters[rng.below(letters.len())])
        .collect()
}
