//! The parts of a message: what a person reads, and what the model is sent.

use boswell_model::Part;
use boswell_model::json::{Json, Raw};

use crate::content_blocks;
use crate::media_part;
use crate::members::{lossy, plain, text};

use super::record::Record;

/// What the model reads in place of a result that was removed to save tokens.
const CLEARED: &str = "[Old tool result content cleared]";
/// What the model reads in place of a result that never came.
pub(super) const INTERRUPTED: &str = "[Tool execution was interrupted]";
/// What the model reads where the history before was replaced by a summary.
const COMPACTED: &str = "What did we do so far?";
/// What the model reads where the user started a subagent.
const SUBTASK: &str = "The following tool was executed by the user";

/// Returns everything that a person reads of a message.
pub(super) fn shown(message: Record<'_>) -> Vec<Part> {
    let mut shown: Vec<Part> = message.parts().flat_map(shown_part).collect();
    if let Some(error) = message.info("error").filter(|it| !it.is_null()) {
        shown.push(other("error", error));
    }
    // Messages of the next generation have their content inside.
    shown.extend(message.info_text("text").map(Part::Text));
    shown.extend(content_blocks::parts(message.info("content")));
    shown
}

fn other(word: &str, json: Raw<'_>) -> Part {
    Part::Other {
        word: word.to_owned(),
        json: lossy(json),
    }
}

fn shown_part(part: Raw<'_>) -> Vec<Part> {
    let word = text(part, "type").unwrap_or_default();
    match word.as_str() {
        "text" => text(part, "text").map(Part::Text).into_iter().collect(),
        "reasoning" => text(part, "text").map(Part::thinking).into_iter().collect(),
        "tool" => {
            let mut parts = vec![call(part)];
            parts.extend(result(part, Sent::No));
            parts.extend(attachments(part));
            parts
        }
        "file" => file(part),
        // They divide a message, and the usage is that of the message.
        "step-start" | "step-finish" => Vec::new(),
        _ => vec![other(&word, part)],
    }
}

/// A file, and what is known of it besides its bytes.
fn file(part: Raw<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> = media(part).into_iter().collect();
    let mut about = Json::object();
    let members = ["filename", "source"].map(|key| (key, part.get(key)));
    let mut any = false;
    for (key, value) in members {
        if let Some(value) = value {
            about = about.with(key, Json::from(value));
            any = true;
        }
    }
    if any {
        parts.push(Part::Other {
            word: "file".to_owned(),
            json: about.to_string(),
        });
    }
    parts
}

fn media(part: Raw<'_>) -> Option<Part> {
    let place = media_part::of_url(&text(part, "url")?);
    Some(match place {
        Part::Media { mime: None, source } => Part::Media {
            mime: text(part, "mime"),
            source,
        },
        place => place,
    })
}

fn call(part: Raw<'_>) -> Part {
    let state = part.get("state");
    let input = state.and_then(|state| state.get("input").or_else(|| state.get("raw")));
    Part::Call {
        id: text(part, "callID").unwrap_or_default(),
        name: text(part, "tool").unwrap_or_default(),
        input: input.map(plain).unwrap_or_default().into(),
    }
}

/// Whether a result is for the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Yes,
    No,
}

/// Returns the result of a call; the model gets one for every call.
fn result(part: Raw<'_>, sent: Sent) -> Option<Part> {
    let state = part.get("state")?;
    let said = |text: String, is_error: bool| {
        let call = crate::members::text(part, "callID").unwrap_or_default();
        Some(Part::Result {
            call,
            text,
            is_error,
        })
    };
    let cleared = state
        .at(&["time", "compacted"])
        .is_some_and(|it| !it.is_null());
    match text(state, "status").as_deref() {
        Some("completed") if sent == Sent::Yes && cleared => said(CLEARED.to_owned(), false),
        Some("completed") => said(state.get("output").map(plain).unwrap_or_default(), false),
        Some("error") => {
            // A tool that was stopped keeps what it had said until then.
            let was_stopped = state
                .at(&["metadata", "interrupted"])
                .and_then(|it| it.bool());
            let output = state.at(&["metadata", "output"]).and_then(|it| it.text());
            match output.filter(|_| was_stopped == Some(true)) {
                Some(output) if sent == Sent::Yes => said(output.into_owned(), false),
                _ => said(state.get("error").map(plain).unwrap_or_default(), true),
            }
        }
        _ if sent == Sent::Yes => said(INTERRUPTED.to_owned(), true),
        _ => None,
    }
}

fn attachments(part: Raw<'_>) -> impl Iterator<Item = Part> {
    let list = part.at(&["state", "attachments"]);
    let list = list.into_iter().flat_map(|list| list.items());
    list.flat_map(file)
}

/// Whether a message of the user consists of texts that the agent wrote.
pub(super) fn is_synthetic(message: Record<'_>) -> bool {
    let is = |part: Raw<'_>, key: &str| part.get(key).and_then(|it| it.bool()) == Some(true);
    let mut any = false;
    for part in message.parts() {
        if !is(part, "synthetic") || message.info_text("role").as_deref() != Some("user") {
            return false;
        }
        any = true;
    }
    any
}

/// Returns the parts of a message as they are sent, one list for each step.
pub(super) fn steps(message: Record<'_>) -> Vec<Vec<Part>> {
    match message.info_text("role").as_deref() {
        Some("assistant") => answer(message),
        Some("user") => {
            let mut sent: Vec<Part> = message.parts().filter_map(asked).collect();
            if message.0.get(super::layout::PARTS).is_none() {
                sent.extend(shown(message));
            }
            vec![sent]
        }
        _ => vec![shown(message)],
    }
}

fn asked(part: Raw<'_>) -> Option<Part> {
    let said = |text: &str| Some(Part::Text(text.to_owned()));
    match text(part, "type").as_deref() {
        Some("text") => {
            let ignored = part.get("ignored").and_then(|it| it.bool()) == Some(true);
            let text = part.get("text")?.text()?;
            (!ignored).then(|| Part::Text(text.into_owned()))
        }
        Some("file") => {
            // Their text is a part of its own.
            let mime = text(part, "mime").unwrap_or_default();
            let is_text = matches!(mime.as_str(), "text/plain" | "application/x-directory");
            media(part).filter(|_| !is_text)
        }
        Some("compaction") => said(COMPACTED),
        Some("subtask") => said(SUBTASK),
        _ => None,
    }
}

fn answer(message: Record<'_>) -> Vec<Vec<Part>> {
    let is = |part: Raw<'_>, word: &str| part.get("type").is_some_and(|it| it.is(word));
    if let Some(error) = message.info("error").filter(|it| !it.is_null()) {
        // Of an answer that failed nothing is sent, unless the user stopped it.
        let was_stopped = text(error, "name").as_deref() == Some("MessageAbortedError");
        let has_content = |part: Raw<'_>| !is(part, "step-start") && !is(part, "reasoning");
        if !was_stopped || !message.parts().any(has_content) {
            return Vec::new();
        }
    }
    let mut steps = vec![Vec::new()];
    for part in message.parts() {
        if is(part, "step-start") {
            steps.push(Vec::new());
            continue;
        }
        let Some(step) = steps.last_mut() else {
            continue;
        };
        if is(part, "text") {
            step.extend(text(part, "text").map(Part::Text));
        } else if is(part, "reasoning") {
            let thought = text(part, "text").filter(|it| !it.is_empty());
            step.extend(thought.map(Part::thinking));
        } else if is(part, "tool") {
            step.push(call(part));
            step.extend(result(part, Sent::Yes));
        }
    }
    steps.retain(|step| !step.is_empty());
    steps
}
