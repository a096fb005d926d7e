//! Secrets without a shape of their own: what a name such as `api_key` is set to, if it looks like chance.

use std::ops::Range;

/// Names that secrets are kept under; what stands before them in the same word does not matter.
pub(super) const NAMES: [&str; 12] = [
    "secret_access_key",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "auth_token",
    "client_secret",
    "secret_key",
    "password",
    "passwd",
    "_secret",
    "_token",
];

/// How far the value may stand behind its name.
const GAP: usize = 8;

/// The value that a name which ends at `end` is set to, if it may be a secret.
pub(super) fn value_after(text: &[u8], end: usize) -> Option<Range<usize>> {
    let mut at = end;
    let mut set = false;
    while let Some(byte) = text.get(at).filter(|_| at < end + GAP) {
        match byte {
            b'=' | b':' if !set => set = true,
            b'=' | b':' | b'>' | b' ' | b'"' | b'\'' | b'\\' | b'`' => {}
            _ => break,
        }
        at += 1;
    }
    let len = text.get(at..)?.iter().take(200).take_while(|byte| is_key_byte(**byte)).count();
    let value = at..at + len;
    let bytes = text.get(value.clone())?;
    (set && (16..200).contains(&len) && looks_like_chance(bytes)).then_some(value)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

/// Whether it is neither a word, a path, a hash, a UUID nor a place for the real value.
fn looks_like_chance(bytes: &[u8]) -> bool {
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = bytes.iter().filter(|b| b.is_ascii_lowercase()).count();
    let hex = bytes.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let parts = bytes.split(|b| matches!(b, b'.' | b'/' | b'-' | b'_')).filter(|part| !part.is_empty());
    let words = parts.clone().filter(|part| part.iter().all(u8::is_ascii_alphabetic)).count();
    !hex && digits >= 2 && upper >= 2 && lower >= 2 && words * 2 <= parts.count() && bits(bytes) >= 3.7
}

/// Shannon's entropy: bits for each byte.
pub(super) fn bits(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_ids_words_and_places_for_the_value_are_no_secrets() {
        for text in [
            "api_key = \"0123456789abcdef0123456789abcdef\"",
            "auth_token: 6f9619ff-8b86-d011-b42d-00cf4fc964ff",
            "client_secret=process.env.CLIENT_SECRET_2",
            "password: correct-horse-battery-staple",
            "api_key=YOUR_API_KEY_GOES_HERE_123",
            "access_token = tokenStore.get(Access2)",
        ] {
            let end = text.find(['=', ':']).unwrap();
            assert_eq!(value_after(text.as_bytes(), end), None, "{text}");
        }
    }

    #[test]
    fn what_looks_like_chance_behind_a_name_is_one() {
        let text = r#""client_secret": "q7Zt2LmX9vKpR4wYb8Nc""#;
        let end = text.find("\":").unwrap();
        let value = value_after(text.as_bytes(), end).unwrap();
        assert_eq!(&text[value], "q7Zt2LmX9vKpR4wYb8Nc");
    }
}
