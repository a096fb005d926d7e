//! Calls of one branch that bear one id, and how to tell them apart with their answers.
//!
//! No provider takes two of them. The first keeps its id; a later one whose own answer names a call
//! that nobody made gets that id, because it is the one that it had; any other gets a new one, and
//! so does the answer below it.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::{Json, Raw};
use boswell_model::{Interner, Slot, Symbol};

use crate::{Confidence, ToolLink};

/// An entry with calls whose ids were used before.
#[derive(Debug)]
pub(crate) struct DuplicateCalls {
    /// The entry.
    pub slot: Slot,
    /// Its calls that get other ids, the last first, so that the places of those before stay.
    pub renamed: Vec<Renamed>,
    /// Likely if nothing says which answer is theirs.
    pub confidence: Confidence,
}

/// A call that gets another id.
#[derive(Debug)]
pub(crate) struct Renamed {
    /// The id that it has.
    pub old: Symbol,
    /// Which of the calls of that id in the entry it is.
    pub nth: usize,
    /// The id that it gets.
    pub new: String,
    /// The entry that answers it, which has to name the new one.
    pub answer: Option<Slot>,
}

/// Finds them in the calls and answers of a branch, in its order. `below` gives the answers that
/// hang below an entry.
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
    let told_apart = |(slot, calls): (Slot, Vec<(Symbol, usize)>)| {
        let below = below(slot);
        let mut strays = below
            .iter()
            .rev()
            .filter(|(_, call)| !called.contains(call));
        let mut confidence = Confidence::Certain;
        let mut renamed = Vec::new();
        for (old, nth) in calls.into_iter().rev() {
            if let Some((_, own)) = strays.next() {
                renamed.push(Renamed {
                    old,
                    nth,
                    new: names.text(*own).to_owned(),
                    answer: None,
                });
                continue;
            }
            let answer = below
                .iter()
                .filter(|(_, call)| *call == old)
                .nth(nth)
                .map(|(slot, _)| *slot);
            if answer.is_none() {
                confidence = Confidence::Likely;
            }
            renamed.push(Renamed {
                old,
                nth,
                new: new_id(),
                answer,
            });
        }
        DuplicateCalls {
            slot,
            renamed,
            confidence,
        }
    };
    duplicates.into_iter().map(told_apart).collect()
}

/// What a mend of them does.
pub(crate) const DOES: &str = "give it an id of its own, and the answer below it the same";

/// The record with another id where it says this one.
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
