//! The tip from which the newest client continues when it resumes a session.

use std::cmp::{Ordering, Reverse};

use boswell_model::{Flags, Instant, Log, Result, SessionView, Slot, Tip};

use super::chain::{Chain, is_message};
use super::client::Client;
use super::compaction;
use super::javascript_sort;
use super::lines::CountedLines;
use super::resumed_leaf::{self, LeafChoice};

/// Builds the newest client's chain from the whole file.
pub(super) fn chain_of<'a>(view: &SessionView<'a>) -> Result<Chain<'a>> {
    chain_seen_by(view, Client::NEWEST, CountedLines::of(view.log))
}

/// Builds the chain of a version of the client from the lines that count for it.
pub(super) fn chain_seen_by<'a>(
    view: &SessionView<'a>,
    client: Client,
    lines: CountedLines,
) -> Result<Chain<'a>> {
    let kept = match compaction::last_boundary(view.log) {
        Some(boundary) if client.finds_lost() => compaction::kept(view, boundary, &lines)?,
        _ => None,
    };
    Ok(Chain::seen_by(client, view.log, lines, kept.as_ref()))
}

/// Returns where a version of the client resumes; `None` if it finds no conversation.
///
/// The oldest version takes the newest line. An unknown time is newer than no other, and no
/// other is newer than it. Newer versions take the branch that was written last, and find none if
/// its last message has no time. The newest one resumes lines that are no messages, too.
pub(super) fn resumed_at(
    view: &SessionView<'_>,
    chain: &Chain<'_>,
    client: Client,
) -> Result<Option<Tip>> {
    if !client.finds_lost() {
        return Ok(newest_line(view, chain).map(Tip::At));
    }
    if chain.is_side_only() {
        return Ok(None);
    }
    let choice = resumed_leaf::choose(view, chain)?;
    let leaves = match &choice {
        LeafChoice::Root => return Ok(Some(Tip::Root)),
        LeafChoice::At(at) => Vec::from_iter(chain.linked_message(*at)),
        LeafChoice::Ends(ends) => ends.clone(),
    };
    if leaves.is_empty() {
        let lines = chain.in_order().collect();
        let newest = newest_of(view.log, chain, lines);
        return Ok(newest.filter(|_| !client.needs_message()).map(Tip::At));
    }
    let said = leaves.into_iter().filter(|slot| !is_side(view.log, *slot));
    let newest = newest_of(view.log, chain, said.collect());
    Ok(newest.map(|leaf| Tip::At(below(chain, &choice, leaf))))
}

/// Returns the newest of some lines; of equal times the first, as the client keeps them. Lines
/// without a time do not count.
fn newest_of(log: &Log, chain: &Chain<'_>, lines: Vec<Slot>) -> Option<Slot> {
    let time = |slot: Slot| Some(Instant::from(log.head(slot)?.time?).millis());
    let timed = lines.into_iter();
    let timed = timed.filter_map(|slot| Some((time(slot)?, Reverse(chain.first_of(slot)), slot)));
    timed.max().map(|(_, _, slot)| slot)
}

/// Returns the line that was chosen, if it is at or below the message that counts: lines which are
/// no messages can follow that.
fn below(chain: &Chain<'_>, choice: &LeafChoice, leaf: Slot) -> Slot {
    let is_below = |slot: &Slot| chain.linked_message(*slot) == Some(leaf);
    let last = match choice {
        LeafChoice::At(at) => Some(*at).filter(is_below),
        _ => chain.in_order().rev().find(is_below),
    };
    last.unwrap_or(leaf)
}

/// Returns the line that the oldest version takes: it sorts all of them by their times, newest
/// first. Where some are no times, the way in which it sorts decides.
fn newest_line(view: &SessionView<'_>, chain: &Chain<'_>) -> Option<Slot> {
    let mut lines: Vec<(Option<i64>, Slot)> = Vec::new();
    for slot in chain.in_order() {
        if !is_side(view.log, slot) {
            lines.push((time_of_oldest(view, slot), slot));
        }
    }
    // A line that repeats an id has the place of the first one.
    lines.sort_by_key(|(_, slot)| chain.first_of(*slot).unwrap_or(*slot));
    if lines.iter().all(|(time, _)| time.is_some()) {
        // Of equal times the first counts.
        let newest = lines.iter().rev().max_by_key(|(time, _)| *time);
        return newest.map(|(_, slot)| *slot);
    }
    javascript_sort::sort(&mut lines, &|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => b.cmp(&a),
        _ => Ordering::Equal,
    });
    lines.first().map(|(_, slot)| *slot)
}

/// Returns the time of a line in milliseconds, as the oldest version reads it.
fn time_of_oldest(view: &SessionView<'_>, slot: Slot) -> Option<i64> {
    match view.log.head(slot)?.time {
        Some(time) => Some(Instant::from(time).millis()),
        // A number is a time to this version alone.
        None => view
            .with_object(slot, |it| it.get("timestamp")?.i64())
            .ok()??,
    }
}

pub(super) fn is_side(log: &Log, slot: Slot) -> bool {
    log.head(slot)
        .is_none_or(|head| head.flags.has(Flags::SIDECHAIN))
}

/// Returns the tip: the line at which the newest client continues. In a file that it does not
/// resume, that is the last line.
pub(super) fn tip(view: &SessionView<'_>) -> Result<Tip> {
    let chain = chain_of(view)?;
    let choice = resumed_leaf::choose(view, &chain)?;
    let at = match &choice {
        LeafChoice::Root => return Ok(Tip::Root),
        LeafChoice::At(at) => Some(*at),
        LeafChoice::Ends(ends) => newest_of(view.log, &chain, ends.clone())
            .map(|leaf| below(&chain, &choice, leaf))
            .or_else(|| last_line(view.log, &chain)),
    };
    Ok(at.map_or(Tip::Root, Tip::At))
}

/// Returns the last line of the file that is a message or has one above it.
fn last_line(log: &Log, chain: &Chain<'_>) -> Option<Slot> {
    let mut lines = chain.in_order().rev();
    let said = lines.find(|slot| chain.message(*slot).is_some());
    // In a file without messages the tip is the last line.
    said.or_else(|| {
        let mut lines = chain.in_order().rev();
        lines.find(|slot| is_message(log.kind(*slot)))
    })
    .or(chain.in_order().next_back())
}

/// Returns the message that the user sees as current: the nearest visible one among the tip and its
/// ancestors, else any.
pub(super) fn leaf(view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
    let path = chain_of(view).ok()?.path(tip.slot()?);
    let said = |slot: &&Slot| is_message(view.log.kind(**slot));
    let shown = |slot: &&Slot| {
        view.log
            .head(**slot)
            .is_some_and(|h| !h.flags.has(Flags::HIDDEN))
    };
    let found = path.iter().rev().filter(said).find(shown);
    found.or_else(|| path.iter().rev().find(said)).copied()
}
