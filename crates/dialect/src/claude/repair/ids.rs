//! Repairs lines with different content that have the same id.

use std::collections::HashMap;

use boswell_model::json::{Json, set_member};
use boswell_model::{ProblemKind, Result, Slot, Symbol};

use super::{Lines, changed};
use crate::{Confidence, Fix};

/// Gives later lines new ids; their descendants are changed with them. There is one fix per id, so
/// that it is applied completely or not at all.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut first: HashMap<Symbol, Slot> = HashMap::new();
    let mut renamed: HashMap<Symbol, String> = HashMap::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for (slot, head) in lines.counting() {
        let above = head
            .parent
            .and_then(|parent| Some((parent, renamed.get(&parent)?.clone())));
        let duplicate = match head.id {
            Some(id) => match first.get(&id).copied() {
                Some(known) => is_twin(lines, known, slot)?.then_some(id),
                None => {
                    first.insert(id, slot);
                    None
                }
            },
            None => None,
        };
        let Some(owner) = duplicate.or(above.as_ref().map(|(parent, _)| *parent)) else {
            continue;
        };
        let mut record = lines.view.payload(slot)?.into_owned();
        let mut put = |key: &str, value: &str| -> Result<()> {
            record = set_member(&record, &[key], &Json::from(value).to_bytes())
                .map_err(|_| changed())?;
            Ok(())
        };
        if let Some((_, id)) = &above {
            put("parentUuid", id)?;
        }
        if let Some(id) = duplicate {
            let new = lines.repair_input.id_source.uuid_v4();
            put("uuid", &new)?;
            renamed.insert(id, new);
        }
        let place = *places.entry(owner).or_insert_with(|| {
            let does = "give it an id of its own, and let what follows it follow that".to_owned();
            fixes.push(lines.fix(ProblemKind::DuplicateId, slot, Confidence::Likely, does));
            fixes.len() - 1
        });
        if let Some(fix) = fixes.get_mut(place) {
            fix.splices.push(lines.replaced(slot, record));
        }
    }
    Ok(())
}

fn is_twin(lines: &Lines<'_>, known: Slot, slot: Slot) -> Result<bool> {
    Ok(lines.view.payload(known)? != lines.view.payload(slot)? && !says_anew(lines, known, slot))
}

/// Whether the later line is a newer version of the same entry. The client writes those on purpose
/// and uses the last one.
fn says_anew(lines: &Lines<'_>, known: Slot, slot: Slot) -> bool {
    let (Some(a), Some(b)) = (lines.view.log.head(known), lines.view.log.head(slot)) else {
        return false;
    };
    // If only the links differ, one of the two is damaged; the last one counts.
    a.kind == b.kind && a.group == b.group && a.time == b.time
}
