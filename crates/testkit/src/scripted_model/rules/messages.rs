//! Anthropic's Messages API.

use std::collections::HashSet;

use serde_json::Value;

use super::{Checked, is_base64, is_plain, items, require, text};

pub(super) fn check(body: &Value) -> Checked {
    let messages = items(&body["messages"]);
    // lobehub/lobehub#1601: "messages: first message must use the "user" role".
    require(
        !messages.is_empty(),
        "messages: at least one message is required",
    )?;
    let first = text(&messages[0]["role"]);
    require(
        first == "user",
        "messages: first message must use the \"user\" role",
    )?;
    let mut ids = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(&message["role"]);
        if role == "system" {
            check_instruction(at, messages)?;
            continue;
        }
        // https://docs.anthropic.com/en/api/messages: the other roles are `user` and `assistant`.
        let known = ["user", "assistant"];
        require(
            known.contains(&role),
            format!("messages.{at}: unexpected role {role:?}"),
        )?;
        let blocks = blocks(&message["content"]);
        let is_last = at + 1 == messages.len();
        // anthropics/claude-code#3196: "all messages must have non-empty content except for the
        // optional final assistant message".
        require(
            !blocks.is_empty() || (is_last && role == "assistant"),
            format!("messages.{at}: all messages must have non-empty content"),
        )?;
        open = match role {
            "user" => {
                check_results(at, &blocks, &open)?;
                Vec::new()
            }
            _ => {
                // anthropics/claude-code#8210: "`tool_use` ids were found without `tool_result`
                // blocks immediately after".
                require(open.is_empty(), unanswered(at, &open))?;
                check_calls(at, &blocks, &mut ids)?
            }
        };
        for block in &blocks {
            check_block(at, role, block)?;
        }
    }
    require(open.is_empty(), unanswered(messages.len(), &open))
}

/// <https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>: an
/// instruction between messages follows one of the user. Claude Code 2.1.325 sends such messages;
/// for the rules about calls they do not count.
fn check_instruction(at: usize, messages: &[Value]) -> Checked {
    let before = messages.iter().take(at).rev();
    let mut before = before.map(|message| text(&message["role"]));
    require(
        before.find(|role| *role != "system") == Some("user"),
        format!("messages.{at}: a system message follows a message of the user"),
    )
}

fn unanswered(at: usize, open: &[String]) -> String {
    format!("messages.{at}: `tool_use` ids were found without `tool_result` blocks: {open:?}")
}

/// A content is a text or a list of blocks.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(said) => vec![serde_json::json!({"type": "text", "text": said})],
        other => items(other).to_vec(),
    }
}

/// apify/tester-mcp-client#12: "Messages following tool_use blocks must begin with a matching
/// number of tool_result blocks"; tghamm/Anthropic.SDK#184: "unexpected tool_use_id found in
/// tool_result blocks".
fn check_results(at: usize, blocks: &[Value], open: &[String]) -> Checked {
    let mut left: Vec<&String> = open.iter().collect();
    let mut others = false;
    for block in blocks {
        if block["type"] != "tool_result" {
            others = true;
            continue;
        }
        require(
            !others || open.is_empty(),
            format!("messages.{at}: `tool_result` blocks must come first"),
        )?;
        let id = text(&block["tool_use_id"]);
        let known = left.iter().position(|open| *open == id);
        let Some(known) = known else {
            return Err(format!(
                "messages.{at}: unexpected `tool_use_id` {id:?} in `tool_result` blocks"
            ));
        };
        left.remove(known);
    }
    let left: Vec<String> = left.into_iter().cloned().collect();
    require(left.is_empty(), unanswered(at, &left))
}

/// Returns the ids of the calls in a message.
fn check_calls(
    at: usize,
    blocks: &[Value],
    ids: &mut HashSet<String>,
) -> Result<Vec<String>, String> {
    let mut open = Vec::new();
    for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
        let id = text(&block["id"]);
        // LibreChat-AI/agents#153: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".
        require(
            is_plain(id, usize::MAX),
            format!("messages.{at}: tool_use.id {id:?}"),
        )?;
        // anthropics/claude-code#28515: "`tool_use` ids must be unique".
        require(
            ids.insert(id.to_owned()),
            format!("messages.{at}: `tool_use` ids must be unique"),
        )?;
        // https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use: the name
        // of a tool matches `^[a-zA-Z0-9_-]{1,64}$`.
        require(
            is_plain(text(&block["name"]), 64),
            format!("messages.{at}: tool_use.name"),
        )?;
        // https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls: the
        // input is an object.
        require(
            block["input"].is_object(),
            format!("messages.{at}: tool_use.input should be an object"),
        )?;
        open.push(id.to_owned());
    }
    Ok(open)
}

fn check_block(at: usize, role: &str, block: &Value) -> Checked {
    match text(&block["type"]) {
        "text" => {
            let said = text(&block["text"]);
            // anthropics/claude-code#59812: "text content blocks must be non-empty"; #23440: "must
            // contain non-whitespace text".
            require(
                !said.trim().is_empty(),
                format!("messages.{at}: text content blocks must contain non-whitespace text"),
            )
        }
        // anthropics/claude-code#10627: "Invalid `signature` in `thinking` block"; no client can
        // make one (anthropics/anthropic-sdk-python#1598).
        "thinking" => {
            require(
                role == "assistant",
                format!("messages.{at}: thinking of the user"),
            )?;
            require(
                is_base64(text(&block["signature"])),
                format!("messages.{at}: Invalid `signature` in `thinking` block"),
            )
        }
        "image" => check_image(at, &block["source"]),
        "tool_result" => {
            for inner in items(&block["content"]) {
                if inner["type"] == "image" {
                    check_image(at, &inner["source"])?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// <https://platform.claude.com/docs/en/build-with-claude/vision>: JPEG, PNG, GIF and WebP, as
/// base64 or from an address.
fn check_image(at: usize, source: &Value) -> Checked {
    if source["type"] == "url" {
        return require(
            text(&source["url"]).starts_with("https://"),
            format!("messages.{at}: only HTTPS URLs are supported"),
        );
    }
    let known = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    require(
        known.contains(&text(&source["media_type"])),
        format!("messages.{at}: image.source.media_type"),
    )?;
    require(
        is_base64(text(&source["data"])),
        format!("messages.{at}: image.source.data is not base64"),
    )
}
