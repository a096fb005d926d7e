//! What an append expects, and what it is to survive.

use boswell_model::{Result, Revision};
use boswell_store::{Durability, Expect};

use crate::{Language, refused};

/// What an append expects and promises, as a caller states it.
#[derive(Debug, Clone, Copy, Default)]
pub struct AppendRules<'a> {
    /// The revision that the session must have.
    pub expect_revision: Option<&'a str>,
    /// The entry that must be the leaf.
    pub expect_leaf: Option<&'a str>,
    /// `fsync` (the default) or `os`.
    pub durability: Option<&'a str>,
}

impl AppendRules<'_> {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// `Invalid` for a revision or a word that is not known, and for two expectations.
    pub fn read(&self, language: Language) -> Result<(Expect, Durability)> {
        let expect = match (self.expect_revision, self.expect_leaf) {
            (None, None) => Expect::Any,
            (None, Some(leaf)) => Expect::Leaf(leaf.into()),
            (Some(text), None) => Expect::Revision(expected_revision(text)?),
            (Some(_), Some(_)) => {
                let [revision, leaf] =
                    ["expect_revision", "expect_leaf"].map(|name| language.member(name));
                return Err(refused(
                    "an append expects a revision or a leaf, not both",
                    format!("leave one of `{revision}` and `{leaf}` out"),
                ));
            }
        };
        let durability = match self.durability {
            None | Some("fsync") => Durability::Fsync,
            Some("os") => Durability::Os,
            Some(word) => {
                return Err(refused(
                    format!("`{}` is not a durability", word.escape_debug()),
                    "write `fsync`, which survives a crash of the machine, or `os`",
                ));
            }
        };
        Ok((expect, durability))
    }
}

/// Reads the revision of a session.
///
/// # Errors
///
/// `Invalid` if it is not one.
pub fn expected_revision(text: &str) -> Result<Revision> {
    text.parse()
}
