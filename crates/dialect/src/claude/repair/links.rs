//! Repairs links: lines whose parent is missing, is part of a cycle, or was never written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use boswell_model::json::{Json, Object};
use boswell_model::{EntryKind, Flags, ProblemKind, Result, Slot, Symbol};

use super::Lines;
use super::readers::{LOST_IN_CIRCLES, STOP_AT_GAPS};
use crate::infer_parent::{Lost, Neighbours};
use crate::{Confidence, Fix, ToolLink};

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let broken = broken(lines);
    if broken.is_empty() {
        return Ok(());
    }
    let mut callers: HashMap<Symbol, BTreeSet<Slot>> = HashMap::new();
    let mut answers: HashMap<Slot, Symbol> = HashMap::new();
    for (slot, pair) in lines.repair_input.pairs {
        match pair {
            ToolLink::Call(call) => drop(callers.entry(*call).or_default().insert(*slot)),
            ToolLink::Answer(call) => drop(answers.insert(*slot, *call)),
        }
    }
    let mut group_ends: HashMap<(Symbol, bool), Slot> = HashMap::new();
    let mut lost: BTreeMap<Slot, Lost> = BTreeMap::new();
    for (slot, head) in lines
        .counting()
        .filter(|(slot, _)| lines.stands_for_its_id(*slot))
    {
        if let Some(fault) = broken.get(&slot).copied() {
            let caller = answers
                .get(&slot)
                .and_then(|call| callers.get(call))
                .filter(|slots| slots.len() == 1);
            let caller = caller
                .and_then(|slots| slots.first().copied())
                .filter(|caller| *caller < slot);
            let caller = caller.filter(|caller| lines.stands_for_its_id(*caller));
            let part = head
                .group
                .and_then(|group| group_ends.get(&(group, lines.is_side(slot))).copied());
            let family = head.parent.filter(|_| fault == Fault::Missing);
            lost.insert(
                slot,
                Lost {
                    family,
                    known: caller.or(part),
                },
            );
        }
        if let Some(group) = head.group {
            group_ends.insert((group, lines.is_side(slot)), slot);
        }
    }
    let near = neighbours(lines).find(&lost);
    let mut found = Vec::new();
    for (slot, fault) in broken {
        let (parent, confidence) = near
            .get(&slot)
            .copied()
            .unwrap_or((None, Confidence::Certain));
        found.extend(fix(lines, slot, fault, parent, confidence)?);
    }
    match is_unlinked(lines) {
        true => fixes.extend(all_links(found)),
        false => fixes.extend(found),
    }
    Ok(())
}

/// Joins the fixes of a file that has lost its links: each alone would cut the conversation.
fn all_links(found: Vec<Fix>) -> Option<Fix> {
    let count = found.len();
    found.into_iter().reduce(|all, fix| Fix {
        confidence: Confidence::Likely,
        does: format!(
            "make each of {count} lines follow the one before: the file has lost its links"
        ),
        splices: [all.splices, fix.splices].concat(),
        ..all
    })
}

/// What is wrong with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Missing,
    Circle,
    /// No parent, although the line cannot be a root.
    Null,
    /// Another line of a file in which no line has a parent.
    Unlinked,
}

fn broken(lines: &Lines<'_>) -> BTreeMap<Slot, Fault> {
    let mut broken = BTreeMap::new();
    let cycles: BTreeSet<Slot> = lines.view.tree.cycles().iter().copied().collect();
    let mut first: [Option<Slot>; 2] = [None, None];
    let unlinked = is_unlinked(lines);
    for (slot, head) in lines
        .counting()
        .filter(|(slot, _)| lines.stands_for_its_id(*slot))
    {
        let side = usize::from(lines.is_side(slot));
        let is_first = first
            .get_mut(side)
            .is_some_and(|first| first.replace(slot).is_none());
        let fault = match head.parent {
            Some(parent) if !lines.place.contains_key(&parent) => Some(Fault::Missing),
            Some(_) if lines.is_cut(slot) => None,
            Some(_) if cycles.contains(&slot) => Some(Fault::Circle),
            None if is_first || side == 1 || lines.is_cut(slot) => None,
            None if head.flags.has(Flags::ERROR) && !unlinked => None,
            None if lines.is_answer(slot) => Some(Fault::Null),
            None if unlinked => Some(Fault::Unlinked),
            _ => None,
        };
        broken.extend(fault.map(|fault| (slot, fault)));
    }
    broken
}

/// Whether no line of the conversation has a parent, and there are enough lines to be sure.
fn is_unlinked(lines: &Lines<'_>) -> bool {
    let mut main = lines
        .counting()
        .filter(|(slot, _)| !lines.is_side(*slot) && !lines.is_cut(*slot));
    let (mut count, mut answers) = (0, 0);
    main.all(|(slot, head)| {
        count += 1;
        answers += usize::from(lines.is_answer(slot));
        head.parent.is_none()
    }) && count >= 3
        && answers >= 1
}

fn neighbours<'a>(lines: &Lines<'a>) -> Neighbours<'a> {
    let log = lines.view.log;
    let mut writer = vec![None; log.heads.len()];
    let mut up = vec![None; log.heads.len()];
    for (slot, _) in lines
        .counting()
        .filter(|(slot, _)| lines.stands_for_its_id(*slot))
    {
        if let (Some(writer), Some(up)) = (writer.get_mut(slot.index()), up.get_mut(slot.index())) {
            *writer = Some(lines.is_side(slot));
            *up = if lines.is_cut(slot) {
                None
            } else {
                lines.parent(slot)
            };
        }
    }
    Neighbours::new(log, writer, up)
}

fn fix(
    lines: &Lines<'_>,
    slot: Slot,
    fault: Fault,
    parent: Option<Slot>,
    confidence: Confidence,
) -> Result<Option<Fix>> {
    if parent.is_none() && matches!(fault, Fault::Null | Fault::Unlinked) {
        return Ok(None);
    }
    let target = match parent {
        Some(parent) => lines.view.log.label(parent).into_owned(),
        None => "nothing: it is the first".to_owned(),
    };
    let log = lines.view.log;
    let mut above = lines.chain.ancestors(slot).skip(1);
    let bridged = above.find(|above| log.kind(*above) != EntryKind::Progress) == parent;
    let (problem, does, helps, floor) = match fault {
        Fault::Missing => (
            ProblemKind::MissingParent,
            format!("make {target} its parent"),
            STOP_AT_GAPS,
            Confidence::Certain,
        ),
        Fault::Circle => (
            ProblemKind::ParentCycle,
            format!("break the cycle here and make {target} its parent"),
            LOST_IN_CIRCLES,
            Confidence::Certain,
        ),
        Fault::Null | Fault::Unlinked => (
            ProblemKind::LostBranch,
            match fault {
                Fault::Unlinked => format!("make {target} its parent: the file has lost its links"),
                _ => format!("make {target} its parent: an answer never begins a conversation"),
            },
            STOP_AT_GAPS,
            if fault == Fault::Unlinked {
                Confidence::Likely
            } else {
                Confidence::Certain
            },
        ),
    };
    let mut fix = lines.fix(problem, slot, confidence.max(floor), does);
    // If the newest client finds the same parent by itself, only older readers need the fix. The
    // client never looks for a parent before a compaction.
    let is_cut = lines.is_cut(slot);
    if (bridged || is_cut) && !matches!(fault, Fault::Null | Fault::Unlinked) {
        fix.helps = helps;
    }
    let id = parent.and_then(|parent| lines.id(parent));
    let is_null = |object: &Object<'_>| {
        object
            .get("parentUuid")
            .is_none_or(|parent| parent.is_null())
    };
    let key = match is_cut && lines.object(slot, is_null)? == Some(true) {
        true => "logicalParentUuid",
        false => "parentUuid",
    };
    fix.splices = vec![lines.set(slot, key, &Json::from(id))?];
    Ok(Some(fix))
}
