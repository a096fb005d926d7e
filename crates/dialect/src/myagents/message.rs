//! The rows of a transcript: one message each, or the messages of one turn.
//!
//! A message has its usage, number of tool calls (`toolCount`), duration (`durationMs`),
//! attachments (`attachment.rs`) and the SDK's id of its row (`sdkUuid`).

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Instant, Interner, Said, SessionMeta, Usage, View};

use super::content::Content;
use super::{attachment, reminder, v2};

/// Fills in the head of a row. Rows have no parents and their ids repeat: only their order links
/// them.
pub(crate) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let role = object.text("role");
    head.kind = match role.as_deref() {
        None if v2::is_header(object) => EntryKind::Header,
        Some("user") => EntryKind::User,
        // Words of the app itself, which no model is sent.
        Some("assistant") if is_diagnostic(object) => EntryKind::System,
        Some("assistant") => EntryKind::Assistant,
        _ => EntryKind::Unknown,
    };
    let word = role
        .or_else(|| object.text("type"))
        .or_else(|| object.text("kind"));
    head.word = word.and_then(|w| names.intern(&w));
    head.id = object.text("id").and_then(|id| names.intern(&id));
    head.group = object.text("sdkUuid").and_then(|uuid| names.intern(&uuid));
    head.time = object
        .text("timestamp")
        .and_then(|t| Instant::parse(&t))
        .map(Into::into);
    // The app stores failures as text of the assistant.
    let said = object.get("content").and_then(|c| c.string());
    let failed = head.kind == EntryKind::Assistant
        && said.is_some_and(|s| s.escaped().starts_with(b"Error: "));
    head.flags.set_if(failed, Flags::ERROR);
}

fn is_diagnostic(object: &Object<'_>) -> bool {
    object
        .get("messageKind")
        .is_some_and(|kind| kind.is("diagnostic"))
}

/// Adds the facts that a row states about its session.
pub(crate) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.count(head.word.map_or("", |w| names.text(w)));
    // An index row with both times (in that case it also set the id) is more accurate: forks copy
    // old rows, and automatic messages do not count as activity.
    if meta.id.is_none() {
        meta.saw(head);
    }
    match head.kind {
        EntryKind::User => {
            meta.turns += 1;
            meta.messages += 1;
            meta.saw_prompt(reminder::visible(
                &Content::of(object.get("content")).text(),
            ));
        }
        EntryKind::Assistant => {
            meta.messages += 1;
            fold_answer(object, head, names, meta);
        }
        _ => {}
    }
}

fn fold_answer(object: &Object<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let calls = object.get("toolCount").and_then(|n| n.u64());
    let calls = calls.unwrap_or_else(|| Content::of(object.get("content")).calls());
    meta.tool_calls = meta.tool_calls.saturating_add(calls);
    if let Some(ms) = object.get("durationMs").and_then(|n| n.u64()) {
        meta.duration_ms = Some(meta.duration_ms.unwrap_or(0).saturating_add(ms));
    }
    if let Some(stated) = object.get("usage") {
        // A row without a model was written by the model of the row before; the first rows by the
        // model of the index.
        let running = meta.usage.running.model;
        let first = models(stated)
            .into_iter()
            .next()
            .or_else(|| meta.models.first().filter(|_| running.is_none()).cloned());
        meta.usage.running.model = first.and_then(|model| names.intern(&model)).or(running);
        for (model, usage) in usage_by_model(stated) {
            let model = model
                .and_then(|model| names.intern(&model))
                .or(meta.usage.running.model);
            meta.usage.note_said(
                None,
                usage,
                Said {
                    at: head.instant(),
                    model,
                    ..Said::default()
                },
            );
        }
        for model in models(stated) {
            meta.saw_model(&model);
        }
    }
}

/// Returns the token counts of a row by model. If there are none by model, or they do not add up to
/// those of the row, returns the row's own count without a model.
fn usage_by_model(stated: Raw<'_>) -> Vec<(Option<String>, Usage)> {
    let whole = usage(stated);
    let by_model = stated.get("modelUsage");
    let parts: Vec<(Option<String>, Usage)> = (by_model.iter().flat_map(|m| m.members()))
        .map(|(name, part)| (Some(name.to_text().into_owned()), counters(part)))
        .filter(|(_, part)| !part.is_unknown())
        .collect();
    let mut sum = Usage::default();
    parts.iter().for_each(|(_, part)| sum.add(part));
    let known = |usage: &Usage| {
        [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
        ]
        .map(|count| count.unwrap_or(0))
    };
    if parts.is_empty() || known(&sum) != known(&whole) {
        return vec![(None, whole)];
    }
    parts
}

/// Returns the usage of a row: its own counters, or the sum of those by model if it has none.
pub(crate) fn usage(stated: Raw<'_>) -> Usage {
    let own = counters(stated);
    if !own.is_unknown() {
        return own;
    }
    let mut sum = Usage::default();
    for (_, by_model) in stated.get("modelUsage").iter().flat_map(|m| m.members()) {
        sum.add(&counters(by_model));
    }
    sum
}

/// Reads the app's four counters.
pub(crate) fn counters(of: Raw<'_>) -> Usage {
    let count = |key: &str| of.get(key).and_then(|n| n.u64());
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheCreationTokens"),
        ..Usage::default()
    }
}

fn models(stated: Raw<'_>) -> Vec<String> {
    let own = stated.get("model").and_then(|m| m.text()).map(Into::into);
    let by_model = stated.get("modelUsage");
    let others = by_model
        .iter()
        .flat_map(|m| m.members())
        .map(|(name, _)| name.to_text().into_owned());
    own.into_iter().chain(others).collect()
}

/// Returns the model of an assistant message.
pub(crate) fn model(object: &Object<'_>) -> Option<String> {
    models(object.get("usage")?).into_iter().next()
}

/// Returns the readable view of a row.
pub(crate) fn view(object: &Object<'_>) -> View {
    let content = Content::of(object.get("content"));
    let mut blocks = content.blocks();
    let files = object.get("attachments");
    blocks.extend(
        files
            .iter()
            .flat_map(|files| files.items())
            .map(attachment::block),
    );
    let text = content.text();
    let is_user = object.get("role").is_some_and(|role| role.is("user"));
    // The app shows the output of local commands, and hides other messages that consist only of
    // envelopes.
    let hidden = is_user
        && reminder::leading(&text).is_some_and(|r| {
            r.visible.is_empty() && r.kind != Some(reminder::LOCAL_COMMAND_OUTPUT)
        });
    View {
        parts: blocks,
        model: model(object),
        usage: object
            .get("usage")
            .map(usage)
            .filter(|usage| !usage.is_unknown()),
        hidden,
        ..View::default()
    }
}

/// Whether an object has the keys of a row.
pub(crate) fn is_row(object: &Object<'_>) -> bool {
    object
        .get("role")
        .is_some_and(|role| role.is("user") || role.is("assistant"))
        && object.get("id").is_some_and(|id| id.string().is_some())
        && object
            .get("content")
            .is_some_and(|content| content.string().is_some())
        && object.get("timestamp").is_some()
        && object.get("type").is_none()
}
