//! The records of a branch, made ready for a session of their own.
//!
//! Records come along byte for byte. What holds only for the session they stand in stays behind: labels, which are made anew
//! for entries that come along, its status, and statements of where its conversation stands.

use std::collections::HashMap;

use boswell_dialect::{Body, Chance, Dialect, Draft, Settled};
use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{EntryKind, Error, ErrorKind, Result, Slot, Tip};

use crate::Session;

/// Records of the branch that ends at `tip`, and new labels for those that have one.
pub(crate) fn records(source: &Session, tip: Tip, chance: &dyn Chance, dialect: &dyn Dialect) -> Result<Vec<Vec<u8>>> {
    let log = source.log();
    let path: Vec<Slot> = tip.slot().map(|slot| source.tree().path(slot)).unwrap_or_default();
    let mut fork = Fork::default();
    for slot in path.iter().filter(|slot| log.kind(**slot) != EntryKind::Header) {
        let record = source.entry(*slot)?.bytes;
        let id = log.label(*slot).into_owned();
        if log.kind(*slot) == EntryKind::Label || is_of_the_source(&record) {
            fork.left_behind.push(id);
        } else {
            fork.take(id, record)?;
        }
    }
    for (target, label) in source.facts().labels_now() {
        // A label on what does not come along would point at nothing.
        if fork.now.get(target).is_some_and(|now| now == target) {
            let id = chance.hex16();
            let draft = Draft::new(Body::Label { target: target.to_owned(), label: Some(label.to_owned()) });
            let settled = Settled { id: &id, parent: fork.last.as_deref(), at: chance.now() };
            fork.records.push(dialect.encode(&draft, settled)?);
            fork.last = Some(id);
        }
    }
    Ok(fork.records)
}

#[derive(Default)]
struct Fork {
    records: Vec<Vec<u8>>,
    last: Option<String>,
    /// Entries since the last one that came along, which do not.
    left_behind: Vec<String>,
    /// For each entry of the branch the one that stands in its place: itself, or the next one that came along.
    now: HashMap<String, String>,
}

impl Fork {
    fn take(&mut self, id: String, mut record: Vec<u8>) -> Result<()> {
        if !self.left_behind.is_empty() {
            // What hung below an entry that stays behind hangs below what that one hung below.
            record = set(&record, "parentId", self.last.as_deref())?;
        }
        for left in self.left_behind.drain(..) {
            self.now.insert(left, id.clone());
        }
        self.now.insert(id.clone(), id.clone());
        let first_kept =
            Raw::trusted(&record).get("firstKeptEntryId").and_then(|kept| kept.text()).map(|kept| kept.into_owned());
        if let Some(moved) = first_kept.as_ref().and_then(|kept| self.now.get(kept).filter(|now| *now != kept)) {
            record = set(&record, "firstKeptEntryId", Some(moved))?;
        }
        self.last = Some(id);
        self.records.push(record);
        Ok(())
    }
}

fn set(record: &[u8], key: &str, value: Option<&str>) -> Result<Vec<u8>> {
    set_member(record, &[key], &Json::from(value).to_bytes()).map_err(|fault| {
        Error::new(ErrorKind::Damaged, "an entry of the branch is no JSON object").because(fault.to_string())
    })
}

/// Whether a record says something that holds for the session it stands in, not for one that is made from it.
fn is_of_the_source(record: &[u8]) -> bool {
    let kind = Raw::trusted(record).get("customType");
    kind.is_some_and(|kind| kind.is("boswell.status") || kind.is("boswell.leaf"))
}
