//! Secrets: random bytes of the system, as text.

use boswell_model::{Error, ErrorKind, Result};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

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
    Ok(base64url(&bytes))
}

/// Encodes bytes without padding.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut value = 0;
        for (place, byte) in chunk.iter().enumerate() {
            value |= u32::from(*byte) << (16 - 8 * place);
        }
        for place in 0..=chunk.len() {
            let digit = (value >> (18 - 6 * place)) as usize & 63;
            out.push(ALPHABET.get(digit).copied().map_or('A', char::from));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_has_no_padding_and_no_characters_that_urls_escape() {
        assert_eq!(base64url(b"f"), "Zg");
        assert_eq!(base64url(b"fo"), "Zm8");
        assert_eq!(base64url(b"foo"), "Zm9v");
        assert_eq!(base64url(&[0xFB, 0xFF, 0xFF]), "-___");
    }

    #[test]
    fn no_two_secrets_are_alike_and_each_has_256_bits() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
    }
}
