//! The readable view of a record.

use std::borrow::Cow;

use boswell_model::json::{Raw, RawKind};
use boswell_model::{MediaSource, Part, View};

use super::item::{Item, Shape, Side};
use super::meta::{counts, permission_mode, text, usage};
use super::record::Record;
use crate::media_part;

/// Returns the readable view of a record.
pub(super) fn view(record: Record<'_>) -> View {
    match record {
        Record::Meta(payload) => View::remark(about_session(payload)),
        Record::Item(payload) => item(payload),
        Record::Event(payload) => event(payload),
        Record::Turn(payload) => View {
            model: text(payload, "model"),
            ..View::remark(about_turn(payload))
        },
        Record::Compacted(payload) => compacted(payload),
        Record::Relay(payload) => View {
            parts: parts(payload.get("content")),
            ..View::default()
        },
        Record::Tokens(payload) => View {
            usage: payload.get("usage").and_then(counts),
            ..View::remark("tokens of one response")
        },
        Record::State(payload) | Record::Unknown(payload) => other(payload),
    }
}

fn item(payload: Raw<'_>) -> View {
    let shape = Item::of(payload).shape();
    let blocks = match shape {
        Shape::Prompt
        | Shape::Fragment
        | Shape::Developer
        | Shape::System
        | Shape::Answer
        | Shape::Relay => parts(payload.get("content")),
        Shape::Reasoning => return reasoning(payload),
        Shape::Tool(Side::Call) => vec![call(payload)],
        Shape::Tool(Side::Answer) => answer(payload),
        Shape::Hosted => return hosted(payload),
        Shape::Packed | Shape::Tools | Shape::Snapshot | Shape::Unknown => {
            return View {
                hidden: shape.is_hidden(),
                ..other(payload)
            };
        }
    };
    View {
        parts: blocks,
        hidden: shape.is_hidden(),
        tool: text(payload, "name"),
        ..View::default()
    }
}

fn reasoning(payload: Raw<'_>) -> View {
    let lists = [payload.get("summary"), payload.get("content")];
    let texts = lists
        .into_iter()
        .flatten()
        .flat_map(|list| list.items())
        .filter_map(|part| text(part, "text"));
    let blocks: Vec<_> = texts.map(Part::thinking).collect();
    let remark = blocks.is_empty().then(|| {
        let sealed = payload
            .get("encrypted_content")
            .is_some_and(|c| !c.is_null());
        if sealed {
            "reasoning, encrypted by the provider"
        } else {
            "reasoning, nothing of it was written"
        }
        .to_owned()
    });
    View {
        parts: blocks,
        remark,
        ..View::default()
    }
}

fn call(payload: Raw<'_>) -> Part {
    let word = text(payload, "type").unwrap_or_default();
    let input = ["arguments", "input", "action"]
        .iter()
        .find_map(|key| payload.get(key));
    let name = text(payload, "name")
        .unwrap_or_else(|| word.strip_suffix("_call").unwrap_or(&word).to_owned());
    Part::Call {
        id: Item::of(payload)
            .call_id()
            .map(Cow::into_owned)
            .unwrap_or_default(),
        name: match text(payload, "namespace") {
            Some(space) => format!("{space}.{name}"),
            None => name,
        },
        input: input.map(plain).unwrap_or_default().into(),
    }
}

fn answer(payload: Raw<'_>) -> Vec<Part> {
    let call = Item::of(payload)
        .call_id()
        .map(Cow::into_owned)
        .unwrap_or_default();
    let output = payload.get("output").or_else(|| payload.get("tools"));
    let (mut text, mut is_error, mut media) = (String::new(), false, Vec::new());
    if let Some(output) = output {
        is_error = output.get("success").and_then(|s| s.bool()) == Some(false);
        // The body is a string, a list of parts, or (in some versions) an object
        // around one of these.
        let body = output.get("content").unwrap_or(output);
        for block in parts(Some(body)) {
            match block {
                Part::Text(part) if text.is_empty() => text = part,
                Part::Text(part) => text = format!("{text}\n{part}"),
                other => media.push(other),
            }
        }
    }
    if let Some((inner, failed)) = structured(&text) {
        (text, is_error) = (inner, is_error || failed);
    }
    let mut blocks = vec![Part::Result {
        call,
        text,
        is_error,
    }];
    blocks.append(&mut media);
    blocks
}

/// Parses the output of a command that older versions wrote as JSON in a string, with its exit
/// code.
fn structured(text: &str) -> Option<(String, bool)> {
    let raw = text
        .starts_with('{')
        .then(|| Raw::parse(text.as_bytes()).ok())
        .flatten()?;
    let code = raw.at(&["metadata", "exit_code"])?.i64()?;
    Some((raw.get("output")?.text()?.into_owned(), code != 0))
}

fn hosted(payload: Raw<'_>) -> View {
    let word = text(payload, "type").unwrap_or_default();
    if let Some(image) = text(payload, "result").filter(|_| word == "image_generation_call") {
        let blocks = vec![Part::Media {
            mime: Some("image/png".to_owned()),
            source: MediaSource::Inline(image),
        }];
        return View {
            parts: blocks,
            remark: text(payload, "revised_prompt"),
            ..View::default()
        };
    }
    let query = payload
        .at(&["action", "query"])
        .or_else(|| payload.at(&["action", "url"]))
        .and_then(|q| q.text());
    let remark = query.map_or_else(
        || word.replace('_', " "),
        |query| format!("{}: {query}", word.replace('_', " ")),
    );
    View {
        remark: Some(remark),
        ..other(payload)
    }
}

/// Returns the parts of a message or a result; a string is one text, and a single part is a list of
/// one.
fn parts(content: Option<Raw<'_>>) -> Vec<Part> {
    match content {
        Some(content) if content.kind() == RawKind::Array => content.items().map(part).collect(),
        Some(content) if content.is_null() => Vec::new(),
        Some(content) => vec![part(content)],
        None => Vec::new(),
    }
}

fn part(part: Raw<'_>) -> Part {
    if let Some(text) = part.text() {
        return Part::Text(text.into_owned());
    }
    let word = text(part, "type").unwrap_or_default();
    let known = match word.as_str() {
        "input_text" | "output_text" | "text" | "inputText" => {
            part.get("text").and_then(|t| t.text()).map(text_block)
        }
        "reasoning" | "reasoning_text" | "summary_text" => text(part, "text").map(Part::thinking),
        "input_image" | "image" => text(part, "image_url").map(|url| media_part::of_url(&url)),
        // Other tools that write this format put calls in another provider's format into messages.
        "tool_use" => Some(Part::Call {
            id: text(part, "id").unwrap_or_default(),
            name: text(part, "name").unwrap_or_default(),
            input: part.get("input").map(plain).unwrap_or_default().into(),
        }),
        _ => None,
    };
    known.unwrap_or_else(|| Part::Other {
        word,
        json: json(part),
    })
}

fn text_block(text: Cow<'_, str>) -> Part {
    Part::Text(text.into_owned())
}

fn event(payload: Raw<'_>) -> View {
    let word = text(payload, "type").unwrap_or_default();
    let said = |key: &str| text(payload, key).unwrap_or_default();
    match word.as_str() {
        // Whether these are hidden depends on the other records, and is in the head.
        "user_message" | "agent_message" => View::text_only(said("message")),
        "agent_reasoning" | "agent_reasoning_raw_content" => View {
            parts: vec![Part::thinking(said("text"))],
            hidden: true,
            ..View::default()
        },
        "error" | "stream_error" | "warning" | "guardian_warning" => {
            View::text_only(said("message"))
        }
        "token_count" => View {
            usage: usage(payload),
            ..View::remark("tokens so far")
        },
        "thread_name_updated" => View::remark(format!("title is now {}", said("thread_name"))),
        "thread_rolled_back" => {
            let turns = payload.get("num_turns").and_then(|n| n.u64());
            View::remark(turns.map_or("went back".to_owned(), |n| {
                format!("went back by {n} turns")
            }))
        }
        _ => View {
            remark: Some(word.replace('_', " ")),
            ..other(payload)
        },
    }
}

fn compacted(payload: Raw<'_>) -> View {
    let kept = payload
        .get("replacement_history")
        .filter(|h| h.kind() == RawKind::Array)
        .map(|h| h.items().count());
    let remark = match kept {
        Some(kept) => format!("compacted: {kept} items replace what came before"),
        None => "compacted: a summary replaces what came before".to_owned(),
    };
    let blocks = text(payload, "message")
        .map(Part::Text)
        .into_iter()
        .collect();
    View {
        parts: blocks,
        remark: Some(remark),
        ..View::default()
    }
}

fn about_session(payload: Raw<'_>) -> String {
    let mut line = format!(
        "session {}",
        text(payload, "id").unwrap_or_else(|| "without an id".to_owned())
    );
    for (key, before) in [
        ("cli_version", ", codex "),
        ("cwd", ", in "),
        ("forked_from_id", ", forked from "),
    ] {
        if let Some(value) = text(payload, key) {
            line.push_str(before);
            line.push_str(&value);
        }
    }
    line
}

fn about_turn(payload: Raw<'_>) -> String {
    let mut line = format!(
        "model {}",
        text(payload, "model").unwrap_or_else(|| "unknown".to_owned())
    );
    if let Some(effort) = text(payload, "effort") {
        line.push_str(&format!(", effort {effort}"));
    }
    if let Some(mode) = permission_mode(payload) {
        line.push_str(&format!(", permissions {mode}"));
    }
    line
}

fn other(payload: Raw<'_>) -> View {
    let word = text(payload, "type")
        .or_else(|| text(payload, "record_type"))
        .unwrap_or_default();
    View {
        parts: vec![Part::Other {
            word,
            json: json(payload),
        }],
        ..View::default()
    }
}

fn plain(value: Raw<'_>) -> String {
    value.text().map_or_else(|| json(value), Cow::into_owned)
}

fn json(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::view_of;
    use super::*;

    fn item(payload: &str) -> View {
        view_of(&format!(
            r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{payload}}}"#
        ))
    }

    #[test]
    fn messages_show_texts_images_and_parts_of_unknown_types() {
        let view = item(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"hologram","x":1}]}"#,
        );
        assert_eq!(view.text(), "look");
        let image = MediaSource::Inline("AAAA".to_owned());
        assert_eq!(
            view.parts[1],
            Part::Media {
                mime: Some("image/png".to_owned()),
                source: image
            }
        );
        assert!(matches!(&view.parts[2], Part::Other { word, .. } if word == "hologram"));
    }

    #[test]
    fn calls_show_their_arguments_and_answers_whether_they_failed() {
        let call = item(
            r#"{"type":"function_call","name":"shell","namespace":"mcp","arguments":"{\"a\":1}","call_id":"c"}"#,
        );
        assert_eq!(
            call.calls().collect::<Vec<_>>(),
            [("c", "mcp.shell", &r#"{"a":1}"#.into())]
        );
        let shell =
            item(r#"{"type":"local_shell_call","call_id":"s","action":{"command":["ls"]}}"#);
        assert_eq!(
            shell.calls().collect::<Vec<_>>(),
            [("s", "local_shell", &r#"{"command":["ls"]}"#.into())]
        );
        for (output, text, failed) in [
            (r#""plain""#, "plain", false),
            (
                r#""{\"output\":\"bad\",\"metadata\":{\"exit_code\":2}}""#,
                "bad",
                true,
            ),
            (r#"{"content":"no","success":false}"#, "no", true),
            (
                r#"[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]"#,
                "a\nb",
                false,
            ),
            (r#"{"type":"input_text","text":"one"}"#, "one", false),
        ] {
            let view = item(&format!(
                r#"{{"type":"custom_tool_call_output","call_id":"c","output":{output}}}"#
            ));
            let expected = Part::Result {
                call: "c".to_owned(),
                text: text.to_owned(),
                is_error: failed,
            };
            assert_eq!(view.parts, [expected], "{output}");
        }
    }

    #[test]
    fn reasoning_shows_its_summary_or_that_it_is_sealed() {
        let open = item(
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"content":null}"#,
        );
        assert_eq!(open.parts, [Part::thinking("hm")]);
        let sealed = item(r#"{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}"#);
        assert_eq!(
            sealed.remark.as_deref(),
            Some("reasoning, encrypted by the provider")
        );
    }

    #[test]
    fn what_is_no_message_says_what_it_is() {
        let meta = view_of(
            r#"{"type":"session_meta","payload":{"id":"a","cli_version":"0.1","cwd":"/p"}}"#,
        );
        assert_eq!(meta.remark.as_deref(), Some("session a, codex 0.1, in /p"));
        let turn = view_of(
            r#"{"type":"turn_context","payload":{"model":"m","effort":"low","approval_policy":"never"}}"#,
        );
        assert_eq!(
            turn.remark.as_deref(),
            Some("model m, effort low, permissions never")
        );
        let event =
            view_of(r#"{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"c"}}"#);
        assert_eq!(event.remark.as_deref(), Some("exec command end"));
        assert_eq!(
            event.results().count(),
            0,
            "an event repeats an answer and is none"
        );
        let copy =
            view_of(r#"{"type":"event_msg","payload":{"type":"agent_message","message":"hi"}}"#);
        assert_eq!(copy.text(), "hi");
    }
}
