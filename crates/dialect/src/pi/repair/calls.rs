//! Repairs tool calls without a result, and orphan results without a call.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{EntryKind, Flags, ProblemKind, Result, Slot, Symbol};

use super::{Entries, changed};
use crate::{Confidence, Fix, Splice, ToolLink};

const UNKNOWN: &str = "[the answer of this call is not in the session's file; whether the call took effect is unknown]";
const STRAY: &str = "[answer of a call that is not in the session's file]";

pub(super) fn fixes(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut called: HashMap<Symbol, Slot> = HashMap::new();
    let mut answered: HashSet<Symbol> = HashSet::new();
    for (slot, pair) in entries.repair_input.pairs {
        match pair {
            ToolLink::Call(call) => drop(called.entry(*call).or_insert(*slot)),
            ToolLink::Answer(call) => drop(answered.insert(*call)),
        }
    }
    let mut open: BTreeMap<Slot, Vec<Symbol>> = BTreeMap::new();
    for (slot, pair) in entries.repair_input.pairs {
        match pair {
            ToolLink::Call(call) if !answered.contains(call) && called.get(call) == Some(slot) => {
                open.entry(*slot).or_default().push(*call);
            }
            ToolLink::Answer(call) if !called.contains_key(call) => {
                fixes.extend(keep_as_text(entries, *slot)?)
            }
            _ => {}
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let mut children: HashMap<Slot, Vec<Slot>> = HashMap::new();
    for (slot, _) in entries.all() {
        if let Some(parent) = entries.parent(slot).filter(|parent| *parent != slot) {
            children.entry(parent).or_default().push(slot);
        }
    }
    for (slot, mut calls) in open {
        calls.dedup();
        fixes.extend(answer(entries, slot, &calls, &children)?);
    }
    Ok(())
}

/// Adds results that state that the real ones are unknown, after the existing results. Nothing is
/// added at the end of a conversation: the agent was stopped there and generates the results
/// itself.
fn answer(
    entries: &Entries<'_>,
    slot: Slot,
    calls: &[Symbol],
    children: &HashMap<Slot, Vec<Slot>>,
) -> Result<Option<Fix>> {
    let failed = entries
        .view
        .log
        .head(slot)
        .is_some_and(|head| head.flags.has(Flags::ERROR));
    let below = |slot: Slot| children.get(&slot).map(Vec::as_slice).unwrap_or_default();
    let mut end = slot;
    for _ in 0..entries.view.log.heads.len() {
        match below(end)
            .iter()
            .find(|child| entries.kind(**child) == EntryKind::ToolResult)
        {
            Some(next) => end = *next,
            None => break,
        }
    }
    let (Some(end_id), false, false) = (entries.id(end), failed, below(end).is_empty()) else {
        return Ok(None);
    };
    let record = entries.view.payload(slot)?;
    let mut lines = Vec::new();
    let mut above = end_id.to_owned();
    for call in calls {
        let id = entries.new_id();
        lines.push(b'\n');
        lines.extend(line(
            Raw::trusted(&record),
            entries.view.log.names.text(*call),
            &id,
            &above,
        ));
        above = id;
    }
    let does = "append an answer which states that the result is unknown".to_owned();
    let mut fix = entries.fix(ProblemKind::MissingResult, slot, Confidence::Certain, does);
    let place = entries
        .view
        .log
        .head(end)
        .map_or(0, |head| head.at + head.len);
    fix.splices.push(Splice::insert(place, lines));
    for child in below(end) {
        fix.splices
            .push(entries.set(*child, "parentId", &Json::from(above.as_str()))?);
    }
    Ok(Some(fix))
}

fn line(caller: Raw<'_>, call: &str, id: &str, parent: &str) -> Vec<u8> {
    let content = caller.at(&["message", "content"]);
    let block = content
        .iter()
        .flat_map(Raw::items)
        .find(|block| block.get("id").is_some_and(|id| id.is(call)));
    let tool = block
        .and_then(|block| block.get("name"))
        .and_then(|name| name.text())
        .unwrap_or_default()
        .into_owned();
    let raw = |path: &[&str]| {
        caller
            .at(path)
            .map(|value| Json::Raw(value.bytes().to_vec()))
    };
    let message = Json::object()
        .with("role", "toolResult")
        .with("toolCallId", call)
        .with("toolName", tool)
        .with(
            "content",
            vec![Json::object().with("type", "text").with("text", UNKNOWN)],
        )
        .with("isError", true)
        .with_some("timestamp", raw(&["message", "timestamp"]));
    Json::object()
        .with("type", "message")
        .with("id", id)
        .with("parentId", parent)
        .with_some("timestamp", raw(&["timestamp"]))
        .with("message", message)
        .to_bytes()
}

/// Converts a result without a call to a text message, because the provider rejects such a result.
fn keep_as_text(entries: &Entries<'_>, slot: Slot) -> Result<Option<Fix>> {
    let record = entries.view.payload(slot)?;
    let Some(content) = Raw::trusted(&record).at(&["message", "content"]) else {
        return Ok(None);
    };
    let lead = Json::object().with("type", "text").with("text", STRAY);
    let parts =
        std::iter::once(lead).chain(content.items().map(|part| Json::Raw(part.bytes().to_vec())));
    let parts = Json::Array(parts.collect()).to_bytes();
    let with = set_member(&record, &["message", "content"], &parts)
        .and_then(|record| set_member(&record, &["message", "role"], b"\"user\""))
        .map_err(|_| changed())?;
    let does = "keep its text as a message of the user: an answer without its call cannot be sent"
        .to_owned();
    let mut fix = entries.fix(ProblemKind::OrphanResult, slot, Confidence::Likely, does);
    fix.splices.push(entries.replaced(slot, with));
    Ok(Some(fix))
}
