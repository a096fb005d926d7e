//! Checks for UUIDs, the only ids that Claude Code, its SDK and Codex accept.

/// Whether `text` is a UUID in its usual form: 8-4-4-4-12 hexadecimal digits, of any version and
/// case.
pub(crate) fn is_uuid(text: &str) -> bool {
    let Ok(bytes) = <&[u8; 36]>::try_from(text.as_bytes()) else {
        return false;
    };
    // Every byte is checked, without a branch for each: every list asks this of every file.
    let digits = |from: usize, to: usize| {
        let digits = bytes.get(from..to).unwrap_or_default().iter();
        digits.fold(true, |all, byte| all & byte.is_ascii_hexdigit())
    };
    let dashes = [8, 13, 18, 23].map(|at: usize| bytes[at] == b'-');
    (dashes == [true; 4])
        & digits(0, 8)
        & digits(9, 13)
        & digits(14, 18)
        & digits(19, 23)
        & digits(24, 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_uuid_is_one() {
        assert!(is_uuid("7924d439-b04f-4c1c-9a52-08f5c0a0f001"));
        assert!(is_uuid("7924D439-b04f-4c1e-9d3b-2f6a1c8e5d70"));
        for other in [
            "7924d439-b04f-4c1e-9d3b-2f6a1c8e5d7g",
            "7924d439b04f4c1e9d3b2f6a1c8e5d70",
            "7924d439xb04f-4c1c-9a52-08f5c0a0f001",
            "cron-im-7924d439-b04f-4c1c-9a52-08f5c0a0f001",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }
}
