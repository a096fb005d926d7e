//! Collects the metadata of a session from its records: the header (version, id, folder, title, and
//! the parent session, which may be an id or a path), then titles, labels, prompts, tags, status,
//! usage and cost, and what only boswell writes (`boswell.meta`, `boswell.status`).
//!
//! A header that is lost or damaged is reported by `check.rs` and repaired by `repair/header.rs`.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Head, Instant, Interner, Said, SessionMeta, Usage};

use super::Flavour;
use super::head::version_of;
use super::js_values::{filled, leading, model_name, pick};
use super::tags;

/// Adds the facts that a record states about the session.
pub(super) fn collect_meta(
    flavour: Flavour,
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    let word = head.word.map_or("", |w| names.text(w)).to_owned();
    meta.count(&word);
    if head.kind == EntryKind::Header {
        // A second header comes from a writer that started again on an existing file; the first one
        // describes the session.
        if meta.kinds.get("session") == Some(&1) {
            header(object, head, meta);
        }
        return;
    }
    match word.as_str() {
        "title" => {
            (meta.title, meta.title_source) = (None, None);
            title(object, "source", meta);
        }
        // The title slot always has the current title; these entries are the history of it.
        "title_change" if !has_slot(meta) => title(object, "source", meta),
        "session_info" => session_info(object, meta),
        "label" => label(object, meta),
        "custom" if flavour == Flavour::Boswell => own_state(object, meta),
        "message" => {
            if is_first_of_its_id(head, names)
                && let Some(message) = object.get("message")
            {
                fold_message(message, head, names, meta);
            }
        }
        "model_usage" => {
            let model = model_name(object.get("provider"), object.get("model"));
            let usage = object.get("usage").map(usage_of).unwrap_or_default();
            meta.usage
                .note_said(head.id, usage, said(head, model.as_deref(), names));
            if let Some(model) = model {
                meta.saw_model(&model);
            }
        }
        _ => {}
    }
    if meta.id.is_none() && meta.format_version.is_none() {
        began(head.instant(), meta);
    }
}

fn header(object: &Object<'_>, head: &Head, meta: &mut SessionMeta) {
    meta.id = filled(object.get("id"));
    meta.project = filled(object.get("cwd"));
    // Lineage: the parent session, an id or a path, as its program wrote it.
    meta.parent =
        filled(object.get("parentSession")).or_else(|| filled(object.get("branchedFrom")));
    meta.format_version = version_of(object)
        .filter(|v| *v >= 0.0 && v.is_finite())
        .map(|v| v as u64);
    // A title slot precedes the header and is newer, even if it is empty.
    if meta.title.is_none() && !has_slot(meta) {
        title(object, "titleSource", meta);
    }
    // A fork copies entries that are older than itself, so the header's time
    // counts, not the earliest.
    meta.created = head.instant();
    if meta.last_active.is_none() {
        meta.last_active = head.instant();
    }
}

fn has_slot(meta: &SessionMeta) -> bool {
    meta.kinds.contains_key("title")
}

fn title(object: &Object<'_>, source: &str, meta: &mut SessionMeta) {
    if let Some(title) = filled(object.get("title")) {
        meta.title = Some(title);
        meta.title_source = filled(object.get(source));
    }
}

/// Reads pi's own title: the last one counts, and an empty one removes the title.
fn session_info(object: &Object<'_>, meta: &mut SessionMeta) {
    let name = object.text("name");
    meta.title = name
        .as_deref()
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(str::to_owned);
    meta.title_source = None;
}

fn label(object: &Object<'_>, meta: &mut SessionMeta) {
    if let Some(target) = filled(object.get("targetId")) {
        meta.labels.push((target, filled(object.get("label"))));
    }
}

/// Reads tags and status, which only boswell's own sessions contain.
fn own_state(object: &Object<'_>, meta: &mut SessionMeta) {
    let Some(data) = object.get("data") else {
        return;
    };
    match object.text("customType").as_deref() {
        Some(tags::WORD) => tags::collect_meta(data, meta),
        Some("boswell.status") => {
            meta.status = filled(data.get("status"));
            meta.error = filled(data.get("error"));
        }
        Some("boswell.meta") => own_meta(data, meta),
        _ => {}
    }
}

/// Reads further facts for which the format has no field; `null` removes a fact.
fn own_meta(data: Raw<'_>, meta: &mut SessionMeta) {
    for (key, value) in data.members() {
        let text = filled(Some(value));
        match key.to_text().as_ref() {
            "agent" => meta.agent = text,
            "agent_version" => meta.agent_version = text,
            "git_branch" => meta.git_branch = text,
            "permission_mode" => meta.permission_mode = text,
            "summary" => meta.summary = text,
            "pinned" => meta.pinned = value.bool() == Some(true),
            "external_ids" => each_text(value, |name, id| {
                set_or_clear(&mut meta.external_ids, name, id)
            }),
            "metadata" => each_text(value, |name, text| {
                set_or_clear(&mut meta.metadata, name, text)
            }),
            _ => {}
        }
    }
}

fn each_text(object: Raw<'_>, mut take: impl FnMut(String, Option<String>)) {
    for (name, value) in object.members() {
        take(name.to_text().into_owned(), filled(Some(value)));
    }
}

fn set_or_clear(
    map: &mut std::collections::BTreeMap<String, String>,
    name: String,
    value: Option<String>,
) {
    match value {
        Some(value) => map.insert(name, value),
        None => map.remove(&name),
    };
}

/// Whether no earlier line has the same id: duplicate lines count as one message.
///
/// The interner stores it under a name that no id has in practice: the id followed by a NUL.
fn is_first_of_its_id(head: &Head, names: &mut Interner) -> bool {
    let Some(id) = head.id else { return true };
    let seen = format!("{}\0", names.text(id));
    let before = names.len();
    names.intern(&seen);
    names.len() > before
}

fn fold_message(message: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    match head.kind {
        EntryKind::User => prompt(message, head, meta),
        EntryKind::Assistant => answer(message, head, names, meta),
        // The result of a subagent states the usage of the subagent.
        EntryKind::ToolResult if leading(message, "toolName").is_some_and(|t| t.is("task")) => {
            let usage = message
                .at(&["details", "usage"])
                .map(usage_of)
                .unwrap_or_default();
            let relayed = Said {
                relayed: true,
                ..said(head, None, names)
            };
            meta.usage.note_said(head.id, usage, relayed);
        }
        _ => {}
    }
}

fn prompt(message: Raw<'_>, head: &Head, meta: &mut SessionMeta) {
    let [content, synthetic, timestamp] = pick(message, ["content", "synthetic", "timestamp"]);
    meta.messages += 1;
    active(timestamp, head, meta);
    if synthetic.and_then(|s| s.bool()) != Some(true) {
        meta.turns += 1;
        meta.saw_prompt(&text_of(content));
    }
}

/// Entry ids are short, but id and time together identify an entry in every fork that copied it, so
/// that usage is counted once (dedupe).
fn said(head: &Head, model: Option<&str>, names: &mut Interner) -> Said {
    let model = model.and_then(|model| names.intern(model));
    Said {
        at: head.instant(),
        model,
        everywhere: true,
        ..Said::default()
    }
}

fn answer(message: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let keys = ["content", "timestamp", "usage", "provider", "model"];
    let [content, timestamp, usage, provider, model] = pick(message, keys);
    meta.messages += 1;
    active(timestamp, head, meta);
    let is_call = |block: &Raw<'_>| leading(*block, "type").is_some_and(|t| t.is("toolCall"));
    let calls = content
        .iter()
        .flat_map(|c| c.items())
        .filter(is_call)
        .count();
    meta.tool_calls += calls as u64;
    let model = model_name(provider, model);
    let usage = usage.map(usage_of).unwrap_or_default();
    meta.usage
        .note_said(head.id, usage, said(head, model.as_deref(), names));
    if let Some(model) = model {
        meta.saw_model(&model);
    }
}

/// Updates the time of last activity, which as in pi's own list is that of the last message: labels
/// and settings do not count.
fn active(timestamp: Option<Raw<'_>>, head: &Head, meta: &mut SessionMeta) {
    let stated = timestamp
        .and_then(|t| t.i64())
        .filter(|t| *t > 0)
        .map(Instant::from_millis);
    if let Some(time) = stated.or_else(|| head.instant()) {
        let known = meta.last_active.filter(|_| meta.messages > 1);
        meta.last_active = Some(known.map_or(time, |known| known.max(time)));
    }
}

fn began(time: Option<Instant>, meta: &mut SessionMeta) {
    if let Some(time) = time {
        meta.created = Some(meta.created.map_or(time, |known| known.min(time)));
    }
}

fn text_of(content: Option<Raw<'_>>) -> String {
    let Some(content) = content else {
        return String::new();
    };
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    let texts: Vec<_> = content
        .items()
        .filter(|b| b.get("type").is_some_and(|t| t.is("text")))
        .collect();
    let texts: Vec<_> = texts.iter().filter_map(|b| b.get("text")?.text()).collect();
    texts.join("\n")
}

/// Reads tokens and cost in the family's format.
pub(super) fn usage_of(usage: Raw<'_>) -> Usage {
    // Our own messages always contain numbers, because readers of the family add them up without a
    // check; `unknown` marks numbers that were not measured.
    if usage.get("unknown").and_then(|u| u.bool()) == Some(true) {
        return Usage::default();
    }
    let count = |key: &str| usage.get(key).and_then(|n| n.u64());
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        cache_write_1h: usage.at(&["cttl", "ephemeral1h"]).and_then(|n| n.u64()),
        reasoning: count("reasoning"),
        cost: usage
            .at(&["cost", "total"])
            .and_then(|c| c.f64())
            .filter(|c| c.is_finite()),
        premium_requests: usage
            .get("premiumRequests")
            .and_then(|n| n.f64())
            .filter(|n| n.is_finite()),
    }
}

#[cfg(test)]
mod tests;
