//! New messages, as version 0.61.0 took them from a file that was written by hand.

use boswell_model::Result;
use boswell_model::json::Json;

use crate::{
    AssistantMessage, Body, Draft, EntryStamp, google_parts, line_edits, refuse_unwritable_parts,
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
        Body::User(parts) => message("user", google_parts::encoded(NAME, parts)?),
        Body::Assistant(answer) => with_usage(
            message("gemini", google_parts::encoded(NAME, &answer.content)?),
            answer,
        ),
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => message(
            "user",
            vec![google_parts::encoded_result(
                NAME,
                (call, tool),
                content,
                *is_error,
            )?],
        ),
        Body::Native(bytes) => return line_edits::native(bytes),
        _ => return Err(line_edits::only_messages(NAME)),
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
