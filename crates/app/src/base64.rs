//! Base64; decoding accepts both alphabets.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = digits(bytes);
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

/// Encodes bytes for addresses: with `-` and `_`, and without padding.
pub fn encode_url(bytes: &[u8]) -> String {
    digits(bytes).replace('+', "-").replace('/', "_")
}

fn digits(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let value = chunk
            .iter()
            .enumerate()
            .fold(0u32, |value, (i, b)| value | u32::from(*b) << (16 - 8 * i));
        for i in 0..=chunk.len() {
            let digit = (value >> (18 - 6 * i)) as usize & 63;
            out.push(ALPHABET.get(digit).copied().map_or('A', char::from));
        }
    }
    out
}

/// Decodes base64 in either alphabet, with white space; `None` if it is not valid.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut value, mut bits) = (0u32, 0);
    for byte in text
        .bytes()
        .filter(|b| !b.is_ascii_whitespace() && *b != b'=')
    {
        let digit = match byte {
            b'-' => 62,
            b'_' => 63,
            _ => ALPHABET.iter().position(|a| *a == byte)? as u32,
        };
        value = value << 6 | digit;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((value >> bits) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{ff}>?", "w78+Pw=="),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode("Zm 9\nv").unwrap(), b"foo");
        assert_eq!(encode_url(b"fo"), "Zm8");
        assert_eq!(encode_url(&[0xFB, 0xFF, 0xFF]), "-___");
        assert_eq!(decode("-___").unwrap(), [0xFB, 0xFF, 0xFF]);
        assert_eq!(decode("not base64!"), None);
    }
}
