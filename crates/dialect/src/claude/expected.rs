//! The entries that belong to the conversation of a file as it is now: what a reader that loses
//! nothing sends.
//!
//! They are the messages of the current branch since its last compaction, and those of lost
//! branches. Branches that the user left are not expected, and neither are side chains, errors of
//! the provider and lines that only record a command.

use std::collections::{BTreeSet, HashMap, HashSet};

use boswell_model::{Flags, Result, SessionView, Slot, Symbol, Tip};

use super::chain::is_message;
use super::client::Client;
use super::lines::CountedLines;
use super::losses::content;
use super::pairing::{calls_of, results_of};
use super::{branch, check, compaction, tip};

/// The expected entries of a file.
pub(super) struct ExpectedEntries {
    entries: BTreeSet<Slot>,
    /// Of these, what versions that follow single parents do not send of a sound file either.
    parallel: HashSet<Slot>,
    /// Of these, the messages from before a compaction, which it kept.
    kept: HashSet<Slot>,
}

impl ExpectedEntries {
    pub(super) fn of(view: &SessionView<'_>) -> Result<ExpectedEntries> {
        let mut expected = ExpectedEntries {
            entries: BTreeSet::new(),
            parallel: HashSet::new(),
            kept: HashSet::new(),
        };
        let tip = tip::tip(view)?;
        let Tip::At(at) = tip else {
            return Ok(expected);
        };
        let chain = tip::chain_of(view)?;
        if chain.is_side_only() {
            // No client resumes the log of a subagent.
            return Ok(expected);
        }
        let path = branch::branch(view, tip)?;
        let is_cut = |slot: &Slot| {
            view.log
                .head(*slot)
                .is_some_and(|it| it.flags.has(Flags::CUT))
        };
        let start = path.iter().rposition(is_cut).map_or(0, |at| at + 1);
        let current = path.get(start..).unwrap_or_default();
        expected.add(view, current.iter().copied());
        if let Some(boundary) = start.checked_sub(1).and_then(|at| path.get(at)) {
            expected.add_kept(view, *boundary)?;
        }
        let single = chain.path(at);
        for lost in check::lost_beside(view, at, &path, &single)? {
            expected.add(view, lost.entries.into_iter());
        }
        expected.add_hidden(view)?;
        expected.parallel = parallel(view, &single, current)?;
        Ok(expected)
    }

    /// Adds the entries that a compaction kept.
    fn add_kept(&mut self, view: &SessionView<'_>, boundary: Slot) -> Result<()> {
        let kept = compaction::kept(view, boundary, &CountedLines::of(view.log))?;
        self.kept = kept.into_iter().flat_map(|kept| kept.slots).collect();
        let kept: Vec<Slot> = self.kept.iter().copied().collect();
        self.add(view, kept.into_iter());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries that a version can be expected to send.
    pub(super) fn of_client(&self, client: Client) -> Vec<Slot> {
        let is_known = |slot: &Slot| {
            client.finds_lost() || !(self.parallel.contains(slot) || self.kept.contains(slot))
        };
        self.entries.iter().copied().filter(is_known).collect()
    }

    fn add(&mut self, view: &SessionView<'_>, slots: impl Iterator<Item = Slot>) {
        self.entries
            .extend(slots.filter(|slot| is_said(view, *slot)));
    }

    /// Adds entries that another with the same id and another content hides. All lines without an
    /// id share the id that is missing.
    fn add_hidden(&mut self, view: &SessionView<'_>) -> Result<()> {
        let id = |slot: Slot| view.log.head(slot).and_then(|head| head.id);
        let mut shown: HashMap<Symbol, Slot> = HashMap::new();
        for slot in &self.entries {
            shown.extend(id(*slot).map(|id| (id, *slot)));
        }
        for slot in view.log.slots() {
            let Some(own) = id(slot) else {
                self.add(view, std::iter::once(slot));
                continue;
            };
            let Some(twin) = shown.get(&own).copied() else {
                continue;
            };
            let is_new = twin != slot && !self.entries.contains(&slot) && is_said(view, slot);
            if is_new && content(view, slot)? != content(view, twin)? {
                self.entries.insert(slot);
            }
        }
        Ok(())
    }
}

/// Whether an entry is a message of a person or a model in the conversation itself.
pub(super) fn is_said(view: &SessionView<'_>, slot: Slot) -> bool {
    let Some(head) = view.log.head(slot) else {
        return false;
    };
    let is_other = [
        Flags::SIDECHAIN,
        Flags::HIDDEN,
        Flags::ERROR,
        Flags::MALFORMED,
    ]
    .into_iter()
    .any(|flag| head.flags.has(flag));
    is_message(head.kind) && !is_other
}

/// Returns the lines of a branch that a path of single parents leaves out, and the calls whose
/// results are among them.
fn parallel(view: &SessionView<'_>, single: &[Slot], branch: &[Slot]) -> Result<HashSet<Slot>> {
    let on_path: HashSet<Slot> = single.iter().copied().collect();
    let is_off = |slot: &Slot| !on_path.contains(slot);
    let mut off: HashSet<Slot> = branch.iter().copied().filter(is_off).collect();
    let mut answered: HashSet<String> = HashSet::new();
    for slot in &off {
        answered.extend(view.with_object(*slot, results_of)?.unwrap_or_default());
    }
    if answered.is_empty() {
        return Ok(off);
    }
    for slot in branch {
        let calls = view.with_object(*slot, calls_of)?.unwrap_or_default();
        if calls.iter().any(|call| answered.contains(call)) {
            off.insert(*slot);
        }
    }
    Ok(off)
}
