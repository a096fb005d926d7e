//! Computes the context for a tip: the messages that Codex would send to the model, after
//! compactions and with every tool call paired with its result.

use std::collections::HashSet;

use boswell_model::json::{Json, Object, Raw, RawKind};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Flags, Message, Result, SessionView, Settings,
    Slot, Symbol, Tip,
};

use super::item::{Item, Shape, Side};
use super::meta::{permission_mode, text};
use super::record::{Record, SENT};

/// How many bytes of user prompts (about 20,000 tokens) survive a compaction that did not record a
/// replacement history.
const KEPT_PROMPT_BYTES: u64 = 80_000;

/// A message while the context is computed.
#[derive(Debug)]
struct Draft {
    item: ContextItem,
    part: Part,
}

/// The role of a message for compaction and pairing.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// A prompt of the user, with its length in bytes.
    Prompt(u64),
    /// A tool call, with its id.
    Call(CallId),
    /// A tool result, with the id of its call.
    Answer(CallId),
    /// Any other message.
    Plain,
}

/// The id of a tool call. Ids in the log are interned; those inside a replacement history need not
/// be in the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum CallId {
    Known(Symbol),
    Text(String),
}

/// Computes the messages for `tip`, and the settings of the last turn before it.
pub(super) fn context(view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let path = tip
        .slot()
        .map(|slot| view.tree.path(slot))
        .unwrap_or_default();
    let (mut drafts, from) = replaced(view, &path)?;
    for slot in path.get(from..).unwrap_or_default() {
        let Some(head) = view.log.head(*slot) else {
            continue;
        };
        if head.flags.has(Flags::CUT) {
            drafts = summarised(drafts, *slot);
        } else if head.flags.has(SENT) {
            let part = match (head.kind, head.group) {
                (EntryKind::User, _) => Part::Prompt(head.len),
                (EntryKind::Assistant, Some(id)) => Part::Call(CallId::Known(id)),
                (EntryKind::ToolResult, Some(id)) => Part::Answer(CallId::Known(id)),
                _ => Part::Plain,
            };
            drafts.push(Draft {
                item: ContextItem::stored(*slot),
                part,
            });
        }
    }
    let mut items = paired(drafts);
    if !items.is_empty() {
        items.splice(0..0, instructions(view)?);
    }
    Ok(Context {
        tip,
        items,
        settings: settings(view, &path)?,
    })
}

/// Returns the instructions that begin a request; the header of a fork has its own copy.
fn instructions(view: &SessionView<'_>) -> Result<Option<ContextItem>> {
    let mut own = view.log.entries().skip(view.log.inherited);
    let Some((slot, _)) = own.find(|(_, head)| head.kind == EntryKind::Header) else {
        return Ok(None);
    };
    let text = view.with_object(slot, |object| {
        let header = Record::of(object).payload();
        text(header.get("base_instructions")?, "text")
    })?;
    let role = "developer";
    Ok(text
        .flatten()
        .map(|text| ContextItem::with_form(slot, ContextForm::Made { role, text })))
}

/// Returns the items by which the last compaction replaced everything before it, and the index on
/// `path` after it.
fn replaced(view: &SessionView<'_>, path: &[Slot]) -> Result<(Vec<Draft>, usize)> {
    let cuts = path.iter().enumerate().rev();
    for (at, slot) in
        cuts.filter(|(_, s)| view.log.head(**s).is_some_and(|h| h.flags.has(Flags::CUT)))
    {
        let drafts = view.with_object(*slot, |object| {
            let history = replacement_history(object)?;
            let items = (0u32..).zip(history.items());
            Some(
                items
                    .filter_map(|(n, item)| part_draft(view, *slot, n, item))
                    .collect::<Vec<_>>(),
            )
        })?;
        if let Some(drafts) = drafts.flatten() {
            return Ok((drafts, at + 1));
        }
    }
    Ok((Vec::new(), 0))
}

fn replacement_history<'a>(object: &Object<'a>) -> Option<Raw<'a>> {
    Record::of(object)
        .payload()
        .get("replacement_history")
        .filter(|h| h.kind() == RawKind::Array)
}

fn part_draft(view: &SessionView<'_>, slot: Slot, n: u32, item: Raw<'_>) -> Option<Draft> {
    let fields = Item::of(item);
    let shape = fields.shape();
    let id = fields.call_id().map(|id| match view.log.names.find(&id) {
        Some(name) => CallId::Known(name),
        None => CallId::Text(id.into_owned()),
    });
    let part = match shape {
        Shape::Prompt => Part::Prompt(item.bytes().len() as u64),
        Shape::Tool(Side::Call) => id.map_or(Part::Plain, Part::Call),
        Shape::Tool(Side::Answer) => id.map_or(Part::Plain, Part::Answer),
        _ => Part::Plain,
    };
    shape.is_sent().then(|| Draft {
        item: ContextItem::with_form(slot, ContextForm::Part(n)),
        part,
    })
}

/// Applies a compaction that recorded only its summary: the newest prompts stay, then the summary.
fn summarised(drafts: Vec<Draft>, slot: Slot) -> Vec<Draft> {
    let mut left = KEPT_PROMPT_BYTES;
    let mut kept: Vec<Draft> = Vec::new();
    for draft in drafts.into_iter().rev() {
        let Part::Prompt(len) = draft.part else {
            continue;
        };
        if left == 0 {
            break;
        }
        // Codex truncates the prompt that crosses the limit. Here it stays complete, because every
        // message of a context must be in a record.
        left = left.saturating_sub(len);
        kept.push(draft);
    }
    kept.reverse();
    kept.push(Draft {
        item: ContextItem::with_form(slot, ContextForm::CompactionSummary),
        part: Part::Plain,
    });
    kept
}

/// Pairs calls and results. Providers reject a call without a result and a result without a call:
/// Codex adds a result to the former and drops the latter (an orphan).
fn paired(drafts: Vec<Draft>) -> Vec<ContextItem> {
    let (mut called, mut answered) = (HashSet::new(), HashSet::new());
    for draft in &drafts {
        match &draft.part {
            Part::Call(id) => called.insert(id.clone()),
            Part::Answer(id) => answered.insert(id.clone()),
            _ => continue,
        };
    }
    let mut items = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let unanswered = match &draft.part {
            Part::Answer(id) if !called.contains(id) => continue,
            Part::Call(id) => !answered.contains(id),
            _ => false,
        };
        let slot = draft.item.slot;
        items.push(draft.item);
        if unanswered {
            items.push(ContextItem::with_form(
                slot,
                ContextForm::Made {
                    role: "tool",
                    text: "aborted".to_owned(),
                },
            ));
        }
    }
    items
}

fn settings(view: &SessionView<'_>, path: &[Slot]) -> Result<Settings> {
    for slot in path
        .iter()
        .rev()
        .filter(|slot| view.log.kind(**slot) == EntryKind::Setting)
    {
        let settings = view.with_object(*slot, |object| match Record::of(object) {
            Record::Turn(payload) => Some(turn_settings(payload)),
            _ => None,
        })?;
        if let Some(settings) = settings.flatten() {
            return Ok(settings);
        }
    }
    Ok(Settings::default())
}

fn turn_settings(turn: Raw<'_>) -> Settings {
    let mode = turn.get("collaboration_mode");
    let mut settings = Settings {
        model: text(turn, "model"),
        thinking_level: text(turn, "effort"),
        permission_mode: permission_mode(turn),
        mode: mode.and_then(|m| text(m, "mode")),
        mode_data: mode
            .and_then(|m| m.get("settings"))
            .map(|s| String::from_utf8_lossy(s.bytes()).into_owned()),
        ..Settings::default()
    };
    for key in [
        "cwd",
        "approval_policy",
        "sandbox_policy",
        "summary",
        "personality",
    ] {
        if let Some(value) = turn.get(key).filter(|v| !v.is_null()) {
            settings.set_other(key, String::from_utf8_lossy(value.bytes()).into_owned());
        }
    }
    settings
}

/// Renders a message from the record that contains it.
pub(super) fn render(item: &ContextItem, records: &[Object<'_>]) -> Message {
    let Some(record) = records.first() else {
        return Message {
            role: "user".to_owned(),
            content: Vec::new(),
            native: None,
        };
    };
    let payload = Record::of(record).payload();
    match &item.form {
        ContextForm::Part(n) => {
            let nth = usize::try_from(*n).unwrap_or(usize::MAX);
            let part = replacement_history(record).and_then(|history| history.items().nth(nth));
            message(part.unwrap_or(payload))
        }
        ContextForm::CompactionSummary => {
            let summary =
                text(payload, "message").unwrap_or_else(|| "(no summary available)".to_owned());
            made("user", &summary, None)
        }
        ContextForm::Made {
            role: role @ "developer",
            text,
        } => {
            let message = made(role, text, None);
            let native = Json::object()
                .with("type", "message")
                .with("role", *role)
                .with("content", message.content.clone());
            Message {
                native: Some(native),
                ..message
            }
        }
        ContextForm::Made { role, text } => {
            let call = Item::of(payload).call_id();
            let native = Json::object()
                .with("type", answer_word(payload))
                .with_some("call_id", call)
                .with("output", text.as_str());
            made(role, text, Some(native))
        }
        _ => message(payload),
    }
}

fn answer_word(call: Raw<'_>) -> &'static str {
    match call.get("type").and_then(|t| t.text()).as_deref() {
        Some("custom_tool_call") => "custom_tool_call_output",
        Some("tool_search_call") => "tool_search_output",
        _ => "function_call_output",
    }
}

fn made(role: &str, text: &str, native: Option<Json>) -> Message {
    let content = vec![Json::object().with("type", "input_text").with("text", text)];
    Message {
        role: role.to_owned(),
        content,
        native,
    }
}

fn message(item: Raw<'_>) -> Message {
    let role = text(item, "role").unwrap_or_else(|| Item::of(item).shape().role().to_owned());
    let content = match item.get("content").filter(|_| item.get("role").is_some()) {
        Some(content) if content.kind() == RawKind::Array => {
            content.items().map(Json::from).collect()
        }
        Some(content) => vec![
            Json::object()
                .with("type", "input_text")
                .with("text", Json::from(content)),
        ],
        None => vec![Json::from(item)],
    };
    Message {
        role,
        content,
        native: Some(Json::from(item)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Codex;
    use super::super::fixture::{Bytes, log, read, said, sent};
    use crate::Dialect;

    fn pairs(bytes: &[u8]) -> Vec<String> {
        sent(bytes)
            .into_iter()
            .map(|(role, text)| format!("{role}: {text}"))
            .collect()
    }

    #[test]
    fn items_are_sent_in_order_and_events_system_messages_and_snapshots_are_not() {
        let bytes = log(&[
            ("session_meta", r#"{"id":"a"}"#),
            ("response_item", &said("system", "never")),
            ("response_item", &said("developer", "rules")),
            ("response_item", &said("user", "hi")),
            ("event_msg", r#"{"type":"user_message","message":"hi"}"#),
            ("response_item", r#"{"type":"reasoning","summary":[]}"#),
            (
                "response_item",
                r#"{"type":"ghost_snapshot","ghost_commit":{"id":"x"}}"#,
            ),
            (
                "response_item",
                r#"{"type":"web_search_call","status":"completed"}"#,
            ),
            ("response_item", &said("assistant", "hello")),
        ]);
        let expected = [
            "developer: rules",
            "user: hi",
            "assistant: reasoning",
            "assistant: web_search_call",
            "assistant: hello",
        ];
        assert_eq!(pairs(&bytes), expected);
    }

    #[test]
    fn a_call_without_an_answer_is_answered_and_an_answer_without_a_call_is_dropped() {
        let bytes = log(&[
            (
                "response_item",
                r#"{"type":"function_call_output","call_id":"gone","output":"x"}"#,
            ),
            (
                "response_item",
                r#"{"type":"custom_tool_call","name":"exec","input":"y","call_id":"open"}"#,
            ),
            (
                "response_item",
                r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
            ),
            (
                "response_item",
                r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
            ),
        ]);
        let expected = [
            "assistant: custom_tool_call",
            "tool: aborted",
            "assistant: function_call",
            "tool: function_call_output",
        ];
        assert_eq!(pairs(&bytes), expected);
    }

    #[test]
    fn a_replacement_history_stands_for_all_before_it() {
        let compacted = format!(
            r#"{{"message":"","replacement_history":[{},{{"type":"ghost_snapshot"}},{{"type":"compaction","encrypted_content":"z"}}]}}"#,
            said("user", "kept")
        );
        let bytes = log(&[
            ("response_item", &said("user", "long ago")),
            ("compacted", &compacted),
            ("response_item", &said("assistant", "going on")),
        ]);
        assert_eq!(
            pairs(&bytes),
            ["user: kept", "assistant: compaction", "assistant: going on"]
        );
    }

    #[test]
    fn a_summary_alone_keeps_the_newest_prompts_before_it() {
        let long = "x".repeat(90_000);
        let bytes = log(&[
            ("response_item", &said("user", "forgotten")),
            ("response_item", &said("user", &long)),
            ("response_item", &said("user", "<environment_context>")),
            ("response_item", &said("user", "newest")),
            ("response_item", &said("assistant", "dropped")),
            ("compacted", r#"{"message":"what happened"}"#),
            ("response_item", &said("user", "next")),
        ]);
        let sent = pairs(&bytes);
        assert_eq!(sent.len(), 4);
        assert_eq!(sent[0].len(), "user: ".len() + long.len());
        assert_eq!(
            &sent[1..],
            ["user: newest", "user: what happened", "user: next"]
        );
    }

    #[test]
    fn settings_are_those_of_the_last_turn() {
        let bytes = log(&[
            (
                "turn_context",
                r#"{"model":"a","effort":"low","approval_policy":"never"}"#,
            ),
            (
                "turn_context",
                r#"{"model":"b","effort":"high","approval_policy":"on-request","sandbox_policy":"read-only","collaboration_mode":{"mode":"plan","settings":{"x":1}}}"#,
            ),
            (
                "event_msg",
                r#"{"type":"thread_settings_applied","thread_settings":{"model":"c"}}"#,
            ),
        ]);
        let (read, bytes) = (read(&bytes), Bytes(&bytes));
        let view = read.view(&bytes);
        let settings = Codex
            .context(&view, Codex.tip(&view).unwrap())
            .unwrap()
            .settings;
        assert_eq!(settings.model.as_deref(), Some("b"));
        assert_eq!(settings.thinking_level.as_deref(), Some("high"));
        assert_eq!(
            settings.permission_mode.as_deref(),
            Some("on-request/read-only")
        );
        assert_eq!(
            (settings.mode.as_deref(), settings.mode_data.as_deref()),
            (Some("plan"), Some(r#"{"x":1}"#))
        );
    }
}
