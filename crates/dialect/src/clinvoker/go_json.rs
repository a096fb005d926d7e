//! Prints new JSON as Go's encoder does.
//!
//! clinvoker reads any JSON; this is for users who compare files: new values look like the existing
//! ones.

use boswell_model::Instant;
use boswell_model::json::Json;

/// What Go writes for a time that never was.
pub(crate) const NEVER: &str = "0001-01-01T00:00:00Z";

/// A string token. Go escapes what browsers misread as markup, and the two line separators.
pub(crate) fn string(text: &str) -> Vec<u8> {
    let token = Json::from(text).to_string();
    let mut out = String::with_capacity(token.len());
    for c in token.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out.into_bytes()
}

/// A time: RFC 3339 in UTC, without zeros at the end of the fraction.
pub(crate) fn time(at: Instant) -> Vec<u8> {
    let text = at.to_rfc3339();
    let bare = text
        .trim_end_matches('Z')
        .trim_end_matches('0')
        .trim_end_matches('.');
    string(&format!("{bare}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_times_look_as_go_prints_them() {
        assert_eq!(
            string("a<b>&\u{2028}\"会\n"),
            "\"a\\u003cb\\u003e\\u0026\\u2028\\\"会\\n\"".as_bytes()
        );
        let at = |text: &str| String::from_utf8(time(Instant::parse(text).unwrap())).unwrap();
        assert_eq!(at("2026-01-31T14:35:40.900Z"), "\"2026-01-31T14:35:40.9Z\"");
        assert_eq!(at("2026-01-31T14:35:40Z"), "\"2026-01-31T14:35:40Z\"");
        assert_eq!(
            at("2026-01-31T14:35:10.010Z"),
            "\"2026-01-31T14:35:10.01Z\""
        );
    }
}
