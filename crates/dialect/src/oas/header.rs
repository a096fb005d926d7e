//! The header line: metadata of the session, and credentials that must not be shown.

use std::borrow::Cow;

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{Instant, SessionMeta, Settings};

/// The text that replaces a secret.
const HIDDEN: &[u8] = b"\"[redacted]\"";
/// Options without secrets. All others are redacted, because the next version may add one with a
/// secret.
const HARMLESS: [&str; 11] = [
    "model",
    "provider",
    "cwd",
    "permissionMode",
    "maxTurns",
    "systemPrompt",
    "allowedTools",
    "disallowedTools",
    "outputFormat",
    "logLevel",
    "maxTokens",
];
/// Known members of the header.
const MEMBERS: [&str; 9] = [
    "type",
    "id",
    "model",
    "provider",
    "createdAt",
    "updatedAt",
    "options",
    "parentSessionId",
    "forkedAt",
];

/// Whether a record is the header.
pub(crate) fn is_header(object: &Object<'_>) -> bool {
    object.get("type").is_some_and(|t| t.is("session_header"))
}

/// Parses a time in milliseconds.
pub(crate) fn millis(value: Option<Raw<'_>>) -> Option<Instant> {
    value.and_then(|ms| ms.i64()).map(Instant::from_millis)
}

/// Adds the facts that the header states about the session.
pub(crate) fn collect_meta(object: &Object<'_>, meta: &mut SessionMeta) {
    let text = |key: &str| {
        object
            .text(key)
            .filter(|t| !t.is_empty())
            .map(Cow::into_owned)
    };
    meta.id = text("id");
    meta.created = millis(object.get("createdAt"));
    meta.last_active = millis(object.get("updatedAt")).or(meta.created);
    meta.parent = text("parentSessionId");
    meta.project = option(object, "cwd");
    meta.permission_mode = option(object, "permissionMode");
    if let Some(model) = text("model") {
        meta.saw_model(&model);
    }
    if let Some(provider) = text("provider") {
        meta.metadata.insert("provider".to_owned(), provider);
    }
    if let Some(forked) = millis(object.get("forkedAt")) {
        meta.metadata
            .insert("forkedAt".to_owned(), forked.to_rfc3339());
    }
}

/// Adds the settings of the header.
pub(crate) fn settings(object: &Object<'_>, settings: &mut Settings) {
    if let Some(model) = object.text("model") {
        settings.set_model("default", &model);
    }
    settings.permission_mode = option(object, "permissionMode");
    if let Some(provider) = object.get("provider") {
        settings.set_other(
            "provider",
            String::from_utf8_lossy(provider.bytes()).into_owned(),
        );
    }
}

/// Returns the options of a header that contain no secret as an object, and the number of the
/// others.
pub(crate) fn harmless_options(header: Raw<'_>) -> (Json, usize) {
    let mut kept = Json::object();
    let mut left = 0;
    for (name, value) in header
        .get("options")
        .iter()
        .flat_map(|options| options.members())
    {
        match HARMLESS.iter().find(|known| name.is(known)) {
            Some(known) => kept = kept.with(known, value),
            None => left += 1,
        }
    }
    (kept, left)
}

fn option(object: &Object<'_>, key: &str) -> Option<String> {
    object
        .get("options")?
        .get(key)?
        .text()
        .filter(|t| !t.is_empty())
        .map(Cow::into_owned)
}

/// Returns a record for display: in a header, every option that may be a secret is replaced; all
/// other bytes stay.
///
/// A torn header cannot be parsed, so nothing of it is shown.
pub fn redact_header(record: &[u8]) -> Cow<'_, [u8]> {
    let Ok(raw) = Raw::parse(record) else {
        let named = |name: &str| contains(record, format!("\"{name}\"").as_bytes());
        let torn = named("session_header") || (named("options") && named("createdAt"));
        return if torn {
            Cow::Borrowed(b"[redacted: a torn session header]")
        } else {
            Cow::Borrowed(record)
        };
    };
    // Of duplicate keys the last one counts, but all of them are in the bytes. Rows have no
    // options: a record with options is a header, even if its type is damaged.
    if !raw
        .members()
        .any(|(key, value)| key.is("options") || value.is("session_header"))
    {
        return Cow::Borrowed(record);
    }
    let mut secrets = Vec::new();
    for (key, value) in raw.members() {
        if key.is("options") && value.kind() == RawKind::Object {
            let hidden = value
                .members()
                .filter(|(name, _)| !HARMLESS.iter().any(|known| name.is(known)));
            secrets.extend(hidden.map(|(_, secret)| secret));
        } else if key.is("options") || !MEMBERS.iter().any(|known| key.is(known)) {
            secrets.push(value);
        }
    }
    if secrets.is_empty() {
        Cow::Borrowed(record)
    } else {
        Cow::Owned(replaced(record, &secrets))
    }
}

/// Returns the record with each of `parts` replaced; they are in order.
fn replaced(record: &[u8], parts: &[Raw<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(record.len());
    let mut at = 0;
    for part in parts {
        let start = part
            .bytes()
            .as_ptr()
            .addr()
            .saturating_sub(record.as_ptr().addr());
        out.extend_from_slice(record.get(at..start).unwrap_or(b""));
        out.extend_from_slice(HIDDEN);
        at = start.saturating_add(part.bytes().len());
    }
    out.extend_from_slice(record.get(at..).unwrap_or(b""));
    out
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(record: &str) -> String {
        String::from_utf8_lossy(&redact_header(record.as_bytes())).into_owned()
    }

    #[test]
    fn secrets_of_a_header_are_hidden_and_all_else_stays() {
        let header = r#"{"type":"session_header", "id":"a","options":{"model":"m","apiKey":"sk-1","env":{"K":"v2"},"codexOAuth":{"access":"t3"},"maxTurns":5,"mcpServers":[{"headers":{"A":"s4"}}]},"createdAt":1000}"#;
        let shown = r#"{"type":"session_header", "id":"a","options":{"model":"m","apiKey":"[redacted]","env":"[redacted]","codexOAuth":"[redacted]","maxTurns":5,"mcpServers":"[redacted]"},"createdAt":1000}"#;
        assert_eq!(redacted(header), shown);
    }

    #[test]
    fn doubled_keys_and_unknown_members_hide_nothing_behind_them() {
        let header = r#"{"options":{"apiKey":"sk-1","apiKey":"sk-2"},"type":"x","type":"session_header","options":{},"token":"t"}"#;
        let shown = redacted(header);
        assert!(
            !shown.contains("sk-1") && !shown.contains("sk-2") && !shown.contains("\"t\""),
            "{shown}"
        );
        let escaped = r#"{"type":"session_header","options":{"\u0061piKey":"sk-1"}}"#;
        assert!(!redacted(escaped).contains("sk-1"));
        let odd = r#"{"type":"session_header","options":"sk-1"}"#;
        assert!(!redacted(odd).contains("sk-1"));
    }

    #[test]
    fn a_torn_header_is_not_shown_and_other_records_are_left_alone() {
        assert!(
            !redacted(r#"{"type":"session_header","options":{"apiKey":"sk-1"#).contains("sk-1")
        );
        let row = r#"{"type":"user","message":{"content":"apiKey"}}"#;
        assert!(matches!(redact_header(row.as_bytes()), Cow::Borrowed(_)));
        let plain = r#"{"type":"session_header","options":{"model":"m"}}"#;
        assert!(matches!(redact_header(plain.as_bytes()), Cow::Borrowed(_)));
    }
}
