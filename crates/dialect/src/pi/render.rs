//! Renders the messages of a context in the family's own format.

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{ContextForm, ContextItem, Message};

use super::context::remote_history;
use super::head::version_of;
use super::js_values::{date_millis, pick};
use super::{Flavour, view};

/// Renders a message as the agent's own context builder does.
pub(super) fn render(flavour: Flavour, item: &ContextItem, records: &[Object<'_>]) -> Message {
    let Some(entry) = records.first() else {
        return Message {
            role: "unknown".to_owned(),
            content: Vec::new(),
            native: None,
        };
    };
    match &item.form {
        ContextForm::CompactionSummary => compaction_summary(flavour, entry),
        ContextForm::BranchSummary => branch_summary(entry),
        ContextForm::Made { role, text } => Message {
            role: (*role).to_owned(),
            content: vec![text_part(text.as_str())],
            native: None,
        },
        _ => match entry
            .get("message")
            .filter(|_| entry.get("type").is_some_and(|t| t.is("message")))
        {
            Some(message) => stored(flavour, entry, message, records.get(1)),
            None => custom_message(flavour, entry),
        },
    }
}

fn stored(
    flavour: Flavour,
    entry: &Object<'_>,
    message: Raw<'_>,
    header: Option<&Object<'_>>,
) -> Message {
    let [role, content] = pick(message, ["role", "content"]);
    let role = role.and_then(|r| r.text()).unwrap_or_default();
    let mut native = Json::from(message);
    let mut role = role.into_owned();
    if role == "hookMessage" && header.and_then(version_of).is_some_and(|v| v < 3.0) {
        role = "custom".to_owned();
        native = with_members(message, |key, value| {
            if key == "role" {
                Some("custom".into())
            } else {
                Some(value.into())
            }
        });
    }
    if flavour == Flavour::Xcsh && replays_openai(message) {
        native = without_replay(message);
    }
    let content = match content {
        Some(content) => parts(content),
        // Commands, file mentions and summaries have their own fields; their parts are the text
        // that the view shows.
        None => view::view(entry)
            .parts
            .iter()
            .filter_map(view::plain)
            .map(text_part)
            .collect(),
    };
    Message {
        role,
        content,
        native: Some(native),
    }
}

fn custom_message(flavour: Flavour, entry: &Object<'_>) -> Message {
    let mut native = Json::object().with("role", "custom");
    for key in ["customType", "content", "display", "details"] {
        native = native.with_some(key, entry.get(key));
    }
    if flavour.has_remote_compaction() {
        native = native.with_some("attribution", entry.get("attribution"));
    }
    let native = native.with("timestamp", date_millis(entry.get("timestamp")));
    let content = entry.get("content").map(parts).unwrap_or_default();
    Message {
        role: "custom".to_owned(),
        content,
        native: Some(native),
    }
}

fn branch_summary(entry: &Object<'_>) -> Message {
    let native = Json::object()
        .with("role", "branchSummary")
        .with_some("summary", entry.get("summary"))
        .with_some("fromId", entry.get("fromId"))
        .with("timestamp", date_millis(entry.get("timestamp")));
    summary_message("branchSummary", entry, native)
}

fn compaction_summary(flavour: Flavour, entry: &Object<'_>) -> Message {
    let mut native = Json::object()
        .with("role", "compactionSummary")
        .with_some("summary", entry.get("summary"));
    if flavour.has_remote_compaction() {
        native = native.with_some("shortSummary", entry.get("shortSummary"));
    }
    native = native.with_some("tokensBefore", entry.get("tokensBefore"));
    if flavour.has_remote_compaction() && remote_history(entry) {
        let remote = entry
            .get("preserveData")
            .and_then(|d| d.get("openaiRemoteCompaction"));
        let payload = Json::object()
            .with("type", "openaiResponsesHistory")
            .with_some("provider", remote.and_then(|r| r.get("provider")))
            .with_some("items", remote.and_then(|r| r.get("replacementHistory")));
        native = native.with("providerPayload", payload);
    }
    let native = native.with("timestamp", date_millis(entry.get("timestamp")));
    summary_message("compactionSummary", entry, native)
}

fn summary_message(role: &str, entry: &Object<'_>, native: Json) -> Message {
    let content = entry.get("summary").map(parts).unwrap_or_default();
    Message {
        role: role.to_owned(),
        content,
        native: Some(native),
    }
}

/// Returns a text part.
pub(super) fn text_part<T: Into<Json>>(text: T) -> Json {
    Json::object().with("type", "text").with("text", text)
}

fn parts(content: Raw<'_>) -> Vec<Json> {
    match content.kind() {
        RawKind::Array => content.items().map(Json::from).collect(),
        RawKind::String => vec![text_part(content)],
        RawKind::Null => Vec::new(),
        _ => vec![Json::from(content)],
    }
}

/// Whether a message contains data that OpenAI expects back in the same connection; xcsh drops it
/// when it loads a session.
fn replays_openai(message: Raw<'_>) -> bool {
    message.get("role").is_some_and(|r| r.is("assistant"))
        && message
            .at(&["providerPayload", "type"])
            .is_some_and(|t| t.is("openaiResponsesHistory"))
}

fn without_replay(message: Raw<'_>) -> Json {
    with_members(message, |key, value| match key {
        "providerPayload" => None,
        "content" if value.kind() == RawKind::Array => {
            Some(Json::Array(value.items().map(without_signature).collect()))
        }
        _ => Some(value.into()),
    })
}

fn without_signature(block: Raw<'_>) -> Json {
    if block.get("type").is_some_and(|t| t.is("thinking")) {
        with_members(block, |key, value| {
            (key != "thinkingSignature").then(|| value.into())
        })
    } else {
        block.into()
    }
}

/// Returns a copy of an object with each member kept, changed or dropped by `change`.
pub(super) fn with_members(
    object: Raw<'_>,
    change: impl Fn(&str, Raw<'_>) -> Option<Json>,
) -> Json {
    let members = object.members().filter_map(|(key, value)| {
        let key = key.to_text().into_owned();
        change(&key, value).map(|value| (key.into(), value))
    });
    Json::Object(members.collect())
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{entry, messages, user, v3};

    fn native(pi: Pi, text: &str, nth: usize) -> String {
        messages(pi, text, None)[nth]
            .native
            .as_ref()
            .unwrap()
            .to_string()
    }

    #[test]
    fn a_message_is_handed_out_as_stored() {
        let text = v3(&[user("1", "", "a")]);
        assert_eq!(
            native(Pi::PI, &text, 0),
            r#"{"role":"user","content":"a","timestamp":1}"#
        );
        assert_eq!(
            messages(Pi::PI, &text, None)[0].content[0].to_string(),
            r#"{"type":"text","text":"a"}"#
        );
    }

    #[test]
    fn made_messages_have_their_time_in_milliseconds() {
        let text = v3(&[
            entry(
                "custom_message",
                "1",
                "",
                r#""customType":"t","content":"c","display":true,"attribution":"user""#,
            ),
            entry(
                "branch_summary",
                "2",
                "1",
                r#""summary":"s","fromId":"root""#,
            ),
        ]);
        let at = 1_735_689_600_000i64;
        let custom = format!(
            r#"{{"role":"custom","customType":"t","content":"c","display":true,"timestamp":{at}}}"#
        );
        assert_eq!(native(Pi::PI, &text, 0), custom);
        assert!(native(Pi::XCSH, &text, 0).contains(r#""attribution":"user""#));
        let branch =
            format!(r#"{{"role":"branchSummary","summary":"s","fromId":"root","timestamp":{at}}}"#);
        assert_eq!(native(Pi::PI, &text, 1), branch);
    }

    #[test]
    fn the_summary_of_a_provider_carries_its_history_in_xcsh() {
        let data = r#""summary":"s","shortSummary":"t","tokensBefore":9,"preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[{"a":1}],"compactionItem":{}}}"#;
        let text = v3(&[entry("compaction", "1", "", data)]);
        let at = 1_735_689_600_000i64;
        assert_eq!(
            native(Pi::PI, &text, 0),
            format!(
                r#"{{"role":"compactionSummary","summary":"s","tokensBefore":9,"timestamp":{at}}}"#
            )
        );
        assert_eq!(
            native(Pi::XCSH, &text, 0),
            format!(
                r#"{{"role":"compactionSummary","summary":"s","shortSummary":"t","tokensBefore":9,"providerPayload":{{"type":"openaiResponsesHistory","provider":"openai","items":[{{"a":1}}]}},"timestamp":{at}}}"#
            )
        );
    }

    #[test]
    fn version_2_calls_custom_messages_hook_messages() {
        let hook = entry(
            "message",
            "1",
            "",
            r#""message":{"role":"hookMessage","customType":"t","content":"c","display":true}"#,
        );
        let v3 = v3(&[hook]);
        assert!(
            native(Pi::PI, &v3, 0).starts_with(r#"{"role":"hookMessage""#),
            "version 3 is left as it is"
        );
        let v2 = v3.replace("\"version\":3", "\"version\":2");
        assert!(native(Pi::PI, &v2, 0).starts_with(r#"{"role":"custom","customType":"t""#));
        assert_eq!(messages(Pi::PI, &v2, None)[0].role, "custom");
    }

    #[test]
    fn xcsh_forgets_what_openai_wants_back() {
        let message = r#""message":{"role":"assistant","content":[{"type":"thinking","thinking":"h","thinkingSignature":"s"},{"type":"text","text":"x","textSignature":"k"}],"providerPayload":{"type":"openaiResponsesHistory","items":[]}}"#;
        let text = v3(&[entry("message", "1", "", message)]);
        assert_eq!(
            native(Pi::XCSH, &text, 0),
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"h"},{"type":"text","text":"x","textSignature":"k"}]}"#
        );
        assert!(native(Pi::PI, &text, 0).contains("providerPayload"));
    }

    #[test]
    fn a_command_has_a_part_to_read() {
        let message =
            r#""message":{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0}"#;
        let rendered = &messages(Pi::PI, &v3(&[entry("message", "1", "", message)]), None)[0];
        assert_eq!(rendered.role, "bashExecution");
        assert_eq!(
            rendered.content[0].to_string(),
            r#"{"type":"text","text":"$ ls"}"#
        );
        assert_eq!(rendered.content.len(), 2);
    }
}
