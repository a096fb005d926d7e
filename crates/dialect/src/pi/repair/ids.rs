//! Repairs entries without an id, and entries with different content that have the same id.

use std::collections::HashMap;

use boswell_model::json::{Json, set_member};
use boswell_model::{Flags, ProblemKind, Result, Slot, Symbol};

use super::super::link_scheme::Shape;
use super::{Entries, changed};
use crate::{Confidence, Fix};

/// Gives entries ids. If no entry has a parent field, each entry also becomes the child of the one
/// before it, as in version 1.
pub(super) fn missing(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let unlinked = Shape::of(entries.view.log) == Shape::Unlinked;
    let mut before: Option<String> = None;
    for (slot, head) in entries.all() {
        let id = entries
            .id(slot)
            .map_or_else(|| entries.new_id(), str::to_owned);
        let needs_parent = unlinked && !head.flags.has(Flags::LINKED);
        if head.id.is_none() || needs_parent {
            let mut record = entries.view.payload(slot)?.into_owned();
            let mut put = |key: &str, value: Json| -> Result<()> {
                record = set_member(&record, &[key], &value.to_bytes()).map_err(|_| changed())?;
                Ok(())
            };
            if head.id.is_none() {
                put("id", Json::from(id.as_str()))?;
            }
            if needs_parent {
                put("parentId", Json::from(before.as_deref()))?;
            }
            let does = if needs_parent {
                "give it an id, and the entry before it as parent"
            } else {
                "give it an id"
            };
            let mut fix = entries.fix(
                ProblemKind::MissingId,
                slot,
                Confidence::Certain,
                does.to_owned(),
            );
            fix.splices.push(entries.replaced(slot, record));
            fixes.push(fix);
        }
        before = Some(id);
    }
    Ok(())
}

/// Gives later entries new ids; their descendants are changed with them. There is one fix per id,
/// so that it is applied completely or not at all.
pub(super) fn doubled(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut first: HashMap<Symbol, Slot> = HashMap::new();
    let mut renamed: HashMap<Symbol, String> = HashMap::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for (slot, head) in entries.all() {
        let above = head
            .parent
            .and_then(|parent| Some((parent, renamed.get(&parent)?.clone())));
        let known = head.id.and_then(|id| first.get(&id).copied());
        let duplicate = match (head.id, known) {
            (Some(id), Some(known)) => {
                (entries.view.payload(known)? != entries.view.payload(slot)?).then_some(id)
            }
            (Some(id), None) => {
                first.insert(id, slot);
                None
            }
            (None, _) => None,
        };
        let Some(owner) = duplicate.or(above.as_ref().map(|(parent, _)| *parent)) else {
            continue;
        };
        let mut record = entries.view.payload(slot)?.into_owned();
        let mut put = |key: &str, value: &str| -> Result<()> {
            record = set_member(&record, &[key], &Json::from(value).to_bytes())
                .map_err(|_| changed())?;
            Ok(())
        };
        if let Some((_, id)) = &above {
            put("parentId", id)?;
        }
        if let Some(id) = duplicate {
            let new = entries.new_id();
            put("id", &new)?;
            renamed.insert(id, new);
        }
        let place = *places.entry(owner).or_insert_with(|| {
            let does = "give it an id of its own, and let what follows it follow that".to_owned();
            fixes.push(entries.fix(ProblemKind::DuplicateId, slot, Confidence::Likely, does));
            fixes.len() - 1
        });
        if let Some(fix) = fixes.get_mut(place) {
            fix.splices.push(entries.replaced(slot, record));
        }
    }
    Ok(())
}
