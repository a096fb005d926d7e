//! Encodes drafts as rows of open-agent-sdk.

use boswell_model::json::{Json, Raw, insert_member};
use boswell_model::{Advice, Error, ErrorKind, Instant, Part, Result};

use crate::{AssistantMessage, Body, Draft, one_object, unsupported};

/// The ids and the time of a new row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bearing<'a> {
    /// Id of the row.
    pub(crate) uuid: &'a str,
    /// Id of the session.
    pub(crate) session: &'a str,
    /// Time of the row.
    pub(crate) at: Instant,
}

/// Encodes a draft as a row, without the line end.
pub(crate) fn row(draft: &Draft, bearing: Bearing<'_>) -> Result<Vec<u8>> {
    let row = |kind: &str| {
        Json::object()
            .with("type", kind)
            .with("uuid", bearing.uuid)
            .with("session_id", bearing.session)
    };
    let timed = |kind: &str| row(kind).with("timestamp", bearing.at.to_rfc3339());
    Ok(match &draft.body {
        Body::User(parts) => {
            let message = Json::object()
                .with("role", "user")
                .with("content", text(parts)?);
            timed("user")
                .with("message", message)
                .with("parent_tool_use_id", Json::Null)
        }
        Body::Assistant(answer) => assistant(timed("assistant"), answer)?,
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => row("tool_result")
            .with("tool_use_id", call.as_str())
            .with("tool_name", tool.as_str())
            .with("result", text(content)?)
            .with("is_error", *is_error),
        Body::Native(bytes) => return native(bytes, bearing),
        _ => {
            return Err(unsupported(
                "oas",
                "hold an entry of this kind",
                Advice::from("it has messages of user and model, and answers of tools")
                    .also(Advice::Tag.or(Advice::Rename)),
            ));
        }
    }
    .to_bytes())
}

fn assistant(row: Json, answer: &AssistantMessage) -> Result<Json> {
    let mut content = Vec::new();
    let mut calls = Vec::new();
    for part in &answer.content {
        match part {
            Part::Text(text) => {
                content.push(Json::object().with("type", "text").with("text", text))
            }
            Part::Call { id, name, input } => {
                let arguments = input.to_object();
                let block = Json::object()
                    .with("type", "tool_use")
                    .with("id", id)
                    .with("name", name);
                let function = Json::object()
                    .with("name", name)
                    .with("arguments", arguments.to_string());
                content.push(block.with("input", arguments));
                calls.push(
                    Json::object()
                        .with("id", id)
                        .with("type", "function")
                        .with("function", function),
                );
            }
            _ => return Err(no_place()),
        }
    }
    let stop = answer
        .stop_reason
        .as_deref()
        .unwrap_or(if calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        });
    let message = Json::object()
        .with("role", "assistant")
        .with("content", content)
        .with("tool_calls", calls);
    let (input, output) = (answer.usage.input, answer.usage.output);
    let usage = input.is_some() || output.is_some();
    let usage = usage.then(|| {
        Json::object()
            .with_some("input_tokens", input)
            .with_some("output_tokens", output)
    });
    Ok(row
        .with("message", message)
        .with("parent_tool_use_id", Json::Null)
        .with_some("model", answer.model.as_deref())
        .with_some("usage", usage)
        .with("stop_reason", stop))
}

fn text(parts: &[Part]) -> Result<String> {
    let mut whole = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => whole.push(text.as_str()),
            _ => return Err(no_place()),
        }
    }
    Ok(whole.join("\n"))
}

fn no_place() -> Error {
    unsupported("oas", "hold images or reasoning", "append the text alone")
}

/// Encodes a draft that already is a row of the SDK; missing ids are added at its end.
fn native(bytes: &[u8], bearing: Bearing<'_>) -> Result<Vec<u8>> {
    let raw = one_object(bytes)?;
    let is = |word: &str| raw.get("type").is_some_and(|kind| kind.is(word));
    if !["user", "assistant", "tool_result", "system", "result"]
        .iter()
        .any(|word| is(word))
    {
        return Err(Error::new(
            ErrorKind::Invalid,
            "the record is not a row of open-agent-sdk",
        )
        .because("its `type` is none of user, assistant, tool_result, system, result")
        .advising(r#"write {"role":"user","text":"…"} to have one made"#));
    }
    let mut row = raw.bytes().to_vec();
    for (key, value) in [("uuid", bearing.uuid), ("session_id", bearing.session)] {
        if Raw::trusted(&row).get(key).is_none() {
            let fault = |fault: boswell_model::json::SyntaxError| {
                Error::new(ErrorKind::Invalid, fault.to_string())
            };
            row = insert_member(&row, key, &Json::from(value).to_bytes()).map_err(fault)?;
        }
    }
    row.retain(|byte| *byte != b'\n' && *byte != b'\r');
    Ok(row)
}
