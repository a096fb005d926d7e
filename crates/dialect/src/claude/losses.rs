//! Predicts what each version of the client loses of a file, and decides which problems that makes
//! damage.
//!
//! A version loses an entry that is expected ([`ExpectedEntries`]) and that it does not send. What
//! it cannot send of any file, sound ones included, is no loss: versions up to 2.1.50 follow one of
//! several parallel calls, and do not know messages that a compaction kept.

use std::collections::{HashMap, HashSet};

use boswell_model::json::Object;
use boswell_model::{Problem, ProblemKind, Result, SessionView, Slot, Symbol};

use super::client::{self, Client};
use super::context::is_spoken;
use super::expected::ExpectedEntries;
use super::invalid_blocks;
use crate::ReaderLoss;

/// Returns the losses of every measured version that loses something.
pub(super) fn losses(view: &SessionView<'_>, problems: &[Problem]) -> Result<Vec<ReaderLoss>> {
    let expected = ExpectedEntries::of(view)?;
    if expected.is_empty() {
        return Ok(Vec::new());
    }
    let refused = invalid_blocks::refused(view, &slots_of(problems, ProblemKind::RefusedBlock))?;
    let orphans = slots_of(problems, ProblemKind::OrphanResult);
    let mut found = Vec::new();
    for client in Client::ALL {
        let reached = client::reached(view, client, has_odd_calls(problems))?;
        let mut entries = missing(view, &expected.of_client(client), &reached.slots)?;
        // The provider refuses a result without its call. Other versions do not send it.
        let sent = orphans.iter().filter(|_| !client.drops_orphans());
        let is_sent = |slot: &&Slot| reached.slots.contains(slot);
        entries.extend(refused.iter().chain(sent).filter(is_sent));
        entries.sort_unstable();
        if reached.whole.is_some() || !entries.is_empty() {
            let ids = entries.iter().filter_map(|slot| view.log.head(*slot)?.id);
            found.push(ReaderLoss {
                reader: client.name(),
                ids: ids.collect(),
                entries,
                whole: reached.whole,
            });
        }
    }
    Ok(found)
}

/// Whether calls and results do not match, so that a version can leave out lines of its path.
fn has_odd_calls(problems: &[Problem]) -> bool {
    let is_odd = |problem: &Problem| {
        matches!(
            problem.kind,
            ProblemKind::MissingResult | ProblemKind::OrphanResult | ProblemKind::DuplicateCall
        )
    };
    problems.iter().any(is_odd)
}

fn slots_of(problems: &[Problem], kind: ProblemKind) -> Vec<Slot> {
    let of_kind = problems.iter().filter(|problem| problem.kind == kind);
    of_kind.filter_map(|problem| problem.slot).collect()
}

/// Returns the expected entries that are not among the sent ones. A line that repeats another is
/// sent with it.
fn missing(view: &SessionView<'_>, expected: &[Slot], sent: &HashSet<Slot>) -> Result<Vec<Slot>> {
    let id = |slot: Slot| view.log.head(slot).and_then(|head| head.id);
    let absent = || expected.iter().filter(|slot| !sent.contains(slot));
    if absent().next().is_none() {
        return Ok(Vec::new());
    }
    let by_id: HashMap<Symbol, Slot> = sent
        .iter()
        .filter_map(|slot| Some((id(*slot)?, *slot)))
        .collect();
    let mut missing = Vec::new();
    for slot in absent() {
        let twin = id(*slot).and_then(|id| by_id.get(&id));
        let is_sent = match twin {
            Some(twin) => content(view, *slot)? == content(view, *twin)?,
            None => false,
        };
        if !is_sent && view.with_object(*slot, is_spoken)? == Some(true) {
            missing.push(*slot);
        }
    }
    Ok(missing)
}

/// Returns the content of a message as it is in the file.
pub(super) fn content(view: &SessionView<'_>, slot: Slot) -> Result<Option<Vec<u8>>> {
    let bytes = |object: &Object<'_>| {
        let content = object.get("message")?.get("content")?;
        Some(content.bytes().to_vec())
    };
    Ok(view.with_object(slot, bytes)?.flatten())
}
