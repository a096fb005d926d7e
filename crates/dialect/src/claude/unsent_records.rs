//! Which messages of a file a version of the client does not send, and why.
//!
//! What is sent is predicted by `client.rs`; this module only names the reasons.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use boswell_model::{EntryKind, Flags, Head, Result, SessionView, Slot, Symbol};

use super::chain::{Chain, is_message};
use super::client::{self, Client, Resumed};
use super::pairing::{calls_of, results_of};
use super::{context, repair};
use crate::UnsentReason;

/// Returns the messages that a version does not send, in file order.
pub(super) fn unsent_records(
    view: &SessionView<'_>,
    client: Client,
) -> Result<Vec<(Slot, UnsentReason)>> {
    let all = |reason| messages(view).map(|slot| (slot, reason)).collect();
    let (chain, tip, path) = match client::resume(view, client)? {
        Resumed::From { chain, tip, path } => (chain, tip, path),
        Resumed::Refused if is_side_only(view) => return Ok(all(UnsentReason::SideChain)),
        Resumed::Refused => return Ok(all(UnsentReason::NoConversation)),
        Resumed::Failed => return Ok(all(UnsentReason::ReaderFails)),
    };
    let through: HashSet<Slot> = match tip.slot() {
        Some(at) => repair::path(view, &chain, at).into_iter().collect(),
        None => HashSet::new(),
    };
    let followed = client::followed(view, client, &chain, path.clone())?;
    let context = context::along(view, client, tip, &followed)?;
    let reasons = Reasons {
        view,
        chain: &chain,
        through,
        groups: groups(view, &path),
        starts_at_gap: starts_at_gap(view, &chain, &path),
        followed: followed.into_iter().collect(),
        first: path.first().copied(),
        answered: OnceCell::new(),
    };
    let sent: HashSet<Slot> = client::records(&context).into_iter().collect();
    let copies = Copies::of(view, &sent);
    let mut unsent = Vec::new();
    for slot in messages(view).filter(|slot| !sent.contains(slot)) {
        if !copies.contains(view, slot)? {
            unsent.push((slot, reasons.of(slot)?));
        }
    }
    Ok(unsent)
}

fn messages<'v>(view: &'v SessionView<'_>) -> impl Iterator<Item = Slot> + 'v {
    let messages = view.log.entries().filter(|(_, head)| is_message(head.kind));
    messages.map(|(slot, _)| slot)
}

/// Whether every message belongs to a subagent.
fn is_side_only(view: &SessionView<'_>) -> bool {
    let mut heads = messages(view).filter_map(|slot| view.log.head(slot));
    heads.all(|head| head.flags.has(Flags::SIDECHAIN))
}

/// The messages of the model that a path leads through.
fn groups(view: &SessionView<'_>, path: &[Slot]) -> HashSet<Symbol> {
    let heads = path.iter().filter_map(|slot| view.log.head(*slot));
    heads.filter_map(|head| head.group).collect()
}

/// Whether the first line of a path names a parent that the client does not find.
fn starts_at_gap(view: &SessionView<'_>, chain: &Chain<'_>, path: &[Slot]) -> bool {
    let first = path.first().copied();
    let head = first.and_then(|slot| view.log.head(slot));
    head.is_some_and(|head| {
        let named = head.parent.filter(|_| !head.flags.has(Flags::CUT));
        named.is_some() && first.is_some_and(|slot| chain.parent(slot).is_none())
    })
}

/// The records that are sent, by id: another line may repeat one of them, or a part of it.
struct Copies {
    by_id: HashMap<Symbol, Slot>,
}

impl Copies {
    fn of(view: &SessionView<'_>, sent: &HashSet<Slot>) -> Copies {
        let id = |slot: &Slot| Some((view.log.head(*slot)?.id?, *slot));
        Copies {
            by_id: sent.iter().filter_map(id).collect(),
        }
    }

    fn contains(&self, view: &SessionView<'_>, slot: Slot) -> Result<bool> {
        let id = view.log.head(slot).and_then(|head| head.id);
        match id.and_then(|id| self.by_id.get(&id)) {
            Some(sent) => repair::contains(view, *sent, slot),
            None => Ok(false),
        }
    }
}

/// What decides why a message is not sent.
struct Reasons<'v, 'a> {
    view: &'v SessionView<'a>,
    chain: &'v Chain<'a>,
    /// The lines that lead to the tip, also those before a compaction.
    through: HashSet<Slot>,
    groups: HashSet<Symbol>,
    starts_at_gap: bool,
    /// The lines that the client takes into its request, unless it leaves them out.
    followed: HashSet<Slot>,
    /// The first line of the path.
    first: Option<Slot>,
    /// The calls that lines which the client follows answer, once they were asked for.
    answered: OnceCell<HashSet<String>>,
}

impl Reasons<'_, '_> {
    fn of(&self, slot: Slot) -> Result<UnsentReason> {
        let Some(head) = self.view.log.head(slot) else {
            return Ok(UnsentReason::NotRead);
        };
        if self.followed.contains(&slot) {
            return self.of_content(slot, head);
        }
        Ok(match () {
            () if !self.chain.counts(slot) && head.flags.has(Flags::MALFORMED) => {
                UnsentReason::NoContent
            }
            () if !self.chain.counts(slot) => UnsentReason::NotRead,
            () if self.is_hidden_by_id(slot, head) => match self.newer_version(slot, head)? {
                // All of it is in the line that counts.
                Some(newer) => self.of(newer)?,
                None => UnsentReason::SameId,
            },
            () if !self.chain.is_main(head) => UnsentReason::SideChain,
            () if !self.chain.is_alive(slot) || self.through.contains(&slot) => {
                UnsentReason::BeforeCompaction
            }
            () if self.is_parallel(head) => UnsentReason::ParallelCall,
            () if self.starts_at_gap && Some(slot) < self.first => UnsentReason::BehindGap,
            () => UnsentReason::OtherBranch,
        })
    }

    fn is_hidden_by_id(&self, slot: Slot, head: &Head) -> bool {
        match head.id {
            Some(id) => self.chain.line(id) != Some(slot),
            None => true,
        }
    }

    /// Returns the line that counts for the id of a message, if it contains all of it.
    fn newer_version(&self, slot: Slot, head: &Head) -> Result<Option<Slot>> {
        let Some(newer) = head.id.and_then(|id| self.chain.line(id)) else {
            return Ok(None);
        };
        let is_newer = repair::contains(self.view, newer, slot)?;
        Ok(Some(newer).filter(|_| is_newer))
    }

    /// Whether it belongs to a message of the path whose other calls the client does not look for.
    fn is_parallel(&self, head: &Head) -> bool {
        let is_on_path = |group: Option<Symbol>| group.is_some_and(|it| self.groups.contains(&it));
        let call = || {
            let line = self.chain.line(head.parent?)?;
            self.view.log.head(line)?.group
        };
        is_on_path(head.group) || (head.kind == EntryKind::ToolResult && is_on_path(call()))
    }

    /// Why a line that the client follows is left out.
    fn of_content(&self, slot: Slot, head: &Head) -> Result<UnsentReason> {
        if head.flags.has(Flags::ERROR) {
            return Ok(UnsentReason::ClientError);
        }
        let found = self
            .view
            .with_object(slot, |object| (calls_of(object), results_of(object)))?;
        let (calls, results) = found.unwrap_or_default();
        Ok(match calls.is_empty() {
            true if !results.is_empty() => self.of_call_elsewhere(&results)?,
            true => UnsentReason::NothingToSend,
            false if self.are_answered(&calls)? => UnsentReason::RepeatedCall,
            false => UnsentReason::NoResult,
        })
    }

    /// Why a result is left out: its call may be on another branch, or before a compaction.
    fn of_call_elsewhere(&self, results: &[String]) -> Result<UnsentReason> {
        for slot in messages(self.view).filter(|slot| !self.followed.contains(slot)) {
            let calls = self.view.with_object(slot, calls_of)?.unwrap_or_default();
            if calls.iter().any(|call| results.contains(call)) {
                return self.of(slot);
            }
        }
        Ok(UnsentReason::NoCall)
    }

    /// Whether a line that the client follows answers one of the calls.
    fn are_answered(&self, calls: &[String]) -> Result<bool> {
        if self.answered.get().is_none() {
            let mut answered = HashSet::new();
            let is_result = |slot: &&Slot| self.view.log.kind(**slot) == EntryKind::ToolResult;
            for slot in self.followed.iter().filter(is_result) {
                answered.extend(
                    self.view
                        .with_object(*slot, results_of)?
                        .unwrap_or_default(),
                );
            }
            self.answered.set(answered).ok();
        }
        let answered = self.answered.get();
        Ok(answered.is_some_and(|answered| calls.iter().any(|call| answered.contains(call))))
    }
}
