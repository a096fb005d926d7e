//! Repairs entries whose parent is missing or part of a cycle.

use std::collections::{BTreeMap, BTreeSet};

use boswell_model::json::Json;
use boswell_model::{ProblemKind, Result, Slot};

use super::Entries;
use crate::infer_parent::{Lost, Neighbours};
use crate::{Confidence, Fix};

pub(super) fn fixes(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let cycles: BTreeSet<Slot> = entries.view.tree.cycles().iter().copied().collect();
    let mut broken: BTreeMap<Slot, ProblemKind> = BTreeMap::new();
    for (slot, head) in entries
        .all()
        .filter(|(slot, _)| entries.stands_for_its_id(*slot))
    {
        let Some(parent) = head.parent else { continue };
        if !entries.place.contains_key(&parent) {
            broken.insert(slot, ProblemKind::MissingParent);
        } else if cycles.contains(&slot) {
            broken.insert(slot, ProblemKind::ParentCycle);
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    let lost = |(slot, problem): (&Slot, &ProblemKind)| {
        let missing = entries.view.log.head(*slot).and_then(|head| head.parent);
        (
            *slot,
            Lost {
                family: missing.filter(|_| *problem == ProblemKind::MissingParent),
                known: None,
            },
        )
    };
    let near = neighbours(entries).find(&broken.iter().map(lost).collect());
    for (slot, problem) in broken {
        let (parent, confidence) = near
            .get(&slot)
            .copied()
            .unwrap_or((None, Confidence::Certain));
        let target = parent.and_then(|parent| entries.id(parent));
        let below = match target {
            Some(id) => format!("make {id} its parent"),
            None => "let it begin the conversation: nothing is before it".to_owned(),
        };
        let does = if problem == ProblemKind::ParentCycle {
            format!("break the cycle here and {below}")
        } else {
            below
        };
        let mut fix = entries.fix(problem, slot, confidence, does);
        fix.splices = vec![entries.set(slot, "parentId", &Json::from(target))?];
        fixes.push(fix);
    }
    Ok(())
}

fn neighbours<'a>(entries: &Entries<'a>) -> Neighbours<'a> {
    let log = entries.view.log;
    let mut writer = vec![None; log.heads.len()];
    let mut up = vec![None; log.heads.len()];
    // An entry without an id cannot be a parent.
    for (slot, _) in entries
        .all()
        .filter(|(slot, head)| head.id.is_some() && entries.stands_for_its_id(*slot))
    {
        if let (Some(writer), Some(up)) = (writer.get_mut(slot.index()), up.get_mut(slot.index())) {
            *writer = Some(false);
            *up = entries.parent(slot);
        }
    }
    Neighbours::new(log, writer, up)
}
