//! Gives lines without an id one: the client keeps only the last of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::{EntryKind, Flags, Head, ProblemKind, Result, Slot, Symbol};

use super::super::chain::is_chain_kind;
use super::{Lines, with_member};
use crate::{Confidence, Fix, ToolLink};

/// Adds one fix for all such lines. A line gets the id that the line after it, or its result, names
/// as a parent and that no line has; otherwise a new one.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let lost: Vec<Slot> = chain_lines(lines)
        .filter(|(_, head)| head.id.is_none())
        .map(|(slot, _)| slot)
        .collect();
    let Some(first) = lost.first() else {
        return Ok(());
    };
    let named = named_ids(lines, &lost);
    let does = match lost.len() {
        1 => "give it an id".to_owned(),
        n => format!("give it and {} more lines an id", n - 1),
    };
    let confidence = match lost.len() {
        1 => Confidence::Certain,
        _ => Confidence::Likely,
    };
    let mut fix = lines.fix(ProblemKind::MissingId, *first, confidence, does);
    for slot in &lost {
        let id = match named.get(slot) {
            Some(id) => lines.view.log.names.text(*id).to_owned(),
            None => lines.repair_input.id_source.uuid_v4(),
        };
        let record = with_member(&lines.view.payload(*slot)?, "uuid", &id)?;
        fix.splices.push(lines.replaced(*slot, record));
    }
    fixes.push(fix);
    Ok(())
}

/// The lines that can have an id, also those whose message is not well formed.
fn chain_lines<'a>(lines: &Lines<'a>) -> impl Iterator<Item = (Slot, &'a Head)> {
    let is_one =
        |head: &Head| is_chain_kind(head.kind) && head.nth == 0 && !head.flags.has(Flags::SALVAGED);
    lines
        .view
        .log
        .entries()
        .filter(move |(_, head)| is_one(head))
}

/// Returns the ids that other lines name for these.
fn named_ids(lines: &Lines<'_>, lost: &[Slot]) -> BTreeMap<Slot, Symbol> {
    let known: HashSet<Symbol> = chain_lines(lines).filter_map(|(_, head)| head.id).collect();
    let callers: HashMap<Symbol, Slot> = links(lines, |pair| match pair {
        ToolLink::Call(call) => Some(call),
        ToolLink::Answer(_) => None,
    })
    .map(|(slot, call)| (call, slot))
    .collect();
    let answers: HashMap<Slot, Symbol> = links(lines, |pair| match pair {
        ToolLink::Answer(call) => Some(call),
        ToolLink::Call(_) => None,
    })
    .collect();
    let lost: HashSet<Slot> = lost.iter().copied().collect();
    let mut named: BTreeMap<Slot, Symbol> = BTreeMap::new();
    let mut taken: HashSet<Symbol> = HashSet::new();
    let mut before: [Option<Slot>; 2] = [None, None];
    for (slot, head) in chain_lines(lines) {
        let side = usize::from(head.flags.has(Flags::SIDECHAIN));
        let caller = answers.get(&slot).and_then(|call| callers.get(call));
        let above = caller.copied().or(before.get(side).copied().flatten());
        let above = above.filter(|above| lost.contains(above) && !named.contains_key(above));
        let parent = head.parent.filter(|parent| !known.contains(parent));
        if let (Some(above), Some(parent)) = (above, parent)
            && taken.insert(parent)
        {
            named.insert(above, parent);
        }
        if head.kind != EntryKind::Progress
            && let Some(before) = before.get_mut(side)
        {
            *before = Some(slot);
        }
    }
    named
}

fn links<'a>(
    lines: &Lines<'a>,
    which: impl Fn(ToolLink) -> Option<Symbol>,
) -> impl Iterator<Item = (Slot, Symbol)> {
    let pairs = lines.repair_input.pairs.iter();
    pairs.filter_map(move |(slot, pair)| Some((*slot, which(*pair)?)))
}
