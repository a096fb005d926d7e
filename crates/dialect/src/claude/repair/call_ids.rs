//! Calls of one branch that bear one id: the provider takes neither, and the newest client drops the second.

use std::collections::{BTreeMap, HashMap, HashSet};

use boswell_model::json::{Json, Raw};
use boswell_model::{Name, ProblemKind, Result, Slot};

use super::super::tip;
use super::{Lines, reached};
use crate::{Confidence, Mend, Pair};

/// Later calls get ids of their own, and so do the answers that hang below them. A call whose own answer names a call that nobody made
/// gets that id: it is the one that it had. One mend a line.
pub(super) fn mends(lines: &Lines<'_>, mends: &mut Vec<Mend>) -> Result<()> {
    let twins = twins(lines)?;
    if twins.is_empty() {
        return Ok(());
    }
    let mut called: HashSet<Name> = HashSet::new();
    let mut answers: HashMap<Slot, Vec<(Slot, Name)>> = HashMap::new();
    for (slot, pair) in lines.mending.pairs.iter().filter(|(slot, _)| lines.stands_for_its_id(*slot)) {
        match pair {
            Pair::Call(call) => drop(called.insert(*call)),
            Pair::Answer(call) => {
                if let Some(above) = lines.parent(*slot) {
                    answers.entry(above).or_default().push((*slot, *call));
                }
            }
        }
    }
    for (slot, calls) in twins {
        let below = answers.get(&slot).map(Vec::as_slice).unwrap_or_default();
        mends.push(mend(lines, slot, &calls, below, &called)?);
    }
    Ok(())
}

/// For each line of the branch the calls in it whose id was used before, with which of the calls of that id in the line they are.
fn twins(lines: &Lines<'_>) -> Result<BTreeMap<Slot, Vec<(Name, usize)>>> {
    let mut count: HashMap<Name, usize> = HashMap::new();
    let calls = || {
        lines.mending.pairs.iter().filter_map(|(slot, pair)| match pair {
            Pair::Call(call) if lines.stands_for_its_id(*slot) => Some((*slot, *call)),
            _ => None,
        })
    };
    calls().for_each(|(_, call)| *count.entry(call).or_default() += 1);
    let mut twins: BTreeMap<Slot, Vec<(Name, usize)>> = BTreeMap::new();
    if count.values().all(|count| *count == 1) {
        return Ok(twins);
    }
    // The same call may stand on another branch, where nobody is bothered by it.
    let branch: HashSet<Slot> = reached(&lines.view, tip::tip(&lines.view)?)?.into_iter().collect();
    let mut used: HashSet<Name> = HashSet::new();
    let mut in_line: HashMap<(Slot, Name), usize> = HashMap::new();
    for (slot, call) in calls().filter(|(slot, _)| branch.contains(slot)) {
        let nth = in_line.entry((slot, call)).or_default();
        if !used.insert(call) {
            twins.entry(slot).or_default().push((call, *nth));
        }
        *nth += 1;
    }
    Ok(twins)
}

fn mend(
    lines: &Lines<'_>,
    slot: Slot,
    calls: &[(Name, usize)],
    below: &[(Slot, Name)],
    called: &HashSet<Name>,
) -> Result<Mend> {
    let names = &lines.view.log.names;
    let mut strays = below.iter().rev().filter(|(_, call)| !called.contains(call));
    let mut line = lines.view.payload(slot)?.into_owned();
    let mut answers: BTreeMap<Slot, Vec<u8>> = BTreeMap::new();
    let mut confidence = Confidence::Certain;
    for (call, nth) in calls.iter().rev() {
        let old = names.text(*call);
        if let Some((_, own)) = strays.next() {
            line = renamed(&line, "id", old, *nth, names.text(*own));
            continue;
        }
        let new = format!("toolu_{}", lines.mending.chance.uuid_v4().replace('-', ""));
        line = renamed(&line, "id", old, *nth, &new);
        match below.iter().filter(|(_, name)| name == call).nth(*nth) {
            Some((answer, _)) => {
                let record = match answers.remove(answer) {
                    Some(record) => record,
                    None => lines.view.payload(*answer)?.into_owned(),
                };
                answers.insert(*answer, renamed(&record, "tool_use_id", old, 0, &new));
            }
            // Whether another answer is meant for it, nothing says: that its own is not known is said next.
            None => confidence = Confidence::Likely,
        }
    }
    let does = "give it an id of its own, and the answer below it the same".to_owned();
    let mut mend = lines.mend(ProblemKind::DuplicateCall, slot, confidence, does);
    mend.splices.push(lines.replaced(slot, line));
    mend.splices.extend(answers.into_iter().map(|(answer, record)| lines.replaced(answer, record)));
    Ok(mend)
}

/// The record with another id in the block that is the `nth` of those that name the old one.
pub(super) fn renamed(record: &[u8], key: &str, old: &str, nth: usize, new: &str) -> Vec<u8> {
    let content = Raw::trusted(record).at(&["message", "content"]);
    let ids = content.iter().flat_map(Raw::items).filter_map(|block| block.get(key));
    let Some(id) = ids.filter(|id| id.is(old)).nth(nth) else { return record.to_vec() };
    let at = id.bytes().as_ptr().addr().saturating_sub(record.as_ptr().addr());
    let (before, after) = (record.get(..at), record.get(at + id.bytes().len()..));
    [before.unwrap_or_default(), &Json::from(new).to_bytes(), after.unwrap_or_default()].concat()
}
