//! Lines of different content that bear one id.

use std::collections::HashMap;

use boswell_model::json::Json;
use boswell_model::{Name, ProblemKind, Result, Slot};

use super::Lines;
use crate::{Confidence, Mend};

/// Later lines get ids of their own; what was written below such a line follows it.
pub(super) fn mends(lines: &Lines<'_>, mends: &mut Vec<Mend>) -> Result<()> {
    let mut first: HashMap<Name, Slot> = HashMap::new();
    let mut renamed: HashMap<Name, (Slot, String)> = HashMap::new();
    let mut moved: HashMap<Slot, usize> = HashMap::new();
    for (slot, head) in lines.counting() {
        if let Some((twin, id)) = head.parent.and_then(|parent| renamed.get(&parent)) {
            let splice = lines.set(slot, "parentUuid", &Json::from(id.as_str()))?;
            if let Some(mend) = moved.get(twin).and_then(|at| mends.get_mut(*at)) {
                mend.splices.push(splice);
            }
        }
        let Some(id) = head.id else { continue };
        let Some(known) = first.get(&id).copied() else {
            first.insert(id, slot);
            continue;
        };
        if lines.view.payload(known)? == lines.view.payload(slot)? || says_anew(lines, known, slot) {
            continue;
        }
        let new = lines.mending.chance.uuid_v4();
        let does = format!("give it the id {new}, and let what follows it follow that");
        let mut mend = lines.mend(ProblemKind::DuplicateId, slot, Confidence::Likely, does);
        mend.splices.push(lines.set(slot, "uuid", &Json::from(new.as_str()))?);
        moved.insert(slot, mends.len());
        renamed.insert(id, (slot, new));
        mends.push(mend);
    }
    Ok(())
}

/// Whether the later line is a newer state of the same one: the client writes those on purpose, and takes the last.
fn says_anew(lines: &Lines<'_>, known: Slot, slot: Slot) -> bool {
    let (Some(a), Some(b)) = (lines.view.log.head(known), lines.view.log.head(slot)) else { return false };
    // Where only the links differ, one of them is damaged, and the last one counts.
    a.kind == b.kind && a.group == b.group && a.time == b.time
}
