//! Writes a repaired copy next to the original, as a session of its own.

use boswell_model::Result;
use boswell_model::json::{Json, Raw, insert_member, set_member};

use super::{Lines, changed};
use crate::{ForkPlace, REPAIRED_TITLE, RepairInput, Splice};

/// Returns the changes that make the copy a fork. Entry ids stay, as in the client's own forks;
/// every line names the new session, and the first line of the chain names the old one.
pub(in super::super) fn fork(repair_input: &RepairInput<'_>) -> Result<Option<ForkPlace>> {
    let Some(key) = repair_input.location.key.as_deref() else {
        return Ok(None);
    };
    // A file outside a store is at the root of its own.
    let folder = key.rsplit_once('/').map(|(folder, _)| folder);
    let lines = Lines::of(repair_input);
    let id = repair_input.id_source.uuid_v4();
    let value = Json::from(id.as_str()).to_bytes();
    let first = lines.counting().next().map(|(slot, _)| slot);
    let mut splices = Vec::new();
    for (slot, head) in repair_input.view.log.entries() {
        let record = repair_input.view.payload(slot)?;
        let raw = Raw::trusted(&record);
        if Some(slot) == first && raw.get("forkedFrom").is_none() {
            let from = Json::object()
                .with("sessionId", repair_input.location.id.as_str())
                .with("messageUuid", lines.id(slot));
            let with = forked_line(&record, &value, &from)?;
            splices.push(lines.replaced(slot, with));
        } else if let Some(session) = raw.get("sessionId") {
            splices.push(Splice {
                at: head.at + offset_of(session, &record),
                len: session.bytes().len() as u64,
                with: value.clone(),
            });
        }
    }
    splices.push(lines.at_end(&title_line(repair_input, &id)));
    Ok(Some(ForkPlace {
        key: match folder {
            Some(folder) => format!("{folder}/{id}.jsonl"),
            None => format!("{id}.jsonl"),
        },
        id,
        splices,
    }))
}

/// Returns how far into its record a value begins.
fn offset_of(value: Raw<'_>, record: &[u8]) -> u64 {
    let start = value.bytes().as_ptr().addr();
    start.saturating_sub(record.as_ptr().addr()) as u64
}

/// The first line of the chain: in the new session, with a note of where it is from.
fn forked_line(record: &[u8], session: &[u8], from: &Json) -> Result<Vec<u8>> {
    set_member(record, &["sessionId"], session)
        .and_then(|record| insert_member(&record, "forkedFrom", &from.to_bytes()))
        .map_err(|_| changed())
}

fn title_line(repair_input: &RepairInput<'_>, id: &str) -> Json {
    let meta = repair_input.meta;
    let name = meta
        .title
        .as_deref()
        .or(meta.summary.as_deref())
        .or(meta.first_prompt.as_deref());
    let name: String = name.unwrap_or("session").chars().take(80).collect();
    Json::object()
        .with("type", "custom-title")
        .with("customTitle", format!("{} {REPAIRED_TITLE}", name.trim()))
        .with("sessionId", id)
}
