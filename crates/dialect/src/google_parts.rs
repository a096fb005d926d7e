//! The parts of messages in the form of Google's API, which Gemini CLI and Qwen Code write.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{MediaSource, Part, Result};

use crate::line_edits;
use crate::members::{lossy, text};

/// Returns the parts of a content: a string, one part, or a list of parts.
pub(crate) fn parts(content: Option<Raw<'_>>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    match content.kind() {
        RawKind::Array => content.items().flat_map(part).collect(),
        RawKind::Null => Vec::new(),
        _ => part(content),
    }
}

/// Reads a part. The result of a function may contain files besides its text.
fn part(part: Raw<'_>) -> Vec<Part> {
    if let Some(text) = part.text() {
        return one_text(text.into_owned());
    }
    if let Some(response) = part.get("functionResponse") {
        return result(response);
    }
    known(part).unwrap_or_else(|| vec![other(part)])
}

fn one_text(text: String) -> Vec<Part> {
    match text.is_empty() {
        true => Vec::new(),
        false => vec![Part::Text(text)],
    }
}

/// Reads a part other than a result; `None` if its form is not known.
fn known(part: Raw<'_>) -> Option<Vec<Part>> {
    if let Some(call) = part.get("functionCall") {
        return Some(vec![self::call(call)]);
    }
    if let Some(data) = part.get("inlineData") {
        return Some(vec![Part::Media {
            mime: text(data, "mimeType"),
            source: MediaSource::Inline(text(data, "data")?),
        }]);
    }
    if let Some(file) = part.get("fileData") {
        return Some(vec![Part::Media {
            mime: text(file, "mimeType"),
            source: MediaSource::Reference(text(file, "fileUri")?),
        }]);
    }
    let said = part.get("text")?.text()?.into_owned();
    if part.get("thought").and_then(|it| it.bool()) != Some(true) {
        return Some(one_text(said));
    }
    Some(vec![Part::Thinking {
        text: said,
        signature: text(part, "thoughtSignature"),
    }])
}

/// Reads a call. Some providers give calls no id: then the name identifies it, as in its response.
fn call(call: Raw<'_>) -> Part {
    let name = text(call, "name").unwrap_or_default();
    Part::Call {
        id: text(call, "id").unwrap_or_else(|| name.clone()),
        name,
        input: call.get("args").map(lossy).unwrap_or_default().into(),
    }
}

fn result(response: Raw<'_>) -> Vec<Part> {
    let name = text(response, "name").unwrap_or_default();
    let (said, is_error) = said(response.get("response"));
    let mut found = vec![Part::Result {
        call: text(response, "id").unwrap_or(name),
        text: said,
        is_error,
    }];
    found.extend(parts(response.get("parts")));
    found
}

/// Returns what a function said: its only member, or the JSON of several.
fn said(response: Option<Raw<'_>>) -> (String, bool) {
    let Some(response) = response else {
        return (String::new(), false);
    };
    let is_error = response.get("error").is_some_and(|error| !error.is_null());
    let mut members = response.members();
    let only = members.next().filter(|_| members.next().is_none());
    match only {
        Some((key, value)) if key.is("output") || key.is("error") => {
            (crate::members::plain(value), is_error)
        }
        _ => (crate::members::plain(response), is_error),
    }
}

fn other(part: Raw<'_>) -> Part {
    let word = part.members().next();
    Part::Other {
        word: word.map_or_else(String::new, |(key, _)| key.to_text().into_owned()),
        json: lossy(part),
    }
}

/// Whether a content consists of results of functions alone.
pub(crate) fn is_results(content: Option<Raw<'_>>) -> bool {
    let is_result = |part: Raw<'_>| part.get("functionResponse").is_some();
    match content {
        Some(content) if content.kind() == RawKind::Array => {
            content.items().next().is_some() && content.items().all(is_result)
        }
        Some(content) => is_result(content),
        None => false,
    }
}

/// Returns the tool of the first result of a content.
pub(crate) fn tool(content: Option<Raw<'_>>) -> Option<String> {
    let first = content?.items().next()?;
    text(first.get("functionResponse")?, "name")
}

/// Returns the text of a content, as agents compare it with what they inject.
pub(crate) fn said_text(content: Option<Raw<'_>>) -> String {
    let texts = parts(content).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Encodes the parts of a message.
///
/// # Errors
///
/// If there is a part that the form has no place for.
pub(crate) fn encoded(dialect: &str, parts: &[Part]) -> Result<Vec<Json>> {
    parts
        .iter()
        .map(|part| encoded_part(dialect, part))
        .collect()
}

fn encoded_part(dialect: &str, part: &Part) -> Result<Json> {
    Ok(match part {
        Part::Text(text) => Json::object().with("text", text.as_str()),
        Part::Thinking { text, signature } => Json::object()
            .with("text", text.as_str())
            .with("thought", true)
            .with_some("thoughtSignature", signature.as_deref()),
        Part::Call { id, name, input } => {
            let call = Json::object()
                .with("id", id.as_str())
                .with("name", name.as_str())
                .with("args", input.to_object());
            Json::object().with("functionCall", call)
        }
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } => {
            let data = Json::object()
                .with("mimeType", mime.as_str())
                .with("data", data.as_str());
            Json::object().with("inlineData", data)
        }
        _ => return Err(line_edits::no_place(dialect)),
    })
}

/// Encodes the result of a call: the id and the tool of the call, and what it said.
///
/// # Errors
///
/// If it said more than text.
pub(crate) fn encoded_result(
    dialect: &str,
    (call, tool): (&str, &str),
    content: &[Part],
    is_error: bool,
) -> Result<Json> {
    let said = line_edits::only_texts(dialect, content)?;
    let key = if is_error { "error" } else { "output" };
    let response = Json::object()
        .with("id", call)
        .with("name", tool)
        .with("response", Json::object().with(key, said));
    Ok(Json::object().with("functionResponse", response))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<Part> {
        parts(Some(Raw::parse(json.as_bytes()).unwrap()))
    }

    #[test]
    fn every_form_of_a_content_is_read() {
        assert_eq!(read("\"hi\""), [Part::Text("hi".to_owned())]);
        assert_eq!(read("{\"text\":\"hi\"}"), [Part::Text("hi".to_owned())]);
        assert_eq!(read("[\"\",null]").len(), 1, "what is unknown stays");
        assert_eq!(read("null"), []);
        let thought = Part::Thinking {
            text: "hm".to_owned(),
            signature: Some("s".to_owned()),
        };
        assert_eq!(
            read(
                r#"[{"text":"hm","thought":true,"thoughtSignature":"s"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]"#
            ),
            [thought, Part::image("AA", "image/png")]
        );
    }

    #[test]
    fn calls_and_results_pair_by_id_else_by_name() {
        let call = read(r#"[{"functionCall":{"name":"ls","args":{"dir":"."}}}]"#);
        let expected = Part::Call {
            id: "ls".to_owned(),
            name: "ls".to_owned(),
            input: r#"{"dir":"."}"#.into(),
        };
        assert_eq!(call, [expected]);
        for (response, text, is_error) in [
            (r#"{"output":"a"}"#, "a", false),
            (r#"{"error":"no"}"#, "no", true),
            (
                r#"{"output":"a","exit":1}"#,
                r#"{"output":"a","exit":1}"#,
                false,
            ),
            (r#""bare""#, "bare", false),
        ] {
            let result = read(&format!(
                r#"{{"functionResponse":{{"id":"c","name":"ls","response":{response}}}}}"#
            ));
            let expected = Part::Result {
                call: "c".to_owned(),
                text: text.to_owned(),
                is_error,
            };
            assert_eq!(result, [expected], "{response}");
        }
    }

    #[test]
    fn only_a_content_without_anything_else_is_results() {
        let of = |json: &str| is_results(Raw::parse(json.as_bytes()).ok());
        assert!(of(r#"[{"functionResponse":{}}]"#) && of(r#"{"functionResponse":{}}"#));
        assert!(!of("[]") && !of(r#"[{"functionResponse":{}},{"text":"x"}]"#) && !of("\"x\""));
    }
}
