//! Puts lines into the order in which they were written, if a client resumes a wrong one because
//! they are not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use boswell_model::{Instant, ProblemKind, Repair, Result, Slot};

use super::super::client::Client;
use super::super::unsent_records::unsent_records;
use super::Lines;
use crate::{Confidence, Fix, UnsentReason};

/// Adds one fix that moves lines behind their parents.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let is_clear = || {
        let mut slots = lines.counting().map(|(slot, _)| slot);
        lines.view.tree.cycles().is_empty() && slots.all(|slot| lines.stands_for_its_id(slot))
    };
    let Some(child) = before_parent(lines).filter(|_| is_clear()) else {
        return Ok(());
    };
    if !loses_branch(lines, Client::V2_1_150)? && !loses_branch(lines, Client::V2_1_325)? {
        return Ok(());
    }
    let places: Vec<Slot> = lines.counting().map(|(slot, _)| slot).collect();
    let order = order(lines, &places);
    let does = "put the lines in the order of their links".to_owned();
    let mut fix = lines.fix(ProblemKind::LostBranch, child, Confidence::Likely, does);
    fix.repair = Repair::Rewrite;
    for (place, slot) in places
        .iter()
        .zip(&order)
        .filter(|(place, slot)| place != slot)
    {
        let with = lines.view.payload(*slot)?.into_owned();
        fix.splices.push(lines.replaced(*place, with));
    }
    if order.len() == places.len() && !fix.splices.is_empty() {
        fixes.push(fix);
    }
    Ok(())
}

/// Returns the first line that comes before its parent.
fn before_parent(lines: &Lines<'_>) -> Option<Slot> {
    let is_early = |slot: &Slot| !lines.is_cut(*slot) && lines.parent(*slot) > Some(*slot);
    lines.counting().map(|(slot, _)| slot).find(is_early)
}

fn loses_branch(lines: &Lines<'_>, client: Client) -> Result<bool> {
    let unsent = unsent_records(&lines.view, client)?;
    Ok(unsent
        .iter()
        .any(|(_, reason)| *reason == UnsentReason::OtherBranch))
}

/// Returns the lines so that parents come first, and by time otherwise.
fn order(lines: &Lines<'_>, places: &[Slot]) -> Vec<Slot> {
    let mut below: HashMap<Slot, Vec<Slot>> = HashMap::new();
    let mut ready = BinaryHeap::new();
    let time = |slot: Slot| {
        let head = lines.view.log.head(slot);
        head.and_then(|head| head.time)
            .map(|time| Instant::from(time).millis())
    };
    for slot in places {
        match lines.parent(*slot).filter(|parent| parent != slot) {
            Some(parent) => below.entry(parent).or_default().push(*slot),
            None => ready.push(Reverse((time(*slot), *slot))),
        }
    }
    let mut order = Vec::with_capacity(places.len());
    while let Some(Reverse((_, slot))) = ready.pop() {
        order.push(slot);
        let next = below.remove(&slot).unwrap_or_default();
        ready.extend(next.into_iter().map(|slot| Reverse((time(slot), slot))));
    }
    order
}
