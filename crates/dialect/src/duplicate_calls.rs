//! Dedupes tool call ids: finds calls of one branch that have the same id, and chooses new ids for
//! them and their results.
//!
//! Providers reject two calls with one id. The first call keeps its id. A later call whose own
//! result names a call that does not exist gets that id, because it is the original one; any other
//! call gets a new id, and so does the result below it.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::{Json, Raw};
use boswell_model::{Interner, Slot, Symbol};

use crate::{Confidence, ToolLink};

/// An entry with calls whose ids were used before.
#[derive(Debug)]
pub(crate) struct DuplicateCalls {
    /// The entry.
    pub slot: Slot,
    /// The calls that get other ids, last first, so that positions of earlier calls stay valid.
    pub renamed: Vec<Renamed>,
    /// `Likely` if nothing states which results belong to the calls.
    pub confidence: Confidence,
}

/// A call that gets another id.
#[derive(Debug)]
pub(crate) struct Renamed {
    /// The present id.
    pub old: Symbol,
    /// Index of the call among those with that id in the entry.
    pub nth: usize,
    /// The new id.
    pub new: String,
    /// The entry with the result, which must name the new id.
    pub answer: Option<Slot>,
}

/// Finds duplicates in the calls and results of a branch, in order. `below` returns the results
/// among the children of an entry.
pub(crate) fn find(
    branch: &[(Slot, ToolLink)],
    all: &[(Slot, ToolLink)],
    names: &Interner,
    below: impl Fn(Slot) -> Vec<(Slot, Symbol)>,
    new_id: impl Fn() -> String,
) -> Vec<DuplicateCalls> {
    let mut used: HashSet<Symbol> = HashSet::new();
    let mut in_entry: HashMap<(Slot, Symbol), usize> = HashMap::new();
    let mut duplicates: BTreeMap<Slot, Vec<(Symbol, usize)>> = BTreeMap::new();
    for (slot, pair) in branch {
        let ToolLink::Call(call) = pair else { continue };
        let nth = in_entry.entry((*slot, *call)).or_default();
        if !used.insert(*call) {
            duplicates.entry(*slot).or_default().push((*call, *nth));
        }
        *nth += 1;
    }
    if duplicates.is_empty() {
        return Vec::new();
    }
    let called: HashSet<Symbol> = all
        .iter()
        .filter_map(|(_, pair)| match pair {
            ToolLink::Call(call) => Some(*call),
            ToolLink::Answer(_) => None,
        })
        .collect();
    let mut found = Vec::new();
    for (slot, calls) in duplicates {
        let results = below(slot);
        // A result that answers no call names the id that a duplicate had before.
        let strays = results.iter().filter(|(_, call)| !called.contains(call));
        let strays = strays.map(|(_, own)| names.text(*own).to_owned()).collect();
        found.push(renamed(slot, calls, &results, strays, &new_id));
    }
    found
}

/// New ids for the duplicates of one entry, the last call first: those of `strays`, then new ones.
fn renamed(
    slot: Slot,
    calls: Vec<(Symbol, usize)>,
    results: &[(Slot, Symbol)],
    mut strays: Vec<String>,
    new_id: &impl Fn() -> String,
) -> DuplicateCalls {
    let mut confidence = Confidence::Certain;
    let mut renamed = Vec::new();
    for (old, nth) in calls.into_iter().rev() {
        let mut answer = None;
        let new = strays.pop().unwrap_or_else(|| {
            let mut own = results.iter().filter(|(_, call)| *call == old);
            answer = own.nth(nth).map(|(slot, _)| *slot);
            if answer.is_none() {
                confidence = Confidence::Likely;
            }
            new_id()
        });
        renamed.push(Renamed {
            old,
            nth,
            new,
            answer,
        });
    }
    DuplicateCalls {
        slot,
        renamed,
        confidence,
    }
}

/// The description of the fix.
pub(crate) const DOES: &str = "give it an id of its own, and the answer below it the same";

/// Replaces an id in a record.
pub(crate) fn put_id(record: &[u8], id: &Raw<'_>, new: &str) -> Vec<u8> {
    let at = id
        .bytes()
        .as_ptr()
        .addr()
        .saturating_sub(record.as_ptr().addr());
    let (before, after) = (record.get(..at), record.get(at + id.bytes().len()..));
    [
        before.unwrap_or_default(),
        &Json::from(new).to_bytes(),
        after.unwrap_or_default(),
    ]
    .concat()
}
