//! A record: its head, its view and its metadata.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Part, Said, SessionMeta, Usage, View};

use crate::members::{lossy, plain, text, time};
use crate::{content_blocks, google_parts};

/// Flags a record that cannot be the leaf: snapshots of artifacts stand beside the conversation.
pub(super) const ASIDE: Flags = Flags::OWN;

/// Fills in the head of a record.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let mut name = |key: &str| object.get(key)?.text().and_then(|text| names.intern(&text));
    (head.id, head.parent) = (name("uuid"), name("parentUuid"));
    let subtype = object.text("subtype");
    head.word = match subtype.as_deref() {
        Some(_) => name("subtype"),
        None => name("type"),
    };
    head.time = object.get("timestamp").and_then(time).map(Into::into);
    head.flags
        .set_if(object.get("parentUuid").is_some(), Flags::LINKED);
    let aside = object.get("isSidechain").and_then(|it| it.bool()) == Some(true);
    head.flags.set_if(aside, Flags::SIDECHAIN);
    head.kind = kind(object, subtype.as_deref(), &mut head.flags);
}

fn kind(object: &Object<'_>, subtype: Option<&str>, flags: &mut Flags) -> EntryKind {
    match object.text("type").as_deref() {
        Some("user") => {
            let is_prompt = matches!(subtype, None | Some("mid_turn_user_message"));
            flags.set_if(!is_prompt, Flags::HIDDEN);
            EntryKind::User
        }
        Some("assistant") => EntryKind::Assistant,
        Some("tool_result") => match view(object).results().next() {
            Some(_) => EntryKind::ToolResult,
            None => EntryKind::Meta,
        },
        Some("system") => system_kind(subtype.unwrap_or_default(), flags),
        _ => EntryKind::Unknown,
    }
}

fn system_kind(subtype: &str, flags: &mut Flags) -> EntryKind {
    match subtype {
        "chat_compression" => {
            flags.set(Flags::CUT);
            flags.set(Flags::SUMMARY);
            EntryKind::Compaction
        }
        "rewind" => EntryKind::Leaf,
        "custom_title" => EntryKind::Title,
        "session_model" => EntryKind::Setting,
        "file_history_snapshot" => EntryKind::FileSnapshot,
        "slash_command" | "at_command" | "notification" | "cron" => EntryKind::System,
        "" => EntryKind::Unknown,
        other => {
            flags.set(Flags::HIDDEN);
            flags.set_if(other.starts_with("session_artifact"), ASIDE);
            EntryKind::Meta
        }
    }
}

/// Returns the parts of a message: in Google's form, or in the form that other tools write.
pub(super) fn message_parts(message: Raw<'_>) -> Vec<Part> {
    match message.get("parts") {
        Some(parts) => google_parts::parts(Some(parts)),
        None => content_blocks::parts(message.get("content")),
    }
}

/// Returns the readable view of a record.
pub(super) fn view(object: &Object<'_>) -> View {
    let mut parts = object.get("message").map(message_parts).unwrap_or_default();
    let payload = object.get("systemPayload");
    let is_system = object.get("type").is_some_and(|it| it.is("system"));
    if is_system {
        return system(object, payload, parts);
    }
    add_display(object, &mut parts);
    let subtype = object.text("subtype");
    let hidden = matches!(subtype.as_deref(), Some(word) if word != "mid_turn_user_message");
    if parts.is_empty() {
        return View {
            hidden,
            ..other(object, None)
        };
    }
    View {
        parts,
        model: text(object.raw(), "model"),
        usage: usage(object),
        tool: google_parts::tool(object.get("message").and_then(|it| it.get("parts"))),
        hidden,
        ..View::default()
    }
}

/// Adds what the screen showed of a prompt or a result, where the message does not contain it.
fn add_display(object: &Object<'_>, parts: &mut Vec<Part>) {
    let result = object.get("toolCallResult");
    let shown = [
        object
            .get("systemPayload")
            .and_then(|it| it.get("displayText")),
        result.and_then(|it| it.get("resultDisplay")),
        result.and_then(|it| it.get("error")),
        result.and_then(|it| it.get("output")),
    ];
    for shown in shown.into_iter().flatten().filter(|it| !it.is_null()) {
        let text = plain(shown);
        let is_said = |part: &Part| match part {
            Part::Text(said) | Part::Result { text: said, .. } => said.contains(text.trim()),
            _ => false,
        };
        if text.trim().is_empty() || parts.iter().any(is_said) {
            continue;
        }
        parts.push(match shown.text() {
            Some(_) => Part::Text(text),
            None => Part::Other {
                word: "display".to_owned(),
                json: text,
            },
        });
    }
}

fn system(object: &Object<'_>, payload: Option<Raw<'_>>, parts: Vec<Part>) -> View {
    let subtype = object.text("subtype").unwrap_or_default().into_owned();
    let member = |key: &str| payload.and_then(|it| text(it, key));
    match subtype.as_str() {
        "custom_title" => {
            let title = member("customTitle").unwrap_or_default();
            View::remark(format!("title is now {title}"))
        }
        "rewind" => View::remark("went back"),
        "chat_compression" => {
            let history = contents(object);
            let shown = history.iter().flat_map(|content| message_parts(*content));
            View {
                remark: Some(format!(
                    "{} messages replace what came before",
                    history.len()
                )),
                ..View::of(shown.map(quoted))
            }
        }
        _ if !parts.is_empty() => View {
            hidden: true,
            ..View::of(parts.into_iter().map(quoted))
        },
        _ => other(object, payload),
    }
}

/// Calls are not offered as calls where nothing pairs them.
fn quoted(part: Part) -> Part {
    match part {
        Part::Result { text, .. } => Part::Text(text),
        Part::Call { name, input, .. } => Part::Other {
            json: input.text().to_owned(),
            word: name,
        },
        other => other,
    }
}

fn other(object: &Object<'_>, payload: Option<Raw<'_>>) -> View {
    let word = object.text("subtype").or_else(|| object.text("type"));
    let word = word.unwrap_or_default().into_owned();
    View {
        remark: Some(word.replace('_', " ")),
        ..View::of([Part::Other {
            word,
            json: lossy(payload.unwrap_or(object.raw())),
        }])
    }
}

/// Returns the messages of a compression.
pub(super) fn contents<'a>(object: &Object<'a>) -> Vec<Raw<'a>> {
    let payload = object.get("systemPayload");
    let history = payload.and_then(|it| it.get("compressedHistory"));
    history.into_iter().flat_map(|it| it.items()).collect()
}

/// Returns tokens. Cached ones are contained in the prompt; here they are apart.
pub(super) fn usage(object: &Object<'_>) -> Option<Usage> {
    let stated = object.get("usageMetadata")?;
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| stated.get(key)?.u64());
    let cached = count(["cachedContentTokenCount", "cachedTokens"]);
    let input = count(["promptTokenCount", "inputTokens"]);
    let usage = Usage {
        input: input.map(|n| n.saturating_sub(cached.unwrap_or(0))),
        output: count(["candidatesTokenCount", "outputTokens"]),
        cache_read: cached,
        reasoning: count(["thoughtsTokenCount", "reasoningTokens"]),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

/// Adds the facts that a record states about the session.
pub(super) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.saw(head);
    meta.count(head.word.map_or("", |word| names.text(word)));
    frame(object.raw(), meta);
    let payload = object.get("systemPayload").unwrap_or(Raw::trusted(b"{}"));
    match head.kind {
        EntryKind::User if !head.flags.has(Flags::HIDDEN) => {
            let parts = object.get("message").map(message_parts).unwrap_or_default();
            let shown = text(payload, "displayText");
            meta.saw_prompt(&shown.unwrap_or_else(|| content_blocks::said_text(&parts)));
        }
        EntryKind::Assistant => answered(object, head, names, meta),
        EntryKind::Title => {
            meta.title = text(payload, "customTitle");
            meta.title_source = text(payload, "titleSource");
        }
        EntryKind::Meta
            if head
                .word
                .is_some_and(|it| names.text(it) == "parent_session") =>
        {
            meta.parent = text(payload, "parentSessionId");
        }
        _ => {}
    }
}

/// Reads the members that every record has. Records of subagents in the file carry the same id; the
/// first record decides.
fn frame(record: Raw<'_>, meta: &mut SessionMeta) {
    if meta.id.is_none() {
        meta.id = text(record, "sessionId");
    }
    if meta.project.is_none() {
        meta.project = text(record, "cwd");
    }
    meta.agent_version = text(record, "version").or_else(|| meta.agent_version.take());
    meta.git_branch = text(record, "gitBranch").or_else(|| meta.git_branch.take());
}

fn answered(object: &Object<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let view = view(object);
    meta.tool_calls += view.calls().count() as u64;
    if let Some(model) = &view.model {
        meta.saw_model(model);
    }
    if let Some(usage) = view.usage {
        let said = Said {
            at: head.instant(),
            model: view.model.as_deref().and_then(|model| names.intern(model)),
            ..Said::default()
        };
        meta.usage.note_said(head.id, usage, said);
    }
}
