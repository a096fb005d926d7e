//! An event: its kind, and what it does to the events before it.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Log, Slot};

use crate::members::{text, time};
use crate::message_map::{Beginning, LiveMessage, Operation, Replayed, replay};

/// Returns the data of an event.
pub(super) fn data<'a>(object: &Object<'a>) -> Raw<'a> {
    object.get("data").unwrap_or(Raw::trusted(b"{}"))
}

/// Fills in the head of an event. Events form one chain in file order, and the parents that they
/// name may never have been written, so those are not links.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    let mut name = |key: &str| object.text(key).and_then(|text| names.intern(&text));
    (head.word, head.id) = (name("type"), name("id"));
    head.time = object.get("timestamp").and_then(time).map(Into::into);
    let data = data(object);
    let word = object.text("type").unwrap_or_default();
    head.kind = kind(&word, data);
    let nested = data
        .get("parentToolCallId")
        .is_some_and(|it| it.text().is_some());
    head.flags.set_if(nested, Flags::SIDECHAIN);
    match head.kind {
        EntryKind::Compaction => {
            head.flags.set(Flags::CUT);
            head.flags.set(Flags::SUMMARY);
        }
        EntryKind::Leaf => {
            let to = text(data, "upToEventId");
            head.group = to.and_then(|to| names.intern(&to));
        }
        EntryKind::System => {
            head.flags.set_if(&*word == "session.error", Flags::ERROR);
            head.flags.set_if(&*word == "system.message", Flags::HIDDEN);
        }
        _ => {}
    }
}

fn kind(word: &str, data: Raw<'_>) -> EntryKind {
    match word {
        "session.start" => EntryKind::Header,
        "user.message" => EntryKind::User,
        "assistant.message" | "assistant.reasoning" => EntryKind::Assistant,
        "tool.execution_complete" => EntryKind::ToolResult,
        "session.compaction_complete" => match text(data, "summaryContent") {
            Some(_) => EntryKind::Compaction,
            // A compaction that failed replaces nothing.
            None => EntryKind::Meta,
        },
        "session.snapshot_rewind" | "session.context_cleared" => EntryKind::Leaf,
        "session.title_changed" => EntryKind::Title,
        "session.model_change" | "session.mode_changed" => EntryKind::Setting,
        "system.message"
        | "session.error"
        | "session.info"
        | "session.warning"
        | "system.notification" => EntryKind::System,
        "abort" => EntryKind::Meta,
        _ => other_kind(word),
    }
}

/// Some 120 types are published, and more come: the groups that they belong to are known.
fn other_kind(word: &str) -> EntryKind {
    let progress = [
        "assistant.turn_",
        "tool.",
        "hook.",
        "permission.",
        "subagent.",
        "session.compaction_start",
    ];
    let meta = ["session.", "assistant.", "skill.", "user.", "command."];
    let begins = |list: &[&str]| list.iter().any(|begin| word.starts_with(begin));
    match () {
        () if begins(&progress) => EntryKind::Progress,
        () if begins(&meta) => EntryKind::Meta,
        () => EntryKind::Unknown,
    }
}

fn operation(log: &Log, slot: Slot) -> Operation<'_> {
    let Some(head) = log.head(slot) else {
        return Operation::None;
    };
    match head.kind {
        EntryKind::Leaf if log.word(slot) == "session.context_cleared" => Operation::Clear,
        EntryKind::Leaf => Operation::RewindTo(head.group),
        EntryKind::Header => Operation::None,
        _ => Operation::Put(head.id),
    }
}

/// Replays the first events of a log.
pub(super) fn replayed(log: &Log, count: usize) -> Replayed {
    replay(log, count, operation, |_| Beginning::Message)
}

/// Returns the events that are in the conversation at an entry, in order.
pub(super) fn up_to(log: &Log, slot: Slot) -> Vec<LiveMessage> {
    let whole = replayed(log, usize::MAX);
    match whole.tip() == Some(slot) {
        true => whole.live,
        false => replayed(log, slot.index() + 1).live,
    }
}
