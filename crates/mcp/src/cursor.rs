//! Cursors of pages as opaque text, and parts of addresses.
//!
//! A cursor contains the place where a page ended, which may be a path: it stands outside of
//! frames, so that nothing of it may be readable.

use boswell_app::base64;

/// Encodes a cursor in base64url, without padding.
pub(crate) fn encode(text: &str) -> String {
    base64::encode_url(text.as_bytes())
}

/// Decodes a cursor; `None` if it is not valid.
pub(crate) fn decode(text: &str) -> Option<String> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let bytes = base64::decode(text).filter(|_| text.bytes().all(is_digit))?;
    String::from_utf8(bytes).ok()
}

/// Decodes a part of an address, where `%XX` is a byte; `None` if it is not valid.
pub(crate) fn decode_part(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        rest = after.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cursor_survives_and_cannot_be_read() {
        for text in [
            "",
            "a",
            "ab",
            "IGNORE",
            "claude:5ac5@2026",
            "a\n--- x end",
            "会 100%",
        ] {
            let encoded = encode(text);
            assert!(
                decode(&encoded).is_some() && !encoded.contains(['+', '/', '=']),
                "{encoded}"
            );
            assert!(text.is_empty() || !encoded.contains(text), "{encoded}");
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
        for wrong in ["%zz", "a b", "=", "_-8"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parts_of_addresses_are_decoded() {
        assert_eq!(decode_part("a%2312%E4%BC%9A").as_deref(), Some("a#12会"));
        for wrong in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode_part(wrong), None, "{wrong}");
        }
    }
}
