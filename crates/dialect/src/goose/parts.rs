//! The parts of a message.

use boswell_model::Part;
use boswell_model::json::Raw;

use crate::content_blocks;
use crate::media_part;
use crate::members::{lossy, plain, text};

/// Returns the parts of a message's content.
pub(super) fn parts(content: Option<Raw<'_>>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.text() {
        Some(text) if !text.is_empty() => vec![Part::Text(text.into_owned())],
        _ => content.items().flat_map(part).collect(),
    }
}

fn part(item: Raw<'_>) -> Vec<Part> {
    let word = text(item, "type").unwrap_or_default();
    let known = match word.as_str() {
        "text" => text(item, "text").map(Part::Text),
        "image" => item.get("data").map(|_| media_part::of_data(item)),
        "thinking" => text(item, "thinking").map(|thought| Part::Thinking {
            text: thought,
            signature: text(item, "signature"),
        }),
        "toolRequest" | "frontendToolRequest" => request(item),
        "toolResponse" => return response(item),
        // An empty text or thought says nothing.
        _ => None,
    };
    let is_empty = matches!(word.as_str(), "text" | "thinking");
    match known {
        Some(part) => vec![part],
        None if is_empty => Vec::new(),
        None => vec![Part::Other {
            word,
            json: lossy(item),
        }],
    }
}

/// A call is inside a result, because its arguments may not have been JSON.
fn request(item: Raw<'_>) -> Option<Part> {
    let call = item.get("toolCall")?;
    let value = call.get("value").unwrap_or(call);
    let id = text(item, "id").or_else(|| text(value, "id"));
    Some(Part::Call {
        id: id.unwrap_or_default(),
        name: text(value, "name")?,
        input: value.get("arguments").map(plain).unwrap_or_default().into(),
    })
}

fn response(item: Raw<'_>) -> Vec<Part> {
    let id = text(item, "id").or_else(|| text(item, "toolCallId"));
    let id = id.unwrap_or_default();
    let Some(result) = item.get("toolResult") else {
        return content_blocks::result(id, item.get("content"), false);
    };
    if let Some(error) = result.get("error") {
        return content_blocks::result(id, Some(error), true);
    }
    let value = result.get("value").unwrap_or(result);
    let failed = value.get("isError").and_then(|it| it.bool()) == Some(true);
    // Older versions have the list itself as the value.
    let content = value.get("content").unwrap_or(value);
    let is_empty = content.items().next().is_none() && content.text().is_none();
    let structured = value.get("structuredContent").filter(|_| is_empty);
    content_blocks::result(id, Some(structured.unwrap_or(content)), failed)
}
