//! The rules by which real providers refuse a history, so that a client that breaks one is refused
//! here too.
//!
//! A model that accepts everything proves nothing: a conversation that was carried over from
//! another agent has ids, names and an order that its new provider never issued. Each rule names a
//! page of its provider that states it, or a report that quotes the error. [`refusal`] returns the
//! first rule that a request breaks.

mod chat;
mod google;
mod messages;
mod openai;

use serde_json::Value;

/// Returns why the provider of this path would refuse a request; `None` if it would answer.
pub fn refusal(path: &str, body: &Value) -> Option<String> {
    let checked = match path {
        "/v1/messages" => messages::check(body),
        path if path.ends_with("/responses") => openai::check(body),
        path if path.ends_with("/chat/completions") => chat::check(body),
        path if path.contains(":generateContent") || path.contains(":streamGenerateContent") => {
            google::check(body)
        }
        _ => Ok(()),
    };
    checked.err()
}

type Checked = Result<(), String>;

fn require(holds: bool, why: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(why.into()) }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Letters, digits, `_` and `-`, at most `longest` of them.
fn is_plain(word: &str, longest: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !word.is_empty() && word.len() <= longest && word.bytes().all(plain)
}

fn is_base64(data: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    !data.is_empty() && data.len().is_multiple_of(4) && data.bytes().all(plain)
}

/// An image in a URL: data of a type that OpenAI reads, or an address on the web.
/// <https://platform.openai.com/docs/guides/images-vision>; anything else is "Expected a valid URL"
/// (openai/openai-python#1483).
fn check_image_url(url: &str) -> Checked {
    let Some(rest) = url.strip_prefix("data:") else {
        return require(
            url.starts_with("https://") || url.starts_with("http://"),
            "an image is neither data nor on the web",
        );
    };
    let (kind, data) = rest.split_once(";base64,").unwrap_or_default();
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    require(known.contains(&kind), "unsupported image type")?;
    require(is_base64(data), "the image data is not base64")
}

#[cfg(test)]
mod tests;
