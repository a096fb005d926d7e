//! The document of a session: all its metadata.
//!
//! It has sixteen fields, among them status, error message, usage and free metadata.

use std::borrow::Cow;

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{Instant, SessionMeta, Usage, View};

use super::display_name::display_name;
use super::go_json::{self, member};

/// Whether an object has the keys of a document.
pub(crate) fn is_document(object: &Object<'_>) -> bool {
    ["id", "backend", "created_at", "last_used"]
        .iter()
        .all(|key| member(object.raw(), key).is_some_and(|v| v.string().is_some()))
}

/// Returns a string member.
pub(crate) fn text<'a>(object: &Object<'a>, key: &str) -> Option<Cow<'a, str>> {
    member(object.raw(), key)?.text()
}

/// Returns the creation time. Go writes its zero time for "never"; then the time is unknown.
pub(crate) fn created(object: &Object<'_>) -> Option<Instant> {
    time(object, "created_at")
}

fn time(object: &Object<'_>, key: &str) -> Option<Instant> {
    Instant::parse(&text(object, key)?)
}

/// Returns the first member whose type is not that of clinvoker's field. Go's decoder rejects the
/// whole document for it, so clinvoker does not list the session.
pub(crate) fn refused(object: &Object<'_>) -> Option<&'static str> {
    FIELDS.into_iter().find_map(|(key, kind)| {
        let mut members = object.raw().members();
        let bad = members
            .any(|(name, value)| go_json::is_key(&name.to_text(), key) && !kind.takes(value));
        bad.then_some(key)
    })
}

/// The members of clinvoker's struct, in the order in which they are compared.
const FIELDS: [(&str, FieldKind); 16] = [
    ("id", FieldKind::Text),
    ("backend", FieldKind::Text),
    ("created_at", FieldKind::Text),
    ("last_used", FieldKind::Text),
    ("working_dir", FieldKind::Text),
    ("backend_session_id", FieldKind::Text),
    ("model", FieldKind::Text),
    ("initial_prompt", FieldKind::Text),
    ("status", FieldKind::Text),
    ("title", FieldKind::Text),
    ("parent_id", FieldKind::Text),
    ("error_message", FieldKind::Text),
    ("turn_count", FieldKind::Integer),
    ("token_usage", FieldKind::Object),
    ("tags", FieldKind::List),
    ("metadata", FieldKind::Object),
];

#[derive(Clone, Copy)]
enum FieldKind {
    Text,
    Integer,
    Object,
    List,
}

impl FieldKind {
    /// Whether Go's decoder takes the value for a field of this kind; `null` fits any.
    fn takes(self, value: Raw<'_>) -> bool {
        value.is_null()
            || match self {
                FieldKind::Text => value.kind() == RawKind::String,
                FieldKind::Integer => value.i64().is_some(),
                FieldKind::Object => value.kind() == RawKind::Object,
                FieldKind::List => value.kind() == RawKind::Array,
            }
    }
}

/// Adds all facts of the document.
pub(crate) fn collect_meta(object: &Object<'_>, meta: &mut SessionMeta) {
    let text = |key: &str| {
        text(object, key)
            .filter(|t| !t.is_empty())
            .map(|t| t.into_owned())
    };
    meta.id = text("id");
    meta.agent = text("backend");
    meta.created = created(object);
    // Go's zero time means that the time is unknown. It stays unknown, so that `clean` does not
    // treat a session that was never used as an old one.
    meta.last_active = time(object, "last_used");
    // This is the value of a flag, not the working folder, and therefore often empty.
    meta.project = text("working_dir");
    meta.title = text("title");
    meta.status = text("status");
    meta.parent = text("parent_id");
    if let Some(prompt) = text("initial_prompt") {
        meta.saw_prompt(&prompt);
        // Only the backend knows which prompt was the last one.
        meta.last_prompt = None;
    }
    if let Some(model) = text("model") {
        meta.saw_model(&model);
    }
    if let Some(id) = text("backend_session_id") {
        meta.external_ids.insert("backend".to_owned(), id);
    }
    meta.tags = member(object.raw(), "tags").map_or_else(Vec::new, |tags| {
        let texts = tags.items().filter_map(|tag| tag.text());
        texts.map(Into::into).collect()
    });
    if let Some(metadata) = member(object.raw(), "metadata") {
        fold_metadata(metadata, meta);
    }
    fold_error(text("error_message"), meta);
    fold_counts(object, meta);
}

/// Adds custom metadata. A value that is not a string is stored as its JSON text.
fn fold_metadata(metadata: Raw<'_>, meta: &mut SessionMeta) {
    for (key, value) in metadata.members() {
        let value = value
            .text()
            .unwrap_or_else(|| String::from_utf8_lossy(value.bytes()));
        meta.metadata
            .insert(key.to_text().into_owned(), value.into_owned());
    }
}

/// Adds the error message, which stays in the document even if a later run completes.
fn fold_error(message: Option<String>, meta: &mut SessionMeta) {
    let Some(message) = message else { return };
    if meta.status.as_deref() == Some("error") {
        meta.error = Some(message);
    } else {
        meta.metadata
            .entry("error_message".to_owned())
            .or_insert(message);
    }
}

fn fold_counts(object: &Object<'_>, meta: &mut SessionMeta) {
    // Go omits zero values, so a missing count is zero, not unknown. A count that is not a number
    // is unknown: clinvoker does not read such a document.
    let turns = member(object.raw(), "turn_count").map_or(Some(0), |n| n.u64());
    meta.stated.turns = turns;
    let Some(stated) = member(object.raw(), "token_usage") else {
        return;
    };
    let count = |key: &str| member(stated, key).and_then(|n| n.u64());
    let usage = Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cached_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    };
    // Every session is created with zeros; if there are turns and still zeros, nothing was counted.
    let uncounted =
        turns.is_some_and(|n| n > 0) && usage.input == Some(0) && usage.output == Some(0);
    if !uncounted {
        meta.stated.usage = usage;
    }
}

/// Returns the readable view: the prompt, and a line with the other facts.
pub(crate) fn view(object: &Object<'_>) -> View {
    let text = |key: &str| text(object, key).unwrap_or_default();
    let prompt = text("initial_prompt");
    let mut view = if prompt.is_empty() {
        View::default()
    } else {
        View::text_only(prompt.clone())
    };
    let (backend, status) = (text("backend"), text("status"));
    let name = display_name(&text("title"), &prompt, &text("id"));
    let status = if status.is_empty() {
        "no status".into()
    } else {
        status
    };
    let mut remark = format!("{backend} session `{name}`: {status}");
    let error = text("error_message");
    if !error.is_empty() {
        remark.push_str(&format!(" ({error})"));
    }
    view.remark = Some(remark);
    view.model = Some(text("model").into_owned()).filter(|model| !model.is_empty());
    view
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn with<T>(json: &str, look: impl FnOnce(&Object<'_>) -> T) -> T {
        let mut members = Vec::new();
        scan_object(json.as_bytes(), &mut members).unwrap();
        look(&Object::new(json.as_bytes(), &members))
    }

    fn facts(json: &str) -> SessionMeta {
        let mut meta = SessionMeta::default();
        with(json, |object| collect_meta(object, &mut meta));
        meta
    }

    #[test]
    fn keys_in_any_case_are_read_as_go_reads_them() {
        let json = r#"{"ID":"a","Backend":"codex","CREATED_AT":"2026-01-31T10:00:00Z","Last_Used":"2026-01-31T11:00:00Z","Title":"Mine","Turn_Count":2,"Token_Usage":{"Input_Tokens":3,"output_tokens":4}}"#;
        assert!(with(json, is_document));
        let meta = facts(json);
        assert_eq!(meta.title.as_deref(), Some("Mine"));
        assert_eq!(meta.agent.as_deref(), Some("codex"));
        assert_eq!(meta.stated.turns, Some(2));
        assert_eq!(meta.stated.usage.input, Some(3));
        assert_eq!(with(json, refused), None);
        let shown = with(json, view);
        assert_eq!(
            shown.remark.as_deref(),
            Some("codex session `Mine`: no status")
        );
    }

    #[test]
    fn a_count_that_is_text_is_unknown_and_a_session_that_was_never_used_began() {
        let json = r#"{"id":"a","backend":"codex","created_at":"2026-01-31T10:00:00Z","last_used":"0001-01-01T00:00:00Z","turn_count":"3","token_usage":{"input_tokens":5,"output_tokens":6}}"#;
        let meta = facts(json);
        assert_eq!(meta.stated.turns, None);
        assert_eq!(meta.stated.usage.input, Some(5));
        assert_eq!(meta.last_active, None);
        assert_eq!(with(json, refused), Some("turn_count"));
        assert_eq!(with(r#"{"Title":7}"#, refused), Some("title"));
        assert_eq!(with(r#"{"tags":null,"later":{}}"#, refused), None);
    }
}
