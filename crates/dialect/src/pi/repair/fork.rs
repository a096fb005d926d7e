//! Writes a repaired copy next to the original, as a session of its own.

use boswell_model::Result;
use boswell_model::json::{Json, set_member};

use super::super::link_scheme::header;
use super::{Entries, changed};
use crate::{ForkPlace, RepairInput};

/// Returns the changes that make the copy a fork: the header gets the new id and names the source
/// file; no entry changes.
pub(in super::super) fn fork(
    repair_input: &RepairInput<'_>,
    original: &str,
) -> Result<Option<ForkPlace>> {
    let key = repair_input.location.key.as_deref().unwrap_or_default();
    let (Some((folder, _)), Some(slot)) = (key.rsplit_once('/'), header(repair_input.view.log))
    else {
        return Ok(None);
    };
    let id = repair_input.id_source.uuid_v7();
    let entries = Entries::of(repair_input);
    let record = repair_input.view.payload(slot)?;
    let set = |record: &[u8], key: &str, value: &str| {
        set_member(record, &[key], &Json::from(value).to_bytes())
    };
    let with = set(&record, "id", &id)
        .and_then(|record| set(&record, "parentSession", original))
        .map_err(|_| changed())?;
    let now = repair_input.id_source.now().to_rfc3339();
    let stamp: String = now
        .chars()
        .map(|c| if matches!(c, ':' | '.') { '-' } else { c })
        .collect();
    let splices = vec![entries.replaced(slot, with)];
    Ok(Some(ForkPlace {
        key: format!("{folder}/{stamp}_{id}.jsonl"),
        id,
        splices,
    }))
}
