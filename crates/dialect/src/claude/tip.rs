//! The tip from which the newest client continues when it resumes a session.

use std::collections::HashSet;

use boswell_model::{EntryKind, Flags, Instant, Log, Result, SessionView, Slot, Symbol, Tip};

use super::chain::{Chain, is_message};
use super::client::Client;
use super::compaction;
use super::lines::CountedLines;

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
        Some(boundary) if client.finds_lost() => compaction::kept(view, boundary)?,
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
    let tip = match stated(view, chain)? {
        Some(Tip::Root) => return Ok(Some(Tip::Root)),
        Some(Tip::At(slot)) => Some(slot),
        None => last_written(view.log, chain),
    };
    let message = tip.and_then(|slot| match client.needs_message() {
        true => chain.message(slot),
        false => chain.message(slot).or(Some(slot)),
    });
    let has_time = |slot: Slot| view.log.head(slot).is_some_and(|head| head.time.is_some());
    Ok(tip.filter(|_| message.is_some_and(has_time)).map(Tip::At))
}

fn newest_line(view: &SessionView<'_>, chain: &Chain<'_>) -> Option<Slot> {
    let log = view.log;
    let time = |slot: Slot| match log.head(slot)?.time {
        Some(time) => Some(Instant::from(time).millis()),
        // A number is a time to this version alone.
        None => view
            .with_object(slot, |it| it.get("timestamp")?.i64())
            .ok()??,
    };
    let is_main = |slot: &Slot| {
        let head = log.head(*slot);
        head.is_some_and(|head| !head.flags.has(Flags::SIDECHAIN))
    };
    let mut lines = chain.in_order().filter(is_main);
    let first = lines.next()?;
    Some(
        lines.fold(first, |best, slot| match (time(best), time(slot)) {
            (Some(known), Some(time)) if time > known => slot,
            _ => best,
        }),
    )
}

/// Returns the tip: the last explicit statement, else the end of the branch that was written last.
pub(super) fn tip(view: &SessionView<'_>) -> Result<Tip> {
    let chain = chain_of(view)?;
    if let Some(tip) = stated(view, &chain)? {
        return Ok(tip);
    }
    Ok(last_written(view.log, &chain).map_or(Tip::Root, Tip::At))
}

/// What the last `last-prompt` line of a file states.
struct Stated {
    /// The statement's own line.
    at: Slot,
    /// The leaf; `None` is the root.
    leaf: Option<String>,
    is_explicit: bool,
}

fn last_statement(view: &SessionView<'_>) -> Result<Option<Stated>> {
    let leaves = view.log.entries().rev();
    for (at, _) in leaves.filter(|(_, head)| head.kind == EntryKind::Leaf) {
        let found = view.with_object(at, |object| {
            let leaf = object.get("leafUuid")?;
            Some(Stated {
                at,
                leaf: leaf.text().map(|text| text.into_owned()),
                is_explicit: object.get("explicit").and_then(|it| it.bool()) == Some(true),
            })
        })?;
        if let Some(stated) = found.flatten() {
            return Ok(Some(stated));
        }
    }
    Ok(None)
}

/// Returns the tip that the last `last-prompt` line decides: the end of the branch that continues
/// from the leaf which it names, or that leaf itself.
///
/// An explicit statement holds until something was written below its leaf; an explicit null is a
/// reset. A leaf that does not exist, such as the all-zero one, does not count.
fn stated(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Option<Tip>> {
    let Some(stated) = last_statement(view)? else {
        return Ok(None);
    };
    let Some(leaf) = &stated.leaf else {
        let is_later = |slot: Slot| slot > stated.at;
        let is_reset = stated.is_explicit && !chain.in_order().any(is_later);
        return Ok(is_reset.then_some(Tip::Root));
    };
    let named = view.log.names.find(leaf).and_then(|name| chain.line(name));
    let Some(leaf) = named.filter(|slot| chain.is_alive(*slot)) else {
        return Ok(None);
    };
    let is_new = |slot: &Slot| !stated.is_explicit || *slot > stated.at;
    let end = ends_below(view.log, chain, leaf).into_iter().rfind(is_new);
    Ok(Some(Tip::At(end.unwrap_or(leaf))))
}

/// Returns the ends of branches below a line, in file order. Like the client, it looks once through
/// the file from that line on. For the newest version, what is below one call of a message is below
/// its other calls too.
fn ends_below(log: &Log, chain: &Chain<'_>, leaf: Slot) -> Vec<Slot> {
    let has_child = chain.has_child();
    let mut below: HashSet<Slot> = HashSet::from([leaf]);
    let joins = chain.client() >= Client::V2_1_325;
    let group = |slot: Slot| log.head(slot).filter(|_| joins)?.group;
    let mut groups: HashSet<Symbol> = group(leaf).into_iter().collect();
    let mut ends = Vec::new();
    for slot in chain.in_order().filter(|slot| *slot >= leaf) {
        let is_known = |above: Slot| {
            below.contains(&above) || group(above).is_some_and(|group| groups.contains(&group))
        };
        if slot != leaf && !chain.parent(slot).is_some_and(is_known) {
            continue;
        }
        below.insert(slot);
        groups.extend(group(slot));
        let is_end = !has_child.get(slot.index()).copied().unwrap_or(true);
        if is_end && chain.message(slot).is_some() {
            ends.push(slot);
        }
    }
    ends
}

/// Returns the last line of the file without children, if it or an ancestor is a message. One
/// version takes the last line, with children or not.
fn last_written(log: &Log, chain: &Chain<'_>) -> Option<Slot> {
    let has_child = chain.has_child();
    let takes_any = chain.client() == Client::V2_1_150;
    let childless =
        |slot: &Slot| takes_any || !has_child.get(slot.index()).copied().unwrap_or(true);
    let end = chain
        .in_order()
        .rev()
        .filter(childless)
        .find(|slot| chain.message(*slot).is_some());
    // In a file without messages the tip is the last line.
    end.or_else(|| {
        chain
            .in_order()
            .rev()
            .find(|slot| is_message(log.kind(*slot)))
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
