//! Encodes drafts as lines of a log in the legacy form: an item for the model, and the event by
//! which Codex shows it and finds the title of a session.

use boswell_model::json::{Json, Raw, RawKind};
use boswell_model::{Advice, Error, ErrorKind, Instant, MediaSource, Part, Result, Usage};

use crate::{AssistantMessage, Body, Draft, one_object, refuse_unwritable_parts, unsupported};

/// The lines of one entry.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Complete lines, with their ends.
    pub(super) bytes: Vec<u8>,
    /// Number of lines; the first one is the entry.
    pub(super) count: u64,
}

impl Lines {
    fn push(&mut self, at: Instant, word: &str, payload: Json) {
        Json::object()
            .with("timestamp", at.to_rfc3339())
            .with("type", word)
            .with("payload", payload)
            .write(&mut self.bytes);
        self.bytes.push(b'\n');
        self.count += 1;
    }
}

/// Encodes a draft of the session `id`. `response` is a new id for the response of a model.
pub(super) fn lines(draft: &Draft, id: &str, at: Instant, response: &str) -> Result<Lines> {
    refuse_unwritable_parts("codex", &draft.body)?;
    let mut lines = Lines::default();
    match &draft.body {
        Body::User(parts) => user(&mut lines, at, parts)?,
        Body::Assistant(answer) => assistant(&mut lines, at, answer, (id, response))?,
        Body::ToolResult {
            call,
            content,
            is_error,
            ..
        } => {
            let output = Json::object()
                .with("type", "function_call_output")
                .with("call_id", call.as_str())
                .with("output", output(content, *is_error)?);
            lines.push(at, "response_item", output);
        }
        Body::Native(bytes) => native(&mut lines, at, bytes)?,
        _ => {
            return Err(unsupported(
                "codex",
                "hold an entry of this kind",
                Advice::from("it has messages of user and model, calls and results")
                    .also(Advice::Tag.or(Advice::Rename)),
            ));
        }
    }
    Ok(lines)
}

fn user(lines: &mut Lines, at: Instant, parts: &[Part]) -> Result<()> {
    lines.push(at, "response_item", message("user", contents(parts)?));
    let texts: Vec<&str> = parts.iter().filter_map(text_of).collect();
    let none = || Json::from(Vec::<Json>::new());
    let event = Json::object()
        .with("type", "user_message")
        .with("message", texts.join("\n"))
        .with("images", none())
        .with("local_images", none())
        .with("text_elements", none());
    lines.push(at, "event_msg", event);
    Ok(())
}

/// An answer is one item for each of its parts.
fn assistant(
    lines: &mut Lines,
    at: Instant,
    answer: &AssistantMessage,
    (id, response): (&str, &str),
) -> Result<()> {
    if answer.content.is_empty() {
        return Err(unsupported(
            "codex",
            "hold an answer without content",
            "append its text or its calls",
        ));
    }
    for part in &answer.content {
        match part {
            Part::Text(text) => {
                let content = Json::object()
                    .with("type", "output_text")
                    .with("text", text.as_str());
                lines.push(at, "response_item", message("assistant", vec![content]));
                let event = Json::object()
                    .with("type", "agent_message")
                    .with("message", text.as_str());
                lines.push(at, "event_msg", event);
            }
            Part::Call { id, name, input } => {
                let call = Json::object()
                    .with("type", "function_call")
                    .with("name", name.as_str())
                    .with("arguments", input.to_object().to_string())
                    .with("call_id", id.as_str());
                lines.push(at, "response_item", call);
            }
            // Codex sends reasoning back only with what its provider encrypted.
            _ => {
                return Err(unsupported(
                    "codex",
                    "be given reasoning or files of a model",
                    "append the text and the calls alone",
                ));
            }
        }
    }
    if !answer.usage.is_unknown() {
        lines.push(
            at,
            "token_usage_record",
            tokens(&answer.usage, id, response),
        );
    }
    Ok(())
}

/// The tokens of a response. Codex counts cached tokens as sent ones.
fn tokens(usage: &Usage, id: &str, response: &str) -> Json {
    let known = |count: Option<u64>| count.unwrap_or(0);
    let cached = known(usage.cache_read);
    let sent = known(usage.input) + cached + known(usage.cache_write);
    let counts = || {
        Json::object()
            .with("input_tokens", sent)
            .with("cached_input_tokens", cached)
            .with("cache_write_input_tokens", known(usage.cache_write))
            .with("output_tokens", known(usage.output))
            .with("reasoning_output_tokens", known(usage.reasoning))
            .with("total_tokens", sent + known(usage.output))
    };
    Json::object()
        .with("thread_id", id)
        .with("turn_id", response)
        .with("session_id", id)
        .with("root_turn_id", response)
        .with("response_id", response)
        .with("usage", counts())
        .with("turn_token_usage", counts())
        .with("thread_token_usage", counts())
}

/// Codex has no member for a failed call. As its older versions did, the exit code is in the text.
fn output(content: &[Part], is_error: bool) -> Result<Json> {
    let texts: Vec<&str> = content.iter().filter_map(text_of).collect();
    if texts.len() < content.len() {
        if is_error {
            return Err(unsupported(
                "codex",
                "hold files in the result of a failed call",
                "append the text alone",
            ));
        }
        return Ok(Json::from(contents(content)?));
    }
    let text = texts.join("\n");
    Ok(Json::from(if is_error {
        Json::object()
            .with("output", text)
            .with("metadata", Json::object().with("exit_code", 1))
            .to_string()
    } else {
        text
    }))
}

fn message(role: &str, content: Vec<Json>) -> Json {
    Json::object()
        .with("type", "message")
        .with("role", role)
        .with("content", content)
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

fn contents(parts: &[Part]) -> Result<Vec<Json>> {
    let content = |part: &Part| match part {
        Part::Text(text) => Ok(Json::object()
            .with("type", "input_text")
            .with("text", text.as_str())),
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } if mime.starts_with("image/") => Ok(Json::object()
            .with("type", "input_image")
            .with("image_url", format!("data:{mime};base64,{data}"))),
        _ => Err(unsupported(
            "codex",
            "hold files other than images",
            "append the text alone",
        )),
    };
    parts.iter().map(content).collect()
}

/// Encodes a line that the caller has already written; a missing time is added.
fn native(lines: &mut Lines, at: Instant, bytes: &[u8]) -> Result<()> {
    let raw = one_object(bytes)?;
    let word = raw.get("type").and_then(|word| word.text());
    let payload = raw
        .get("payload")
        .filter(|payload| payload.kind() == RawKind::Object);
    let (Some(word), Some(payload)) = (word, payload) else {
        return Err(refused("it has no `type` with a `payload`"));
    };
    if word == "session_meta" || raw.get("ordinal").is_some() {
        return Err(refused("headers and ordinals are written by Codex alone"));
    }
    let time = |time: Raw<'_>| Instant::parse(&time.text()?);
    let at = raw.get("timestamp").and_then(time).unwrap_or(at);
    lines.push(at, &word, Json::from(payload));
    Ok(())
}

fn refused(why: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, "the record is not a line of Codex")
        .because(why)
        .advising(r#"write {"role":"user","text":"…"} to have one made"#)
}
