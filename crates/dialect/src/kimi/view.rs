//! The readable view of a record.

use boswell_model::json::{Object, Raw};
use boswell_model::{Part, Usage, View};

use crate::content_blocks::{self, parts, tool_calls};
use crate::members::{lossy, plain, text};

/// Returns the readable view of a record.
pub(super) fn view(object: &Object<'_>) -> View {
    let word = object.text("type").unwrap_or_default().into_owned();
    match word.as_str() {
        "metadata" => View::remark(format!(
            "Kimi Code, protocol {}",
            object.text("protocol_version").unwrap_or_default()
        )),
        "context.append_message" => object.get("message").map(message).unwrap_or_default(),
        "context.append_loop_event" => object.get("event").map(event).unwrap_or_default(),
        "context.apply_compaction" => compaction(object),
        "context.undo" => View::remark("went back"),
        "context.clear" => View::remark("the context was emptied"),
        "usage.record" => View {
            usage: object.get("usage").and_then(usage),
            model: text(object.raw(), "model"),
            ..View::remark("tokens of one response")
        },
        "agent.message.appended" => View {
            hidden: true,
            ..View::remark("the same message again, as an event")
        },
        _ => other(&word, object.raw()),
    }
}

fn message(message: Raw<'_>) -> View {
    let content = message.get("content");
    let hidden = message
        .get("origin")
        .is_some_and(|it| it.get("kind").is_some_and(|kind| !kind.is("user")));
    let shown = match text(message, "role").as_deref() {
        Some("tool") => {
            let call = text(message, "toolCallId").unwrap_or_default();
            content_blocks::result(call, content, false)
        }
        _ => {
            let mut shown = parts(content);
            shown.extend(tool_calls(message.get("toolCalls")));
            shown
        }
    };
    let remark = shown
        .is_empty()
        .then(|| "a message without content".to_owned());
    View {
        parts: shown,
        remark,
        hidden,
        ..View::default()
    }
}

fn event(event: Raw<'_>) -> View {
    let word = text(event, "type").unwrap_or_default();
    match word.as_str() {
        "content.part" => match event.get("part") {
            Some(part) => View::of(content_part(part)),
            None => other(&word, event),
        },
        "tool.call" => View {
            remark: text(event, "description"),
            ..View::of([Part::Call {
                id: text(event, "toolCallId").unwrap_or_default(),
                name: text(event, "name").unwrap_or_default(),
                input: event.get("args").map(plain).unwrap_or_default().into(),
            }])
        },
        "tool.result" => result(event),
        "step.end" => View {
            usage: event.get("usage").and_then(usage),
            stop: text(event, "finishReason"),
            ..View::remark("end of a step")
        },
        _ => View::remark(word.replace('.', " ")),
    }
}

/// A part of an answer. Some thoughts have their text in another member.
fn content_part(part: Raw<'_>) -> Vec<Part> {
    let is_thought = part.get("type").is_some_and(|it| it.is("think"));
    match text(part, "text").filter(|_| is_thought && part.get("think").is_none()) {
        Some(thought) => vec![Part::thinking(thought)],
        None => parts(Some(part)),
    }
}

fn result(event: Raw<'_>) -> View {
    let result = event.get("result");
    let failed = result.and_then(|it| it.get("isError")?.bool()) == Some(true);
    let output = result.and_then(|it| it.get("output"));
    let call = text(event, "toolCallId").unwrap_or_default();
    let mut parts = content_blocks::result(call, output, failed);
    for key in ["message", "note"] {
        let note = result.and_then(|it| text(it, key));
        if let (Some(note), Some(Part::Result { text, .. })) = (note, parts.first_mut())
            && !text.contains(&note)
        {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&note);
        }
    }
    View::of(parts)
}

/// Returns the summary that the model gets, and the one that people read where it differs.
pub(super) fn summaries(object: &Object<'_>) -> Vec<String> {
    let stated = ["contextSummary", "summary"].iter().filter_map(|key| {
        let summary = object.get(key)?;
        match summary.text() {
            Some(text) => Some(text.into_owned()),
            None => Some(content_blocks::said_text(&parts(summary.get("content")))),
        }
    });
    stated.filter(|it| !it.is_empty()).collect()
}

fn compaction(object: &Object<'_>) -> View {
    View {
        remark: Some("a summary replaces what came before".to_owned()),
        ..View::of(summaries(object).into_iter().map(Part::Text))
    }
}

/// Returns tokens. Cached ones are apart already.
pub(super) fn usage(stated: Raw<'_>) -> Option<Usage> {
    let count = |key: &str| stated.get(key).and_then(|it| it.u64());
    let usage = Usage {
        input: count("inputOther"),
        output: count("output"),
        cache_read: count("inputCacheRead"),
        cache_write: count("inputCacheCreation"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

fn other(word: &str, raw: Raw<'_>) -> View {
    View {
        remark: Some(word.replace(['.', '_'], " ")),
        ..View::of([Part::Other {
            word: word.to_owned(),
            json: lossy(raw),
        }])
    }
}
