//! Cursors of pages, and parts of addresses, as text without characters that could be read as
//! anything else.

/// Characters that are kept as they are.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'.' | b'_' | b'-' | b'@')
}

/// Encodes a text: other bytes become `%XX`.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Decodes a text; `None` if it is not valid.
pub(crate) fn decode(text: &str) -> Option<String> {
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
    fn every_text_survives_and_is_plain() {
        for text in ["claude:5ac5@2026", "a b\n--- x end", "#12", "会", "100%"] {
            let encoded = encode(text);
            assert!(encoded.bytes().all(|it| is_plain(it) || it == b'%'));
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
        for wrong in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
