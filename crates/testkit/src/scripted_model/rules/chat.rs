//! OpenAI's chat completions, which most other providers copy.

use serde_json::Value;

use super::{Checked, check_image_url, is_plain, items, require, text};

pub(super) fn check(body: &Value) -> Checked {
    let messages = items(&body["messages"]);
    require(!messages.is_empty(), "[] is too short - 'messages'")?;
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(&message["role"]);
        if role == "tool" {
            // simonw/llm#937: "messages with role 'tool' must be a response to a preceeding
            // message with 'tool_calls'".
            let id = text(&message["tool_call_id"]);
            let known = open.iter().position(|open| open == id);
            let Some(known) = known else {
                return Err(format!(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls': {id:?}"
                ));
            };
            open.remove(known);
            continue;
        }
        // agno-agi/agno#3105: "An assistant message with 'tool_calls' must be followed by tool
        // messages responding to each 'tool_call_id'".
        require(open.is_empty(), unanswered(&open))?;
        let known = ["user", "assistant", "system", "developer"];
        require(
            known.contains(&role),
            format!("messages[{at}].role: {role:?}"),
        )?;
        check_content(at, role, message)?;
        open = check_calls(at, message)?;
    }
    require(open.is_empty(), unanswered(&open))
}

fn unanswered(open: &[String]) -> String {
    format!("An assistant message with 'tool_calls' must be followed by tool messages: {open:?}")
}

/// <https://platform.openai.com/docs/api-reference/chat/create>: content is required, unless an
/// answer has calls.
fn check_content(at: usize, role: &str, message: &Value) -> Checked {
    let is_given = match &message["content"] {
        Value::String(said) => !said.is_empty(),
        Value::Array(parts) => !parts.is_empty(),
        _ => false,
    };
    let has_calls = role == "assistant" && !items(&message["tool_calls"]).is_empty();
    require(
        is_given || has_calls,
        format!("messages[{at}].content is required"),
    )?;
    for part in items(&message["content"]) {
        if part["type"] == "image_url" {
            // openai/openai-node#1030: "Image URLs are only allowed for messages with role 'user'".
            require(
                role == "user",
                format!("messages[{at}]: an image of a model"),
            )?;
            check_image_url(text(&part["image_url"]["url"]))?;
        }
    }
    Ok(())
}

fn check_calls(at: usize, message: &Value) -> Result<Vec<String>, String> {
    let mut open = Vec::new();
    for call in items(&message["tool_calls"]) {
        let id = text(&call["id"]);
        // anomalyco/opencode#12653: "Invalid 'messages[68].tool_calls[0].id': string too long.
        // Expected a string with maximum length 40".
        require(
            !id.is_empty() && id.len() <= 40,
            format!("Invalid 'messages[{at}].tool_calls[].id'"),
        )?;
        // https://platform.openai.com/docs/api-reference/chat/create: `a-z, A-Z, 0-9`, underscores
        // and dashes, 64 at most; mcp-use/mcp-use#90 has the error for a call in a history.
        let name = text(&call["function"]["name"]);
        require(
            is_plain(name, 64),
            format!("messages[{at}].tool_calls[].function.name"),
        )?;
        let arguments = text(&call["function"]["arguments"]);
        require(
            serde_json::from_str::<Value>(arguments).is_ok(),
            format!("messages[{at}].tool_calls[].function.arguments is not JSON"),
        )?;
        require(
            !open.iter().any(|open| open == id),
            format!("messages[{at}]: duplicate tool_call id"),
        )?;
        open.push(id.to_owned());
    }
    Ok(open)
}
