//! The readable view of a line: messages, and in words the lines that are none (`system`, progress
//! in percent, snapshots of files, queue operations).

use std::borrow::Cow;

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{Part, View};

use super::{attachment, meta};
use crate::media_part;

/// Returns the readable view of a line.
pub(super) fn view(object: &Object<'_>) -> View {
    let word = object.text("type").unwrap_or_default();
    let mut view = match word.as_ref() {
        "user" | "assistant" => message(object),
        "attachment" => attached(object),
        "system" => system(object),
        _ => View::remark(remark(&word, object)),
    };
    let is_true = |key: &str| object.get(key).and_then(|value| value.bool()) == Some(true);
    view.hidden =
        is_true("isMeta") || (is_true("isVisibleInTranscriptOnly") && !is_true("isCompactSummary"));
    view
}

fn message(object: &Object<'_>) -> View {
    let mut view = View::default();
    let Some(message) = object.get("message") else {
        return View::remark("a message without content");
    };
    // Some tools write the text where the message should be.
    let content = if message.kind() == RawKind::String {
        Some(message)
    } else {
        message.get("content")
    };
    view.parts = content.map(blocks).unwrap_or_default();
    fill_results(object, &mut view);
    view.model = message
        .get("model")
        .and_then(|model| model.text())
        .map(|model| model.into_owned());
    view.usage = message
        .get("usage")
        .map(meta::usage)
        .filter(|usage| !usage.is_unknown());
    view.stop = message
        .get("stop_reason")
        .and_then(|stop| stop.text())
        .map(|stop| stop.into_owned());
    if object.get("isApiErrorMessage").and_then(|e| e.bool()) == Some(true) {
        view.remark = Some("an error of the API, not sent to the model".to_owned());
    } else if object.get("isCompactSummary").and_then(|e| e.bool()) == Some(true) {
        view.remark = Some("summary of what was compacted".to_owned());
    }
    view
}

/// Adds the output of a tool from the line's `toolUseResult` if the message does not contain it.
fn fill_results(object: &Object<'_>, view: &mut View) {
    let own = object.get("toolUseResult");
    let mut persisted = false;
    for block in &mut view.parts {
        let Part::Result { text, .. } = block else {
            continue;
        };
        persisted |= text.starts_with("<persisted-output>");
        if text.is_empty() {
            *text = own.map(own_output).unwrap_or_default();
        }
    }
    if own.and_then(|own| own.get("interrupted")?.bool()) == Some(true) {
        view.remark = Some("interrupted".to_owned());
    }
    if persisted {
        let path = own
            .and_then(|own| own.get("persistedOutputPath"))
            .and_then(|path| path.text());
        let path = path.map_or_else(
            || "a file of its own".to_owned(),
            |path| format!("`{path}`"),
        );
        view.remark = Some(format!("the whole output is in {path}"));
    }
}

fn own_output(own: Raw<'_>) -> String {
    if let Some(text) = own.text() {
        return text.into_owned();
    }
    let parts = ["stdout", "stderr", "content"]
        .iter()
        .filter_map(|key| own.get(key))
        .map(plain_text);
    parts
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the text of a string, or of the text blocks of a list.
fn plain_text(content: Raw<'_>) -> String {
    if let Some(text) = content.text() {
        return text.into_owned();
    }
    let texts = content
        .items()
        .filter_map(|block| block.get("text").and_then(|text| text.text()));
    texts.collect::<Vec<Cow<'_, str>>>().join("\n")
}

/// The blocks of a content; plain text is one text block.
pub(super) fn blocks(content: Raw<'_>) -> Vec<Part> {
    if let Some(text) = content.text() {
        return vec![Part::Text(text.into_owned())];
    }
    content.items().flat_map(block).collect()
}

/// A block, and for results the images inside it.
fn block(raw: Raw<'_>) -> Vec<Part> {
    let text = |key: &str| {
        raw.get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    let word = text("type").unwrap_or_default();
    vec![match word.as_str() {
        "text" => Part::Text(text("text").unwrap_or_default()),
        "thinking" => Part::Thinking {
            text: text("thinking").unwrap_or_default(),
            signature: text("signature").filter(|it| !it.is_empty()),
        },
        "tool_use" | "server_tool_use" => Part::Call {
            id: text("id").unwrap_or_default(),
            name: text("name").unwrap_or_default(),
            input: raw.get("input").map(json).unwrap_or_default().into(),
        },
        "tool_result" => return result(raw),
        "image" | "document" => media_part::of_source(raw),
        _ if raw.kind() == RawKind::String => {
            Part::Text(raw.text().unwrap_or_default().into_owned())
        }
        _ => Part::Other {
            word,
            json: json(raw),
        },
    }]
}

fn result(raw: Raw<'_>) -> Vec<Part> {
    let content = raw.get("content");
    let mut out = vec![Part::Result {
        call: raw
            .get("tool_use_id")
            .and_then(|id| id.text())
            .unwrap_or_default()
            .into_owned(),
        text: content.map(plain_text).unwrap_or_default(),
        is_error: raw.get("is_error").and_then(|e| e.bool()) == Some(true),
    }];
    let is_media = |block: &Raw<'_>| {
        block
            .get("type")
            .is_some_and(|word| word.is("image") || word.is("document"))
    };
    out.extend(
        content
            .into_iter()
            .flat_map(|content| content.items())
            .filter(is_media)
            .map(media_part::of_source),
    );
    out
}

fn json(raw: Raw<'_>) -> String {
    String::from_utf8_lossy(raw.bytes()).into_owned()
}

fn attached(object: &Object<'_>) -> View {
    let word = attachment::word(object).unwrap_or_default();
    let mut view = View {
        parts: attachment::parts(object).flat_map(blocks).collect(),
        ..View::default()
    };
    if view.parts.is_empty() {
        view.parts = unrendered(object).map(Part::Text).into_iter().collect();
    }
    view.remark = Some(format!("attachment {word}"));
    view
}

/// Returns the text of an attachment for which the text sent to the model was not recorded: a
/// queued prompt, a file, the output of a hook.
fn unrendered(object: &Object<'_>) -> Option<String> {
    let attachment = object.get("attachment")?;
    let places: [&[&str]; 6] = [
        &["prompt"],
        &["content", "file", "content"],
        &["content"],
        &["text"],
        &["stdout"],
        &["snippet"],
    ];
    places
        .iter()
        .filter_map(|place| attachment.at(place))
        .map(plain_text)
        .find(|text| !text.is_empty())
}

fn system(object: &Object<'_>) -> View {
    let subtype = object.text("subtype").unwrap_or_default();
    let number = |key: &str| object.get(key).and_then(|value| value.u64());
    let mut view = View::default();
    let content = object.get("content").filter(|content| !content.is_null());
    if subtype != "compact_boundary" {
        view.parts = content.map(blocks).unwrap_or_default();
    }
    view.remark = Some(match subtype.as_ref() {
        "compact_boundary" => compaction(object),
        "turn_duration" => {
            number("durationMs").map_or("turn ended".to_owned(), |ms| format!("turn took {ms} ms"))
        }
        "stop_hook_summary" => format!("{} stop hooks ran", number("hookCount").unwrap_or(0)),
        "" => "system".to_owned(),
        other => format!("system {other}"),
    });
    view
}

fn compaction(object: &Object<'_>) -> String {
    let meta = object.get("compactMetadata");
    let number = |key: &str| meta.and_then(|m| m.get(key)).and_then(|value| value.u64());
    let trigger = meta
        .and_then(|m| m.get("trigger"))
        .and_then(|trigger| trigger.text());
    let mut line = "compacted".to_owned();
    if let Some(trigger) = trigger {
        line += &format!(" ({trigger})");
    }
    match (number("preTokens"), number("postTokens")) {
        (Some(before), Some(after)) => line += &format!(", {before} tokens before, {after} after"),
        (Some(before), None) => line += &format!(", {before} tokens before"),
        _ => {}
    }
    line
}

/// Returns a one-line description of a record that is not a message.
fn remark(word: &str, object: &Object<'_>) -> String {
    let text = |key: &str| object.text(key).unwrap_or_default();
    match word {
        "last-prompt" => format!(
            "leaf {}{}",
            text("leafUuid"),
            if is_explicit(object) {
                ", explicit"
            } else {
                ""
            }
        ),
        "custom-title" => format!("title is now \"{}\"", text("customTitle")),
        "ai-title" => format!("title made by the client: \"{}\"", text("aiTitle")),
        "agent-name" => format!("agent name {}", text("agentName")),
        "summary" => format!("summary: {}", text("summary")),
        "tag" if text("tag").is_empty() => "tag cleared".to_owned(),
        "tag" => format!("tag {}", text("tag")),
        "mode" => format!("mode is now {}", text("mode")),
        "permission-mode" => format!("permission mode is now {}", text("permissionMode")),
        "queue-operation" => format!("queue: {} {}", text("operation"), text("content"))
            .trim_end()
            .to_owned(),
        "cost-state" => match object.get("totalCostUSD").and_then(|cost| cost.f64()) {
            Some(cost) => format!("cost so far ${cost}"),
            None => "cost so far unknown".to_owned(),
        },
        "progress" => {
            let data = object.get("data").or_else(|| object.get("progressData"));
            let text = |key: &str| {
                data.and_then(|data| data.get(key)?.text())
                    .unwrap_or_default()
            };
            let percent = data
                .and_then(|data| data.get("percentage")?.f64())
                .map(|part| format!(" {part} %"));
            let words = format!("progress {} {}", text("type"), text("message"));
            format!(
                "{}{}",
                words.split_whitespace().collect::<Vec<_>>().join(" "),
                percent.unwrap_or_default()
            )
        }
        "" => String::from_utf8_lossy(object.raw().bytes()).into_owned(),
        other => other.to_owned(),
    }
}

fn is_explicit(object: &Object<'_>) -> bool {
    object.get("explicit").and_then(|e| e.bool()) == Some(true)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn of(line: &str) -> View {
        let mut members = Vec::new();
        scan_object(line.as_bytes(), &mut members).unwrap();
        view(&Object::new(line.as_bytes(), &members))
    }

    #[test]
    fn every_sort_of_block_is_shown() {
        let view = of(
            r#"{"type":"assistant","message":{"model":"m","usage":{"output_tokens":3},"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}},{"type":"brand_new","x":1}]}}"#,
        );
        assert_eq!(view.model.as_deref(), Some("m"));
        assert_eq!(view.usage.and_then(|u| u.output), Some(3));
        assert_eq!(view.parts[0], Part::thinking("hm"));
        assert_eq!(
            view.calls().next(),
            Some(("t", "Bash", &r#"{"command":"ls"}"#.into()))
        );
        assert_eq!(
            view.parts[3],
            Part::Other {
                word: "brand_new".into(),
                json: r#"{"type":"brand_new","x":1}"#.into()
            }
        );
    }

    #[test]
    fn a_result_without_text_is_taken_from_the_lines_own_record() {
        let view = of(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""}]},"toolUseResult":{"stdout":"out","stderr":"err"}}"#,
        );
        assert_eq!(view.text(), "out\nerr");
        assert_eq!(view.results().next(), Some("t"));
    }

    #[test]
    fn an_interrupted_tool_and_the_reason_to_stop_are_told() {
        let result = |interrupted: bool| {
            of(&format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"half"}}]}},"toolUseResult":{{"stdout":"half","stderr":"","interrupted":{interrupted},"isImage":false}}}}"#
            ))
        };
        assert_eq!(
            (result(true).text().as_str(), result(true).remark.as_deref()),
            ("half", Some("interrupted"))
        );
        assert_eq!(result(false).remark, None);
        let answer =
            of(r#"{"type":"assistant","message":{"content":[],"stop_reason":"max_tokens"}}"#);
        assert_eq!(answer.stop.as_deref(), Some("max_tokens"));
        assert_eq!(
            of(r#"{"type":"assistant","message":{"content":[],"stop_reason":null}}"#).stop,
            None
        );
    }

    #[test]
    fn progress_says_what_of_and_how_far() {
        for (line, expected) in [
            (
                r#"{"type":"progress","data":{"type":"hook_progress"}}"#,
                "progress hook_progress",
            ),
            (
                r#"{"type":"progress","progressData":{"message":"编译","percentage":40}}"#,
                "progress 编译 40 %",
            ),
            (
                r#"{"type":"progress","progressData":{"percentage":12.5}}"#,
                "progress 12.5 %",
            ),
            (r#"{"type":"progress"}"#, "progress"),
        ] {
            assert_eq!(of(line).remark.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn spilled_output_is_said_and_images_in_results_are_shown() {
        let view = of(
            r#"{"type":"user","toolUseResult":{"persistedOutputPath":"/x/t.txt"},"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"<persisted-output>\nhead"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}}"#,
        );
        assert_eq!(
            view.remark.as_deref(),
            Some("the whole output is in `/x/t.txt`")
        );
        assert!(
            matches!(&view.parts[1], Part::Media { mime: Some(mime), .. } if mime == "image/png")
        );
    }

    #[test]
    fn lines_that_are_no_messages_get_a_remark() {
        for (line, expected) in [
            (
                r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9,"postTokens":2}}"#,
                "compacted (auto), 9 tokens before, 2 after",
            ),
            (
                r#"{"type":"system","subtype":"turn_duration","durationMs":5}"#,
                "turn took 5 ms",
            ),
            (
                r#"{"type":"queue-operation","operation":"enqueue","content":"hi"}"#,
                "queue: enqueue hi",
            ),
            (
                r#"{"type":"last-prompt","leafUuid":"x","explicit":true}"#,
                "leaf x, explicit",
            ),
            (r#"{"type":"brand-new"}"#, "brand-new"),
            (
                r#"{"type":"attachment","attachment":{"type":"date"},"rendered":[{"content":"today"}]}"#,
                "attachment date",
            ),
        ] {
            assert_eq!(of(line).remark.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn an_attachment_without_recorded_wording_shows_what_it_holds() {
        for (attachment, text) in [
            (
                r#"{"type":"queued_command","prompt":"and then?"}"#,
                "and then?",
            ),
            (
                r#"{"type":"file","content":{"type":"text","file":{"content":"fn main"}}}"#,
                "fn main",
            ),
            (
                r#"{"type":"hook_success","content":"","stdout":"ok"}"#,
                "ok",
            ),
            (r#"{"type":"date"}"#, ""),
        ] {
            assert_eq!(
                of(&format!(
                    r#"{{"type":"attachment","attachment":{attachment}}}"#
                ))
                .text(),
                text
            );
        }
    }

    #[test]
    fn odd_content_does_not_vanish() {
        assert_eq!(of(r#"{"type":"user","message":"error"}"#).text(), "error");
        assert_eq!(
            of(r#"{"type":"user","message":{"content":["wow"]}}"#).text(),
            "wow"
        );
        assert_eq!(
            of(r#"{"silly":"this"}"#).remark.as_deref(),
            Some(r#"{"silly":"this"}"#)
        );
    }
}
