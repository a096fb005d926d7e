//! Repairs tool calls without a result, and orphan results without a call.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::{Json, Object, Raw, set_member};
use boswell_model::{EntryKind, Instant, ProblemKind, Result, Slot, Symbol};

use super::super::chain::counts;
use super::super::pairing::calls_client;
use super::super::tip;
use super::readers::LEAVE_CALLS_OPEN;
use super::{Lines, call_ids, changed, path};
use crate::{Confidence, Fix, ToolLink};

/// The text in place of a tool result that is not known.
const UNKNOWN: &str = "[the answer of this call is not in the session's file; whether the call took effect is unknown]";
/// The text before a result whose call is not known.
const STRAY: &str = "[answer of a call that is not in the session's file]";

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let log = lines.view.log;
    let counts = |slot: Slot| log.head(slot).is_some_and(counts);
    let mut called: HashSet<Symbol> = HashSet::new();
    let mut answered: HashSet<Symbol> = HashSet::new();
    for (_, pair) in lines
        .repair_input
        .pairs
        .iter()
        .filter(|(slot, _)| counts(*slot))
    {
        match pair {
            ToolLink::Call(call) => called.insert(*call),
            ToolLink::Answer(call) => answered.insert(*call),
        };
    }
    let mut open: BTreeMap<Slot, Vec<Symbol>> = BTreeMap::new();
    let mut strays: BTreeMap<Slot, Vec<Symbol>> = BTreeMap::new();
    let mut seen: HashSet<Symbol> = HashSet::new();
    for (slot, pair) in lines
        .repair_input
        .pairs
        .iter()
        .filter(|(slot, _)| counts(*slot))
    {
        match pair {
            ToolLink::Call(call) if !answered.contains(call) && seen.insert(*call) => {
                open.entry(*slot).or_default().push(*call);
            }
            ToolLink::Answer(call) if !called.contains(call) => {
                strays.entry(*slot).or_default().push(*call)
            }
            _ => {}
        }
    }
    bring_home(lines, &mut open, &mut strays, fixes)?;
    if !open.is_empty() {
        let surroundings = Surroundings::of(lines);
        for (slot, calls) in open {
            fixes.extend(answer(lines, slot, &calls, &surroundings)?);
        }
    }
    if !strays.is_empty() {
        let on_branch = OnBranch::of(lines)?;
        for slot in strays.into_keys() {
            let mut fix = keep_as_text(lines, slot, &called)?;
            if let Some(fix) = fix.as_mut() {
                on_branch.take_in(lines, slot, fix)?;
            }
            fixes.extend(fix);
        }
    }
    Ok(())
}

/// The path to the tip, and which lines other lines follow.
struct OnBranch {
    path: Vec<Slot>,
    has_child: Vec<bool>,
}

impl OnBranch {
    fn of(lines: &Lines<'_>) -> Result<OnBranch> {
        let tip = tip::tip(&lines.view)?.slot();
        let path = tip.map(|tip| path(&lines.view, &lines.chain, tip));
        Ok(OnBranch {
            path: path.unwrap_or_default(),
            has_child: lines.chain.has_child(),
        })
    }

    /// Puts a result that becomes a text between the lines of the branch. Clients look for results
    /// beside the path, but not for texts.
    fn take_in(&self, lines: &Lines<'_>, slot: Slot, fix: &mut Fix) -> Result<()> {
        let has_child = self.has_child.get(slot.index()).copied().unwrap_or(false);
        if has_child || self.path.contains(&slot) || lines.is_side(slot) {
            return Ok(());
        }
        let (above, below) = self.place(lines, slot);
        let (Some(id), Some(splice)) = (lines.id(slot), fix.splices.first_mut()) else {
            return Ok(());
        };
        let parent = Json::from(above.and_then(|above| lines.id(above))).to_bytes();
        splice.with = set_member(&splice.with, &["parentUuid"], &parent).map_err(|_| changed())?;
        if let Some(below) = below {
            let splice = lines.set(below, "parentUuid", &Json::from(id))?;
            fix.splices.push(splice);
        }
        Ok(())
    }

    /// Returns the lines of the path between which a text of that position can be: not between the
    /// parts of an answer, and not between a call and its results.
    fn place(&self, lines: &Lines<'_>, slot: Slot) -> (Option<Slot>, Option<Slot>) {
        let log = lines.view.log;
        let group = |slot: Slot| log.head(slot).and_then(|head| head.group);
        let mut above = None;
        for below in &self.path {
            let is_part = group(*below).is_some() && group(*below) == above.and_then(group);
            let is_apart = log.kind(*below) != EntryKind::ToolResult && !lines.is_cut(*below);
            if *below > slot && is_apart && !is_part {
                return (above, Some(*below));
            }
            above = Some(*below);
        }
        (above, None)
    }
}

/// Matches a result with a call of its parent line, regardless of the id in the result: a result is
/// a child of the line with its call, so the two belong together if that call has no result and
/// there is no other stray result.
fn bring_home(
    lines: &Lines<'_>,
    open: &mut BTreeMap<Slot, Vec<Symbol>>,
    strays: &mut BTreeMap<Slot, Vec<Symbol>>,
    fixes: &mut Vec<Fix>,
) -> Result<()> {
    let mut below: BTreeMap<Slot, Vec<Slot>> = BTreeMap::new();
    for slot in strays.keys() {
        if let Some(above) = lines.parent(*slot) {
            below.entry(above).or_default().push(*slot);
        }
    }
    for (above, slots) in below {
        let (Some([call]), [slot]) = (open.get(&above).map(Vec::as_slice), slots.as_slice()) else {
            continue;
        };
        let Some([stray]) = strays.get(slot).map(Vec::as_slice) else {
            continue;
        };
        let names = &lines.view.log.names;
        let record = lines.view.payload(*slot)?;
        let with = call_ids::renamed(
            &record,
            "tool_use_id",
            names.text(*stray),
            0,
            names.text(*call),
        );
        let does = "let it name its parent call, which has no answer".to_owned();
        let mut fix = lines.fix(ProblemKind::OrphanResult, *slot, Confidence::Certain, does);
        fix.splices.push(lines.replaced(*slot, with));
        fixes.push(fix);
        open.remove(&above);
        strays.remove(slot);
    }
    Ok(())
}

/// What is around the calls of a session, gathered in one pass: thousands of calls can be open.
#[derive(Default)]
struct Surroundings {
    /// The last line of each group.
    last: HashMap<Symbol, Slot>,
    /// The last line that is not about progress.
    end: Option<Slot>,
    children: HashMap<Slot, Vec<Slot>>,
}

impl Surroundings {
    fn of(lines: &Lines<'_>) -> Surroundings {
        let mut around = Surroundings::default();
        for (slot, head) in lines.counting() {
            if let Some(group) = head.group {
                around.last.insert(group, slot);
            }
            if head.kind != EntryKind::Progress {
                around.end = around.end.max(Some(slot));
            }
            if let Some(parent) = lines.parent(slot).filter(|parent| *parent != slot) {
                around.children.entry(parent).or_default().push(slot);
            }
        }
        around
    }
}

/// Adds a result that states that the real result is unknown, where the real one would have been.
fn answer(
    lines: &Lines<'_>,
    slot: Slot,
    calls: &[Symbol],
    around: &Surroundings,
) -> Result<Option<Fix>> {
    let log = lines.view.log;
    if lines.object(slot, calls_client)? != Some(true) {
        return Ok(None);
    }
    let (Some(head), Some(id)) = (log.head(slot), lines.id(slot)) else {
        return Ok(None);
    };
    let group_end = head
        .group
        .and_then(|group| around.last.get(&group).copied())
        .unwrap_or(slot);
    let new = lines.repair_input.id_source.uuid_v4();
    let Some(line) = lines.object(slot, |object| {
        answer_line(object, id, &new, calls.iter().map(|c| log.names.text(*c)))
    })?
    else {
        return Ok(None);
    };
    let goes_on = around.end > Some(group_end);
    let does = match calls.len() {
        1 => "append an answer which states that the result is unknown".to_owned(),
        n => format!("append answers which state that the results of its {n} calls are unknown"),
    };
    let mut fix = lines.fix(ProblemKind::MissingResult, slot, Confidence::Certain, does);
    if !goes_on && !lines.is_side(slot) {
        // The newest client adds such a result itself when it resumes the session.
        fix.helps = LEAVE_CALLS_OPEN;
    }
    fix.splices.push(lines.inserted_after(group_end, line));
    // The children of the call become children of the new result.
    for child in around.children.get(&slot).into_iter().flatten().copied() {
        let Some(below) = log.head(child) else {
            continue;
        };
        let is_part = below.kind == EntryKind::ToolResult
            || (below.group.is_some() && below.group == head.group);
        if !is_part && !lines.is_cut(child) && below.kind != EntryKind::Progress {
            fix.splices
                .push(lines.set(child, "parentUuid", &Json::from(new.as_str()))?);
        }
    }
    Ok(Some(fix))
}

fn answer_line<'n>(
    call: &Object<'_>,
    parent: &str,
    id: &str,
    calls: impl Iterator<Item = &'n str>,
) -> Vec<u8> {
    let raw = |key: &str| call.get(key).map(|value| Json::Raw(value.bytes().to_vec()));
    let results: Vec<Json> = calls
        .map(|call| {
            Json::object()
                .with("tool_use_id", call)
                .with("type", "tool_result")
                .with("content", UNKNOWN)
                .with("is_error", true)
        })
        .collect();
    Json::object()
        .with("parentUuid", parent)
        .with(
            "isSidechain",
            raw("isSidechain").unwrap_or(Json::from(false)),
        )
        .with("type", "user")
        .with(
            "message",
            Json::object().with("role", "user").with("content", results),
        )
        .with("uuid", id)
        .with_some("timestamp", just_after(call).or_else(|| raw("timestamp")))
        .with_some("userType", raw("userType"))
        .with_some("cwd", raw("cwd"))
        .with_some("sessionId", raw("sessionId"))
        .with_some("version", raw("version"))
        .with_some("gitBranch", raw("gitBranch"))
        .with_some("agentId", raw("agentId"))
        .to_bytes()
}

/// Returns the time just after that of a line: old clients resume the first of the newest lines.
fn just_after(line: &Object<'_>) -> Option<Json> {
    let time = Instant::parse(&line.text("timestamp")?)?;
    let after = Instant::from_millis(time.millis().checked_add(1)?);
    Some(Json::from(after.to_rfc3339()))
}

/// Converts a result without a call to a text message, because the provider rejects such a result.
/// `called` has the calls that are in the file.
pub(super) fn keep_as_text(
    lines: &Lines<'_>,
    slot: Slot,
    called: &HashSet<Symbol>,
) -> Result<Option<Fix>> {
    let names = &lines.view.log.names;
    let is_stray = |block: &Raw<'_>| {
        let call = block.get("tool_use_id").and_then(|id| id.text());
        block.get("type").is_some_and(|word| word.is("tool_result"))
            && call.is_none_or(|call| names.find(&call).is_none_or(|name| !called.contains(&name)))
    };
    let record = lines.view.payload(slot)?;
    let content = Raw::trusted(&record).at(&["message", "content"]);
    let mut with = Vec::with_capacity(record.len());
    let mut copied = 0;
    for block in content.iter().flat_map(Raw::items).filter(is_stray) {
        let at = block
            .bytes()
            .as_ptr()
            .addr()
            .saturating_sub(record.as_ptr().addr());
        with.extend_from_slice(record.get(copied..at).unwrap_or_default());
        let text = Json::object()
            .with("type", "text")
            .with("text", format!("{STRAY}\n{}", text_of(block)).trim_end());
        with.extend(text.to_bytes());
        copied = at + block.bytes().len();
    }
    if copied == 0 {
        return Ok(None);
    }
    with.extend_from_slice(record.get(copied..).unwrap_or_default());
    let does = "keep its text as a message of the user: an answer without its call cannot be sent"
        .to_owned();
    let mut fix = lines.fix(ProblemKind::OrphanResult, slot, Confidence::Likely, does);
    fix.splices.push(lines.replaced(slot, with));
    Ok(Some(fix))
}

fn text_of(block: Raw<'_>) -> String {
    let Some(content) = block.get("content") else {
        return String::new();
    };
    match content.text() {
        Some(text) => text.into_owned(),
        None => {
            let texts: Vec<String> = content
                .items()
                .filter_map(|part| part.get("text")?.text().map(|text| text.into_owned()))
                .collect();
            texts.join("\n")
        }
    }
}
