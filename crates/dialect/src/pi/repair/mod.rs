//! Fixes for damaged sessions of the family.
//!
//! None of its programs tolerates damage: a walk ends at a missing parent, a cycle is followed
//! forever, and a file without a valid header is replaced by an empty one.

mod call_ids;
mod calls;
mod fork;
mod header;
mod ids;
mod links;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use boswell_model::json::{Json, set_member};
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Flags, Gap, Head, Log, ProblemKind, Result, SessionView,
    Slot, SpanKind, Symbol, Tip,
};

use super::link_scheme::{Shape, is_entry};
use super::{Flavour, Pi};
use crate::{Confidence, Fix, KnownReader, RepairInput, Splice};

pub(super) use fork::fork;

const LOSES: &[(ProblemKind, &str)] = &[
    (ProblemKind::MissingParent, "everything before the gap"),
    (ProblemKind::ParentCycle, "everything: it never comes back"),
    (
        ProblemKind::NotJson,
        "a record that shares its line with other bytes, and everything before it",
    ),
    (
        ProblemKind::NulBytes,
        "a record behind NULs, and everything before it",
    ),
    (
        ProblemKind::TornTail,
        "the next record, which it glues to the torn one",
    ),
    (
        ProblemKind::BadHeader,
        "everything: it writes an empty session over the file",
    ),
    (
        ProblemKind::DuplicateId,
        "what was written below the first of the entries",
    ),
    (ProblemKind::MissingId, "everything before the entry"),
    (
        ProblemKind::DuplicateCall,
        "every further request: the provider takes no two calls with one id",
    ),
];

const LOSES_GLUED: &[(ProblemKind, &str)] = &[
    (ProblemKind::MissingParent, "everything before the gap"),
    (ProblemKind::ParentCycle, "everything: it never comes back"),
    (
        ProblemKind::GluedRecords,
        "both records, and everything before them",
    ),
    (
        ProblemKind::NotJson,
        "a record that shares its line with other bytes, and everything before it",
    ),
    (
        ProblemKind::NulBytes,
        "a record behind NULs, and everything before it",
    ),
    (
        ProblemKind::TornTail,
        "the next record, which it glues to the torn one",
    ),
    (
        ProblemKind::BadHeader,
        "everything: it writes an empty session over the file",
    ),
    (
        ProblemKind::DuplicateId,
        "what was written below the first of the entries",
    ),
    (ProblemKind::MissingId, "everything before the entry"),
    (
        ProblemKind::DuplicateCall,
        "every further request: the provider takes no two calls with one id",
    ),
];

/// The known readers of the family.
pub(super) const READERS: &[KnownReader] = &[
    KnownReader {
        name: "pi",
        title: "pi",
        version: None,
        loses: LOSES_GLUED,
        measured_as: None,
    },
    KnownReader {
        name: "omp",
        title: "oh-my-pi",
        version: None,
        loses: LOSES,
        measured_as: None,
    },
    KnownReader {
        name: "xcsh",
        title: "xcsh",
        version: None,
        loses: LOSES,
        measured_as: None,
    },
];

/// Returns every fix that can be applied.
pub(super) fn fixes(repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
    let entries = Entries::of(repair_input);
    let mut fixes = Vec::new();
    header::fixes(&entries, &mut fixes)?;
    if Shape::of(repair_input.view.log) != Shape::Line {
        ids::missing(&entries, &mut fixes)?;
        let before = fixes.len();
        ids::doubled(&entries, &mut fixes)?;
        // While two entries share an id, a link to that id is ambiguous.
        if fixes.len() == before {
            links::fixes(&entries, &mut fixes)?;
            call_ids::fixes(&entries, &mut fixes)?;
            // A result can be matched with its call only if every call id is unique.
            if fixes
                .iter()
                .all(|fix| fix.problem != ProblemKind::DuplicateCall)
            {
                calls::fixes(&entries, &mut fixes)?;
            }
        }
    }
    Ok(fixes)
}

/// Returns the entries that the programs themselves reach. They accept only lines with exactly one
/// record and nothing else.
pub(super) fn entries_agent_sees(pi: Pi, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
    let log = view.log;
    let spoilt = spoilt_lines(pi, log);
    let is_seen = |slot: Slot| {
        let head = log.head(slot).filter(|head| is_entry(head));
        head.is_some_and(|head| spoilt.binary_search(&u64::from(head.line)).is_err())
    };
    if Shape::of(log) != Shape::Tree {
        let mut path = super::link_scheme::agent_path(view, tip);
        path.retain(|slot| is_seen(*slot));
        return Ok(path);
    }
    Ok(path_to(tip, log, &is_seen))
}

/// Returns the path to the tip over visible entries; of several entries with one id the last
/// counts.
fn path_to(tip: Tip, log: &Log, is_seen: &dyn Fn(Slot) -> bool) -> Vec<Slot> {
    let mut place: HashMap<Symbol, Slot> = HashMap::new();
    for (slot, head) in log.entries() {
        if let Some(id) = head.id.filter(|_| is_seen(slot)) {
            place.insert(id, slot);
        }
    }
    let mut at = tip.slot().and_then(|tip| {
        let mut up_to_tip = log.slots().rev().skip_while(|slot| *slot > tip);
        up_to_tip.find(|slot| is_seen(*slot))
    });
    let mut path = Vec::new();
    while let Some(slot) = at.filter(|_| path.len() <= log.heads.len()) {
        path.push(slot);
        let parent = log.head(slot).and_then(|head| head.parent);
        at = parent.and_then(|parent| place.get(&parent).copied());
    }
    // A cycle never ends: the program reaches nothing.
    if path.len() > log.heads.len() {
        path.clear();
    }
    path.reverse();
    path
}

/// Returns the numbers of lines with more than one complete record, sorted.
fn spoilt_lines(pi: Pi, log: &Log) -> Vec<u64> {
    let mut spoilt = Vec::new();
    for gap in &log.gaps {
        if matches!(
            gap.kind,
            SpanKind::Gap(Gap::Nul | Gap::Garbage | Gap::Pending | Gap::Bom)
        ) {
            spoilt.push(gap.line);
        }
    }
    if matches!(pi.flavour(), Flavour::Pi | Flavour::Boswell) {
        let glued = log.heads.iter().filter(|head| head.flags.has(Flags::GLUED));
        spoilt.extend(glued.map(|head| u64::from(head.line)));
    }
    spoilt.sort_unstable();
    spoilt
}

struct Entries<'a> {
    repair_input: &'a RepairInput<'a>,
    view: SessionView<'a>,
    /// The last entry with each id.
    place: HashMap<Symbol, Slot>,
}

impl<'a> Entries<'a> {
    fn of(repair_input: &'a RepairInput<'a>) -> Self {
        let mut place = HashMap::new();
        for (slot, head) in repair_input
            .view
            .log
            .entries()
            .filter(|(_, head)| is_entry(head))
        {
            if let Some(id) = head.id {
                place.insert(id, slot);
            }
        }
        Entries {
            repair_input,
            view: repair_input.view,
            place,
        }
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = (Slot, &'a Head)> + '_ {
        self.view.log.entries().filter(|(_, head)| is_entry(head))
    }

    /// Whether the id of `slot` resolves to `slot`. Of several entries with one id only the last
    /// can be a parent.
    fn stands_for_its_id(&self, slot: Slot) -> bool {
        let id = self.view.log.head(slot).and_then(|head| head.id);
        id.is_none_or(|id| self.place.get(&id) == Some(&slot))
    }

    fn parent(&self, slot: Slot) -> Option<Slot> {
        self.view
            .log
            .head(slot)?
            .parent
            .and_then(|parent| self.place.get(&parent).copied())
    }

    fn id(&self, slot: Slot) -> Option<&'a str> {
        let log = self.view.log;
        log.head(slot)?.id.map(|id| log.names.text(id))
    }

    /// Returns a new id in the format of the family.
    fn new_id(&self) -> String {
        self.repair_input
            .id_source
            .hex16()
            .chars()
            .take(8)
            .collect()
    }

    fn set(&self, slot: Slot, key: &str, value: &Json) -> Result<Splice> {
        let record = self.view.payload(slot)?;
        let with = set_member(&record, &[key], &value.to_bytes()).map_err(|_| changed())?;
        Ok(self.replaced(slot, with))
    }

    fn replaced(&self, slot: Slot, with: Vec<u8>) -> Splice {
        let (at, len) = self
            .view
            .log
            .head(slot)
            .map_or((0, 0), |head| (head.at, head.len));
        Splice { at, len, with }
    }

    fn fix(&self, problem: ProblemKind, slot: Slot, confidence: Confidence, does: String) -> Fix {
        Fix::of_record(self.view.log, problem, slot, confidence, does)
    }

    fn kind(&self, slot: Slot) -> EntryKind {
        self.view.log.kind(slot)
    }
}

/// The record with another text for a member.
fn with_member(record: &[u8], key: &str, text: &str) -> Result<Vec<u8>> {
    set_member(record, &[key], &Json::from(text).to_bytes()).map_err(|_| changed())
}

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "the session changed while it was read").advising(Advice::Retry)
}
