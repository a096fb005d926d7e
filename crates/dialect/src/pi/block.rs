//! The parts of messages in the pi format.

use boswell_model::json::{Raw, RawKind};
use boswell_model::{Block, MediaSource};

use super::js_values::json_text;

/// The notice at the end of a text that xcsh truncated when it wrote it.
const CUT_NOTICE: &str = "[Session persistence truncated large content]";

/// Returns the parts of a `content`, which is a string or an array of blocks.
pub(super) fn blocks(content: Option<Raw<'_>>) -> Vec<Block> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.kind() {
        RawKind::String => vec![Block::Text(content.text().unwrap_or_default().into_owned())],
        RawKind::Array => content.items().map(block).collect(),
        RawKind::Null => Vec::new(),
        _ => vec![Block::Other {
            word: String::new(),
            json: json_text(content),
        }],
    }
}

fn block(part: Raw<'_>) -> Block {
    let text = |key: &str| {
        part.get(key)
            .and_then(|v| v.text())
            .unwrap_or_default()
            .into_owned()
    };
    let word = text("type");
    match word.as_str() {
        "text" => Block::Text(text("text")),
        "thinking" => Block::Thinking(text("thinking")),
        "toolCall" => Block::Call {
            id: text("id"),
            name: text("name"),
            input: part.get("arguments").map(json_text).unwrap_or_default(),
        },
        "image" if part.get("data").is_some() => media(part),
        _ => Block::Other {
            word,
            json: json_text(part),
        },
    }
}

/// Returns the part of an image block: base64 in the record, or the id of a blob.
pub(super) fn media(image: Raw<'_>) -> Block {
    let data = image
        .get("data")
        .and_then(|d| d.text())
        .unwrap_or_default()
        .into_owned();
    let source = if data.starts_with("blob:") {
        MediaSource::Reference(data)
    } else {
        MediaSource::Inline(data)
    };
    Block::Media {
        mime: image.get("mimeType").and_then(|m| m.text()).map(Into::into),
        source,
    }
}

/// Returns the parts of a tool result: its text as one result, then its images.
pub(super) fn result_blocks(message: Raw<'_>) -> Vec<Block> {
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
            Block::Text(more) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&more);
            }
            other => others.push(other),
        }
    }
    let mut all = vec![Block::Result {
        call,
        text,
        is_error,
    }];
    all.append(&mut others);
    all
}

/// Whether xcsh truncated the part when it wrote it.
pub(super) fn is_cut(block: &Block) -> bool {
    match block {
        Block::Text(text) | Block::Thinking(text) | Block::Result { text, .. } => {
            text.ends_with(CUT_NOTICE)
        }
        _ => false,
    }
}
