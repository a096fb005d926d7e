//! Messages and their parts, to and from JSON.
//!
//! What a message is described as can be appended again.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Error, Part, Result, Usage};
use boswell_store::writer::{AssistantMessage, MediaSource, ToolInput};
use boswell_store::{Body, ChatMessage, Role};

use crate::{HandedMessage, Language, refused};

/// Reads a message: an object with `role` and `content`.
///
/// # Errors
///
/// `Invalid` if it is none.
pub fn message_body(text: &str, language: Language) -> Result<Body> {
    let Ok(raw) = Raw::parse(text.as_bytes()) else {
        return Err(refused("a message is not valid JSON", part_hint(language)));
    };
    Given { raw, language }.body()
}

fn part_hint(language: Language) -> String {
    let part = language.object(&[("type", "\"text\""), ("text", "…")]);
    let page = language.page();
    format!("a part is {part}, or of the type `thinking`, `tool_call` or `image`; see {page}")
}

/// A value that a caller gave: a message, a part, or a usage.
#[derive(Clone, Copy)]
struct Given<'a> {
    raw: Raw<'a>,
    language: Language,
}

impl<'a> Given<'a> {
    fn body(self) -> Result<Body> {
        let role: String = self.required("role")?;
        let content = match self.raw.get("content").filter(|it| !it.is_null()) {
            Some(content) => self.parts(content)?,
            None => Vec::new(),
        };
        match role.as_str() {
            "user" => Ok(Body::User(content)),
            "assistant" => Ok(Body::Assistant(Box::new(AssistantMessage {
                content,
                provider: self.optional("provider")?,
                model: self.optional("model")?,
                usage: self.usage()?,
                stop_reason: self.optional("stop_reason")?,
                error: self.optional("error")?,
            }))),
            "tool" => Ok(Body::ToolResult {
                call: self.required("call")?,
                tool: self.optional("tool")?.unwrap_or_default(),
                content,
                is_error: self.optional("is_error")?.unwrap_or(false),
            }),
            // The format has no system messages: a prompt of the system is text of an extension
            // that the model sees.
            "system" => Ok(Body::CustomMessage {
                kind: "system".to_owned(),
                content,
                display: false,
            }),
            other => Err(refused(
                format!("`{}` is not a role", other.escape_debug()),
                "a role is user, assistant, tool or system; any other record needs a `type`",
            )),
        }
    }

    fn usage(self) -> Result<Usage> {
        let Some(raw) = self.raw.get("usage").filter(|it| !it.is_null()) else {
            return Ok(Usage::default());
        };
        if raw.kind() != RawKind::Object {
            return Err(self.other_type("usage"));
        }
        let given = Given { raw, ..self };
        Ok(Usage {
            input: given.optional("input")?,
            output: given.optional("output")?,
            cache_read: given.optional("cache_read")?,
            cache_write: given.optional("cache_write")?,
            reasoning: given.optional("reasoning")?,
            cost: given.optional("cost")?,
            ..Usage::default()
        })
    }

    fn parts(self, content: Raw<'a>) -> Result<Vec<Part>> {
        let of = |raw| Given { raw, ..self };
        match content.kind() {
            RawKind::String => Ok(vec![Part::Text(of(content).text("content")?)]),
            RawKind::Array => content.items().map(|item| of(item).part()).collect(),
            _ => Err(self.other_type("content")),
        }
    }

    fn part(self) -> Result<Part> {
        if self.raw.kind() == RawKind::String {
            return Ok(Part::Text(self.text("content")?));
        }
        let word: String = self.required("type")?;
        Ok(match word.as_str() {
            "text" => Part::Text(self.required("text")?),
            "thinking" => Part::Thinking {
                text: self.required("text")?,
                signature: self.optional("signature")?,
            },
            "tool_call" => Part::Call {
                id: self.required("id")?,
                name: self.required("name")?,
                input: self.input()?,
            },
            "image" => Part::Media {
                mime: Some(self.required("mime")?),
                source: MediaSource::Inline(self.required("data")?),
            },
            _ => {
                let what = format!("`{}` is not a part of a message", word.escape_debug());
                return Err(refused(what, part_hint(self.language)));
            }
        })
    }

    /// Arguments of a call: text stays as it is, everything else stays the JSON that it is.
    fn input(self) -> Result<ToolInput> {
        match self.raw.get("arguments") {
            None => Ok(ToolInput::default()),
            Some(raw) if raw.kind() == RawKind::String => {
                Ok(Given { raw, ..self }.text("arguments")?.into())
            }
            Some(value) => Ok(Json::from(value).into()),
        }
    }

    fn text(self, key: &str) -> Result<String> {
        String::read(self.raw).ok_or_else(|| self.other_type(key))
    }

    fn required<T: Member>(self, key: &str) -> Result<T> {
        self.optional(key)?.ok_or_else(|| {
            let key = self.language.member(key);
            let what = format!("`{key}` of a message or a part is missing");
            refused(what, part_hint(self.language))
        })
    }

    /// Returns a member; none if it is missing or `null`.
    fn optional<T: Member>(self, key: &str) -> Result<Option<T>> {
        let member = self.raw.get(&self.language.member(key));
        match member.filter(|value| !value.is_null()) {
            Some(value) => T::read(value).map(Some).ok_or_else(|| self.other_type(key)),
            None => Ok(None),
        }
    }

    fn other_type(self, key: &str) -> Error {
        let key = self.language.member(key);
        let what =
            format!("`{key}` of a message or a part has another type, or is not Unicode text");
        refused(what, part_hint(self.language))
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

/// Describes messages as the text of a JSON array.
pub fn messages_text(messages: &[HandedMessage], language: Language) -> String {
    let describe = |handed: &HandedMessage| {
        let made = message_json(&handed.message, language);
        made.with_some("interrupted", handed.interrupted.then_some(true))
    };
    Json::Array(messages.iter().map(describe).collect()).to_string()
}

fn message_json(message: &ChatMessage, language: Language) -> Json {
    let is_error_member = language.member("is_error");
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
            .with(&is_error_member, *is_error),
        _ => made.with("role", "unknown"),
    };
    let parts = message.parts.iter();
    let parts = parts
        .map(|part| part_json(part, &is_error_member))
        .collect();
    made.with("content", Json::Array(parts))
}

fn part_json(part: &Part, is_error_member: &str) -> Json {
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
            .with(is_error_member, *is_error),
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
