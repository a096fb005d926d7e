//! Prints new JSON as Go's encoder does.
//!
//! clinvoker reads any JSON; this is for users who compare files: new values look like the existing
//! ones.

use boswell_model::Instant;
use boswell_model::json::{Json, Raw};

/// Go's zero time, which means "never".
pub(crate) const NEVER: &str = "0001-01-01T00:00:00Z";

/// Returns a member as Go's decoder finds it: keys in any case, and the last value that is not
/// null.
pub(crate) fn member<'a>(object: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    let values = object
        .members()
        .filter(|(name, _)| is_key(&name.to_text(), key));
    values
        .map(|(_, value)| value)
        .filter(|it| !it.is_null())
        .last()
}

/// Whether Go's decoder accepts a name as the key of a field. Two letters beyond ASCII fold to
/// ASCII ones.
pub(crate) fn is_key(name: &str, key: &str) -> bool {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(key.chars().map(fold))
}

/// Encodes a string. Go escapes characters with a meaning in HTML, and the two Unicode line
/// separators.
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

/// Encodes a time: RFC 3339 in UTC, without trailing zeros in the fraction.
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
    fn members_are_found_in_any_case_and_the_last_that_says_something_counts() {
        let find = |json: &str| {
            let raw = Raw::parse(json.as_bytes()).unwrap();
            member(raw, "last_used")
                .map(|value| String::from_utf8_lossy(value.bytes()).into_owned())
        };
        assert_eq!(find(r#"{"Last_Used":1}"#).as_deref(), Some("1"));
        assert_eq!(
            find(r#"{"last_used":1,"LAST_USED":2,"last_used":null}"#).as_deref(),
            Some("2")
        );
        assert_eq!(find("{\"laſt_uſed\":3}").as_deref(), Some("3"));
        assert_eq!(find(r#"{"lastused":1,"LastUsed":2}"#), None);
    }

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
