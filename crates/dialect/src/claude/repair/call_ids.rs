//! Repairs tool calls of one branch that have the same id: the newest client drops the second one.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::Raw;
use boswell_model::{ProblemKind, Result, Slot, Symbol};

use super::super::tip;
use super::{Lines, entries_agent_sees};
use crate::duplicate_calls::{self, DuplicateCalls};
use crate::{Fix, ToolLink};

/// Adds one fix per line. The same call on another branch is not a problem.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut seen: HashSet<Symbol> = HashSet::new();
    let is_twin = |pair: &ToolLink| matches!(pair, ToolLink::Call(call) if !seen.insert(*call));
    if !lines
        .repair_input
        .pairs
        .iter()
        .map(|(_, pair)| pair)
        .any(is_twin)
    {
        return Ok(());
    }
    let reached: HashSet<Slot> = entries_agent_sees(&lines.view, tip::tip(&lines.view)?)?
        .into_iter()
        .collect();
    let counts = |(slot, _): &&(Slot, ToolLink)| lines.stands_for_its_id(*slot);
    let all: Vec<(Slot, ToolLink)> = lines
        .repair_input
        .pairs
        .iter()
        .filter(counts)
        .copied()
        .collect();
    let branch: Vec<(Slot, ToolLink)> = all
        .iter()
        .filter(|(slot, _)| reached.contains(slot))
        .copied()
        .collect();
    let mut below: HashMap<Slot, Vec<(Slot, Symbol)>> = HashMap::new();
    for (slot, pair) in &all {
        if let (ToolLink::Answer(call), Some(above)) = (pair, lines.parent(*slot)) {
            below.entry(above).or_default().push((*slot, *call));
        }
    }
    let new_id = || {
        format!(
            "toolu_{}",
            lines.repair_input.id_source.uuid_v4().replace('-', "")
        )
    };
    let below = |slot: Slot| below.get(&slot).cloned().unwrap_or_default();
    for duplicates in duplicate_calls::find(&branch, &all, &lines.view.log.names, below, new_id) {
        fixes.push(fix(lines, duplicates)?);
    }
    Ok(())
}

fn fix(lines: &Lines<'_>, duplicates: DuplicateCalls) -> Result<Fix> {
    let names = &lines.view.log.names;
    let mut line = lines.view.payload(duplicates.slot)?.into_owned();
    let mut answers: BTreeMap<Slot, Vec<u8>> = BTreeMap::new();
    for call in &duplicates.renamed {
        let old = names.text(call.old);
        line = renamed(&line, "id", old, call.nth, &call.new);
        if let Some(answer) = call.answer {
            let record = match answers.remove(&answer) {
                Some(record) => record,
                None => lines.view.payload(answer)?.into_owned(),
            };
            answers.insert(answer, renamed(&record, "tool_use_id", old, 0, &call.new));
        }
    }
    let mut fix = lines.fix(
        ProblemKind::DuplicateCall,
        duplicates.slot,
        duplicates.confidence,
        duplicate_calls::DOES.to_owned(),
    );
    fix.splices.push(lines.replaced(duplicates.slot, line));
    fix.splices.extend(
        answers
            .into_iter()
            .map(|(answer, record)| lines.replaced(answer, record)),
    );
    Ok(fix)
}

/// Returns the record with id `new` in the `nth` block whose `key` is `old`.
pub(super) fn renamed(record: &[u8], key: &str, old: &str, nth: usize, new: &str) -> Vec<u8> {
    let content = Raw::trusted(record).at(&["message", "content"]);
    let ids = content
        .iter()
        .flat_map(Raw::items)
        .filter_map(|block| block.get(key));
    match ids.filter(|id| id.is(old)).nth(nth) {
        Some(id) => duplicate_calls::put_id(record, &id, new),
        None => record.to_vec(),
    }
}
