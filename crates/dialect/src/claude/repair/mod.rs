//! Fixes for damaged transcripts, one module per kind of damage.
//!
//! The newest client tolerates much damage; older versions and the SDKs do not, so each fix names
//! the readers that it helps. Byte-level fixes were applied before: every record is on a line of
//! its own.

mod call_ids;
mod calls;
mod fork;
mod ids;
mod invalid_blocks;
mod leaf;
mod line_order;
mod links;
mod malformed;
mod misplaced_results;
mod missing_ids;
mod null_lines;
mod readers;
mod serialize_calls;
#[cfg(test)]
mod tests;
mod times;
mod title;

use std::collections::HashMap;

use boswell_model::json::{Json, Object, set_member};
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Flags, ProblemKind, Result, SessionView, Slot, Symbol, Tip,
};

use super::chain::{Chain, counts};
use super::parallel_calls;
use crate::{Confidence, Fix, RepairInput, Splice};

pub(super) use fork::fork;
pub(super) use ids::contains;
pub(super) use readers::{READERS, leaves_out_blanks};

/// Returns every fix that can be applied, in stages: what a record is and which id it has decides
/// what links mean, and links decide about calls and branches.
pub(super) fn fixes(repair_input: &RepairInput<'_>) -> Result<Vec<Fix>> {
    let lines = Lines::of(repair_input);
    let mut stages = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let [records, links, calls, rest] = &mut stages;
    null_lines::fixes(&lines, records)?;
    malformed::fixes(&lines, records)?;
    missing_ids::fixes(&lines, records)?;
    ids::fixes(&lines, records)?;
    links::fixes(&lines, links)?;
    call_ids::fixes(&lines, links)?;
    line_order::fixes(&lines, links)?;
    calls::fixes(&lines, calls)?;
    misplaced_results::fixes(&lines, calls)?;
    if links.is_empty() {
        // Parallel calls are inserted into a path, so every link must lead somewhere first.
        serialize_calls::fixes(&lines, rest)?;
    }
    invalid_blocks::fixes(&lines, rest)?;
    times::fixes(&lines, rest)?;
    if !has_lost_links(links) {
        leaf::fixes(&lines, rest)?;
    }
    leaf::side_leaf(&lines, rest)?;
    title::fixes(&lines, rest)?;
    // While two lines share an id, a link to that id is ambiguous.
    let is_ambiguous = |fix: &Fix| fix.problem == ProblemKind::DuplicateId;
    let least = match records.iter().any(is_ambiguous) {
        true => Confidence::Likely,
        false => Confidence::Certain,
    };
    let mut fixes = Vec::new();
    for (stage, found) in (0..).zip(stages) {
        fixes.extend(found.into_iter().map(|fix| Fix {
            stage,
            confidence: fix.confidence.max(least),
            ..fix
        }));
    }
    Ok(fixes)
}

/// Whether some branch is lost only because of a link that is lost.
fn has_lost_links(links: &[Fix]) -> bool {
    links
        .iter()
        .any(|fix| fix.problem == ProblemKind::LostBranch)
}

/// Returns the lines of the branch that the client reaches, including those before a compaction.
pub(super) fn entries_agent_sees(view: &SessionView<'_>, tip: Tip) -> Result<Vec<Slot>> {
    let Some(at) = tip.slot() else {
        return Ok(Vec::new());
    };
    let chain = Chain::of(view.log, None);
    parallel_calls::put_back(view, &chain, &path(view, &chain, at))
}

/// Returns the path from the first line to `at`, through compactions.
pub(super) fn path(view: &SessionView<'_>, chain: &Chain<'_>, at: Slot) -> Vec<Slot> {
    let mut seen = vec![false; view.log.heads.len()];
    let mut path = Vec::new();
    let mut next = Some(at);
    while let Some(slot) = next {
        match seen.get_mut(slot.index()) {
            Some(mark) if !*mark => *mark = true,
            _ => break,
        }
        path.push(slot);
        let before = || {
            let head = view
                .log
                .head(slot)
                .filter(|head| head.kind == EntryKind::Compaction)?;
            let named = chain
                .line(head.parent?)
                .filter(|parent| chain.is_alive(*parent));
            named.or_else(|| chain.bridge(slot))
        };
        next = chain.parent(slot).or_else(before);
    }
    path.reverse();
    path
}

/// The lines of the chain, with an index by id.
struct Lines<'a> {
    repair_input: &'a RepairInput<'a>,
    view: SessionView<'a>,
    chain: Chain<'a>,
    /// The last line with each id.
    place: HashMap<Symbol, Slot>,
}

impl<'a> Lines<'a> {
    fn of(repair_input: &'a RepairInput<'a>) -> Self {
        let log = repair_input.view.log;
        let mut place = HashMap::new();
        for (slot, head) in log.entries().filter(|(_, head)| counts(head)) {
            if let Some(id) = head.id {
                place.insert(id, slot);
            }
        }
        Lines {
            repair_input,
            view: repair_input.view,
            chain: Chain::of(log, None),
            place,
        }
    }

    /// Iterates over the lines of the chain in file order.
    fn counting(&self) -> impl Iterator<Item = (Slot, &'a boswell_model::Head)> + '_ {
        self.view.log.entries().filter(|(_, head)| counts(head))
    }

    fn parent(&self, slot: Slot) -> Option<Slot> {
        self.view
            .log
            .head(slot)?
            .parent
            .and_then(|parent| self.place.get(&parent).copied())
    }

    /// Whether the id of `slot` resolves to `slot`. Of several lines with one id only the last can
    /// be a parent.
    fn stands_for_its_id(&self, slot: Slot) -> bool {
        let id = self.view.log.head(slot).and_then(|head| head.id);
        id.is_none_or(|id| self.place.get(&id) == Some(&slot))
    }

    fn is_side(&self, slot: Slot) -> bool {
        self.view
            .log
            .head(slot)
            .is_some_and(|head| !self.chain.is_main(head))
    }

    fn id(&self, slot: Slot) -> Option<&'a str> {
        let log = self.view.log;
        log.head(slot)?.id.map(|id| log.names.text(id))
    }

    /// Returns the splice that sets one member of a record.
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

    /// Returns the splice that inserts a line after the line of `slot`.
    fn inserted_after(&self, slot: Slot, line: Vec<u8>) -> Splice {
        let end = self
            .view
            .log
            .head(slot)
            .map_or(0, |head| head.at + head.len);
        Splice::insert(end, [b"\n".as_slice(), &line].concat())
    }

    /// Returns the splice that adds a line at the end of the file.
    fn at_end(&self, line: &Json) -> Splice {
        let log = self.view.log;
        let lead: &[u8] = if log.ended { b"" } else { b"\n" };
        Splice::insert(log.bytes, [lead, &line.to_bytes(), b"\n"].concat())
    }

    fn object<T>(&self, slot: Slot, ask: impl FnOnce(&Object<'_>) -> T) -> Result<Option<T>> {
        self.view.with_object(slot, ask)
    }

    fn fix(&self, problem: ProblemKind, slot: Slot, confidence: Confidence, does: String) -> Fix {
        Fix::of_record(self.view.log, problem, slot, confidence, does)
    }

    fn is_answer(&self, slot: Slot) -> bool {
        matches!(
            self.view.log.kind(slot),
            EntryKind::Assistant | EntryKind::ToolResult
        )
    }

    fn is_cut(&self, slot: Slot) -> bool {
        self.view
            .log
            .head(slot)
            .is_some_and(|head| head.flags.has(Flags::CUT))
    }
}

/// The record with another text for a member.
fn with_member(record: &[u8], key: &str, text: &str) -> Result<Vec<u8>> {
    set_member(record, &[key], &Json::from(text).to_bytes()).map_err(|_| changed())
}

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "the session changed while it was read").advising(Advice::Retry)
}
