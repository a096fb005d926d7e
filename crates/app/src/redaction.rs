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
    pub fn redact_beginning(&self, text: &str) -> String {
        redacted_name(&self.0, text)
    }
}

/// Redacts the name of a session, or another text that an agent or the catalog may have cut inside
/// a key; a mark of the cut is kept.
pub(crate) fn redacted_name(secrets: &Secrets, name: &str) -> String {
    let beginning = name.trim_end_matches('…');
    let mark = name.get(beginning.len()..).unwrap_or_default();
    let redacted = secrets.redact_into(beginning, true, &mut SecretCount::default());
    format!("{redacted}{mark}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_cut_is_removed_and_the_mark_of_the_cut_stays() {
        let redactor = Redactor::new().unwrap();
        let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let whole = format!("why is {key} refused");
        let cut = format!("why is {}…", &key[..20]);
        assert_eq!(redactor.redact(&cut), cut, "without a rule for cut texts");
        for (text, end) in [
            (whole.as_str(), "refused"),
            (&cut, "…"),
            (cut.trim_end_matches('…'), "]"),
        ] {
            let shown = redactor.redact_beginning(text);
            assert!(!shown.contains("ghp_") && shown.ends_with(end), "{shown}");
        }
        assert_eq!(redactor.redact_beginning("a plain name…"), "a plain name…");
    }
}
