//! Reads the messages that dialects render.
//!
//! They have the shape of the provider that the agent talks to: content blocks, or the items of a
//! response. A view shows as much of a record as it can; here a part of any other shape stays
//! [`Part::Other`], because what is read here is sent to a model or written again.

use std::borrow::Cow;
use std::collections::HashMap;

use boswell_model::json::{Raw, RawKind};
use boswell_model::{MediaSource, Message, Part, ToolInput};

use crate::{ChatMessage, Role, google_parts, media_part};

/// Reads the messages of a context one after the other.
///
/// It remembers the names of the tools that they call: most results do not state one.
#[derive(Debug, Default)]
pub struct ChatReader {
    tools: HashMap<String, String>,
}

impl ChatReader {
    /// Reads a rendered message. The results of tools become messages of their own, also where an
    /// agent puts several into one message of the user.
    pub fn read(&mut self, message: &Message) -> Vec<ChatMessage> {
        if let Some(result) = self.result_message(message) {
            return vec![result];
        }
        let role = role(&message.role);
        let (mut found, mut parts) = (Vec::new(), Vec::new());
        for json in &message.content {
            let bytes = json.to_bytes();
            if let Some(result) = self.result_part(Raw::trusted(&bytes)) {
                say(&role, std::mem::take(&mut parts), &mut found);
                found.push(result);
                continue;
            }
            let part = part(Raw::trusted(&bytes));
            if let Part::Call { id, name, .. } = &part {
                self.note_call(id, name);
            }
            parts.push(part);
        }
        say(&role, parts, &mut found);
        found
    }

    /// Remembers the tool of a call that was read elsewhere.
    pub fn note_call(&mut self, id: &str, tool: &str) {
        self.tools.insert(id.to_owned(), tool.to_owned());
    }

    /// Returns the tool of an earlier call.
    pub fn tool(&self, call: &str) -> Option<&str> {
        self.tools.get(call).map(String::as_str)
    }

    /// A result that is a message of its own, as the pi family has it.
    fn result_message(&self, message: &Message) -> Option<ChatMessage> {
        if message.role != "toolResult" {
            return None;
        }
        let native = message.native.as_ref()?.to_bytes();
        let native = Raw::trusted(&native);
        let call = text(native, "toolCallId").unwrap_or_default();
        let is_error = native.get("isError").and_then(|it| it.bool()) == Some(true);
        let role = self.tool_role(call, text(native, "toolName"), is_error);
        let parts = message.content.iter().map(|json| {
            let bytes = json.to_bytes();
            part(Raw::trusted(&bytes))
        });
        Some(ChatMessage::new(role, parts.collect()))
    }

    /// A result that is a part of a message, as Claude, Codex and Gemini write it.
    fn result_part(&self, item: Raw<'_>) -> Option<ChatMessage> {
        if item.get("functionResponse").is_some() {
            return self.function_response(item);
        }
        let (call, said) = match text(item, "type")?.as_str() {
            "tool_result" => (
                text(item, "tool_use_id")?,
                item.get("content").or_else(|| item.get("result")),
            ),
            "function_call_output" | "custom_tool_call_output" => {
                (text(item, "call_id")?, item.get("output"))
            }
            _ => return None,
        };
        let is_error = item.get("is_error").and_then(|it| it.bool()) == Some(true);
        let role = self.tool_role(call, text(item, "tool_name"), is_error);
        Some(ChatMessage::new(role, result_content(said)))
    }

    /// A result in the form of Google's API, with its files after it.
    fn function_response(&self, item: Raw<'_>) -> Option<ChatMessage> {
        let mut parts = google_parts::parts(Some(item)).into_iter();
        let Some(Part::Result {
            call,
            text: said,
            is_error,
        }) = parts.next()
        else {
            return None;
        };
        let tool = item.at(&["functionResponse", "name"]);
        let tool = tool.and_then(|it| it.text()).map(Cow::into_owned);
        let role = self.tool_role(call, tool, is_error);
        let content = std::iter::once(Part::Text(said)).chain(parts);
        Some(ChatMessage::new(role, content.collect()))
    }

    fn tool_role(&self, call: String, stated: Option<String>, is_error: bool) -> Role {
        let tool = stated.or_else(|| self.tool(&call).map(str::to_owned));
        Role::Tool {
            call,
            tool: tool.unwrap_or_default(),
            is_error,
        }
    }
}

fn say(role: &Role, parts: Vec<Part>, found: &mut Vec<ChatMessage>) {
    if !parts.is_empty() {
        found.push(ChatMessage::new(role.clone(), parts));
    }
}

fn role(word: &str) -> Role {
    match word {
        "assistant" | "model" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::User,
    }
}

fn result_content(said: Option<Raw<'_>>) -> Vec<Part> {
    let said = said.map(|said| match said.kind() {
        // Some versions wrap what they say with whether it worked.
        RawKind::Object => said.get("content").unwrap_or(said),
        _ => said,
    });
    match said {
        None => Vec::new(),
        Some(said) if said.kind() == RawKind::Array => said.items().map(part).collect(),
        Some(said) => vec![Part::Text(plain(said))],
    }
}

/// Reads a part; one of a shape that is not known becomes [`Part::Other`].
fn part(part: Raw<'_>) -> Part {
    known_part(part).unwrap_or_else(|| Part::Other {
        word: text(part, "type").unwrap_or_default(),
        json: lossy(part),
    })
}

fn known_part(part: Raw<'_>) -> Option<Part> {
    if part.get("type").is_none() {
        // Google's API has no types: a part is what its member says.
        let mut parts = google_parts::parts(Some(part)).into_iter();
        let only = parts.next().filter(|_| parts.next().is_none());
        return only.filter(|part| !matches!(part, Part::Other { .. }));
    }
    let call = |id: &str, name: Option<String>, input: &str| {
        Some(Part::Call {
            id: text(part, id)?,
            name: name?,
            input: tool_input(part.get(input)),
        })
    };
    let name = || text(part, "name");
    match text(part, "type")?.as_str() {
        "text" | "input_text" | "output_text" => text(part, "text").map(Part::Text),
        "thinking" => Some(Part::Thinking {
            text: text(part, "thinking")?,
            signature: text(part, "thinkingSignature")
                .or_else(|| text(part, "signature"))
                .filter(|it| !it.is_empty()),
        }),
        "reasoning" => Some(Part::Thinking {
            text: reasoning(part)?,
            signature: text(part, "encrypted_content"),
        }),
        "think" => Some(Part::Thinking {
            text: text(part, "think")?,
            signature: text(part, "encrypted").filter(|it| !it.is_empty()),
        }),
        "tool_use" => call("id", name(), "input"),
        "toolCall" => call("id", name(), "arguments"),
        "function_call" => call("call_id", name(), "arguments"),
        "custom_tool_call" => call("call_id", name(), "input"),
        "local_shell_call" => call("call_id", Some("local_shell".to_owned()), "action"),
        "image" if part.get("source").is_some() => placed(media_part::of_source(part)),
        "image" if part.get("data").is_some() => Some(media_part::of_data(part)),
        "image_url" => {
            let url = part.at(&["image_url", "url"])?.text()?.into_owned();
            Some(media_part::of_url(&url))
        }
        "input_image" => text(part, "image_url").map(|url| media_part::of_url(&url)),
        _ => None,
    }
}

/// A file that is somewhere: a source may be of a shape that is not known.
fn placed(part: Part) -> Option<Part> {
    let is_nowhere = matches!(
        &part,
        Part::Media { source: MediaSource::Reference(place), .. } if place.is_empty()
    );
    (!is_nowhere).then_some(part)
}

/// Arguments: JSON, or a string that contains JSON or free text.
fn tool_input(given: Option<Raw<'_>>) -> ToolInput {
    let given = given.filter(|given| !given.is_null());
    given.map_or_else(|| "{}".to_owned(), plain).into()
}

/// The text of a reasoning item, where it is not encrypted as a whole.
fn reasoning(item: Raw<'_>) -> Option<String> {
    let lists = ["summary", "content"]
        .iter()
        .filter_map(|key| item.get(key))
        .flat_map(|list| list.items());
    let texts: Vec<String> = lists.filter_map(|it| text(it, "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn text(of: Raw<'_>, key: &str) -> Option<String> {
    Some(of.get(key)?.text()?.into_owned())
}

/// A string's text, or the JSON of anything else.
fn plain(value: Raw<'_>) -> String {
    value.text().map_or_else(|| lossy(value), Cow::into_owned)
}

fn lossy(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use boswell_model::json::Json;

    use super::*;

    fn read(role: &str, parts: &[&str]) -> Vec<ChatMessage> {
        let json = |part: &&str| Json::from(Raw::parse(part.as_bytes()).unwrap());
        ChatReader::default().read(&Message {
            role: role.to_owned(),
            content: parts.iter().map(json).collect(),
            native: None,
        })
    }

    fn call(id: &str, name: &str, input: &str) -> Part {
        Part::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            input: input.into(),
        }
    }

    #[test]
    fn arguments_are_read_as_they_were_written() {
        for (given, expected) in [
            (
                r#"{"type":"tool_use","id":"c","name":"n","input":{ "a": 1.0 }}"#,
                call("c", "n", r#"{ "a": 1.0 }"#),
            ),
            (
                r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":"}"#,
                call("c", "n", r#"{"a":"#),
            ),
            (
                r#"{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin\n"}"#,
                call("c", "apply_patch", "*** Begin\n"),
            ),
            (
                r#"{"type":"local_shell_call","call_id":"c","action":{"command":["ls"]}}"#,
                call("c", "local_shell", r#"{"command":["ls"]}"#),
            ),
            (
                r#"{"type":"toolCall","id":"c","name":"n","arguments":null}"#,
                call("c", "n", "{}"),
            ),
        ] {
            let read = read("assistant", &[given]);
            assert_eq!(
                read,
                [ChatMessage::new(Role::Assistant, vec![expected])],
                "{given}"
            );
        }
    }

    #[test]
    fn images_are_read_with_their_bytes_or_where_they_are() {
        let at = |mime: Option<&str>, place: &str| Part::Media {
            mime: mime.map(str::to_owned),
            source: MediaSource::Reference(place.to_owned()),
        };
        for (given, expected) in [
            (
                r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
                Part::image("AA==", "image/png"),
            ),
            (
                r#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"AA=="}}"#,
                Part::image("AA==", "image/gif"),
            ),
            (
                r#"{"type":"input_image","image_url":"data:image/png;base64,AA=="}"#,
                Part::image("AA==", "image/png"),
            ),
            (
                r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#,
                Part::image("AA==", "image/png"),
            ),
            (
                r#"{"type":"input_image","image_url":"https://x/y"}"#,
                at(None, "https://x/y"),
            ),
            (
                r#"{"type":"image","data":"blob:sha256:ab","mimeType":"image/png"}"#,
                at(Some("image/png"), "blob:sha256:ab"),
            ),
        ] {
            let read = read("user", &[given]);
            assert_eq!(
                read,
                [ChatMessage::new(Role::User, vec![expected])],
                "{given}"
            );
        }
    }

    #[test]
    fn a_result_names_the_tool_of_its_call_and_stands_apart() {
        let read = read(
            "assistant",
            &[
                r#"{"type":"reasoning","summary":[{"text":"hm"}],"encrypted_content":"sealed"}"#,
                r#"{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}"#,
                r#"{"type":"function_call_output","call_id":"c","output":{"content":"out","success":true}}"#,
                r#"{"type":"hologram"}"#,
            ],
        );
        let thinking = Part::Thinking {
            text: "hm".to_owned(),
            signature: Some("sealed".to_owned()),
        };
        let result = Role::Tool {
            call: "c".to_owned(),
            tool: "shell".to_owned(),
            is_error: false,
        };
        let other = Part::Other {
            word: "hologram".to_owned(),
            json: r#"{"type":"hologram"}"#.to_owned(),
        };
        assert_eq!(
            read,
            [
                ChatMessage::new(Role::Assistant, vec![thinking, call("c", "shell", "{}")]),
                ChatMessage::new(result, vec![Part::Text("out".to_owned())]),
                ChatMessage::new(Role::Assistant, vec![other]),
            ]
        );
    }

    #[test]
    fn messages_in_the_form_of_google_are_read_like_others() {
        let read = read(
            "model",
            &[
                r#"{"text":"hm","thought":true}"#,
                r#"{"text":"I look."}"#,
                r#"{"functionCall":{"id":"c","name":"ls","args":{"dir":"."}}}"#,
                r#"{"functionResponse":{"id":"c","name":"ls","response":{"error":"none"}}}"#,
            ],
        );
        let said = vec![
            Part::thinking("hm"),
            Part::Text("I look.".to_owned()),
            call("c", "ls", r#"{"dir":"."}"#),
        ];
        let result = Role::Tool {
            call: "c".to_owned(),
            tool: "ls".to_owned(),
            is_error: true,
        };
        assert_eq!(
            read,
            [
                ChatMessage::new(Role::Assistant, said),
                ChatMessage::new(result, vec![Part::Text("none".to_owned())]),
            ]
        );
    }
}
