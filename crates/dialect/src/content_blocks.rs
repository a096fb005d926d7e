//! The blocks of messages in the forms of Anthropic's and OpenAI's APIs, which many agents write.

use boswell_model::Part;
use boswell_model::json::{Raw, RawKind};

use crate::media_part;
use crate::members::{lossy, plain, text};

/// Returns the parts of a content: a string, one block, or a list of blocks.
pub(crate) fn parts(content: Option<Raw<'_>>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.kind() {
        RawKind::Array => content.items().flat_map(block).collect(),
        RawKind::Null => Vec::new(),
        _ => block(content),
    }
}

/// Reads a block. The result of a tool may contain files besides its text.
fn block(block: Raw<'_>) -> Vec<Part> {
    if let Some(text) = block.text() {
        return match text.is_empty() {
            true => Vec::new(),
            false => vec![Part::Text(text.into_owned())],
        };
    }
    let word = text(block, "type").unwrap_or_default();
    match word.as_str() {
        "tool_result" => result(
            text(block, "tool_use_id").unwrap_or_default(),
            block.get("content").or_else(|| block.get("result")),
            block.get("is_error").and_then(|it| it.bool()) == Some(true),
        ),
        _ => vec![known(block, &word).unwrap_or_else(|| Part::Other {
            word,
            json: lossy(block),
        })],
    }
}

fn known(block: Raw<'_>, word: &str) -> Option<Part> {
    let member = |key: &str| Some(block.get(key)?.text()?.into_owned());
    match word {
        "text" | "input_text" | "output_text" => member("text").map(Part::Text),
        "thinking" | "reasoning" => Some(Part::Thinking {
            text: member("thinking").or_else(|| member("text"))?,
            signature: text(block, "signature"),
        }),
        "think" => Some(Part::Thinking {
            text: member("think")?,
            signature: text(block, "encrypted"),
        }),
        "tool_use" => Some(Part::Call {
            id: text(block, "id").unwrap_or_default(),
            name: text(block, "name").unwrap_or_default(),
            input: block.get("input").map(plain).unwrap_or_default().into(),
        }),
        "image_url" | "video_url" | "audio_url" => image_url(block.get(word)?),
        "image" | "audio" | "video" if block.get("url").is_some() => image_url(block.get("url")?),
        "image" if block.get("source").is_some() => Some(media_part::of_source(block)),
        "image" if block.get("data").is_some() => Some(media_part::of_data(block)),
        "input_image" => text(block, "image_url").map(|url| media_part::of_url(&url)),
        _ => None,
    }
}

/// An address, or an object with one.
fn image_url(image: Raw<'_>) -> Option<Part> {
    let url = match image.kind() {
        RawKind::Object => text(image, "url")?,
        _ => image.text()?.into_owned(),
    };
    Some(media_part::of_url(&url))
}

/// Returns the result of a tool: its text, and its files after it.
pub(crate) fn result(call: String, content: Option<Raw<'_>>, is_error: bool) -> Vec<Part> {
    let (mut said, mut files) = (Vec::new(), Vec::new());
    for part in parts(content) {
        match part {
            Part::Text(text) => said.push(text),
            Part::Other { json, .. } => said.push(json),
            other => files.push(other),
        }
    }
    let mut found = vec![Part::Result {
        call,
        text: said.join("\n"),
        is_error,
    }];
    found.append(&mut files);
    found
}

/// Returns the calls of a message in OpenAI's form: `tool_calls` beside the content.
pub(crate) fn tool_calls(calls: Option<Raw<'_>>) -> impl Iterator<Item = Part> {
    let calls = calls.into_iter().flat_map(|calls| calls.items());
    calls.map(|call| {
        let function = call.get("function").unwrap_or(call);
        let input = function.get("arguments").or_else(|| function.get("args"));
        Part::Call {
            id: text(call, "id").unwrap_or_default(),
            name: text(function, "name").unwrap_or_default(),
            input: input.map(plain).unwrap_or_default().into(),
        }
    })
}

/// Returns the text parts, joined by line ends.
pub(crate) fn said_text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Whether a content contains results of tools and no prompt.
pub(crate) fn is_results(parts: &[Part]) -> bool {
    let is_result = |part: &Part| matches!(part, Part::Result { .. });
    let is_text = |part: &Part| matches!(part, Part::Text(text) if !text.trim().is_empty());
    parts.iter().any(is_result) && !parts.iter().any(is_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<Part> {
        parts(Some(Raw::parse(json.as_bytes()).unwrap()))
    }

    #[test]
    fn blocks_of_both_providers_are_read() {
        assert_eq!(read("\"a\""), [Part::Text("a".to_owned())]);
        assert_eq!(
            read(r#"[{"type":"think","think":"hm","encrypted":null}]"#),
            [Part::thinking("hm")]
        );
        let files = read(
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}},{"type":"image_url","image_url":"https://x/y"}]"#,
        );
        assert_eq!(files[0], Part::image("AA", "image/png"));
        assert!(matches!(&files[1], Part::Media { mime: None, .. }));
        assert!(
            matches!(&read(r#"{"type":"hologram"}"#)[0], Part::Other { word, .. } if word == "hologram")
        );
    }

    #[test]
    fn a_result_is_one_text_with_its_files_after_it() {
        let found = read(
            r#"[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}},{"type":"text","text":"b"}]}]"#,
        );
        let result = Part::Result {
            call: "c".to_owned(),
            text: "a\nb".to_owned(),
            is_error: true,
        };
        assert_eq!(found, [result, Part::image("AA", "image/png")]);
        assert!(is_results(&found));
    }
}
