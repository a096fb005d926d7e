//! Repairs messages that are not well formed: the newest client skips them with what they contain,
//! older ones fail on them.

use std::collections::{HashMap, HashSet};

use boswell_model::json::{Json, Object, Raw, RawKind, insert_member, set_member};
use boswell_model::{EntryKind, Flags, Head, ProblemKind, Result, Slot, Symbol};

use super::readers::FAIL_ON_MALFORMED;
use super::{Lines, changed};
use crate::{Confidence, Fix, ToolLink};

/// The text in place of content that is not in the file.
const UNKNOWN: &str = "[the content of this message is not in the session's file]";

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut open: Option<OpenCalls> = None;
    for (slot, head) in lines.view.log.entries() {
        if head.nth > 0 || head.flags.has(Flags::SALVAGED) {
            continue;
        }
        let is_answer = head.kind == EntryKind::Assistant;
        fixes.extend(match () {
            () if head.flags.has(Flags::MALFORMED) => {
                let open = open.get_or_insert_with(|| OpenCalls::of(lines));
                content_fix(lines, slot, head, open)?
            }
            () if is_answer && head.flags.has(Flags::ONE_TEXT) => {
                content_fix(lines, slot, head, &OpenCalls::default())?
            }
            () if head.kind == EntryKind::Unknown => type_fix(lines, slot)?,
            () => None,
        });
    }
    Ok(())
}

/// Gives a record without a type the one that its message names.
fn type_fix(lines: &Lines<'_>, slot: Slot) -> Result<Option<Fix>> {
    let role = |object: &Object<'_>| {
        let is_message = object.get("type").is_none() && object.get("uuid").is_some();
        let role = object.get("message")?.get("role")?.text()?;
        let is_known = matches!(role.as_ref(), "user" | "assistant");
        (is_message && is_known).then(|| role.into_owned())
    };
    let Some(Some(role)) = lines.object(slot, role)? else {
        return Ok(None);
    };
    let record = lines.view.payload(slot)?;
    let value = Json::from(role.as_str()).to_bytes();
    let with = insert_member(&record, "type", &value).map_err(|_| changed())?;
    let does = format!("give it the type of its message, `{role}`");
    let mut fix = lines.fix(ProblemKind::Unsent, slot, Confidence::Certain, does);
    fix.splices.push(lines.replaced(slot, with));
    Ok(Some(fix))
}

/// The calls without a result, by line.
#[derive(Default)]
struct OpenCalls {
    calls: HashMap<Slot, Vec<Symbol>>,
}

impl OpenCalls {
    fn of(lines: &Lines<'_>) -> OpenCalls {
        let pairs = lines.repair_input.pairs;
        let answered: HashSet<Symbol> =
            pairs.iter().filter_map(|(_, pair)| answer(*pair)).collect();
        let mut calls: HashMap<Slot, Vec<Symbol>> = HashMap::new();
        for (slot, pair) in pairs {
            if let ToolLink::Call(call) = pair
                && !answered.contains(call)
            {
                calls.entry(*slot).or_default().push(*call);
            }
        }
        OpenCalls { calls }
    }

    /// Returns the result that a message of the user must have been: its parent is a call that has
    /// none.
    fn result(&self, lines: &Lines<'_>, head: &Head, record: &[u8]) -> Option<Json> {
        let parent = head.parent.and_then(|parent| lines.place.get(&parent))?;
        let [call] = self.calls.get(parent)?.as_slice() else {
            return None;
        };
        let output = Raw::trusted(record).get("toolUseResult");
        let output = output
            .filter(|_| head.kind == EntryKind::User)
            .map(output_text);
        let result = Json::object()
            .with("tool_use_id", lines.view.log.names.text(*call))
            .with("type", "tool_result")
            .with("content", output.as_deref().unwrap_or(UNKNOWN))
            .with("is_error", output.is_none());
        (head.kind == EntryKind::User).then_some(result)
    }
}

fn answer(pair: ToolLink) -> Option<Symbol> {
    match pair {
        ToolLink::Answer(call) => Some(call),
        ToolLink::Call(_) => None,
    }
}

/// Returns what the client noted of the output of a tool.
fn output_text(output: Raw<'_>) -> String {
    let text = |value: Raw<'_>| value.text().map(|text| text.into_owned());
    let stdout = || output.get("stdout").and_then(text);
    text(output)
        .or_else(stdout)
        .unwrap_or_else(|| String::from_utf8_lossy(output.bytes()).into_owned())
}

fn content_fix(
    lines: &Lines<'_>,
    slot: Slot,
    head: &Head,
    open: &OpenCalls,
) -> Result<Option<Fix>> {
    let role = match head.kind {
        EntryKind::Assistant => "assistant",
        _ => "user",
    };
    let record = lines.view.payload(slot)?;
    let message = Raw::trusted(&record).get("message");
    let is_object = message.is_some_and(|message| message.kind() == RawKind::Object);
    let found = match message {
        Some(message) if is_object => message.get("content"),
        message => message,
    };
    let blocks = found.map(blocks).unwrap_or_default();
    let is_known = !blocks.is_empty();
    let content = match is_known {
        true => blocks,
        false => vec![
            open.result(lines, head, &record)
                .unwrap_or_else(|| text(UNKNOWN)),
        ],
    };
    let with = match is_object {
        true => set_member(&record, &["message", "content"], &list(content)),
        false => set_member(&record, &["message"], &whole(lines, role, content)),
    };
    let mut fix = described_fix(lines, slot, head, is_known);
    fix.splices
        .push(lines.replaced(slot, with.map_err(|_| changed())?));
    Ok(Some(fix))
}

/// Returns a fix without changes yet: what it does with content that is known or not, and for whom.
fn described_fix(lines: &Lines<'_>, slot: Slot, head: &Head, is_known: bool) -> Fix {
    let (does, helps) = match (is_known, head.flags.has(Flags::MALFORMED)) {
        (true, true) => ("write its content as a list of texts", &[][..]),
        (true, false) => ("write its content as a list of texts", FAIL_ON_MALFORMED),
        (false, _) => (
            "state that its content is not in the file",
            FAIL_ON_MALFORMED,
        ),
    };
    let mut fix = lines.fix(
        ProblemKind::Unsent,
        slot,
        Confidence::Certain,
        does.to_owned(),
    );
    fix.helps = helps;
    fix
}

/// Returns the blocks that a value contains, which is not a list of blocks.
fn blocks(content: Raw<'_>) -> Vec<Json> {
    match content.kind() {
        RawKind::Array => content.items().filter_map(block).collect(),
        _ => block(content).into_iter().collect(),
    }
}

fn block(value: Raw<'_>) -> Option<Json> {
    let json = || String::from_utf8_lossy(value.bytes()).into_owned();
    match value.kind() {
        RawKind::Object if value.get("type").is_some() => Some(Json::Raw(value.bytes().to_vec())),
        RawKind::Null => None,
        RawKind::String => value.text().map(|it| text(&it)),
        _ => Some(text(&json())),
    }
}

fn list(blocks: Vec<Json>) -> Vec<u8> {
    Json::from(blocks).to_bytes()
}

/// A message of its own for a record that has none. The client adds up usage without a check, so
/// its numbers must be present.
fn whole(lines: &Lines<'_>, role: &str, content: Vec<Json>) -> Vec<u8> {
    let message = Json::object().with("role", role).with("content", content);
    if role == "user" {
        return message.to_bytes();
    }
    let id = lines.repair_input.id_source.uuid_v4().replace('-', "");
    let usage = Json::object()
        .with("input_tokens", 0_u64)
        .with("output_tokens", 0_u64)
        .with("unknown", true);
    message
        .with("id", format!("msg_{id}"))
        .with("type", "message")
        .with("model", "<synthetic>")
        .with("stop_reason", "end_turn")
        .with("stop_sequence", Json::Null)
        .with("usage", usage)
        .to_bytes()
}

fn text(text: &str) -> Json {
    Json::object().with("type", "text").with("text", text)
}
