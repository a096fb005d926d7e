//! Repairs results that are not below their call, and that the client leaves out because of it.

use std::collections::{HashMap, HashSet};

use boswell_model::json::Json;
use boswell_model::{ProblemKind, Result, Slot, Symbol};

use super::super::client::Client;
use super::super::unsent_records::unsent_records;
use super::{Lines, calls};
use crate::{Confidence, Fix, ToolLink, UnsentReason};

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let misplaced = misplaced(lines);
    if misplaced.is_empty() {
        return Ok(());
    }
    for (slot, reason) in unsent_records(&lines.view, Client::NEWEST)? {
        let caller = misplaced.get(&slot).copied();
        let Some(caller) = caller.filter(|_| reason == UnsentReason::NoCall) else {
            continue;
        };
        if is_below(lines, caller, slot) {
            // The call follows its result, so that no parent puts the two in order.
            fixes.extend(calls::keep_as_text(lines, slot, &HashSet::new())?);
            continue;
        }
        let Some(id) = lines.id(caller) else {
            continue;
        };
        let does = format!("make {id} its parent, which contains its call");
        let mut fix = lines.fix(ProblemKind::OrphanResult, slot, Confidence::Likely, does);
        fix.splices
            .push(lines.set(slot, "parentUuid", &Json::from(id))?);
        fixes.push(fix);
    }
    Ok(())
}

/// Returns the results whose parent is not a line of the message with their call, with the line of
/// the call.
fn misplaced(lines: &Lines<'_>) -> HashMap<Slot, Slot> {
    let log = lines.view.log;
    let mut callers: HashMap<Symbol, Slot> = HashMap::new();
    for (slot, pair) in lines.repair_input.pairs {
        if let ToolLink::Call(call) = pair {
            callers.insert(*call, *slot);
        }
    }
    let group = |slot: Slot| log.head(slot).and_then(|head| head.group);
    let mut misplaced = HashMap::new();
    for (slot, pair) in lines.repair_input.pairs {
        let ToolLink::Answer(call) = pair else {
            continue;
        };
        let (Some(caller), Some(parent)) = (callers.get(call), lines.parent(*slot)) else {
            continue;
        };
        let is_part = group(parent).is_some() && group(parent) == group(*caller);
        if parent != *caller && !is_part && lines.stands_for_its_id(*slot) {
            misplaced.insert(*slot, *caller);
        }
    }
    misplaced
}

/// Whether a line follows another one.
fn is_below(lines: &Lines<'_>, slot: Slot, above: Slot) -> bool {
    let count = lines.view.log.heads.len();
    let mut ancestors = std::iter::successors(Some(slot), |slot| lines.parent(*slot)).take(count);
    ancestors.any(|slot| slot == above)
}
