//! Parts of rendered messages, read into [`Part`]s.
//!
//! Agents render messages in the shape of the provider that they talk to: content blocks, or the
//! items of a response. Both are read here, for [`Session::messages`](crate::Session::messages) and
//! for imports.

use std::borrow::Cow;

use boswell_dialect::Part;
use boswell_model::json::{Json, Raw, RawKind};

/// Arguments as the object that ours must be; any other value becomes its member `input`.
pub(crate) fn arguments(given: &str) -> Json {
    match Raw::parse(given.as_bytes()) {
        Ok(raw) if raw.kind() == RawKind::Object => Json::from(raw),
        _ => Json::object().with("input", given),
    }
}

/// Reads a part; one of a shape that is not known becomes [`Part::Other`].
pub(crate) fn part_of(json: &Json) -> Part {
    let bytes = json.to_bytes();
    known_part(Raw::trusted(&bytes)).unwrap_or_else(|| Part::Other(json.clone()))
}

fn known_part(part: Raw<'_>) -> Option<Part> {
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
            signature: text("thinkingSignature")
                .or_else(|| text("signature"))
                .filter(|it| !it.is_empty()),
        }),
        "reasoning" => reasoning(part).map(|reasoning| Part::Thinking {
            text: reasoning,
            signature: text("encrypted_content"),
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
    let (base64, mime) = match part.get("source") {
        Some(source) => (text(source, "data")?, text(source, "media_type")?),
        None => (text(part, "data")?, text(part, "mimeType")?),
    };
    Some(Part::Image { base64, mime })
}

/// The text of a reasoning item, where it is not encrypted as a whole.
fn reasoning(item: Raw<'_>) -> Option<String> {
    let lists = ["summary", "content"]
        .iter()
        .filter_map(|key| item.get(key))
        .flat_map(|list| list.items());
    let texts: Vec<String> = lists
        .filter_map(|it| Some(it.get("text")?.text()?.into_owned()))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The result of a tool that is a part of a message: id of the call, content, whether it failed.
pub(crate) fn result_of(part: Raw<'_>) -> Option<(String, Vec<Part>, bool)> {
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
        // Some versions wrap what they say with whether it worked.
        RawKind::Object => said.get("content").unwrap_or(said),
        _ => said,
    });
    let content = match said {
        None => Vec::new(),
        Some(said) if said.kind() == RawKind::Array => {
            said.items().map(|it| part_of(&Json::from(it))).collect()
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
