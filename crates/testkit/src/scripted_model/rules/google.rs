//! Google's generateContent.

use serde_json::Value;

use super::{Checked, is_base64, items, require, text};

pub(super) fn check(body: &Value) -> Checked {
    let contents = items(&body["contents"]);
    require(
        !contents.is_empty(),
        "GenerateContentRequest.contents: contents is not specified",
    )?;
    let mut open: Vec<String> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        // songquanpeng/one-api#1385: "Please use a valid role: user, model."
        let role = content["role"].as_str().unwrap_or("user");
        require(
            ["user", "model"].contains(&role),
            "Please use a valid role: user, model.",
        )?;
        let parts = items(&content["parts"]);
        // https://ai.google.dev/api/caching#Content: a content has parts.
        require(
            !parts.is_empty(),
            format!("contents[{at}].parts must not be empty."),
        )?;
        for part in parts {
            check_part(at, part)?;
        }
        let calls = names(parts, "functionCall");
        let responses = names(parts, "functionResponse");
        // langchain-ai/langchain#27799: "function response turn comes immediately after a function
        // call turn"; google-gemini/gemini-cli#4217: "the number of function response parts is
        // equal to the number of function call parts of the function call turn".
        require(
            responses.len() == open.len(),
            format!(
                "contents[{at}]: {} function response parts for {} function call parts",
                responses.len(),
                open.len()
            ),
        )?;
        let mut answered: Vec<&String> = open.iter().collect();
        for name in &responses {
            let known = answered.iter().position(|open| *open == name);
            let Some(known) = known else {
                return Err(format!("contents[{at}]: no function call of {name:?}"));
            };
            answered.remove(known);
        }
        // google-gemini/gemini-cli#11814: "function call turn comes immediately after a user turn
        // or after a function response turn"; both are of the user.
        let before = at.checked_sub(1).and_then(|at| contents.get(at));
        let follows_user = before.is_some_and(|it| it["role"].as_str().unwrap_or("user") == "user");
        require(
            calls.is_empty() || (role == "model" && follows_user),
            format!("contents[{at}]: a function call turn comes immediately after a user turn"),
        )?;
        open = calls;
    }
    require(
        open.is_empty(),
        format!("function calls without a response: {open:?}"),
    )
}

fn names(parts: &[Value], kind: &str) -> Vec<String> {
    let named = parts.iter().filter_map(|part| part.get(kind));
    named.map(|it| text(&it["name"]).to_owned()).collect()
}

fn check_part(at: usize, part: &Value) -> Checked {
    // genkit-ai/genkit#3816: "required oneof field 'data' must have one initialized field".
    let fields = [
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
    ];
    require(
        fields.iter().any(|field| part.get(field).is_some()),
        format!(
            "contents[{at}].parts: required oneof field 'data' must have one initialized field"
        ),
    )?;
    if let Some(call) = part.get("functionCall") {
        check_name(at, text(&call["name"]))?;
        require(
            call.get("args").is_none_or(Value::is_object),
            format!("contents[{at}]: function_call.args is not an object"),
        )?;
    }
    if let Some(response) = part.get("functionResponse") {
        check_name(at, text(&response["name"]))?;
        require(
            response["response"].is_object(),
            format!("contents[{at}]: function_response.response is not an object"),
        )?;
    }
    if let Some(data) = part.get("inlineData") {
        // https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats; a GIF is
        // refused: https://discuss.ai.google.dev/t/71468.
        let kind = text(&data["mimeType"]);
        let images = [
            "image/png",
            "image/jpeg",
            "image/webp",
            "image/heic",
            "image/heif",
        ];
        require(
            !kind.starts_with("image/") || images.contains(&kind),
            format!("contents[{at}]: Unsupported MIME type: {kind}"),
        )?;
        require(
            is_base64(text(&data["data"])),
            format!("contents[{at}]: data is not base64"),
        )?;
    }
    Ok(())
}

/// The documentation of `FunctionDeclaration` in Google's own clients (googleapis/java-genai): a
/// letter or underscore first, then letters, digits, underscores, colons, dots and dashes, 64 at
/// most.
fn check_name(at: usize, name: &str) -> Checked {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    require(
        begins && name.len() <= 64 && name.chars().all(plain),
        format!("contents[{at}]: Invalid function name {name:?}"),
    )
}
