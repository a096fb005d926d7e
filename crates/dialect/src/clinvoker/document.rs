//! The document of a session: all its metadata.

use boswell_model::json::{Object, Raw};
use boswell_model::{Instant, SessionMeta, Usage, View};

use super::display_name::display_name;

/// Whether an object has the keys of a document.
pub(crate) fn is_document(object: &Object<'_>) -> bool {
    ["id", "backend", "created_at", "last_used"]
        .iter()
        .all(|key| object.get(key).is_some_and(|v| v.string().is_some()))
}

/// Takes every fact of the document.
pub(crate) fn collect_meta(object: &Object<'_>, meta: &mut SessionMeta) {
    let text = |key: &str| {
        object
            .text(key)
            .filter(|t| !t.is_empty())
            .map(|t| t.into_owned())
    };
    // Go writes the zero time for "never"; that is unknown.
    let time = |key: &str| object.text(key).and_then(|t| Instant::parse(&t));
    meta.id = text("id");
    meta.agent = text("backend");
    meta.created = time("created_at");
    meta.last_active = time("last_used");
    // The value of a flag, not the folder it ran in, and therefore often empty.
    meta.project = text("working_dir");
    meta.title = text("title");
    meta.status = text("status");
    meta.parent = text("parent_id");
    if let Some(prompt) = text("initial_prompt") {
        meta.saw_prompt(&prompt);
        // Which prompt was the last one, only the backend knows.
        meta.last_prompt = None;
    }
    if let Some(model) = text("model") {
        meta.saw_model(&model);
    }
    if let Some(id) = text("backend_session_id") {
        meta.external_ids.insert("backend".to_owned(), id);
    }
    meta.tags = object.get("tags").map_or_else(Vec::new, |tags| {
        let texts = tags.items().filter_map(|tag| tag.text());
        texts.map(Into::into).collect()
    });
    if let Some(metadata) = object.get("metadata") {
        fold_metadata(metadata, meta);
    }
    fold_error(text("error_message"), meta);
    fold_counts(object, meta);
}

/// A value that is not a text is taken as it is written.
fn fold_metadata(metadata: Raw<'_>, meta: &mut SessionMeta) {
    for (key, value) in metadata.members() {
        let value = value
            .text()
            .unwrap_or_else(|| String::from_utf8_lossy(value.bytes()));
        meta.metadata
            .insert(key.to_text().into_owned(), value.into_owned());
    }
}

/// The message of a failure outlives it: a session that completed later still has it.
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
    // Go leaves out a zero, so absent is none here, not unknown.
    let turns = object.get("turn_count").map_or(Some(0), |n| n.u64());
    meta.stated.turns = turns;
    let Some(stated) = object.get("token_usage") else {
        return;
    };
    let count = |key: &str| stated.get(key).and_then(|n| n.u64());
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

/// What a person reads of a document: the prompt, and a line about the rest.
pub(crate) fn view(object: &Object<'_>) -> View {
    let text = |key: &str| object.text(key).unwrap_or_default();
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
    view.model = object
        .text("model")
        .filter(|m| !m.is_empty())
        .map(|m| m.into_owned());
    view
}
