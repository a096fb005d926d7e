//! An event: of the newer program, with a `kind`, or of the older server, with an action or an
//! observation.

use std::collections::BTreeSet;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Part};

use crate::content_blocks;
use crate::members::{lossy, plain, text};

/// Returns the kind of an event.
pub(super) fn kind(object: &Object<'_>) -> EntryKind {
    let is_user = object.get("source").is_some_and(|it| it.is("user"));
    match object.text("kind").as_deref() {
        Some("SystemPromptEvent") => EntryKind::System,
        Some("MessageEvent") => {
            let role = object.get("llm_message").and_then(|it| text(it, "role"));
            match role.as_deref() {
                Some("user") => EntryKind::User,
                Some("assistant") => EntryKind::Assistant,
                Some("tool") => EntryKind::ToolResult,
                Some("system") => EntryKind::System,
                _ if is_user => EntryKind::User,
                _ => EntryKind::Unknown,
            }
        }
        Some("ActionEvent") => EntryKind::Assistant,
        Some("ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent") => {
            EntryKind::ToolResult
        }
        Some("Condensation") => match object.get("summary").and_then(|it| it.text()) {
            Some(_) => EntryKind::Compaction,
            None => EntryKind::Meta,
        },
        Some("PauseEvent" | "ConversationStateUpdateEvent" | "CondensationRequest") => {
            EntryKind::Meta
        }
        Some(_) => EntryKind::Unknown,
        None => older_kind(object, is_user),
    }
}

fn older_kind(object: &Object<'_>, is_user: bool) -> EntryKind {
    match object.text("action").as_deref() {
        Some("message") if is_user => EntryKind::User,
        Some("message" | "finish" | "think") => EntryKind::Assistant,
        Some("system") => EntryKind::System,
        Some("change_agent_state" | "recall" | "null") => EntryKind::Meta,
        Some(_) => EntryKind::Assistant,
        None => match object.text("observation").as_deref() {
            Some("agent_state_changed" | "null" | "recall") => EntryKind::Meta,
            Some(_) => EntryKind::ToolResult,
            None => EntryKind::Unknown,
        },
    }
}

/// Returns the ids of the events that a condensation forgot.
pub(super) fn forgotten(object: &Object<'_>) -> BTreeSet<String> {
    let ids = object.get("forgotten_event_ids").into_iter();
    ids.flat_map(|it| it.items()).map(plain).collect()
}

/// Returns the parts of an event that is a message.
pub(super) fn parts(object: &Object<'_>) -> Option<Vec<Part>> {
    match object.text("kind").as_deref() {
        Some("SystemPromptEvent") => {
            let prompt = object.get("system_prompt")?;
            Some(content_blocks::parts(Some(prompt)))
        }
        Some("MessageEvent") => {
            let message = object.get("llm_message")?;
            let mut parts = thoughts(message);
            parts.extend(content(message.get("content")));
            parts.extend(content(object.get("extended_content")));
            Some(parts)
        }
        Some("ActionEvent") => Some(action(object)),
        Some("ObservationEvent") => {
            let call = text(object.raw(), "tool_call_id").unwrap_or_default();
            Some(observation(call, object.get("observation")?))
        }
        Some("UserRejectObservation") => Some(refused(object, "rejection_reason")),
        Some("AgentErrorEvent") => Some(refused(object, "error")),
        Some(_) => None,
        None => older_parts(object),
    }
}

/// Blocks of this program name several images each.
fn content(content: Option<Raw<'_>>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    if content.text().is_some() {
        return content_blocks::parts(Some(content));
    }
    let blocks = content
        .items()
        .flat_map(|block| match block.get("image_urls") {
            Some(urls) => {
                let urls = urls.items().filter_map(|url| url.text());
                urls.map(|url| crate::media_part::of_url(&url)).collect()
            }
            None => content_blocks::parts(Some(block)),
        });
    blocks.collect()
}

fn thoughts(message: Raw<'_>) -> Vec<Part> {
    let blocks = content_blocks::parts(message.get("thinking_blocks"));
    let mut found: Vec<Part> = blocks
        .into_iter()
        .filter(|part| matches!(part, Part::Thinking { .. }))
        .collect();
    if found.is_empty() {
        found.extend(text(message, "reasoning_content").map(Part::thinking));
    }
    found
}

fn action(object: &Object<'_>) -> Vec<Part> {
    let raw = object.raw();
    let mut parts = thoughts(raw);
    parts.extend(content(object.get("thought")));
    let call = object.get("tool_call");
    let named = |key: &str| call.and_then(|it| text(it, key));
    let input = call.and_then(|it| it.get("arguments"));
    let id = text(raw, "tool_call_id").or_else(|| named("id"));
    parts.push(Part::Call {
        id: id.unwrap_or_default(),
        name: text(raw, "tool_name")
            .or_else(|| named("name"))
            .unwrap_or_default(),
        input: input
            .or_else(|| object.get("action"))
            .map(plain)
            .unwrap_or_default()
            .into(),
    });
    parts.extend(text(raw, "summary").map(|summary| Part::Other {
        word: "summary".to_owned(),
        json: summary,
    }));
    parts
}

/// The result of a call: its content, and the JSON of an observation that has none.
fn observation(call: String, observation: Raw<'_>) -> Vec<Part> {
    let failed = observation.get("is_error").and_then(|it| it.bool()) == Some(true);
    let said = observation.get("content").map(|it| content(Some(it)));
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in said.unwrap_or_default() {
        match part {
            Part::Text(text) => texts.push(text),
            other => files.push(other),
        }
    }
    if texts.is_empty() {
        texts.push(lossy(observation));
    }
    let mut parts = vec![Part::Result {
        call,
        text: texts.join("\n"),
        is_error: failed,
    }];
    parts.append(&mut files);
    parts
}

fn refused(object: &Object<'_>, key: &str) -> Vec<Part> {
    vec![Part::Result {
        call: text(object.raw(), "tool_call_id").unwrap_or_default(),
        text: text(object.raw(), key).unwrap_or_default(),
        is_error: true,
    }]
}

fn older_parts(object: &Object<'_>) -> Option<Vec<Part>> {
    let args = object.get("args");
    let said = args.and_then(|it| text(it, "content"));
    let id = object.get("id").map(plain).unwrap_or_default();
    match (object.text("action"), object.text("observation")) {
        (Some(word), _) if matches!(&*word, "message" | "system") => {
            Some(said.map(Part::Text).into_iter().collect())
        }
        (Some(word), _) => {
            let thought = args.and_then(|it| text(it, "thought"));
            let mut parts: Vec<Part> = thought.map(Part::Text).into_iter().collect();
            parts.push(Part::Call {
                id,
                name: word.into_owned(),
                input: args.map(plain).unwrap_or_default().into(),
            });
            Some(parts)
        }
        (None, Some(_)) => Some(vec![Part::Result {
            // It names the event that caused it.
            call: object.get("cause").map(plain).unwrap_or_default(),
            text: text(object.raw(), "content").unwrap_or_default(),
            is_error: object.get("observation").is_some_and(|it| it.is("error")),
        }]),
        (None, None) => None,
    }
}
