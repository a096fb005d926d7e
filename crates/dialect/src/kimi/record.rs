//! A line of a log: the head of a record, and what it does to the messages before it.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Log, Slot};

use crate::members::{text, time};
use crate::message_map::{Beginning, LiveMessage, Operation, Replayed, replay};

/// The word of a record that empties the context.
const CLEAR: &str = "context.clear";

/// Fills in the head of a record. Only messages with an id of their own have one: those of loop
/// events name parts of messages.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let word = object.text("type").unwrap_or_default();
    head.time = object.get("time").and_then(time).map(Into::into);
    head.word = names.intern(&word);
    let event = object.get("event");
    match &*word {
        "metadata" => {
            head.kind = EntryKind::Header;
            head.time = object.get("created_at").and_then(time).map(Into::into);
        }
        "context.append_message" => {
            said(object, head);
            let id = object.get("message").and_then(|it| text(it, "id"));
            head.id = id.and_then(|id| names.intern(&id));
        }
        "context.append_loop_event" => {
            let step = event.and_then(|it| text(it, "stepUuid"));
            head.group = step.and_then(|it| names.intern(&it));
            head.kind = event.map_or(EntryKind::Unknown, event_kind);
        }
        "context.apply_compaction" => {
            head.kind = EntryKind::Compaction;
            head.flags.set(Flags::CUT);
            head.flags.set(Flags::SUMMARY);
            head.group = count(object, ["compactedCount", "count"]).and_then(|n| names.intern(&n));
        }
        "context.undo" => {
            head.kind = EntryKind::Leaf;
            head.group = count(object, ["count", "turns"]).and_then(|n| names.intern(&n));
        }
        CLEAR => head.kind = EntryKind::Leaf,
        _ => head.kind = other_kind(&word, &mut head.flags),
    }
}

fn count(object: &Object<'_>, keys: [&str; 2]) -> Option<String> {
    let count = keys.iter().find_map(|key| object.get(key)?.u64());
    count.map(|count| count.to_string())
}

/// The kind of a message, by its role. What the user did not type is hidden.
fn said(object: &Object<'_>, head: &mut Head) {
    let message = object.get("message").unwrap_or(Raw::trusted(b"{}"));
    let role = text(message, "role").unwrap_or_default();
    let origin = message.get("origin").and_then(|it| text(it, "kind"));
    head.kind = match role.as_str() {
        "user" => EntryKind::User,
        "assistant" => EntryKind::Assistant,
        "tool" => EntryKind::ToolResult,
        "system" => EntryKind::System,
        _ => EntryKind::Unknown,
    };
    let typed = origin.is_none_or(|origin| origin == "user");
    head.flags
        .set_if(head.kind == EntryKind::User && !typed, Flags::HIDDEN);
}

fn event_kind(event: Raw<'_>) -> EntryKind {
    match text(event, "type").as_deref() {
        Some("content.part" | "tool.call") => EntryKind::Assistant,
        Some("tool.result") => EntryKind::ToolResult,
        Some(word) if word.starts_with("step.") || word.starts_with("llm.") => EntryKind::Progress,
        _ => EntryKind::Unknown,
    }
}

/// Records that are not part of the conversation. Newer versions write each message a second time
/// as an event of the agent, which counts for nothing.
fn other_kind(word: &str, flags: &mut Flags) -> EntryKind {
    let (family, _) = word.split_once('.').unwrap_or((word, ""));
    match family {
        "agent" => {
            flags.set(Flags::HIDDEN);
            EntryKind::Meta
        }
        "turn" | "llm" | "prompt" | "full_compaction" | "micro_compaction" | "task"
        | "token_counting" => EntryKind::Progress,
        "profile" | "config" | "permission" | "plan_mode" | "tools" => EntryKind::Setting,
        "usage" | "runtime" | "plugin" | "goal" | "mcp" | "forked" | "cron" | "session"
        | "todo" | "skill" | "swarm" | "hook" => EntryKind::Meta,
        _ => EntryKind::Unknown,
    }
}

fn operation(log: &Log, slot: Slot) -> Operation<'_> {
    let Some(head) = log.head(slot) else {
        return Operation::None;
    };
    let count = || {
        let count = head.group.map(|group| log.names.text(group));
        count.and_then(|count| count.parse().ok())
    };
    match head.kind {
        EntryKind::Leaf if log.word(slot) == CLEAR => Operation::Clear,
        EntryKind::Leaf => Operation::Undo(count().unwrap_or(1)),
        EntryKind::Compaction => Operation::Summarise(count().unwrap_or(usize::MAX)),
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult | EntryKind::System => {
            Operation::Put(None)
        }
        _ => Operation::None,
    }
}

/// What begins with a record: parts of one step are one message.
pub(super) fn beginning(log: &Log, slot: Slot) -> Beginning {
    let Some(head) = log.head(slot) else {
        return Beginning::Nothing;
    };
    match head.kind {
        EntryKind::User if !head.flags.has(Flags::HIDDEN) => Beginning::Turn,
        EntryKind::Assistant if head.group.is_some() => {
            let before = log.slots().take(slot.index()).rev();
            let mut before = before.filter_map(|it| log.head(it));
            let same = before.find(|it| it.kind.is_conversation());
            match same.is_some_and(|it| it.group == head.group && it.kind == head.kind) {
                true => Beginning::Nothing,
                false => Beginning::Message,
            }
        }
        _ => Beginning::Message,
    }
}

/// Replays the first records of a log.
pub(super) fn replayed(log: &Log, count: usize) -> Replayed {
    replay(log, count, operation, |slot| beginning(log, slot))
}

/// Returns the messages that are in the conversation at an entry, in order.
pub(super) fn up_to(log: &Log, slot: Slot) -> Vec<LiveMessage> {
    let whole = replayed(log, usize::MAX);
    match whole.tip() == Some(slot) {
        true => whole.live,
        false => replayed(log, slot.index() + 1).live,
    }
}
