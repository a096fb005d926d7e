//! Checks for UUIDs, the only ids that Claude Code, its SDK and Codex accept.

/// Whether `text` is a UUID in its usual form: 8-4-4-4-12 hexadecimal digits, of any version and
/// case.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
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
