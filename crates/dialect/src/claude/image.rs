//! Checks whether the provider would accept an image, by its first bytes and its size.

/// Maximum size that the provider accepts, measured as encoded in the request.
const LARGEST: usize = 5 << 20;
/// Maximum length of a side in pixels.
const LONGEST_SIDE: u32 = 8_000;

/// Why the provider rejects an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The image has no data.
    Empty,
    /// The data is not valid base64.
    NotBase64,
    /// The data is not of the stated media type.
    OtherKind,
    /// The image is larger than the limits.
    TooLarge,
}

impl Flaw {
    pub(super) fn words(self) -> &'static str {
        match self {
            Flaw::Empty => "it holds nothing",
            Flaw::NotBase64 => "its data is broken",
            Flaw::OtherKind => "its data is not of the kind that it names",
            Flaw::TooLarge => "it is larger than the provider takes",
        }
    }
}

/// Checks an image of media type `kind` with base64 `data`.
pub(super) fn flaw(kind: &str, data: &[u8]) -> Option<Flaw> {
    if data.is_empty() {
        return Some(Flaw::Empty);
    }
    let padding = data.iter().rev().take_while(|byte| **byte == b'=').count();
    let body = data.get(..data.len() - padding).unwrap_or_default();
    if !data.len().is_multiple_of(4) || padding > 2 || !are_digits(body) {
        return Some(Flaw::NotBase64);
    }
    let head = decoded(body.get(..32).unwrap_or(body));
    let is_what_it_says = match kind {
        "image/png" => head.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => head.starts_with(b"\xff\xd8\xff"),
        "image/gif" => head.starts_with(b"GIF8"),
        "image/webp" => head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP"),
        _ => false,
    };
    if !is_what_it_says {
        return Some(Flaw::OtherKind);
    }
    let side = |at: usize| {
        head.get(at..at + 4)
            .map(|it| it.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    };
    let is_long = head.get(12..16) == Some(b"IHDR")
        && [side(16), side(20)]
            .iter()
            .flatten()
            .any(|side| *side > LONGEST_SIDE);
    (is_long || data.len() > LARGEST).then_some(Flaw::TooLarge)
}

/// Whether all bytes are base64 digits. Checked in blocks, so that the compiler can vectorise the
/// loop (SIMD).
fn are_digits(bytes: &[u8]) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'+') | (byte == b'/');
    bytes
        .chunks(64)
        .all(|block| block.iter().fold(true, |all, byte| all & is_digit(*byte)))
}

/// Decodes base64 digits to bytes.
fn decoded(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::with_capacity(digits.len());
    let (mut bits, mut held) = (0_u32, 0);
    for digit in digits {
        bits = bits << 6 | u32::from(value(*digit));
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture::DOT;
    use super::*;

    fn flaw(kind: &str, data: &str) -> Option<Flaw> {
        super::flaw(kind, data.as_bytes())
    }

    #[test]
    fn an_image_must_be_what_it_says_whole_and_not_too_large() {
        assert_eq!(flaw("image/png", DOT), None);
        assert_eq!(flaw("image/jpeg", DOT), Some(Flaw::OtherKind));
        assert_eq!(
            flaw("image/png", &DOT[..DOT.len() - 3]),
            Some(Flaw::NotBase64)
        );
        assert_eq!(flaw("image/png", "!!!!"), Some(Flaw::NotBase64));
        assert_eq!(flaw("image/png", ""), Some(Flaw::Empty));
        assert_eq!(flaw("image/gif", "R0lGODlhAQABAAAAACw="), None);
        assert_eq!(
            flaw(
                "image/png",
                &format!("{}{}", &DOT[..88], "A".repeat(6 << 20))
            ),
            Some(Flaw::TooLarge)
        );
        let wide = DOT.replacen("UgAAAAEAAAAB", "UgAAH0EAAAAB", 1);
        assert_eq!(flaw("image/png", &wide), Some(Flaw::TooLarge));
    }
}
