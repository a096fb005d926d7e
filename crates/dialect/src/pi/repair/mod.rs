//! What can be done about damaged sessions of the family.
//!
//! None of its programs helps itself: a walk ends at a parent that is not there, a circle is walked
//! for ever, and a file without a proper header is replaced by an empty one.

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
    EntryKind, Error, ErrorKind, Flags, Gap, Head, ProblemKind, Result, SessionView, Slot,
    SpanKind, Symbol, Tip,
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

/// Known readers of the family.
pub(super) const READERS: &[KnownReader] = &[
    KnownReader {
        name: "pi",
        title: "pi",
        version: None,
        loses: LOSES_GLUED,
    },
    KnownReader {
        name: "omp",
        title: "oh-my-pi",
        version: None,
        loses: LOSES,
    },
    KnownReader {
        name: "xcsh",
        title: "xcsh",
        version: None,
        loses: LOSES,
    },
];

/// Everything that could be done.
pub(super) fn fixes(repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
    let entries = Entries::of(repair_input);
    let mut fixes = Vec::new();
    header::fixes(&entries, &mut fixes)?;
    if Shape::of(repair_input.view.log) != Shape::Line {
        ids::missing(&entries, &mut fixes)?;
        let before = fixes.len();
        ids::doubled(&entries, &mut fixes)?;
        // As long as an id means two entries, no link to it can be trusted.
        if fixes.len() == before {
            links::fixes(&entries, &mut fixes)?;
            call_ids::fixes(&entries, &mut fixes)?;
            // Whose an answer is can be told only once each call has its own id.
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

/// The entries that the programs themselves reach: a line counts if it holds one
/// record and nothing else.
pub(super) fn entries_agent_sees(pi: Pi, view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
    let log = view.log;
    let glued_lines = matches!(pi.flavour(), Flavour::Pi | Flavour::Boswell);
    let mut spoilt: Vec<u64> = log
        .gaps
        .iter()
        .filter(|gap| {
            matches!(
                gap.kind,
                SpanKind::Gap(Gap::Nul | Gap::Garbage | Gap::Pending | Gap::Bom)
            )
        })
        .map(|gap| gap.line)
        .collect();
    if glued_lines {
        spoilt.extend(
            log.heads
                .iter()
                .filter(|head| head.flags.has(Flags::GLUED))
                .map(|head| u64::from(head.line)),
        );
    }
    spoilt.sort_unstable();
    let seen = |head: &Head| is_entry(head) && spoilt.binary_search(&u64::from(head.line)).is_err();
    if Shape::of(log) != Shape::Tree {
        let path = super::link_scheme::agent_path(view, tip);
        return Ok(path
            .into_iter()
            .filter(|slot| log.head(*slot).is_some_and(seen))
            .collect());
    }
    let mut place: HashMap<Symbol, Slot> = HashMap::new();
    for (slot, head) in log.entries().filter(|(_, head)| seen(head)) {
        if let Some(id) = head.id {
            place.insert(id, slot);
        }
    }
    let from = |slot: Slot| {
        log.slots()
            .rev()
            .skip_while(move |it| *it > slot)
            .find(|it| log.head(*it).is_some_and(seen))
    };
    let mut at = tip.slot().and_then(from);
    let mut path = Vec::new();
    while let Some(slot) = at.filter(|_| path.len() <= log.heads.len()) {
        path.push(slot);
        at = log
            .head(slot)
            .and_then(|head| head.parent)
            .and_then(|parent| place.get(&parent).copied());
    }
    // A circle is never left: nothing is reached.
    if path.len() > log.heads.len() {
        path.clear();
    }
    path.reverse();
    Ok(path)
}

struct Entries<'a> {
    repair_input: &'a RepairInput<'a>,
    view: SessionView<'a>,
    /// The last entry of each id.
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

    /// Whether its id leads to it: of entries with one id only the last can be hung below.
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

    /// A new id in the form of the family.
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

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "the session changed while it was read")
        .hinting("run the command again")
}
