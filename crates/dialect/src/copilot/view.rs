//! The readable view of an event.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{MediaSource, Part, View};

use crate::members::{list, lossy, plain, text};

use super::event::data;
use super::meta;

/// Returns the readable view of an event.
pub(super) fn view(object: &Object<'_>) -> View {
    let data = data(object);
    let word = object.text("type").unwrap_or_default().into_owned();
    match word.as_str() {
        "user.message" => user(data),
        "assistant.message" | "assistant.reasoning" => assistant(data),
        "tool.execution_complete" => result(data),
        "system.message" => View {
            hidden: true,
            ..View::text_only(text(data, "content").unwrap_or_default())
        },
        "session.start" => View::remark(format!(
            "session {}, Copilot CLI {}",
            text(data, "sessionId").unwrap_or_default(),
            text(data, "copilotVersion").unwrap_or_default(),
        )),
        "session.title_changed" => View::remark(format!(
            "title is now {}",
            text(data, "title").unwrap_or_default()
        )),
        "session.model_change" => View::remark(format!(
            "model is now {}",
            text(data, "newModel").unwrap_or_default()
        )),
        "session.compaction_complete" => match text(data, "summaryContent") {
            Some(summary) => View {
                remark: Some("a summary replaces what came before".to_owned()),
                ..View::text_only(summary)
            },
            None => other(&word, data),
        },
        "session.error" | "session.info" | "session.warning" => match text(data, "message") {
            Some(message) => View::text_only(message),
            None => other(&word, data),
        },
        "session.usage_record" | "assistant.usage" => View {
            usage: meta::usage(data),
            ..View::remark("tokens of one response")
        },
        _ => other(&word, data),
    }
}

fn user(data: Raw<'_>) -> View {
    let mut parts: Vec<Part> = text(data, "content").map(Part::Text).into_iter().collect();
    for attachment in data
        .get("attachments")
        .into_iter()
        .flat_map(|it| it.items())
    {
        parts.push(attached(attachment));
    }
    if parts.is_empty() {
        parts.extend(text(data, "transformedContent").map(Part::Text));
    }
    match parts.is_empty() {
        true => View::remark("a prompt without text"),
        false => View::of(parts),
    }
}

/// A file that was attached: its bytes, or where it is.
fn attached(attachment: Raw<'_>) -> Part {
    let data = text(attachment, "data");
    let mime = text(attachment, "mimeType");
    match (data, text(attachment, "path")) {
        (Some(data), _) if mime.is_some() => Part::Media {
            mime,
            source: MediaSource::Inline(data),
        },
        _ => Part::Other {
            word: "attachment".to_owned(),
            json: lossy(attachment),
        },
    }
}

fn assistant(data: Raw<'_>) -> View {
    let mut parts = Vec::new();
    if let Some(said) = text(data, "reasoningText") {
        parts.push(Part::Thinking {
            text: said,
            signature: text(data, "reasoningOpaque"),
        });
    }
    parts.extend(text(data, "content").map(Part::Text));
    for call in data
        .get("toolRequests")
        .into_iter()
        .flat_map(|it| it.items())
    {
        parts.push(Part::Call {
            id: text(call, "toolCallId").unwrap_or_default(),
            name: text(call, "name").unwrap_or_default(),
            input: call.get("arguments").map(plain).unwrap_or_default().into(),
        });
    }
    let remark = parts
        .is_empty()
        .then(|| "an answer without text".to_owned());
    View {
        parts,
        remark,
        model: text(data, "model"),
        usage: meta::message_usage(data),
        ..View::default()
    }
}

/// The result of a call: what the model got, and what only the screen showed.
fn result(data: Raw<'_>) -> View {
    let outcome = data.get("result");
    let error = data.get("error").filter(|it| !it.is_null());
    let texts = result_texts(outcome, error);
    let failed = data.get("success").and_then(|it| it.bool()) == Some(false);
    let mut parts = vec![Part::Result {
        call: data.get("toolCallId").map(plain).unwrap_or_default(),
        text: texts.join("\n"),
        is_error: failed || error.is_some(),
    }];
    if let Some(content) = outcome.and_then(|it| list(it, "contents")) {
        let shown = crate::content_blocks::parts(Some(content)).into_iter();
        parts.extend(shown.filter(|part| !is_said(part, &texts)));
    }
    View {
        tool: text(data, "toolName"),
        ..View::of(parts)
    }
}

fn is_said(part: &Part, texts: &[String]) -> bool {
    matches!(part, Part::Text(text) if texts.contains(text))
}

fn result_texts(outcome: Option<Raw<'_>>, error: Option<Raw<'_>>) -> Vec<String> {
    let said = outcome.and_then(|it| match it.kind() {
        RawKind::Object => text(it, "content"),
        _ => it.text().map(Into::into),
    });
    let message = error.map(|it| text(it, "message").unwrap_or_else(|| plain(it)));
    let mut texts: Vec<String> = said.into_iter().chain(message).collect();
    let detailed = outcome.and_then(|it| text(it, "detailedContent"));
    texts.extend(detailed.filter(|detailed| !texts.iter().any(|it| it.contains(&**detailed))));
    texts
}

fn other(word: &str, data: Raw<'_>) -> View {
    View {
        remark: Some(word.replace(['.', '_'], " ")),
        ..View::of([Part::Other {
            word: word.to_owned(),
            json: lossy(data),
        }])
    }
}
