//! Members of JSON values, as most dialects read them.

use std::borrow::Cow;

use boswell_model::Instant;
use boswell_model::json::{Raw, RawKind};

/// Returns a string member that is not empty.
pub(crate) fn text(value: Raw<'_>, key: &str) -> Option<String> {
    let text = value.get(key)?.text()?;
    (!text.is_empty()).then(|| text.into_owned())
}

/// Returns the text of a string, and the JSON of any other value.
pub(crate) fn plain(value: Raw<'_>) -> String {
    value.text().map_or_else(|| lossy(value), Cow::into_owned)
}

/// Returns the JSON of a value.
pub(crate) fn lossy(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

/// Returns a list that has items.
pub(crate) fn list<'a>(value: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    let list = value.get(key)?;
    (list.kind() == RawKind::Array && list.items().next().is_some()).then_some(list)
}

/// Parses a time: RFC 3339, or a number of seconds or milliseconds since 1970.
pub(crate) fn time(value: Raw<'_>) -> Option<Instant> {
    if let Some(text) = value.text() {
        return Instant::parse(&text);
    }
    let number = value.f64().filter(|n| n.is_finite() && *n > 0.0)?;
    // No session is older than 1973 in milliseconds, or younger than the year 5138 in seconds.
    let millis = if number < 1e11 {
        number * 1000.0
    } else {
        number
    };
    Some(Instant::from_millis(millis.round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_text_or_a_number_of_either_unit() {
        let at = Some(Instant::from_millis(1_772_569_904_604));
        for json in [
            "1772569904.604",
            "1772569904604",
            r#""2026-03-03T20:31:44.604Z""#,
        ] {
            assert_eq!(time(Raw::trusted(json.as_bytes())), at, "{json}");
        }
        assert_eq!(time(Raw::trusted(b"null")), None);
        assert_eq!(time(Raw::trusted(b"-1")), None);
    }
}
