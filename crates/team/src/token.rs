//! [`TeamToken`]: 256 random bits as text. The server stores their SHA-256 alone.

use std::fmt;

use boswell_model::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};

/// Tokens of a team are recognised by their beginning, also by programs that look for secrets.
const BEGINNING: &str = "bswt_";

/// A token of a person. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct TeamToken(String);

impl TeamToken {
    /// Makes a token of random bits of the system.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the system has no random numbers.
    pub fn random() -> Result<TeamToken> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            let what = "the system gives no random numbers";
            Error::new(ErrorKind::Unavailable, what).caused_by(error)
        })?;
        Ok(TeamToken(format!("{BEGINNING}{}", hex(&bytes))))
    }

    /// Reads a token.
    ///
    /// # Errors
    ///
    /// `Invalid` if it has not the form of one. The error does not repeat it.
    pub fn parse(text: &str) -> Result<TeamToken> {
        let text = text.trim();
        let rest = text.strip_prefix(BEGINNING).unwrap_or_default();
        if rest.len() == 64 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(TeamToken(text.to_owned()));
        }
        let what = "this is not a token of a team";
        Err(Error::new(ErrorKind::Invalid, what)
            .because(format!("a token begins with {BEGINNING}"))
            .advising("ask an administrator of the team for one"))
    }

    /// Returns the token itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns its SHA-256.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for TeamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TeamToken")
    }
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_is_not_shown_by_mistake() {
        let (one, other) = (TeamToken::random().unwrap(), TeamToken::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), BEGINNING.len() + 64);
        assert_eq!(TeamToken::parse(one.reveal()).unwrap().hash(), one.hash());
        assert!(!format!("{one:?}").contains(one.reveal()));
        let short = one.reveal().get(..60).unwrap();
        for wrong in ["", "x", short, &format!("{}0", one.reveal())] {
            let error = TeamToken::parse(wrong).unwrap_err();
            assert!(wrong.is_empty() || !error.to_string().contains(wrong) || wrong == "x");
        }
    }
}
