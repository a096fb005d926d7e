//! Made-up credentials of every kind, and texts around them.
//!
//! Written from the issuers' own descriptions, and apart from the rules that find them: a mistake
//! in one is not a mistake in both.

mod forms;
mod surroundings;

pub use surroundings::{Surrounding, around, escaped};

use crate::Rng;

/// A made-up credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Whose it is, such as `github classic`; not the name that the program gives it.
    pub issuer: &'static str,
    /// The text that it comes in: the key itself, or the line that makes it one.
    pub text: String,
    /// The part of the text that must be hidden.
    pub secret: String,
    /// Whether other letters may precede and follow the text without a gap.
    pub joins: bool,
}

/// One credential of every kind.
pub fn all(rng: &mut Rng) -> Vec<Credential> {
    let mut all: Vec<Credential> = forms::keys(rng);
    all.extend(forms::assigned(rng));
    all.extend(forms::placed(rng));
    all
}

/// Letters that keys are made of.
pub(crate) fn draw(rng: &mut Rng, letters: &str, count: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    (0..count)
        .map(|_| letters[rng.below(letters.len())])
        .collect()
}
