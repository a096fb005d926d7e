//! Converts the messages that a model is sent to boswell's format.
//!
//! Agents render messages in the format of their provider: content blocks, or the items of a
//! response. Both are parsed here, so that an imported session sends the same as its source.

use std::borrow::Cow;
use std::collections::HashMap;

use boswell_dialect::{AssistantMessage, Body, Part};
use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Message, Usage, View};

/// A message, part by part, in order.
#[derive(Default)]
pub(super) struct MessageText {
    pub(super) bodies: Vec<Body>,
    /// Whether something in it has no place in our format.
    pub(super) left_over: bool,
}

/// Facts of earlier messages that later ones do not repeat.
#[derive(Default)]
pub(super) struct Heard {
    /// Names of tools by the ids of their calls.
    pub(super) tools: HashMap<String, String>,
    /// The model that answered last.
    pub(super) model: Option<String>,
}

/// Converts a message. `view` is that of its record, if the record contains nothing else.
pub(super) fn text_pieces(
    message: &Message,
    view: Option<&View>,
    heard: &mut Heard,
) -> MessageText {
    let mut told = MessageText::default();
    if let Some(result) = native_result(message) {
        told.bodies.push(result);
        return told;
    }
    let mut waiting = Vec::new();
    let by_model = message.role == "assistant";
    for json in &message.content {
        let bytes = json.to_bytes();
        if let Some((call, content, is_error)) = result_of(Raw::trusted(&bytes)) {
            speak(
                by_model,
                view,
                std::mem::take(&mut waiting),
                heard,
                &mut told.bodies,
            );
            let tool = heard.tools.get(&call).map_or("tool", String::as_str);
            told.bodies.push(Body::ToolResult {
                tool: tool.to_owned(),
                call,
                content,
                is_error,
            });
            continue;
        }
        match part_of(&bytes) {
            Some(Part::Text(text)) if text.is_empty() => {}
            Some(part) => {
                if let Part::Call { id, name, .. } = &part {
                    heard.tools.insert(id.clone(), name.clone());
                }
                waiting.push(part);
            }
            None => told.left_over = true,
        }
    }
    speak(by_model, view, waiting, heard, &mut told.bodies);
    if let Some(usage) = view.and_then(|view| view.usage.as_ref()) {
        count_usage_once(*usage, &mut told.bodies);
    }
    told
}

/// The result of a tool that is a message of its own, as the pi family has it.
fn native_result(message: &Message) -> Option<Body> {
    if message.role != "toolResult" {
        return None;
    }
    let native = message.native.as_ref()?.to_bytes();
    let native = Raw::trusted(&native);
    let text = |key: &str| native.get(key).and_then(|it| it.text());
    let parts = message.content.iter();
    Some(Body::ToolResult {
        call: text("toolCallId").unwrap_or_default().into_owned(),
        tool: text("toolName").unwrap_or_default().into_owned(),
        content: parts.filter_map(|it| part_of(&it.to_bytes())).collect(),
        is_error: native.get("isError").and_then(|it| it.bool()) == Some(true),
    })
}

/// An answer may become several; what it cost is stated by the last one alone.
fn count_usage_once(usage: Usage, bodies: &mut [Body]) {
    for body in bodies.iter_mut().rev() {
        if let Body::Assistant(answer) = body {
            answer.usage = usage;
            return;
        }
    }
}

/// The text of a message that is nothing else.
pub(super) fn only_text(message: &Message) -> Option<String> {
    let texts = message
        .content
        .iter()
        .map(|part| match part_of(&part.to_bytes()) {
            Some(Part::Text(text)) => Some(text),
            _ => None,
        });
    let texts: Vec<String> = texts.collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| texts.concat())
}

pub(super) fn speak(
    by_model: bool,
    view: Option<&View>,
    content: Vec<Part>,
    heard: &mut Heard,
    bodies: &mut Vec<Body>,
) {
    if content.is_empty() {
        return;
    }
    bodies.push(if by_model {
        // A reader of the family takes the last answer's model for the one in use, also if
        // that answer names none.
        let model = view
            .and_then(|view| view.model.clone())
            .or_else(|| heard.model.clone());
        heard.model.clone_from(&model);
        Body::Assistant(Box::new(AssistantMessage {
            content,
            model,
            ..AssistantMessage::default()
        }))
    } else {
        Body::User(content)
    });
}

/// Returns arguments as an object; another value is put under `input`.
pub(super) fn arguments(given: &str) -> Json {
    match Raw::parse(given.as_bytes()) {
        Ok(raw) if raw.kind() == RawKind::Object => Json::from(raw),
        _ => Json::object().with("input", given),
    }
}

fn part_of(bytes: &[u8]) -> Option<Part> {
    let part = Raw::trusted(bytes);
    let text = |key: &str| part.get(key).and_then(|it| it.text()).map(Cow::into_owned);
    let call = |id: &str, name: String, arguments: Json| {
        Some(Part::Call {
            id: text(id)?,
            name,
            arguments,
        })
    };
    let of = |key: &str| match part.get(key) {
        Some(given) if given.kind() == RawKind::Object => Json::from(given),
        Some(given) => given
            .text()
            .map_or_else(Json::object, |given| arguments(&given)),
        None => Json::object(),
    };
    match text("type")?.as_str() {
        "text" | "input_text" | "output_text" => text("text").map(Part::Text),
        "thinking" => Some(Part::Thinking {
            text: text("thinking")?,
            signature: None,
        }),
        "reasoning" => reasoning(part).map(|text| Part::Thinking {
            text,
            signature: None,
        }),
        "tool_use" => call("id", text("name")?, of("input")),
        "toolCall" => call("id", text("name")?, of("arguments")),
        "function_call" => call("call_id", text("name")?, of("arguments")),
        "custom_tool_call" => call(
            "call_id",
            text("name")?,
            Json::object().with("input", text("input")),
        ),
        "local_shell_call" => call("call_id", "local_shell".to_owned(), of("action")),
        "image" => image(part),
        "input_image" => {
            let url = text("image_url")?;
            let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some(Part::Image {
                base64: data.to_owned(),
                mime: mime.to_owned(),
            })
        }
        _ => None,
    }
}

fn image(part: Raw<'_>) -> Option<Part> {
    let text = |of: Raw<'_>, key: &str| of.get(key).and_then(|it| it.text()).map(Cow::into_owned);
    let (data, mime) = match part.get("source") {
        Some(source) => (text(source, "data")?, text(source, "media_type")?),
        None => (text(part, "data")?, text(part, "mimeType")?),
    };
    Some(Part::Image { base64: data, mime })
}

/// Returns the text of a thinking block, if it is not encrypted.
fn reasoning(item: Raw<'_>) -> Option<String> {
    let told = ["summary", "content"]
        .iter()
        .filter_map(|key| item.get(key))
        .flat_map(|list| list.items());
    let texts: Vec<String> = told
        .filter_map(|it| Some(it.get("text")?.text()?.into_owned()))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The answer of a tool: the call, its content, and whether it failed.
fn result_of(part: Raw<'_>) -> Option<(String, Vec<Part>, bool)> {
    let (call, said) = match part.get("type")?.text()?.as_ref() {
        "tool_result" => (
            part.get("tool_use_id")?,
            part.get("content").or_else(|| part.get("result")),
        ),
        "function_call_output" | "custom_tool_call_output" => {
            (part.get("call_id")?, part.get("output"))
        }
        _ => return None,
    };
    let failed = part
        .get("is_error")
        .and_then(|it| it.bool())
        .unwrap_or_default();
    let said = said.map(|said| match said.kind() {
        // Some versions wrap the content with a success flag.
        RawKind::Object => said.get("content").unwrap_or(said),
        _ => said,
    });
    let content = match said {
        None => Vec::new(),
        Some(said) if said.kind() == RawKind::Array => {
            said.items().filter_map(|it| part_of(it.bytes())).collect()
        }
        Some(said) => {
            vec![Part::Text(said.text().map_or_else(
                || String::from_utf8_lossy(said.bytes()).into_owned(),
                Cow::into_owned,
            ))]
        }
    };
    Some((call.text()?.into_owned(), content, failed))
}
