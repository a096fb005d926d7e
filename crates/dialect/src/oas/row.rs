//! The rows after the header: messages, tool results, and system messages of the SDK.

use std::borrow::Cow;

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{
    EntryKind, Flags, Head, Instant, Interner, Part, Said, SessionMeta, Usage, View,
};

use super::header;

/// Fills in the head of a record. Rows name no parent; the rows of a fork have the ids of the
/// source session.
pub(crate) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let word = object.text("type");
    head.kind = match word.as_deref() {
        Some("session_header") => EntryKind::Header,
        Some("user") => EntryKind::User,
        Some("assistant") => EntryKind::Assistant,
        Some("tool_result") => EntryKind::ToolResult,
        Some("system") => system_kind(object),
        Some("result") => EntryKind::Meta,
        _ => EntryKind::Unknown,
    };
    head.word = word.and_then(|w| names.intern(&w));
    head.id = object.text("uuid").and_then(|id| names.intern(&id));
    let time = if head.kind == EntryKind::Header {
        header::millis(object.get("createdAt"))
    } else {
        time(object)
    };
    head.time = time.map(Into::into);
    head.flags
        .set_if(head.kind == EntryKind::Compaction, Flags::CUT);
    let inside_tool = object
        .get("parent_tool_use_id")
        .is_some_and(|id| id.string().is_some());
    head.flags.set_if(inside_tool, Flags::SIDECHAIN);
    let failed = object.get("is_error").and_then(|e| e.bool()) == Some(true);
    head.flags
        .set_if(failed && head.kind == EntryKind::Meta, Flags::ERROR);
}

fn system_kind(object: &Object<'_>) -> EntryKind {
    match object.text("subtype").as_deref() {
        Some("compact_boundary") => EntryKind::Compaction,
        Some("skill") => EntryKind::CustomMessage,
        Some("init") => EntryKind::Setting,
        _ => EntryKind::System,
    }
}

fn time(object: &Object<'_>) -> Option<Instant> {
    let stated = object.get("timestamp")?;
    stated
        .text()
        .and_then(|text| Instant::parse(&text))
        .or_else(|| header::millis(Some(stated)))
}

/// Adds the facts that a record states about its session.
pub(crate) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.count(head.word.map_or("", |w| names.text(w)));
    if head.kind == EntryKind::Header {
        if meta.id.is_none() {
            header::collect_meta(object, meta);
        }
        return;
    }
    fold_time(head, meta);
    match head.kind {
        EntryKind::User => {
            meta.turns += 1;
            meta.messages += 1;
            meta.saw_prompt(&view(object).text());
        }
        EntryKind::Assistant => {
            meta.messages += 1;
            meta.tool_calls = meta.tool_calls.saturating_add(calls(object).len() as u64);
            if let Some(model) = object.text("model") {
                meta.saw_model(&model);
            }
            if let Some(usage) = usage(object) {
                let model = object.text("model").and_then(|model| names.intern(&model));
                let said = Said {
                    at: head.instant(),
                    model,
                    everywhere: true,
                    ..Said::default()
                };
                meta.usage.note_said(head.id, usage, said);
            }
        }
        EntryKind::Setting => {
            meta.project = meta
                .project
                .take()
                .or_else(|| object.text("cwd").map(Cow::into_owned));
            meta.permission_mode = object
                .text("permissionMode")
                .map(Cow::into_owned)
                .or(meta.permission_mode.take());
        }
        _ => {}
    }
}

/// Updates the end time of a session, not its creation time: the rows of a fork are older than the
/// fork.
fn fold_time(head: &Head, meta: &mut SessionMeta) {
    let born = meta.created;
    meta.saw(head);
    if born.is_some() && meta.id.is_some() {
        meta.created = born;
    }
}

fn usage(object: &Object<'_>) -> Option<Usage> {
    let stated = object.get("usage")?;
    let count = |key: &str| stated.get(key).and_then(|n| n.u64());
    let usage = Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

/// Returns the readable view of a record.
pub(crate) fn view(object: &Object<'_>) -> View {
    let text = |key: &str| object.text(key).unwrap_or_default().into_owned();
    match text("type").as_str() {
        "session_header" => View::remark(format!(
            "session {} with {}/{}",
            text("id"),
            text("provider"),
            text("model")
        )),
        "user" => View {
            parts: blocks(object),
            ..View::default()
        },
        "assistant" => View {
            parts: blocks(object),
            model: object.text("model").map(Cow::into_owned),
            usage: usage(object),
            stop: object.text("stop_reason").map(|stop| stop.into_owned()),
            ..View::default()
        },
        "tool_result" => {
            let is_error = object.get("is_error").and_then(|e| e.bool()) == Some(true);
            let result = object.get("result").map(any_text).unwrap_or_default();
            let answer = Part::Result {
                call: text("tool_use_id"),
                text: result,
                is_error,
            };
            let tool = object.text("tool_name").map(Cow::into_owned);
            View {
                parts: vec![answer],
                tool,
                ..View::default()
            }
        }
        "system" => system_view(object),
        "result" => View::remark(format!("run ended: {}", text("subtype"))),
        // A header with a duplicate `type` gets here too, and it still contains secrets.
        _ => View::remark(String::from_utf8_lossy(&header::redact_header(
            object.raw().bytes(),
        ))),
    }
}

fn system_view(object: &Object<'_>) -> View {
    let text = |key: &str| object.text(key).unwrap_or_default().into_owned();
    match text("subtype").as_str() {
        "compact_boundary" => {
            let of = |key| {
                object
                    .get("compact_metadata")
                    .and_then(|m| m.get(key))
                    .map(any_text)
                    .unwrap_or_default()
            };
            View::remark(format!(
                "compacted ({}), {} tokens before",
                of("trigger"),
                of("pre_tokens")
            ))
        }
        "skill" => View {
            remark: Some(format!("skill {}", text("skill_name"))),
            ..View::text_only(text("skill_content"))
        },
        "init" => View::remark(format!(
            "started with {}/{} in {}",
            text("provider"),
            text("model"),
            text("cwd")
        )),
        _ => View::remark(lossy(object.raw())),
    }
}

/// Returns the parts of a message: those of `content`, then the calls that are only in
/// `tool_calls`.
fn blocks(object: &Object<'_>) -> Vec<Part> {
    let Some(message) = object.get("message") else {
        return Vec::new();
    };
    let mut out = Vec::new();
    match message.get("content") {
        Some(content) if content.kind() == RawKind::Array => out.extend(content.items().map(block)),
        Some(content) if !content.is_null() => out.push(Part::Text(any_text(content))),
        _ => {}
    }
    let apart = calls_apart(message);
    out.extend(apart.into_iter().map(|call| Part::Call {
        id: call.id,
        name: call.name,
        input: call.arguments.into(),
    }));
    out
}

/// A call that is in `tool_calls` and not in `content`.
#[derive(Debug)]
pub(crate) struct CallApart {
    id: String,
    name: String,
    arguments: String,
}

impl CallApart {
    /// Returns the call as a part of `content`. Arguments that are not JSON stay text.
    pub(crate) fn to_part(&self) -> Json {
        let arguments = Raw::parse(self.arguments.as_bytes()).map(Json::from);
        let input = arguments.unwrap_or_else(|_| Json::from(self.arguments.as_str()));
        Json::object()
            .with("type", "tool_use")
            .with("id", self.id.as_str())
            .with("name", self.name.as_str())
            .with("input", input)
    }
}

/// Returns the calls of a message that are only in `tool_calls`. The SDK writes most calls to both
/// lists, and sends those of either.
pub(crate) fn calls_apart(message: Raw<'_>) -> Vec<CallApart> {
    let text = |value: Option<Raw<'_>>| value.map(any_text).unwrap_or_default();
    let parts = message.get("content");
    let calls = parts.iter().flat_map(|parts| parts.items());
    let calls = calls.filter(|part| part.get("type").is_some_and(|word| word.is("tool_use")));
    let mut known: Vec<String> = calls.map(|call| text(call.get("id"))).collect();
    let mut apart = Vec::new();
    let second = message.get("tool_calls");
    for call in second.iter().flat_map(|calls| calls.items()) {
        let id = text(call.get("id"));
        // Two calls without an id are not the same call.
        if !id.is_empty() && known.contains(&id) {
            continue;
        }
        known.push(id.clone());
        apart.push(CallApart {
            id,
            name: text(call.at(&["function", "name"])),
            arguments: text(call.at(&["function", "arguments"])),
        });
    }
    apart
}

fn block(item: Raw<'_>) -> Part {
    let text = |key: &str| item.get(key).and_then(|t| t.text()).map(Cow::into_owned);
    let word = text("type").unwrap_or_default();
    match (word.as_str(), text("text")) {
        ("text", Some(text)) => Part::Text(text),
        ("tool_use", _) => Part::Call {
            id: text("id").unwrap_or_default(),
            name: text("name").unwrap_or_default(),
            input: item
                .get("input")
                .map_or_else(|| "{}".to_owned(), lossy)
                .into(),
        },
        _ => Part::Other {
            word,
            json: lossy(item),
        },
    }
}

fn calls(object: &Object<'_>) -> Vec<Part> {
    blocks(object)
        .into_iter()
        .filter(|b| matches!(b, Part::Call { .. }))
        .collect()
}

/// Returns the text of a string, or the JSON of any other value.
fn any_text(value: Raw<'_>) -> String {
    value.text().map_or_else(|| lossy(value), Cow::into_owned)
}

fn lossy(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}
