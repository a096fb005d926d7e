//! Repairs entries without an id, and entries with different content that have the same id.

use std::collections::HashMap;

use boswell_model::json::{Json, set_member};
use boswell_model::{Flags, ProblemKind, Result, Slot, Symbol};

use super::super::link_scheme::Shape;
use super::{Entries, changed, with_member};
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

/// The record with another parent, another id, or both.
fn relinked(record: &[u8], parent: Option<&str>, id: Option<&str>) -> Result<Vec<u8>> {
    let mut record = record.to_vec();
    for (key, id) in [("parentId", parent), ("id", id)] {
        if let Some(id) = id {
            record = with_member(&record, key, id)?;
        }
    }
    Ok(record)
}

/// Gives later entries new ids; their descendants are changed with them. There is one fix per id,
/// so that it is applied completely or not at all.
pub(super) fn doubled(entries: &Entries<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut first: HashMap<Symbol, Slot> = HashMap::new();
    let mut renamed: HashMap<Symbol, String> = HashMap::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for (slot, head) in entries.all() {
        let above = head.parent.and_then(|parent| renamed.get(&parent).cloned());
        let mut duplicate = None;
        if let Some(id) = head.id {
            let known = *first.entry(id).or_insert(slot);
            if known != slot && entries.view.payload(known)? != entries.view.payload(slot)? {
                duplicate = Some(id);
            }
        }
        let Some(owner) = duplicate.or(above.as_ref().and(head.parent)) else {
            continue;
        };
        let new = duplicate.map(|_| entries.new_id());
        let payload = entries.view.payload(slot)?;
        let record = relinked(&payload, above.as_deref(), new.as_deref())?;
        renamed.extend(duplicate.zip(new));
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
