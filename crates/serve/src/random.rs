//! Secrets: random bytes of the system, as text.

use boswell_app::base64::encode_url;
use boswell_model::{Error, ErrorKind, Result};

/// Returns 32 random bytes in base64url: 43 characters.
///
/// # Errors
///
/// Unavailable if the system has no random numbers.
pub(crate) fn secret() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the system gives no random numbers").caused_by(error)
    })?;
    Ok(encode_url(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_alike_and_each_has_256_bits() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
    }
}
