//! The line at which a version of the client continues a session.
//!
//! Clients since 2.1.150 remember two things while they read: the last line of the conversation,
//! and what the last `last-prompt` line names. They continue at the named line, or at the last line
//! of the file if that descends from it. Parents are followed as they are named: where one is
//! missing, the way ends here, although a conversation is bridged there later.

use std::collections::HashSet;

use boswell_model::json::Object;
use boswell_model::{EntryKind, Flags, Instant, Result, SessionView, Slot, Symbol};

use super::chain::{Chain, is_message, set_mark};
use super::client::Client;
use super::pairing::{calls_of, results_of};
use super::tip::is_side;

/// What a version chooses.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LeafChoice {
    /// The conversation was reset.
    Root,
    /// One line, with a message above it or without one.
    At(Slot),
    /// The ends of all branches, of which the newest counts. In a file without messages there are
    /// none.
    Ends(Vec<Slot>),
}

/// Returns the line at which a version continues, whether or not it can resume there.
pub(super) fn choose(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<LeafChoice> {
    let stated = Stated::read(view, chain)?;
    if stated.is_reset {
        return Ok(LeafChoice::Root);
    }
    let last = chain.in_order().next_back();
    let leaf = stated.line;
    let is_fixed = stated.is_explicit && leaf.is_some_and(|leaf| !is_side(view.log, leaf));
    let is_kept = chain.keeps_messages();
    if !is_kept || is_fixed {
        let mut at = leaf;
        if let (Some(leaf), Some(last)) = (leaf, last)
            && !stated.is_explicit
            && (chain.descends(last, leaf) || stated.continues(view, chain, last, leaf)?)
        {
            at = Some(last);
        }
        if at.is_none() && !is_kept {
            at = last_written(view, chain)?;
        }
        if let Some(at) = at.filter(|at| can_be_chosen(chain, *at)) {
            return Ok(LeafChoice::At(at));
        }
    }
    among_ends(view, chain, &stated)
}

/// Chooses among the ends of all branches, if the statement alone decides nothing.
fn among_ends(view: &SessionView<'_>, chain: &Chain<'_>, stated: &Stated) -> Result<LeafChoice> {
    let ends = ends(view, chain)?;
    if ends.len() < 2 {
        return Ok(LeafChoice::Ends(ends));
    }
    let last = chain.in_order().next_back();
    let mut at = stated.line.filter(|leaf| ends.contains(leaf));
    if let (Some(leaf), Some(last)) = (at, last)
        && !stated.is_explicit
        && stated.continues(view, chain, last, leaf)?
    {
        at = Some(last);
    }
    let at = at.or(last);
    Ok(match at.filter(|at| can_be_chosen(chain, *at)) {
        Some(at) => LeafChoice::At(at),
        None => LeafChoice::Ends(ends),
    })
}

/// Whether a line can be chosen: it has an id, by which clients remember it,
/// and a message above it.
fn can_be_chosen(chain: &Chain<'_>, at: Slot) -> bool {
    let has_id = chain.log.head(at).is_some_and(|head| head.id.is_some());
    has_id && chain.linked_message(at).is_some()
}

/// Returns where a version continues that finds no statement: at the last line of the file. If that
/// is not the newest one, 2.1.325 goes on to the newest line below it, unless there is a statement
/// that does not count.
pub(super) fn last_written(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Option<Slot>> {
    let Some(last) = chain.in_order().next_back() else {
        return Ok(None);
    };
    if chain.client() < Client::V2_1_325 || states_something(view)? {
        return Ok(Some(last));
    }
    let time = |slot: Slot| text_time(view, slot);
    let newer = |best: (Slot, Option<TextTime>), slot: Slot| {
        let own = time(slot);
        if own > best.1 { (slot, own) } else { best }
    };
    let (newest, _) = chain.in_order().fold((last, None), newer);
    if newest == last {
        return Ok(Some(last));
    }
    let below = chain.lines_below(last);
    let is_below = |slot: &Slot| *slot != last && below.get(slot.index()) == Some(&true);
    let timed = chain.in_order().filter(is_below);
    let timed = timed.filter_map(|slot| Some((time(slot)?, slot)));
    // Of equal times the last counts.
    let found = timed.max_by_key(|(time, _)| *time).map(|(_, slot)| slot);
    Ok(Some(found.unwrap_or(last)))
}

/// A time as the client compares it here: as text, so that words are later than every number.
type TextTime = (bool, i64);

fn text_time(view: &SessionView<'_>, slot: Slot) -> Option<TextTime> {
    if let Some(time) = view.log.head(slot)?.time {
        return Some((false, Instant::from(time).millis()));
    }
    let is_text = |object: &Object<'_>| object.text("timestamp").is_some();
    (view.with_object(slot, is_text).ok()? == Some(true)).then_some((true, 0))
}

/// Whether any `last-prompt` line names a leaf, be it none.
fn states_something(view: &SessionView<'_>) -> Result<bool> {
    let leaves = view.log.entries().rev();
    for (at, _) in leaves.filter(|(_, head)| head.kind == EntryKind::Leaf) {
        if view.with_object(at, |it| it.get("leafUuid").is_some())? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the messages at the ends of all branches: those above lines that no other follows, and
/// that no message follows.
///
/// A line that states no parent, not even `null`, is taken for one that follows the line without
/// an id.
fn ends(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Vec<Slot>> {
    let count = view.log.heads.len();
    let (mut is_parent, mut has_message) = (vec![false; count], vec![false; count]);
    let rows = || chain.rows();
    for slot in rows() {
        let above = match (chain.linked(slot), chain.nameless()) {
            (None, Some(nameless)) if lacks_parent(view, slot)? => Some(nameless),
            (above, _) => above,
        };
        let Some(above) = above else {
            continue;
        };
        set_mark(&mut is_parent, above);
        if is_message(view.log.kind(slot)) {
            set_mark(&mut has_message, above);
        }
    }
    let is = |marks: &[bool], slot: Slot| marks.get(slot.index()) == Some(&true);
    let last = rows().filter(|slot| !is(&is_parent, *slot));
    let found = last.filter_map(|slot| chain.linked_message(slot));
    let mut ends: Vec<Slot> = found.filter(|slot| !is(&has_message, *slot)).collect();
    ends.sort_unstable();
    ends.dedup();
    Ok(ends)
}

fn lacks_parent(view: &SessionView<'_>, slot: Slot) -> Result<bool> {
    let is_absent = |object: &Object<'_>| object.get("parentUuid").is_none();
    Ok(view.with_object(slot, is_absent)? == Some(true))
}

/// What the `last-prompt` lines since the last compaction state.
#[derive(Debug, Default)]
struct Stated {
    /// The line that the last of them names, if it exists.
    line: Option<Slot>,
    /// Whether one of them fixed that line, and nothing was written since.
    is_explicit: bool,
    /// Whether one of them fixed that line at all.
    was_explicit: bool,
    /// Whether the last of them resets the conversation.
    is_reset: bool,
}

/// A `last-prompt` line.
struct Statement {
    /// The leaf; `None` is the root.
    leaf: Option<String>,
    is_explicit: bool,
}

impl Stated {
    fn read(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Stated> {
        let mut stated = Stated::default();
        let mut leaf: Option<String> = None;
        let mut is_written = false;
        for (slot, head) in view.log.entries().rev() {
            if head.kind != EntryKind::Leaf {
                if chain.counts(slot) && head.flags.has(Flags::CUT) {
                    break;
                }
                let is_other = head.flags.has(Flags::SIDECHAIN);
                is_written |= chain.counts(slot) && !is_other && head.kind != EntryKind::Progress;
                continue;
            }
            let Some(found) = statement(view, slot)? else {
                continue;
            };
            match (&leaf, found.leaf) {
                (None, None) if chain.client() >= Client::V2_1_325 && found.is_explicit => {
                    stated.is_reset = !is_written;
                    break;
                }
                (_, None) => continue,
                (Some(known), Some(named)) if *known != named => break,
                (None, named) => leaf = named,
                _ => {}
            }
            stated.is_explicit |= found.is_explicit && !is_written;
            stated.was_explicit |= found.is_explicit;
        }
        let name = leaf.and_then(|leaf| view.log.names.find(&leaf));
        let line = name.and_then(|name| chain.line(name));
        stated.line = line.filter(|slot| chain.is_alive(*slot));
        Ok(stated)
    }

    /// Whether the last line continues another call of the message to which the named line belongs.
    /// Only the newest version looks for that, and not if the line was ever fixed.
    fn continues(
        &self,
        view: &SessionView<'_>,
        chain: &Chain<'_>,
        last: Slot,
        leaf: Slot,
    ) -> Result<bool> {
        if chain.client() < Client::V2_1_325 || self.was_explicit {
            return Ok(false);
        }
        match Batch::of(view, chain, leaf)? {
            Some(batch) => batch.is_above(view, chain, last),
            None => Ok(false),
        }
    }
}

fn statement(view: &SessionView<'_>, slot: Slot) -> Result<Option<Statement>> {
    let read = |object: &Object<'_>| {
        let leaf = object.get("leafUuid")?;
        let text = leaf.text().map(|text| text.into_owned());
        Some(Statement {
            leaf: text.filter(|text| !text.is_empty()),
            is_explicit: object.get("explicit").and_then(|it| it.bool()) == Some(true),
        })
    };
    Ok(view.with_object(slot, read)?.flatten())
}

/// The calls of one message, at one of which a statement stands.
struct Batch {
    /// The line with that call.
    at: Slot,
    group: Symbol,
    calls: Vec<String>,
    /// The results at which it stands.
    answered: Vec<String>,
    /// The lines of the message above that one.
    above: HashSet<Slot>,
}

impl Batch {
    fn of(view: &SessionView<'_>, chain: &Chain<'_>, leaf: Slot) -> Result<Option<Batch>> {
        let mut seen = HashSet::new();
        let mut row = Some(leaf);
        while let Some(slot) = row.filter(|slot| is_beside(view, *slot) && seen.insert(*slot)) {
            row = chain.linked(slot);
        }
        let (mut answered, mut at) = (Vec::new(), row);
        if let Some(result) = row.filter(|slot| view.log.kind(*slot) == EntryKind::ToolResult) {
            answered = view.with_object(result, results_of)?.unwrap_or_default();
            at = chain.linked(result);
        } else if !seen.is_empty() {
            return Ok(None);
        }
        let is_answer = |slot: &Slot| view.log.kind(*slot) == EntryKind::Assistant;
        let at = at.filter(is_answer);
        let group = at.and_then(|at| view.log.head(at)?.group);
        let (Some(at), Some(group)) = (at, group) else {
            return Ok(None);
        };
        let calls = view.with_object(at, calls_of)?.unwrap_or_default();
        if calls.is_empty() {
            return Ok(None);
        }
        let mut above = HashSet::new();
        let mut next = chain.linked(at);
        while let Some(slot) = next.filter(|slot| *slot != at && belongs(view, *slot, group)) {
            next = chain.linked(slot).filter(|_| above.insert(slot));
        }
        Ok(Some(Batch {
            at,
            group,
            calls,
            answered,
            above,
        }))
    }

    /// Whether a line follows another call of the message, or another of its results.
    fn is_above(&self, view: &SessionView<'_>, chain: &Chain<'_>, last: Slot) -> Result<bool> {
        let mut seen = HashSet::new();
        let (mut passed, mut below, mut next) = (false, None, Some(last));
        while let Some(slot) = next.filter(|slot| seen.insert(*slot)) {
            if passed && slot == self.at {
                return Ok(true);
            }
            let head = view.log.head(slot);
            let is_same = head
                .is_some_and(|it| it.kind == EntryKind::Assistant && it.group == Some(self.group));
            if is_same && slot != self.at && self.has_calls(view, slot)? {
                if self.above.contains(&slot) {
                    return Ok(true);
                }
                passed = true;
            } else if !belongs(view, slot, self.group) {
                passed = false;
            }
            if slot == self.at && self.answers_other(view, below)? {
                return Ok(true);
            }
            below = Some(slot);
            next = chain.linked(slot);
        }
        Ok(false)
    }

    fn has_calls(&self, view: &SessionView<'_>, slot: Slot) -> Result<bool> {
        let calls = view.with_object(slot, calls_of)?.unwrap_or_default();
        Ok(!calls.is_empty())
    }

    /// Whether a line answers another call than the one at which the statement stands.
    fn answers_other(&self, view: &SessionView<'_>, below: Option<Slot>) -> Result<bool> {
        let Some(below) = below.filter(|_| self.answered.iter().any(|it| self.calls.contains(it)))
        else {
            return Ok(false);
        };
        let results = view.with_object(below, results_of)?.unwrap_or_default();
        let is_other = |it: &String| self.calls.contains(it) && !self.answered.contains(it);
        Ok(results.iter().any(is_other))
    }
}

/// Whether a line stands beside the messages: what was attached, system lines, hidden messages.
fn is_beside(view: &SessionView<'_>, slot: Slot) -> bool {
    let Some(head) = view.log.head(slot) else {
        return false;
    };
    match head.kind {
        EntryKind::Attachment | EntryKind::System => true,
        EntryKind::User => head.flags.has(Flags::HIDDEN),
        _ => false,
    }
}

/// Whether a line can stand between the lines of an API message.
fn belongs(view: &SessionView<'_>, slot: Slot, group: Symbol) -> bool {
    let Some(head) = view.log.head(slot) else {
        return false;
    };
    match head.kind {
        EntryKind::Assistant => head.group == Some(group),
        EntryKind::ToolResult => true,
        _ => is_beside(view, slot),
    }
}
