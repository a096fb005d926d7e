//! What a model would be sent, as typed messages.

use std::collections::HashMap;

use boswell_dialect::{ChatMessage, Part, Role};
use boswell_model::json::{Json, Raw};
use boswell_model::{Message, Result, Tip};

use super::Session;
use crate::message_part::{part_of, result_of};

impl Session {
    /// What a model would be sent where the conversation stands.
    ///
    /// The messages have the same types in every dialect, those of a [`Draft`](crate::Draft). The
    /// results of tools are messages of their own, also where an agent puts several into one
    /// message of the user. [`context`](Session::context) and [`render`](Session::render) give the
    /// agent's own JSON instead, one message at a time.
    ///
    /// # Errors
    ///
    /// `Conflict` if the log was rewritten since it was read; an I/O error if it cannot be read.
    pub fn messages(&self) -> Result<Vec<ChatMessage>> {
        self.messages_at(self.tip()?)
    }

    /// As [`messages`](Session::messages), for the branch that ends at `tip`.
    ///
    /// # Errors
    ///
    /// As for [`messages`](Session::messages).
    pub fn messages_at(&self, tip: Tip) -> Result<Vec<ChatMessage>> {
        let mut messages = Messages::default();
        for item in &self.context(tip)?.items {
            messages.add(&self.render(item)?.message);
        }
        Ok(messages.found)
    }
}

/// Messages so far, and the names of the tools that they call: most results do not state one.
#[derive(Default)]
struct Messages {
    found: Vec<ChatMessage>,
    tools: HashMap<String, String>,
}

impl Messages {
    fn add(&mut self, message: &Message) {
        if let Some(result) = result_message(message) {
            self.found.push(result);
            return;
        }
        let role = role(&message.role);
        let mut parts = Vec::new();
        for json in &message.content {
            if let Some(result) = self.result_part(json) {
                self.say(&role, std::mem::take(&mut parts));
                self.found.push(result);
                continue;
            }
            let part = readable(json);
            if let Part::Call { id, name, .. } = &part {
                self.tools.insert(id.clone(), name.clone());
            }
            parts.push(part);
        }
        self.say(&role, parts);
    }

    fn say(&mut self, role: &Role, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.found.push(ChatMessage::new(role.clone(), parts));
        }
    }

    /// A result that is a part of a message, as Claude and Codex write it.
    fn result_part(&self, json: &Json) -> Option<ChatMessage> {
        let bytes = json.to_bytes();
        let (call, parts, is_error) = result_of(Raw::trusted(&bytes))?;
        let stated = Raw::trusted(&bytes).get("tool_name");
        let tool = stated
            .and_then(|name| name.text().map(std::borrow::Cow::into_owned))
            .or_else(|| self.tools.get(&call).cloned())
            .unwrap_or_default();
        let role = Role::Tool {
            call,
            tool,
            is_error,
        };
        Some(ChatMessage::new(role, parts))
    }
}

/// A result that is a message of its own, as the pi family has it.
fn result_message(message: &Message) -> Option<ChatMessage> {
    if message.role != "toolResult" {
        return None;
    }
    let native = message.native.as_ref()?.to_bytes();
    let native = Raw::trusted(&native);
    let text = |key: &str| native.get(key).and_then(|it| it.text());
    let role = Role::Tool {
        call: text("toolCallId").unwrap_or_default().into_owned(),
        tool: text("toolName").unwrap_or_default().into_owned(),
        is_error: native.get("isError").and_then(|it| it.bool()) == Some(true),
    };
    let parts = message.content.iter().map(readable).collect();
    Some(ChatMessage::new(role, parts))
}

fn readable(json: &Json) -> Part {
    match part_of(json) {
        // A reference to a blob that is missing is not the bytes of an image.
        Part::Image { base64, .. } if base64.starts_with("blob:") => Part::Other(json.clone()),
        part => part,
    }
}

fn role(word: &str) -> Role {
    match word {
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::User,
    }
}
