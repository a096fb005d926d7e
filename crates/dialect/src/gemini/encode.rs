//! New messages, as version 0.61.0 took them from a file that was written by hand.

use boswell_model::json::Json;
use boswell_model::{Advice, Error, MediaSource, Part, Result};

use crate::{
    AssistantMessage, Body, Draft, EntryStamp, one_object, refuse_unwritable_parts, unsupported,
};

pub(super) const NAME: &str = "gemini";

/// Encodes a draft as a line.
pub(super) fn encode(draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
    refuse_unwritable_parts(NAME, &draft.body)?;
    let message = |kind: &str, content: Vec<Json>| {
        Json::object()
            .with("id", stamp.id)
            .with("timestamp", stamp.at.to_rfc3339())
            .with("type", kind)
            .with("content", content)
    };
    let record = match &draft.body {
        Body::User(parts) => message("user", encoded(parts)?),
        Body::Assistant(answer) => with_usage(message("gemini", encoded(&answer.content)?), answer),
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => message("user", vec![response(call, tool, content, *is_error)?]),
        Body::Native(bytes) => {
            let bytes = one_object(bytes)?.bytes().iter().copied();
            return Ok(bytes.filter(|it| !matches!(it, b'\n' | b'\r')).collect());
        }
        _ => {
            let instead = "it has messages of user and model, and answers of tools";
            return Err(unsupported(
                NAME,
                "hold an entry of this kind",
                Advice::from(instead).also(Advice::Rename),
            ));
        }
    };
    Ok(record.to_bytes())
}

/// Tokens as the program counts them: the input contains what came from the cache.
fn with_usage(message: Json, answer: &AssistantMessage) -> Json {
    let usage = &answer.usage;
    let [cached, thoughts, output] = [usage.cache_read, usage.reasoning, usage.output];
    let tokens = usage.input.map(|input| {
        let input = input.saturating_add(cached.unwrap_or(0));
        let total = [output, thoughts]
            .into_iter()
            .flatten()
            .fold(input, u64::saturating_add);
        Json::object()
            .with("input", input)
            .with("output", output.unwrap_or(0))
            .with("cached", cached.unwrap_or(0))
            .with("thoughts", thoughts.unwrap_or(0))
            .with("tool", 0)
            .with("total", total)
    });
    message
        .with_some("tokens", tokens)
        .with_some("model", answer.model.as_deref())
}

fn encoded(parts: &[Part]) -> Result<Vec<Json>> {
    parts.iter().map(part).collect()
}

fn part(part: &Part) -> Result<Json> {
    Ok(match part {
        Part::Text(text) => Json::object().with("text", text.as_str()),
        Part::Thinking { text, signature } => Json::object()
            .with("text", text.as_str())
            .with("thought", true)
            .with_some("thoughtSignature", signature.as_deref()),
        Part::Call { id, name, input } => {
            let call = Json::object()
                .with("id", id.as_str())
                .with("name", name.as_str())
                .with("args", input.to_object());
            Json::object().with("functionCall", call)
        }
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } => {
            let data = Json::object()
                .with("mimeType", mime.as_str())
                .with("data", data.as_str());
            Json::object().with("inlineData", data)
        }
        _ => return Err(no_place()),
    })
}

fn response(call: &str, tool: &str, content: &[Part], is_error: bool) -> Result<Json> {
    let mut texts = Vec::new();
    for part in content {
        match part {
            Part::Text(text) => texts.push(text.as_str()),
            _ => return Err(no_place()),
        }
    }
    let key = if is_error { "error" } else { "output" };
    let response = Json::object()
        .with("id", call)
        .with("name", tool)
        .with("response", Json::object().with(key, texts.join("\n")));
    Ok(Json::object().with("functionResponse", response))
}

fn no_place() -> Error {
    unsupported(NAME, "hold such a part here", "append its text alone")
}
