//! Base64 with the standard alphabet and padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The canonical text of bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i)) & 0x3F;
            let letter = ALPHABET.get(sextet as usize).copied().unwrap_or(b'A');
            text.push(if i > group.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}

/// The bytes of a text, if [`encode`] would give back exactly this text.
pub fn decode_canonical(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take_while(|b| **b == b'=').count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.get(..text.len().checked_sub(padding)?)? {
        bits = bits << 6 | sextet(*letter)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(((bits >> held) & 0xFF) as u8);
        }
    }
    let rest = bits & ((1 << held) - 1);
    (rest == 0 && padding == held / 2 && held < 6).then_some(bytes)
}

fn sextet(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_vectors_of_the_standard_hold() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode_canonical(text.as_bytes()).unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn text_that_would_not_come_back_the_same_is_refused() {
        for text in [
            "Zg", "Zh==", "Zm9=", "Zm 9v", "====", "Z===", "Zg==Zg==", "Zm-v", "Zg==",
        ] {
            let exact = decode_canonical(text.as_bytes()).map(|bytes| encode(&bytes));
            assert_eq!(exact.as_deref(), (text == "Zg==").then_some(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode_canonical(encode(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn whatever_decodes_encodes_back(text in "[A-Za-z0-9+/=]{0,12}") {
            if let Some(bytes) = decode_canonical(text.as_bytes()) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
