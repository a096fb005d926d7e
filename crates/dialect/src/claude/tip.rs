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
        Statement::At(Tip::Root) => return Ok(Some(Tip::Root)),
        // It resumes no side chain, and looks for nothing else either.
        Statement::At(Tip::At(slot)) if is_side(view.log, slot) => return Ok(None),
        Statement::At(Tip::At(slot)) => Some(slot),
        Statement::Stale => last_line(view.log, chain),
        Statement::Missing => last_written(view.log, chain),
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
    let mut lines = chain.in_order().filter(|slot| !is_side(log, *slot));
    let first = lines.next()?;
    Some(
        lines.fold(first, |best, slot| match (time(best), time(slot)) {
            (Some(known), Some(time)) if time > known => slot,
            _ => best,
        }),
    )
}

fn is_side(log: &Log, slot: Slot) -> bool {
    log.head(slot)
        .is_none_or(|head| head.flags.has(Flags::SIDECHAIN))
}

/// Returns the tip: the last explicit statement, else the end of the branch that was written last.
pub(super) fn tip(view: &SessionView<'_>) -> Result<Tip> {
    let chain = chain_of(view)?;
    let tip = match stated(view, &chain)? {
        Statement::At(tip) => return Ok(tip),
        Statement::Stale => last_line(view.log, &chain),
        Statement::Missing => last_written(view.log, &chain),
    };
    Ok(tip.map_or(Tip::Root, Tip::At))
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

/// What the `last-prompt` lines of a file decide.
enum Statement {
    /// The tip.
    At(Tip),
    /// Nothing, because what they name does not exist or was compacted.
    Stale,
    /// Nothing, because there is none.
    Missing,
}

/// Returns the tip that the last `last-prompt` line decides: the end of the branch that continues
/// from the leaf which it names, or that leaf itself.
///
/// An explicit statement holds until something was written below its leaf; an explicit null is a
/// reset. A leaf that does not exist, such as the all-zero one, does not count, and neither does a
/// statement from before the last compaction.
fn stated(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Statement> {
    let Some(stated) = last_statement(view)? else {
        return Ok(Statement::Missing);
    };
    let Some(leaf) = &stated.leaf else {
        let is_later = |slot: Slot| slot > stated.at;
        let is_reset = stated.is_explicit && !chain.in_order().any(is_later);
        return Ok(match is_reset {
            true => Statement::At(Tip::Root),
            false => Statement::Stale,
        });
    };
    let is_compacted = compaction::last_boundary(view.log).is_some_and(|it| stated.at < it);
    let named = view.log.names.find(leaf).and_then(|name| chain.line(name));
    let Some(leaf) = named.filter(|slot| chain.is_alive(*slot) && !is_compacted) else {
        return Ok(Statement::Stale);
    };
    let is_new = |slot: &Slot| !stated.is_explicit || *slot > stated.at;
    let end = ends_below(view.log, chain, leaf).into_iter().rfind(is_new);
    Ok(Statement::At(Tip::At(end.unwrap_or(leaf))))
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

/// Returns where a version continues that finds no statement: at the last line of the file. If
/// lines above it continue that one, the newest version goes on to the newest end below it, unless
/// that is older.
pub(super) fn last_written(log: &Log, chain: &Chain<'_>) -> Option<Slot> {
    let last = last_line(log, chain)?;
    let has_child = chain.has_child();
    let is_end = |slot: Slot| !has_child.get(slot.index()).copied().unwrap_or(true);
    if chain.client() == Client::V2_1_150 || is_end(last) {
        return Some(last);
    }
    let time = |slot: Slot| {
        log.head(slot)?
            .time
            .map(|time| Instant::from(time).millis())
    };
    let below = lines_below(log, chain, last);
    // Messages that a compaction kept are older than its summary, which they follow.
    let boundary = compaction::last_boundary(log);
    let is_newer = |slot: Slot| Some(slot) < boundary || time(slot) >= time(last);
    let ends = chain.in_order().filter(|slot| {
        let is_below = below.get(slot.index()).copied().unwrap_or(false);
        is_below && is_end(*slot) && time(*slot).is_some() && is_newer(*slot)
    });
    // Of equal times the last counts.
    Some(ends.max_by_key(|slot| time(*slot)).unwrap_or(last))
}

/// Returns for each line whether it descends from a line.
fn lines_below(log: &Log, chain: &Chain<'_>, from: Slot) -> Vec<bool> {
    // Each line is decided once: a walk ends at one that is known already.
    let mut known: Vec<Option<bool>> = vec![None; log.heads.len()];
    for slot in log.slots() {
        let mut walked = Vec::new();
        let mut is_below = false;
        for above in chain.ancestors(slot) {
            if above == from {
                is_below = true;
                break;
            }
            if let Some(found) = known.get(above.index()).copied().flatten() {
                is_below = found;
                break;
            }
            walked.push(above);
        }
        for line in walked {
            if let Some(place) = known.get_mut(line.index()) {
                *place = Some(is_below);
            }
        }
    }
    known.into_iter().map(|it| it.unwrap_or(false)).collect()
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
