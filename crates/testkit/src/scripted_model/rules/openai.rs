//! OpenAI's Responses API.

use std::collections::HashSet;

use serde_json::Value;

use super::{Checked, check_image_url, is_plain, items, require, text};

pub(super) fn check(body: &Value) -> Checked {
    let input = items(&body["input"]);
    let mut called: HashSet<&str> = HashSet::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for (at, item) in input.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "message" => check_message(at, item)?,
            "function_call" | "custom_tool_call" => {
                let id = text(&item["call_id"]);
                check_call(at, kind, item)?;
                require(
                    called.insert(id),
                    format!("input[{at}]: duplicate call_id {id:?}"),
                )?;
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = text(&item["call_id"]);
                // vercel/ai#8216: "No tool call found for function call output with call_id".
                require(
                    called.contains(id),
                    format!("No tool call found for function call output with call_id {id}"),
                )?;
                answered.insert(id);
                for part in items(&item["output"]) {
                    check_part(at, "user", part)?;
                }
            }
            "reasoning" => check_reasoning(at, item, body)?,
            _ => {}
        }
    }
    // bytedance/trae-agent#245: "No tool output found for function call".
    let open = called.difference(&answered).next();
    require(
        open.is_none(),
        format!("No tool output found for function call {open:?}"),
    )
}

fn check_call(at: usize, kind: &str, item: &Value) -> Checked {
    let id = text(&item["call_id"]);
    // openai/codex#14355: "Invalid 'input[4].call_id': string too long. Expected a string with
    // maximum length 64".
    require(
        !id.is_empty() && id.len() <= 64,
        format!("Invalid 'input[{at}].call_id'"),
    )?;
    // Names of functions: letters, digits, `_` and `-`, 64 at most, as for chat completions; see
    // `chat.rs`.
    require(
        is_plain(text(&item["name"]), 64),
        format!("Invalid 'input[{at}].name'"),
    )?;
    // https://platform.openai.com/docs/api-reference/responses: arguments are a JSON text.
    let is_json = serde_json::from_str::<Value>(text(&item["arguments"])).is_ok();
    require(
        kind != "function_call" || is_json,
        format!("Invalid 'input[{at}].arguments'"),
    )
}

/// <https://platform.openai.com/docs/api-reference/responses/create>: roles of input messages.
fn check_message(at: usize, item: &Value) -> Checked {
    let role = text(&item["role"]);
    let known = ["user", "assistant", "system", "developer"];
    require(
        known.contains(&role),
        format!("Invalid value: 'input[{at}].role'"),
    )?;
    if let Value::Array(parts) = &item["content"] {
        require(!parts.is_empty(), format!("input[{at}].content is empty"))?;
    }
    for part in items(&item["content"]) {
        check_part(at, role, part)?;
    }
    Ok(())
}

/// NousResearch/hermes-agent#15687: "Invalid value: 'input_text'. Supported values are:
/// 'output_text' and 'refusal'", for a part of the other side.
fn check_part(at: usize, role: &str, part: &Value) -> Checked {
    let kind = text(&part["type"]);
    let known: &[&str] = match role {
        "assistant" => &["output_text", "refusal"],
        _ => &["input_text", "input_image", "input_file"],
    };
    require(
        known.contains(&kind),
        format!("input[{at}]: Invalid value: {kind:?}. Supported values are: {known:?}"),
    )?;
    match kind {
        "input_image" => check_image_url(text(&part["image_url"])),
        _ => Ok(()),
    }
}

/// vercel/ai#7543: "Item with id 'rs_...' not found. Items are not persisted when `store` is set to
/// false", for reasoning without its encrypted content.
fn check_reasoning(at: usize, item: &Value, body: &Value) -> Checked {
    let is_stored = body["store"] != false;
    require(
        is_stored || !text(&item["encrypted_content"]).is_empty(),
        format!("input[{at}]: Item with id {} not found", item["id"]),
    )
}
