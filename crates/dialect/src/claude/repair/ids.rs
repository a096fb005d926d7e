//! Repairs lines with different content that have the same id.

use std::collections::HashMap;

use boswell_model::json::Raw;
use boswell_model::{ProblemKind, Result, SessionView, Slot, Symbol};

use super::{Lines, with_member};
use crate::{Confidence, Fix};

const DOES: &str = "give it an id of its own, and let what follows it follow that";

/// Gives later lines new ids; their descendants are changed with them. There is one fix per id, so
/// that it is applied completely or not at all.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut first: HashMap<Symbol, Slot> = HashMap::new();
    let mut renamed: HashMap<Symbol, String> = HashMap::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for (slot, head) in lines.counting() {
        let above = head.parent.and_then(|parent| renamed.get(&parent).cloned());
        let mut duplicate = None;
        if let Some(id) = head.id {
            let known = *first.entry(id).or_insert(slot);
            if known != slot && is_twin(lines, known, slot)? {
                duplicate = Some(id);
            }
        }
        let Some(owner) = duplicate.or(above.as_ref().and(head.parent)) else {
            continue;
        };
        let new = duplicate.map(|_| lines.repair_input.id_source.uuid_v4());
        let payload = lines.view.payload(slot)?;
        let record = relinked(&payload, above.as_deref(), new.as_deref())?;
        renamed.extend(duplicate.zip(new));
        let place = *places.entry(owner).or_insert_with(|| {
            fixes.push(lines.fix(
                ProblemKind::DuplicateId,
                slot,
                Confidence::Likely,
                DOES.into(),
            ));
            fixes.len() - 1
        });
        if let Some(fix) = fixes.get_mut(place) {
            fix.splices.push(lines.replaced(slot, record));
        }
    }
    Ok(())
}

/// The record with another parent, another id, or both.
fn relinked(record: &[u8], parent: Option<&str>, id: Option<&str>) -> Result<Vec<u8>> {
    let mut record = record.to_vec();
    for (key, id) in [("parentUuid", parent), ("uuid", id)] {
        if let Some(id) = id {
            record = with_member(&record, key, id)?;
        }
    }
    Ok(record)
}

fn is_twin(lines: &Lines<'_>, known: Slot, slot: Slot) -> Result<bool> {
    if lines.view.payload(known)? == lines.view.payload(slot)? {
        return Ok(false);
    }
    Ok(!says_anew(lines, known, slot)?)
}

/// Whether the later line is a newer version of the same entry, which contains all of the earlier
/// one. The client writes those on purpose and uses the last one.
fn says_anew(lines: &Lines<'_>, known: Slot, slot: Slot) -> Result<bool> {
    let (Some(a), Some(b)) = (lines.view.log.head(known), lines.view.log.head(slot)) else {
        return Ok(false);
    };
    // If only the envelope differs, one of the two is damaged; the last one counts.
    Ok(a.kind == b.kind && contains(&lines.view, slot, known)?)
}

/// Whether the content of a line contains all that is in another one: it is the same, or its text
/// goes on.
pub(in super::super) fn contains(view: &SessionView<'_>, newer: Slot, older: Slot) -> Result<bool> {
    let (older, newer) = (view.payload(older)?, view.payload(newer)?);
    let content = ["message", "content"];
    let older = Raw::trusted(&older).at(&content).map(|it| it.bytes());
    let newer = Raw::trusted(&newer).at(&content).map(|it| it.bytes());
    Ok(match (older, newer) {
        (Some(older), Some(newer)) => newer.starts_with(without_end(older)),
        (None, _) => true,
        (Some(_), None) => false,
    })
}

/// Returns a content without the quote, braces and brackets at its end.
fn without_end(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|byte| !b"]}\" ".contains(byte));
    end.and_then(|end| content.get(..=end)).unwrap_or_default()
}
