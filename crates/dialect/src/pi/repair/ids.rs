//! Entries without an id, and entries of different content that bear one id.

use std::collections::HashMap;

use boswell_model::json::{Json, set_member};
use boswell_model::{Flags, Name, ProblemKind, Result, Slot};

use super::super::shape::Shape;
use super::{Entries, changed};
use crate::{Confidence, Mend};

/// Gives entries ids; where no entry has a parent field they also follow one another, as they did in version 1.
pub(super) fn missing(entries: &Entries<'_>, mends: &mut Vec<Mend>) -> Result<()> {
    let unlinked = Shape::of(entries.view.log) == Shape::Unlinked;
    let mut before: Option<String> = None;
    for (slot, head) in entries.all() {
        let id = entries.id(slot).map_or_else(|| entries.new_id(), str::to_owned);
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
            let does = if needs_parent { "give it an id, and the entry before it as parent" } else { "give it an id" };
            let mut mend = entries.mend(ProblemKind::MissingId, slot, Confidence::Certain, does.to_owned());
            mend.splices.push(entries.replaced(slot, record));
            mends.push(mend);
        }
        before = Some(id);
    }
    Ok(())
}

/// Later entries get ids of their own; what was written below such an entry follows it.
pub(super) fn doubled(entries: &Entries<'_>, mends: &mut Vec<Mend>) -> Result<()> {
    let mut first: HashMap<Name, Slot> = HashMap::new();
    let mut renamed: HashMap<Name, (usize, String)> = HashMap::new();
    for (slot, head) in entries.all() {
        if let Some((at, id)) = head.parent.and_then(|parent| renamed.get(&parent)) {
            let splice = entries.set(slot, "parentId", &Json::from(id.as_str()))?;
            if let Some(mend) = mends.get_mut(*at) {
                mend.splices.push(splice);
            }
        }
        let Some(id) = head.id else { continue };
        let Some(known) = first.get(&id).copied() else {
            first.insert(id, slot);
            continue;
        };
        if entries.view.payload(known)? == entries.view.payload(slot)? {
            continue;
        }
        let new = entries.new_id();
        let does = format!("give it the id {new}, and let what follows it follow that");
        let mut mend = entries.mend(ProblemKind::DuplicateId, slot, Confidence::Likely, does);
        mend.splices.push(entries.set(slot, "id", &Json::from(new.as_str()))?);
        renamed.insert(id, (mends.len(), new));
        mends.push(mend);
    }
    Ok(())
}
