//! A line of a log, with or without an envelope.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{EntryKind, Flags, Head, Instant, Interner};

use super::item::{self, Item, Shape};

/// Flags a record that Codex adds to the history that it sends to the model.
pub(super) const SENT: Flags = Flags::OWN;

/// The content of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record<'a> {
    /// Facts about the session.
    Meta(Raw<'a>),
    /// An item of the model's history: a message, a call, a result, reasoning.
    Item(Raw<'a>),
    /// An event for the user interface; many repeat items.
    Event(Raw<'a>),
    /// The settings of a turn.
    Turn(Raw<'a>),
    /// A compaction: older items were replaced.
    Compacted(Raw<'a>),
    /// A message between agents, which the model sees.
    Relay(Raw<'a>),
    /// The tokens of one response of the model.
    Tokens(Raw<'a>),
    /// Bookkeeping.
    State(Raw<'a>),
    /// An unknown type.
    Unknown(Raw<'a>),
}

impl<'a> Record<'a> {
    /// Reads a line.
    pub(super) fn of(object: &Object<'a>) -> Self {
        let Some(payload) = object
            .get("payload")
            .filter(|p| p.kind() == RawKind::Object)
        else {
            return Record::bare(object);
        };
        match object.text("type").as_deref() {
            Some("session_meta") => Record::Meta(payload),
            Some("response_item") => Record::Item(payload),
            Some("event_msg") => Record::Event(payload),
            Some("turn_context") => Record::Turn(payload),
            Some("compacted") => Record::Compacted(payload),
            Some("inter_agent_communication") => Record::Relay(payload),
            Some("token_usage_record") => Record::Tokens(payload),
            Some(
                "world_state"
                | "inter_agent_communication_metadata"
                | "rollout_reference"
                | "security_risk_score",
            ) => Record::State(payload),
            _ => Record::Unknown(payload),
        }
    }

    /// Reads a line of the old format: a first line without a type, then items without an envelope,
    /// with `record_type` lines between them.
    fn bare(object: &Object<'a>) -> Self {
        let whole = object.raw();
        match object.text("type").as_deref() {
            Some(word) if item::is_known(word) => Record::Item(whole),
            Some(_) => Record::Unknown(whole),
            None if object.get("record_type").is_some() => Record::State(whole),
            None if object.get("role").is_some() => Record::Item(whole),
            None if object.get("id").is_some() && object.get("timestamp").is_some() => {
                Record::Meta(whole)
            }
            None => Record::Unknown(whole),
        }
    }

    /// Returns the value that contains the facts.
    pub(super) fn payload(&self) -> Raw<'a> {
        match *self {
            Record::Meta(raw)
            | Record::Item(raw)
            | Record::Event(raw)
            | Record::Turn(raw)
            | Record::Compacted(raw)
            | Record::Relay(raw)
            | Record::Tokens(raw)
            | Record::State(raw)
            | Record::Unknown(raw) => raw,
        }
    }
}

/// Fills in the head of a record. Entries get no ids: those of items are the provider's and repeat
/// in forks, so entries are identified by their line.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let word = ["type", "record_type", "role"]
        .iter()
        .find_map(|key| object.text(key));
    head.word = word.and_then(|w| names.intern(&w));
    head.time = object.get("timestamp").and_then(time).map(Into::into);
    let record = Record::of(object);
    head.kind = match record {
        Record::Meta(_) => EntryKind::Header,
        Record::Item(payload) => item_head(payload, head, names),
        Record::Event(payload) => event_head(payload, head, names),
        Record::Turn(_) => EntryKind::Setting,
        Record::Compacted(_) => {
            head.flags.set(Flags::CUT);
            head.flags.set(Flags::SUMMARY);
            EntryKind::Compaction
        }
        Record::Relay(_) => {
            head.flags.set(SENT);
            EntryKind::CustomMessage
        }
        Record::Tokens(_) | Record::State(_) => EntryKind::Meta,
        Record::Unknown(_) => EntryKind::Unknown,
    };
}

fn item_head(payload: Raw<'_>, head: &mut Head, names: &mut Interner) -> EntryKind {
    let item = Item::of(payload);
    let shape = item.shape();
    head.flags.set_if(shape.is_sent(), SENT);
    head.flags.set_if(shape.is_hidden(), Flags::HIDDEN);
    if matches!(shape, Shape::Tool(_)) {
        // With the shared id of call and result, a context can pair them without reading their
        // payloads.
        head.group = item.call_id().and_then(|id| names.intern(&id));
    }
    shape.kind()
}

fn event_head(payload: Raw<'_>, head: &mut Head, names: &mut Interner) -> EntryKind {
    let word = payload.get("type").and_then(|t| t.text());
    head.group = word.as_deref().and_then(|w| names.intern(w));
    match word.as_deref() {
        Some(
            "user_message" | "agent_message" | "agent_reasoning" | "agent_reasoning_raw_content",
        ) => {
            // The items with the same text are authoritative; these events are what the screen
            // showed.
            head.flags.set(Flags::HIDDEN);
            EntryKind::Meta
        }
        Some("thread_rolled_back") => {
            let turns = payload.get("num_turns").and_then(|n| n.u64()).unwrap_or(0);
            head.group = names.intern(&turns.to_string());
            EntryKind::Leaf
        }
        Some("thread_name_updated") => EntryKind::Title,
        Some("error" | "stream_error") => {
            head.flags.set(Flags::ERROR);
            EntryKind::System
        }
        Some("warning" | "guardian_warning" | "deprecation_notice" | "background_event") => {
            EntryKind::System
        }
        Some("thread_settings_applied") => EntryKind::Setting,
        Some(word) if is_progress(word) => EntryKind::Progress,
        Some(
            "token_count" | "context_compacted" | "entered_review_mode" | "exited_review_mode",
        ) => EntryKind::Meta,
        Some("thread_goal_updated" | "session_configured" | "undo_completed") => EntryKind::Meta,
        _ => EntryKind::Unknown,
    }
}

fn is_progress(word: &str) -> bool {
    let known = [
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "turn_aborted",
        "turn_diff",
        "plan_update",
        "item_started",
        "item_completed",
        "sub_agent_activity",
        "guardian_assessment",
        "view_image_tool_call",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "patch_apply_updated",
        "shutdown_complete",
    ];
    known.contains(&word)
        || word.ends_with("_begin")
        || word.ends_with("_end")
        || word.ends_with("_delta")
}

/// Parses a time in RFC 3339, as Codex writes it; other tools that write its format use seconds
/// since 1970.
pub(super) fn time(value: Raw<'_>) -> Option<Instant> {
    if let Some(text) = value.text() {
        return Instant::parse(&text);
    }
    let number = value.f64().filter(|n| n.is_finite() && *n > 0.0)?;
    let millis = if number < 1e11 {
        number * 1000.0
    } else {
        number
    };
    Some(Instant::from_millis(millis.round() as i64))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{log, read, said};
    use super::*;

    #[test]
    fn the_old_format_reads_like_the_new_one() {
        let bytes = log(&[
            (
                "",
                r#"{"id":"old","timestamp":"2025-08-08T10:39:10.241Z","instructions":null,"git":{"branch":"main"}}"#,
            ),
            ("", r#"{"record_type":"state"}"#),
            ("", &said("user", "hello")),
            (
                "",
                r#"{"type":"local_shell_call","id":"l1","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
            ),
            (
                "",
                r#"{"type":"function_call_output","call_id":"l1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}"#,
            ),
            (
                "",
                r#"{"timestamp":"2025-08-08T10:40:00Z","role":"assistant","content":"Ok"}"#,
            ),
        ]);
        let read = read(&bytes);
        let kinds: Vec<_> = read.log.heads.iter().map(|h| h.kind).collect();
        use EntryKind::{Assistant, Header, Meta, ToolResult, User};
        assert_eq!(
            kinds,
            [Header, Meta, User, Assistant, ToolResult, Assistant]
        );
        assert_eq!(read.meta.id.as_deref(), Some("old"));
        assert_eq!(read.meta.git_branch.as_deref(), Some("main"));
        assert_eq!((read.meta.messages, read.meta.tool_calls), (2, 1));
        assert_eq!(read.log.heads[3].group, read.log.heads[4].group);
        assert_eq!(
            read.meta.created,
            Instant::parse("2025-08-08T10:39:10.241Z")
        );
    }

    #[test]
    fn unknown_types_are_kept_as_what_they_are() {
        let bytes = log(&[
            ("turn_ctx_v9", r#"{"a":1}"#),
            ("response_item", r#"{"type":"tool_result","name":"x"}"#),
            ("event_msg", r#"{"type":"brand_new"}"#),
            ("", r#"{"hello":1}"#),
        ]);
        let read = read(&bytes);
        assert!(
            read.log
                .heads
                .iter()
                .all(|h| h.kind == EntryKind::Unknown && !h.flags.has(SENT))
        );
        assert_eq!(read.meta.kinds.get("turn_ctx_v9"), Some(&1));
        assert_eq!(read.log.label(boswell_model::Slot(2)), "#3");
    }

    #[test]
    fn a_time_may_be_a_number_of_seconds() {
        assert_eq!(
            time(Raw::trusted(b"1772569904.604")),
            Some(Instant::from_millis(1_772_569_904_604))
        );
        assert_eq!(
            time(Raw::trusted(b"1772569904604")),
            Some(Instant::from_millis(1_772_569_904_604))
        );
        assert_eq!(time(Raw::trusted(b"null")), None);
        assert_eq!(time(Raw::trusted(b"\"[trimmed]\"")), None);
    }

    #[test]
    fn a_torn_record_is_a_gap_and_its_payload_is_no_record() {
        let whole = String::from_utf8(log(&[("response_item", &said("user", "hi"))])).unwrap();
        let torn = format!("{}\n{whole}", &whole[..whole.len() - 2]);
        let read = read(torn.as_bytes());
        assert_eq!((read.log.heads.len(), read.log.gaps.len()), (1, 1));
    }
}
