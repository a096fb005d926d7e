//! A line of a log: the head of a record, and what it does to the messages before it.

use boswell_model::json::Object;
use boswell_model::{EntryKind, Flags, Head, Interner, Log, Slot};

use crate::members::time;
use crate::message_map::{Beginning, Contained, LiveMessage, Operation, Replayed, replay};

use super::message::{self, Message, call_id};

/// Flags a message of the model that sends nothing.
pub(super) const SILENT: Flags = Flags::OWN;
/// The word of a record that replaces all messages.
pub(super) const SNAPSHOT: &str = "$set.messages";

/// Fills in the head of a record.
pub(super) fn head(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    if message::contained(object).is_some() {
        return snapshot(object, head, names);
    }
    if let Some(set) = object.get("$set") {
        let names_it = set.get("summary").is_some_and(|it| it.text().is_some());
        head.kind = match names_it {
            true => EntryKind::Title,
            false => EntryKind::Meta,
        };
        head.word = names.intern("$set");
        head.time = set.get("lastUpdated").and_then(time).map(Into::into);
        return;
    }
    if let Some(to) = object.get("$rewindTo") {
        head.kind = EntryKind::Leaf;
        head.word = names.intern("$rewindTo");
        // The target is not the parent, so it is no link of the tree.
        head.group = to.text().and_then(|id| names.intern(&id));
        return;
    }
    if object.get("sessionId").is_some() && object.get("type").is_none() {
        head.kind = EntryKind::Header;
        head.word = names.intern("session");
        head.time = object.get("startTime").and_then(time).map(Into::into);
        return;
    }
    of_message(Message(object.raw()), head, names);
}

fn of_message(message: Message<'_>, head: &mut Head, names: &mut Interner) {
    let member = |key: &str| message.0.get(key).and_then(|it| it.text());
    head.word = member("type").and_then(|word| names.intern(&word));
    head.kind = message.kind();
    if head.kind == EntryKind::Unknown {
        return;
    }
    head.id = member("id").and_then(|id| names.intern(&id));
    head.time = message.0.get("timestamp").and_then(time).map(Into::into);
    head.flags.set_if(message.is_injected(), Flags::HIDDEN);
    head.flags.set_if(
        member("type").is_some_and(|word| word == "error"),
        Flags::ERROR,
    );
    match head.kind {
        EntryKind::Assistant => {
            head.flags.set_if(message.is_silent(), SILENT);
            head.group = names.intern(&calls(message)).filter(|_| has_calls(message));
        }
        EntryKind::ToolResult => {
            let view = boswell_model::View::of(message.parts());
            head.group = names.intern(&view.results().collect::<Vec<_>>().join("\n"));
        }
        _ => {}
    }
}

fn has_calls(message: Message<'_>) -> bool {
    message.calls().next().is_some()
}

/// Returns the ids of recorded calls, one a line: with `+` if the result is recorded too, or `*` if
/// moreover the content contains the call.
fn calls(message: Message<'_>) -> String {
    let is_complete = message.is_complete();
    let lines = message.calls().map(|call| {
        let has_result = call.get("result").is_some_and(|it| !it.is_null());
        let sign = match has_result {
            true if is_complete => '*',
            true => '+',
            false => '-',
        };
        format!("{sign}{}", call_id(call))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A record that contains all messages. Its group has a line for each: a letter for its kind, and
/// its id, so that a replay needs no payload.
fn snapshot(object: &Object<'_>, head: &mut Head, names: &mut Interner) {
    head.word = names.intern(SNAPSHOT);
    // Most of them repeat what is known; one that does not becomes a compaction in the end.
    head.kind = EntryKind::Meta;
    let of = object.get("$set").unwrap_or(object.raw());
    head.time = of.get("lastUpdated").and_then(time).map(Into::into);
    let lines = Message::all(object).into_iter().map(|message| {
        let id = message.0.get("id").and_then(|id| id.text());
        format!("{}{}", letter(message), id.unwrap_or_default())
    });
    let lines: Vec<String> = lines.collect();
    head.group = names
        .intern(&lines.join("\n"))
        .filter(|_| !lines.is_empty());
}

/// The kind of a message inside a snapshot: `u`ser, `m`odel, `r`esult, `s`ystem, `i`njected.
fn letter(message: Message<'_>) -> char {
    match message.kind() {
        _ if message.is_injected() => 'i',
        EntryKind::User => 'u',
        EntryKind::ToolResult => 'r',
        EntryKind::System => 's',
        _ => 'm',
    }
}

/// Returns the messages of a snapshot: kind and id.
pub(super) fn listed<'l>(log: &'l Log, head: &Head) -> impl Iterator<Item = (char, &'l str)> {
    let lines = head.group.map(|group| log.names.text(group)).into_iter();
    lines
        .flat_map(|lines| lines.split('\n'))
        .filter_map(|line| {
            let kind = line.chars().next()?;
            Some((kind, line.get(kind.len_utf8()..).unwrap_or_default()))
        })
}

/// Whether a record is a snapshot. Its kind depends on other records, its word does not.
pub(super) fn is_snapshot(log: &Log, slot: Slot) -> bool {
    log.word(slot) == SNAPSHOT
}

fn operation(log: &Log, slot: Slot) -> Operation<'_> {
    let Some(head) = log.head(slot) else {
        return Operation::None;
    };
    if is_snapshot(log, slot) {
        let contained = listed(log, head).map(|(kind, id)| Contained {
            id,
            // Results with this ending repeat those in the message with the calls.
            speaks: kind != 'i' && !(kind == 'r' && id.ends_with("_response")),
        });
        return Operation::Snapshot(contained.collect());
    }
    match head.kind {
        EntryKind::Leaf => Operation::RewindTo(head.group),
        _ if head.id.is_some() => Operation::Put(head.id),
        kind if kind.is_conversation() => Operation::Put(None),
        _ => Operation::None,
    }
}

/// Replays the first records of a log.
pub(super) fn replayed(log: &Log, count: usize) -> Replayed {
    replay(log, count, operation, |_| Beginning::Message)
}

/// Whether a remaining message consists of results alone.
pub(super) fn is_results(log: &Log, message: &LiveMessage) -> bool {
    let Some(head) = log.head(message.slot) else {
        return false;
    };
    match message.part {
        Some(part) => listed(log, head)
            .nth(part as usize)
            .is_some_and(|(kind, _)| kind == 'r'),
        None => head.kind == EntryKind::ToolResult,
    }
}
