//! The readable view of an entry.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{Part, View};

use super::block::{blocks, is_cut, result_blocks};
use super::js_values::{filled, model_name};
use super::meta::usage_of;
use super::one_line::remark;
use crate::media_part;

/// Returns the readable view of a record.
pub(super) fn view(entry: &Object<'_>) -> View {
    let word = entry.text("type");
    let word = word.as_deref().unwrap_or("");
    match word {
        "message" => match entry.get("message").filter(|m| m.kind() == RawKind::Object) {
            Some(message) => message_view(message),
            None => View::remark(remark("", entry)),
        },
        "custom_message" => custom(entry.raw()),
        "compaction" => {
            let tokens = entry.get("tokensBefore").and_then(|t| t.u64());
            let about = tokens.map_or("compaction".to_owned(), |t| {
                format!("compaction of {t} tokens")
            });
            summary(entry.raw(), about)
        }
        "branch_summary" => {
            let from = filled(entry.get("fromId")).unwrap_or_else(|| "unknown".to_owned());
            summary(entry.raw(), format!("summary of a branch from {from}"))
        }
        _ => View::remark(remark(word, entry)),
    }
}

fn message_view(message: Raw<'_>) -> View {
    let role = message.get("role").and_then(|r| r.text());
    let mut view = match role.as_deref().unwrap_or("") {
        "assistant" => assistant(message),
        "toolResult" => View {
            parts: result_blocks(message),
            tool: filled(message.get("toolName")),
            remark: message
                .get("prunedAt")
                .map(|_| "the agent removed this output later to save room".to_owned()),
            ..View::default()
        },
        "bashExecution" => execution(message, "bash", "$ ", "command"),
        "pythonExecution" => execution(message, "python", ">>> ", "code"),
        "custom" | "hookMessage" => custom(message),
        "fileMention" => file_mention(message),
        "branchSummary" => summary(message, "summary of a branch".to_owned()),
        "compactionSummary" => summary(message, "summary of a compaction".to_owned()),
        _ => View {
            parts: blocks(message.get("content")),
            ..View::default()
        },
    };
    if view.parts.iter().any(is_cut) {
        add_remark(&mut view, "a long text was cut when it was written");
    }
    view
}

fn assistant(message: Raw<'_>) -> View {
    let mut view = View {
        parts: blocks(message.get("content")),
        model: model_name(message.get("provider"), message.get("model")),
        usage: message
            .get("usage")
            .map(usage_of)
            .filter(|u| !u.is_unknown()),
        ..View::default()
    };
    let stop = message.get("stopReason").and_then(|r| r.text());
    view.stop = stop.as_deref().map(str::to_owned);
    if let Some(error) = filled(message.get("errorMessage")) {
        add_remark(&mut view, &error);
    } else if let Some(stop @ ("error" | "aborted" | "length")) = stop.as_deref() {
        add_remark(&mut view, &format!("stopped: {stop}"));
    }
    view
}

fn execution(message: Raw<'_>, tool: &str, prompt: &str, key: &str) -> View {
    let text = |key: &str| message.get(key).and_then(|v| v.text()).unwrap_or_default();
    let is = |key: &str| message.get(key).and_then(|v| v.bool()) == Some(true);
    let mut view = View {
        parts: vec![
            Part::Text(format!("{prompt}{}", text(key))),
            Part::Text(text("output").into_owned()),
        ],
        tool: Some(tool.to_owned()),
        ..View::default()
    };
    if let Some(code) = message
        .get("exitCode")
        .and_then(|c| c.i64())
        .filter(|c| *c != 0)
    {
        add_remark(&mut view, &format!("exit code {code}"));
    }
    for (key, about) in [
        ("cancelled", "cancelled"),
        ("truncated", "output cut"),
        ("excludeFromContext", "kept from the model"),
    ] {
        if is(key) {
            add_remark(&mut view, about);
        }
    }
    view
}

fn custom(message: Raw<'_>) -> View {
    View {
        parts: blocks(message.get("content")),
        hidden: message.get("display").and_then(|d| d.bool()) == Some(false),
        remark: filled(message.get("customType")),
        ..View::default()
    }
}

fn file_mention(message: Raw<'_>) -> View {
    let mut view = View::default();
    let files = message.get("files");
    for file in files.iter().flat_map(|f| f.items()) {
        let path = file.get("path").and_then(|p| p.text()).unwrap_or_default();
        let content = file
            .get("content")
            .and_then(|c| c.text())
            .unwrap_or_default();
        view.parts.push(Part::Text(format!("{path}\n{content}")));
        if let Some(image) = file.get("image").filter(|i| i.kind() == RawKind::Object) {
            view.parts.push(media_part::of_data(image));
        }
        if let Some(reason) = filled(file.get("skippedReason")) {
            add_remark(&mut view, &format!("{path} left out: {reason}"));
        }
    }
    view
}

fn summary(holder: Raw<'_>, about: String) -> View {
    let mut view = View {
        parts: blocks(holder.get("summary")),
        remark: Some(about),
        ..View::default()
    };
    if let Some(short) = filled(holder.get("shortSummary")) {
        add_remark(&mut view, &short);
    }
    view
}

fn add_remark(view: &mut View, more: &str) {
    view.remark = Some(match view.remark.take() {
        Some(before) => format!("{before}; {more}"),
        None => more.to_owned(),
    });
}

/// The text of a part that is plain text.
pub(super) fn plain(block: &Part) -> Option<&str> {
    match block {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::MediaSource;

    use super::super::fixture::with_object;
    use super::*;

    fn message(body: &str) -> View {
        with_object(
            &format!(r#"{{"type":"message","id":"1","message":{body}}}"#),
            view,
        )
    }

    #[test]
    fn an_answer_shows_its_parts_model_and_cost() {
        let view = message(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"redactedThinking","data":"x"},{"type":"text","text":"hi"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a"}},{"type":"brand_new","k":1}],"provider":"p","model":"m","usage":{"input":3,"cost":{"total":0.5}},"stopReason":"aborted"}"#,
        );
        assert_eq!(view.parts[0], Part::thinking("hm"));
        assert!(matches!(&view.parts[1], Part::Other { word, .. } if word == "redactedThinking"));
        assert_eq!(
            view.calls().collect::<Vec<_>>(),
            [("c", "read", &r#"{"path":"a"}"#.into())]
        );
        assert_eq!(
            view.parts[4],
            Part::Other {
                word: "brand_new".into(),
                json: r#"{"type":"brand_new","k":1}"#.into()
            }
        );
        assert_eq!(
            (view.model.as_deref(), view.remark.as_deref()),
            (Some("p/m"), Some("stopped: aborted"))
        );
        assert_eq!(view.usage.and_then(|u| u.cost), Some(0.5));
        assert_eq!(view.usage.and_then(|u| u.output), None);
    }

    #[test]
    fn prompts_are_strings_or_parts_and_images_lie_inside_or_in_blobs() {
        assert_eq!(message(r#"{"role":"user","content":"hi"}"#).text(), "hi");
        let view = message(
            r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"image","data":"blob:sha256:ab","mimeType":"image/png"}]}"#,
        );
        let source = |at: usize| match &view.parts[at] {
            Part::Media { source, .. } => source.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(source(1), MediaSource::Inline("AAAA".into()));
        assert_eq!(source(2), MediaSource::Reference("blob:sha256:ab".into()));
    }

    #[test]
    fn results_say_which_call_they_answer_and_whether_they_were_pruned() {
        let view = message(
            r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true,"prunedAt":5}"#,
        );
        assert_eq!(
            view.parts,
            [Part::Result {
                call: "c".into(),
                text: "a\nb".into(),
                is_error: true
            }]
        );
        assert_eq!(view.tool.as_deref(), Some("read"));
        assert!(view.remark.is_some_and(|r| r.contains("removed")));
        assert_eq!(
            message(r#"{"role":"toolResult","content":"plain"}"#).text(),
            "plain"
        );
    }

    #[test]
    fn cut_texts_are_told() {
        let view = message(
            r#"{"role":"user","content":"abc\n\n[Session persistence truncated large content]"}"#,
        );
        assert_eq!(
            view.remark.as_deref(),
            Some("a long text was cut when it was written")
        );
    }

    #[test]
    fn commands_show_what_was_run() {
        let view = message(
            r#"{"role":"bashExecution","command":"false","output":"no","exitCode":1,"cancelled":false,"truncated":true,"excludeFromContext":true}"#,
        );
        assert_eq!(view.text(), "$ false\nno");
        assert_eq!(
            view.remark.as_deref(),
            Some("exit code 1; output cut; kept from the model")
        );
        assert_eq!(
            message(r#"{"role":"pythonExecution","code":"1","output":"1"}"#).text(),
            ">>> 1\n1"
        );
    }

    #[test]
    fn mentioned_files_and_custom_messages_are_shown() {
        let view = message(
            r#"{"role":"fileMention","files":[{"path":"a.rs","content":"fn"},{"path":"b","content":"","skippedReason":"tooLarge"}]}"#,
        );
        assert_eq!(view.parts[0], Part::Text("a.rs\nfn".into()));
        assert_eq!(view.remark.as_deref(), Some("b left out: tooLarge"));
        let view = message(r#"{"role":"custom","customType":"t","content":"c","display":false}"#);
        assert_eq!(
            (view.text().as_str(), view.hidden, view.remark.as_deref()),
            ("c", true, Some("t"))
        );
    }

    #[test]
    fn summaries_show_their_text() {
        let view = with_object(
            r#"{"type":"compaction","summary":"s","shortSummary":"t","tokensBefore":7}"#,
            view,
        );
        assert_eq!(
            (view.text().as_str(), view.remark.as_deref()),
            ("s", Some("compaction of 7 tokens; t"))
        );
        assert_eq!(
            message(r#"{"role":"branchSummary","summary":"s"}"#).text(),
            "s"
        );
    }

    #[test]
    fn a_message_without_a_message_is_shown_as_it_is() {
        let view = with_object(r#"{"type":"message","id":"1"}"#, view);
        assert_eq!(
            view.remark.as_deref(),
            Some(r#"{"type":"message","id":"1"}"#)
        );
    }
}
