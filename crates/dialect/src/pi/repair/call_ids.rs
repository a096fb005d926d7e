//! Repairs tool calls of one branch that have the same id.

use std::collections::{HashMap, HashSet};

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{ProblemKind, Result, Slot, Symbol};

use super::super::link_scheme::{agent_path, tip};
use super::{Entries, changed};
use crate::duplicate_calls::{self, DuplicateCalls};
use crate::{Fix, ToolLink};

/// Adds one fix per entry. The results of a call are the chain of result entries that follows the
/// calling entry; only those are renamed.
pub(super) fn fixes(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let pairs = entries.repair_input.pairs;
    if !has_duplicates(pairs) {
        return Ok(());
    }
    let path = agent_path(&entries.view, tip(&entries.view));
    let place: HashMap<Slot, usize> = path
        .iter()
        .enumerate()
        .map(|(at, slot)| (*slot, at))
        .collect();
    let mut branch: Vec<(Slot, ToolLink)> = pairs
        .iter()
        .filter(|(slot, _)| place.contains_key(slot))
        .copied()
        .collect();
    branch.sort_by_key(|(slot, _)| place.get(slot).copied());
    let mut answers: HashMap<Slot, Symbol> = HashMap::new();
    for (slot, pair) in &branch {
        if let ToolLink::Answer(call) = pair {
            answers.insert(*slot, *call);
        }
    }
    let run = |slot: Slot| {
        let from = place.get(&slot).map_or(path.len(), |at| at + 1);
        let run = path
            .iter()
            .skip(from)
            .map_while(|slot| Some((*slot, *answers.get(slot)?)));
        run.collect()
    };
    let new_id = || format!("call_{}", entries.repair_input.id_source.hex16());
    for duplicates in duplicate_calls::find(&branch, pairs, &entries.view.log.names, run, new_id) {
        fixes.push(fix(entries, duplicates)?);
    }
    Ok(())
}

fn has_duplicates(pairs: &[(Slot, ToolLink)]) -> bool {
    let mut seen: HashSet<Symbol> = HashSet::new();
    pairs
        .iter()
        .any(|(_, pair)| matches!(pair, ToolLink::Call(call) if !seen.insert(*call)))
}

fn fix(entries: &Entries<'_>, duplicates: DuplicateCalls) -> Result<Fix> {
    let names = &entries.view.log.names;
    let does = duplicate_calls::DOES.to_owned();
    let mut fix = entries.fix(
        ProblemKind::DuplicateCall,
        duplicates.slot,
        duplicates.confidence,
        does,
    );
    let mut record = entries.view.payload(duplicates.slot)?.into_owned();
    for call in &duplicates.renamed {
        record = renamed(&record, names.text(call.old), call.nth, &call.new);
        if let Some(answer) = call.answer {
            let with = Json::from(call.new.as_str()).to_bytes();
            let answered = set_member(
                &entries.view.payload(answer)?,
                &["message", "toolCallId"],
                &with,
            );
            fix.splices
                .push(entries.replaced(answer, answered.map_err(|_| changed())?));
        }
    }
    fix.splices.push(entries.replaced(duplicates.slot, record));
    Ok(fix)
}

/// Returns the entry with id `new` in the `nth` call that has the id `old`.
fn renamed(record: &[u8], old: &str, nth: usize, new: &str) -> Vec<u8> {
    let content = Raw::trusted(record).at(&["message", "content"]);
    let calls = content
        .iter()
        .flat_map(Raw::items)
        .filter(|block| block.get("type").is_some_and(|it| it.is("toolCall")));
    match calls
        .filter_map(|block| block.get("id"))
        .filter(|id| id.is(old))
        .nth(nth)
    {
        Some(id) => duplicate_calls::put_id(record, &id, new),
        None => record.to_vec(),
    }
}
