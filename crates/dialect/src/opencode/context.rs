//! Which messages are sent: those after the newest compaction, and none that were taken back.

use std::collections::HashSet;

use boswell_model::json::Raw;
use boswell_model::{EntryKind, Result, SessionView, Slot};

use crate::members::text;
use crate::row_agent::is_sent;

use super::record::Record;

/// A message, as far as the choice needs it.
struct Message {
    slot: Slot,
    id: String,
    is_user: bool,
    /// For a finished summary: the message that asked for it.
    summarises: Option<String>,
    /// For a message that asked for a summary: the first message that was kept.
    compaction: Option<Option<String>>,
}

/// Returns the entries that are sent, in order.
pub(super) fn sent(view: &SessionView<'_>, branch: &[Slot]) -> Result<Vec<Slot>> {
    let taken_back = taken_back_from(view)?;
    let mut messages = Vec::new();
    for slot in branch.iter().filter(|slot| is_sent(view, **slot)) {
        let Some(message) = view.with_object(*slot, |it| read(*slot, Record(it.raw())))? else {
            continue;
        };
        if taken_back.as_ref() == Some(&message.id) {
            break;
        }
        messages.push(message);
    }
    Ok(after_compaction(&messages))
}

/// Returns the message from which on the user took the conversation back. The next prompt deletes
/// what follows.
fn taken_back_from(view: &SessionView<'_>) -> Result<Option<String>> {
    let header = view
        .log
        .entries()
        .find(|(_, head)| head.kind == EntryKind::Header);
    let Some((slot, _)) = header else {
        return Ok(None);
    };
    let from = view.with_object(slot, |it| {
        let row = it.raw();
        let revert = row.get("revert").or_else(|| row.at(&["data", "revert"]))?;
        // With a part only a part of the message goes, which is not known to be seldom enough.
        let whole = revert.get("partID").is_none_or(|it| it.is_null());
        text(revert, "messageID").filter(|_| whole)
    })?;
    Ok(from.flatten())
}

fn read(slot: Slot, record: Record<'_>) -> Message {
    let is_finished = record.info("finish").is_some_and(|it| !it.is_null());
    let failed = record.info("error").is_some_and(|it| !it.is_null());
    let is_summary = record.is_summary() && is_finished && !failed;
    let is_compaction = |part: &Raw<'_>| part.get("type").is_some_and(|it| it.is("compaction"));
    Message {
        slot,
        id: text(record.0, "id").unwrap_or_default(),
        is_user: record.info_text("role").as_deref() == Some("user"),
        summarises: record.info_text("parentID").filter(|_| is_summary),
        compaction: record
            .parts()
            .find(is_compaction)
            .map(|part| text(part, "tail_start_id")),
    }
}

/// Returns the messages from the newest compaction on that was finished: the one that asked for it,
/// its summary, the messages that were kept, and those after it.
fn after_compaction(messages: &[Message]) -> Vec<Slot> {
    let slots = |messages: &[Message]| messages.iter().map(|it| it.slot).collect::<Vec<_>>();
    let mut finished = HashSet::new();
    for (at, message) in messages.iter().enumerate().rev() {
        finished.extend(message.summarises.as_deref());
        let Some(kept_from) = &message.compaction else {
            continue;
        };
        if !message.is_user || !finished.contains(message.id.as_str()) {
            continue;
        }
        let (before, from) = messages.split_at(at);
        let kept = kept_from.as_ref().and_then(|id| {
            let start = before.iter().position(|it| it.id == *id)?;
            before.get(start..)
        });
        let Some(kept) = kept else {
            return slots(from);
        };
        let is_summary = |it: &Message| it.summarises.as_deref() == Some(&message.id);
        let summary = from.iter().rposition(is_summary).unwrap_or(0);
        let (asked, rest) = from.split_at(summary + 1);
        return [slots(asked), slots(kept), slots(rest)].concat();
    }
    slots(messages)
}
