//! JSON values with JavaScript semantics, where these differ from the obvious ones.

use boswell_model::Instant;
use boswell_model::json::{Json, Raw, RawKind};

/// Whether the value is truthy in JavaScript.
pub(super) fn truthy(value: Option<Raw<'_>>) -> bool {
    let Some(value) = value else { return false };
    match value.kind() {
        RawKind::Null => false,
        RawKind::Bool => value.bool() == Some(true),
        RawKind::Number => value.f64().is_some_and(|n| n != 0.0),
        RawKind::String => value.string().is_some_and(|s| !s.escaped().is_empty()),
        RawKind::Array | RawKind::Object => true,
    }
}

/// Returns `new Date(value).getTime()` as JavaScript would print it; `null` if the value is not a
/// date.
pub(super) fn date_millis(value: Option<Raw<'_>>) -> Json {
    let Some(value) = value else {
        return Json::Null;
    };
    match value.kind() {
        RawKind::String => value
            .text()
            .and_then(|t| Instant::parse(&t))
            .map(Instant::millis)
            .into(),
        RawKind::Number => value.i64().into(),
        RawKind::Bool => Json::Int(i64::from(value.bool() == Some(true))),
        RawKind::Null => Json::Int(0),
        RawKind::Array | RawKind::Object => Json::Null,
    }
}

/// Returns the values of several keys in one pass: a message may have megabytes, and each lookup of
/// a key scans all of it.
pub(super) fn pick<'a, const N: usize>(object: Raw<'a>, keys: [&str; N]) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    for (name, value) in object.members() {
        if let Some((_, place)) = keys.iter().zip(&mut found).find(|(key, _)| name.is(key)) {
            *place = Some(value);
        }
    }
    found
}

/// Returns the first value of a key without scanning the rest of the object. Only for questions
/// where a duplicate key, which no agent writes, may be answered by its first value instead of its
/// last.
pub(super) fn leading<'a>(object: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    object
        .members()
        .find(|(name, _)| name.is(key))
        .map(|(_, value)| value)
}

/// Returns a string that is not empty.
pub(super) fn filled(value: Option<Raw<'_>>) -> Option<String> {
    value?
        .text()
        .filter(|t| !t.is_empty())
        .map(std::borrow::Cow::into_owned)
}

/// Returns `provider/model`, or the model alone if no provider is stated.
pub(super) fn model_name(provider: Option<Raw<'_>>, model: Option<Raw<'_>>) -> Option<String> {
    // Our own writer states the model `unknown` where readers of the family require a string.
    let model = filled(model).filter(|model| model != "unknown")?;
    Some(match filled(provider) {
        Some(provider) => format!("{provider}/{model}"),
        None => model,
    })
}

/// Returns a value as text for display.
pub(super) fn json_text(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Option<Raw<'_>> {
        Raw::parse(text.as_bytes()).ok()
    }

    #[test]
    fn truth_is_what_javascript_says() {
        for yes in ["1", "true", "\"a\"", "[]", "{}"] {
            assert!(truthy(raw(yes)), "{yes}");
        }
        for no in ["0", "false", "\"\"", "null"] {
            assert!(!truthy(raw(no)), "{no}");
        }
        assert!(!truthy(None));
    }

    #[test]
    fn dates_become_milliseconds_or_null() {
        assert_eq!(
            date_millis(raw("\"2025-01-01T00:00:00Z\"")),
            Json::Int(1_735_689_600_000)
        );
        assert_eq!(date_millis(raw("17")), Json::Int(17));
        assert_eq!(date_millis(raw("null")), Json::Int(0));
        assert_eq!(date_millis(raw("\"yesterday\"")), Json::Null);
        assert_eq!(date_millis(None), Json::Null);
    }

    #[test]
    fn one_pass_finds_what_single_looks_find() {
        let value = raw(r#"{"a":1,"b":2,"a":3,"\u0063":4}"#).unwrap();
        let found = pick(value, ["a", "c", "d"]).map(|v| v.and_then(|v| v.i64()));
        assert_eq!(found, [Some(3), Some(4), None]);
    }

    #[test]
    fn a_model_without_provider_is_named_alone() {
        assert_eq!(
            model_name(raw("\"p\""), raw("\"m\"")).as_deref(),
            Some("p/m")
        );
        assert_eq!(model_name(None, raw("\"m\"")).as_deref(), Some("m"));
        assert_eq!(model_name(raw("\"p\""), None), None);
    }
}
