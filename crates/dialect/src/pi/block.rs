//! The parts of messages in the pi format.

use boswell_model::Part;
use boswell_model::json::{Raw, RawKind};

use super::js_values::{filled, json_text};
use crate::media_part;

/// How xcsh ends a text that it cut when it wrote it.
pub(super) const CUT_NOTICE: &str = "[Session persistence truncated large content]";

/// The parts of a `content` that is a string or an array of blocks.
pub(super) fn blocks(content: Option<Raw<'_>>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.kind() {
        RawKind::String => vec![Part::Text(content.text().unwrap_or_default().into_owned())],
        RawKind::Array => content.items().map(block).collect(),
        RawKind::Null => Vec::new(),
        _ => vec![Part::Other {
            word: String::new(),
            json: json_text(content),
        }],
    }
}

fn block(part: Raw<'_>) -> Part {
    let text = |key: &str| {
        part.get(key)
            .and_then(|v| v.text())
            .unwrap_or_default()
            .into_owned()
    };
    let word = text("type");
    match word.as_str() {
        "text" => Part::Text(text("text")),
        "thinking" => Part::Thinking {
            text: text("thinking"),
            signature: filled(part.get("thinkingSignature")),
        },
        "toolCall" => Part::Call {
            id: text("id"),
            name: text("name"),
            input: part
                .get("arguments")
                .map(json_text)
                .unwrap_or_default()
                .into(),
        },
        "image" if part.get("data").is_some() => media_part::of_data(part),
        _ => Part::Other {
            word,
            json: json_text(part),
        },
    }
}

/// The parts of a tool's answer: its text as one result, images behind it.
pub(super) fn result_blocks(message: Raw<'_>) -> Vec<Part> {
    let call = message
        .get("toolCallId")
        .and_then(|c| c.text())
        .unwrap_or_default()
        .into_owned();
    let is_error = message.get("isError").and_then(|e| e.bool()) == Some(true);
    let mut text = String::new();
    let mut others = Vec::new();
    for block in blocks(message.get("content")) {
        match block {
            Part::Text(more) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&more);
            }
            other => others.push(other),
        }
    }
    let mut all = vec![Part::Result {
        call,
        text,
        is_error,
    }];
    all.append(&mut others);
    all
}

/// Whether a part was cut when it was written.
pub(super) fn is_cut(block: &Part) -> bool {
    match block {
        Part::Text(text) | Part::Thinking { text, .. } | Part::Result { text, .. } => {
            text.ends_with(CUT_NOTICE)
        }
        _ => false,
    }
}
