//! A sentence for the user that is not an error.

use std::fmt;

use crate::Advice;

/// What was done or left out, and what the user can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// One sentence without a full stop. It names neither a command nor a flag.
    pub text: String,
    /// The next step, where there is one.
    pub advice: Option<Advice>,
}

impl Remark {
    /// Creates a remark without a next step.
    pub fn new(text: impl Into<String>) -> Remark {
        Remark {
            text: text.into(),
            advice: None,
        }
    }

    /// Returns the sentence with the next step as a face phrases it.
    pub fn phrased(&self, phrase: impl FnOnce(&Advice) -> String) -> String {
        match &self.advice {
            Some(advice) => format!("{}; {}", self.text, phrase(advice)),
            None => self.text.clone(),
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn advising(mut self, advice: impl Into<Advice>) -> Remark {
        self.advice = Some(advice.into());
        self
    }
}

impl From<&str> for Remark {
    fn from(text: &str) -> Remark {
        Remark::new(text)
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Remark {
        Remark::new(text)
    }
}

/// Writes the sentence without the next step.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
