//! Messages and their parts, to and from JSON.
//!
//! What `Session.messages` returns can be appended again.

use boswell_store::model::Usage;
use boswell_store::model::json::{Json, Raw, RawKind};
use boswell_store::writer::{AssistantMessage, MediaSource, ToolInput};
use boswell_store::{Body, ChatMessage, Error, Part, Result, Role};

use crate::error::invalid;

const PART_HINT: &str = "a part is { type: \"text\", text: … }, or of the type `thinking`, \
                         `tool_call` or `image`; see docs/node.md";

/// Reads a message: an object with `role` and `content`.
pub(crate) fn body(text: &str) -> Result<Body> {
    let message = Raw::parse(text.as_bytes())
        .map_err(|_| invalid("a message is not valid JSON", PART_HINT))?;
    let role: String = required(message, "role")?;
    let content = match message.get("content").filter(|it| !it.is_null()) {
        Some(content) => parts(content)?,
        None => Vec::new(),
    };
    match role.as_str() {
        "user" => Ok(Body::User(content)),
        "assistant" => Ok(Body::Assistant(Box::new(AssistantMessage {
            content,
            provider: optional(message, "provider")?,
            model: optional(message, "model")?,
            usage: usage(message)?,
            stop_reason: optional(message, "stopReason")?,
            error: optional(message, "error")?,
        }))),
        "tool" => Ok(Body::ToolResult {
            call: required(message, "call")?,
            tool: optional(message, "tool")?.unwrap_or_default(),
            content,
            is_error: optional(message, "isError")?.unwrap_or(false),
        }),
        // The format has no system messages: a prompt of the system is text of an extension that
        // the model sees.
        "system" => Ok(Body::CustomMessage {
            kind: "system".to_owned(),
            content,
            display: false,
        }),
        other => Err(invalid(
            format!("`{}` is not a role", other.escape_debug()),
            "a role is user, assistant, tool or system; any other record needs a `type`",
        )),
    }
}

fn usage(message: Raw<'_>) -> Result<Usage> {
    let Some(given) = message.get("usage").filter(|it| !it.is_null()) else {
        return Ok(Usage::default());
    };
    if given.kind() != RawKind::Object {
        return Err(other_type("usage"));
    }
    Ok(Usage {
        input: optional(given, "input")?,
        output: optional(given, "output")?,
        cache_read: optional(given, "cacheRead")?,
        cache_write: optional(given, "cacheWrite")?,
        reasoning: optional(given, "reasoning")?,
        cost: optional(given, "cost")?,
        ..Usage::default()
    })
}

fn parts(content: Raw<'_>) -> Result<Vec<Part>> {
    match content.kind() {
        RawKind::String => Ok(vec![Part::Text(text(content, "content")?)]),
        RawKind::Array => content.items().map(part).collect(),
        _ => Err(other_type("content")),
    }
}

fn part(item: Raw<'_>) -> Result<Part> {
    if item.kind() == RawKind::String {
        return Ok(Part::Text(text(item, "content")?));
    }
    let word: String = required(item, "type")?;
    Ok(match word.as_str() {
        "text" => Part::Text(required(item, "text")?),
        "thinking" => Part::Thinking {
            text: required(item, "text")?,
            signature: optional(item, "signature")?,
        },
        "tool_call" => Part::Call {
            id: required(item, "id")?,
            name: required(item, "name")?,
            input: input(item)?,
        },
        "image" => Part::Media {
            mime: Some(required(item, "mime")?),
            source: MediaSource::Inline(required(item, "data")?),
        },
        _ => {
            return Err(invalid(
                format!("`{}` is not a part of a message", word.escape_debug()),
                PART_HINT,
            ));
        }
    })
}

/// Arguments of a call: text stays as it is, everything else stays the JSON that it is.
fn input(item: Raw<'_>) -> Result<ToolInput> {
    match item.get("arguments") {
        None => Ok(ToolInput::default()),
        Some(value) if value.kind() == RawKind::String => Ok(text(value, "arguments")?.into()),
        Some(value) => Ok(Json::from(value).into()),
    }
}

/// A type of a member.
trait Member: Sized {
    fn read(value: Raw<'_>) -> Option<Self>;
}

impl Member for String {
    fn read(value: Raw<'_>) -> Option<String> {
        // Half of a surrogate pair is no text, and would be replaced silently.
        String::from_utf8(value.string()?.to_wtf8().into_owned()).ok()
    }
}

impl Member for bool {
    fn read(value: Raw<'_>) -> Option<bool> {
        value.bool()
    }
}

impl Member for u64 {
    fn read(value: Raw<'_>) -> Option<u64> {
        value.u64()
    }
}

impl Member for f64 {
    fn read(value: Raw<'_>) -> Option<f64> {
        value.f64()
    }
}

fn text(value: Raw<'_>, key: &str) -> Result<String> {
    String::read(value).ok_or_else(|| other_type(key))
}

fn required<T: Member>(from: Raw<'_>, key: &str) -> Result<T> {
    optional(from, key)?.ok_or_else(|| {
        invalid(
            format!("`{key}` of a message or a part is missing"),
            PART_HINT,
        )
    })
}

/// Returns a member; none if it is missing or `null`.
fn optional<T: Member>(from: Raw<'_>, key: &str) -> Result<Option<T>> {
    match from.get(key).filter(|value| !value.is_null()) {
        Some(value) => T::read(value).map(Some).ok_or_else(|| other_type(key)),
        None => Ok(None),
    }
}

fn other_type(key: &str) -> Error {
    invalid(
        format!("`{key}` of a message or a part has another type, or is not Unicode text"),
        PART_HINT,
    )
}

/// Describes a message.
pub(crate) fn described(message: &ChatMessage) -> Json {
    let made = Json::object();
    let made = match &message.role {
        Role::System => made.with("role", "system"),
        Role::User => made.with("role", "user"),
        Role::Assistant => made.with("role", "assistant"),
        Role::Tool {
            call,
            tool,
            is_error,
        } => made
            .with("role", "tool")
            .with("call", call)
            .with("tool", tool)
            .with("isError", *is_error),
        _ => made.with("role", "unknown"),
    };
    let parts = message.parts.iter().map(described_part).collect();
    made.with("content", Json::Array(parts))
}

fn described_part(part: &Part) -> Json {
    let made = Json::object();
    match part {
        Part::Text(text) => made.with("type", "text").with("text", text),
        Part::Thinking { text, signature } => made
            .with("type", "thinking")
            .with("text", text)
            .with_some("signature", signature.as_deref()),
        Part::Call { id, name, input } => {
            let made = made
                .with("type", "tool_call")
                .with("id", id)
                .with("name", name);
            // Arguments that a model was interrupted in are not JSON, and stay text.
            match input.json() {
                Some(value) => made.with("arguments", value),
                None => made.with("arguments", input.text()),
            }
        }
        Part::Result {
            call,
            text,
            is_error,
        } => made
            .with("type", "tool_result")
            .with("call", call)
            .with("text", text)
            .with("isError", *is_error),
        Part::Media { mime, source } => {
            let made = made
                .with("type", "image")
                .with_some("mime", mime.as_deref());
            match source {
                MediaSource::Inline(data) => made.with("data", data),
                MediaSource::Reference(reference) => made.with("reference", reference),
            }
        }
        Part::Other { word, json } => made.with("type", word).with("json", json),
        _ => made.with("type", "unknown"),
    }
}
