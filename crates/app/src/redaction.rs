//! Removes credentials from text, for faces that hand text of sessions to other programs.

use std::borrow::Cow;

use boswell_find::{SecretCount, Secrets};
use boswell_model::Result;

/// Removes credentials from text. Compiled once, and used for many texts.
#[derive(Debug)]
pub struct Redactor(Secrets);

impl Redactor {
    /// Compiles the rules.
    ///
    /// # Errors
    ///
    /// Internal if a rule is not valid.
    pub fn new() -> Result<Redactor> {
        Secrets::new().map(Redactor)
    }

    /// Returns the text with `[KIND removed]` in place of each credential. A text is redacted as a
    /// whole, before it is cut: the rest of a key that was cut in two would not be recognised.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.redact(text)
    }

    /// As [`redact`](Redactor::redact), for a text that an agent or the catalog has cut already:
    /// the beginning of a key at its end is removed too.
    pub fn redact_beginning<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.redact_into(text, true, &mut SecretCount::default())
    }
}
