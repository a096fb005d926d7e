//! Repairs times: new clients find no conversation whose last message has none, and old ones resume
//! the line with the newest time.

use boswell_model::json::Json;
use boswell_model::{Flags, Head, Instant, ProblemKind, Result, Slot};

use super::super::chain::{is_chain_kind, is_message};
use super::super::client::{self, Client, Resumed};
use super::super::tip;
use super::readers::BY_TIME;
use super::{Lines, entries_agent_sees};
use crate::{Confidence, Fix};

pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    match missing(lines)? {
        Some(fix) => fixes.push(fix),
        None => fixes.extend(newest_elsewhere(lines)?),
    }
    Ok(())
}

/// Gives lines without a time that of the line before, if a version finds no conversation or
/// resumes a wrong line without it.
fn missing(lines: &Lines<'_>) -> Result<Option<Fix>> {
    let is_timeless = |(_, head): &(Slot, &Head)| is_chain_kind(head.kind) && head.time.is_none();
    let lost: Vec<Slot> = lines
        .view
        .log
        .entries()
        .filter(is_timeless)
        .map(|(slot, _)| slot)
        .collect();
    let tip = tip::tip(&lines.view)?.slot();
    let message = tip.and_then(|tip| lines.chain.message(tip));
    let ends = [lines.chain.in_order().next(), tip, message];
    let is_lost = |slot: &Slot| lost.contains(slot);
    let Some(first) = ends.into_iter().flatten().find(is_lost) else {
        return Ok(None);
    };
    let helps = match () {
        () if is_refused(lines, Client::V2_1_150)? || is_refused(lines, Client::V2_1_325)? => &[],
        () => BY_TIME,
    };
    let does = match lost.len() {
        1 => "give it the time of the line before".to_owned(),
        n => format!(
            "give it and {} more lines the time of the line before",
            n - 1
        ),
    };
    let mut fix = lines.fix(ProblemKind::Unsent, first, Confidence::Certain, does);
    fix.helps = helps;
    for (slot, time) in neighbours(lines, &lost) {
        fix.splices.push(set_time(lines, slot, time)?);
    }
    Ok(Some(fix))
}

fn is_refused(lines: &Lines<'_>, client: Client) -> Result<bool> {
    let is_said = |head: &Head| is_message(head.kind) && lines.chain.is_main(head);
    if lines.chain.is_side_only() || !lines.view.log.heads.iter().any(is_said) {
        return Ok(false);
    }
    Ok(matches!(
        client::resume(&lines.view, client)?,
        Resumed::Refused
    ))
}

/// Returns for each of these records the time of the nearest one before it that has
/// one, else behind it.
fn neighbours(lines: &Lines<'_>, lost: &[Slot]) -> Vec<(Slot, Instant)> {
    let heads = &lines.view.log.heads;
    let known = heads.iter().find_map(|head| head.time).map(Instant::from);
    let mut last = known
        .or(lines.repair_input.location.modified)
        .unwrap_or_else(|| lines.repair_input.id_source.now());
    let mut times = Vec::with_capacity(lost.len());
    let mut lost = lost.iter().peekable();
    for (slot, head) in lines.view.log.entries() {
        last = head.time.map_or(last, Instant::from);
        if lost.next_if_eq(&&slot).is_some() {
            times.push((slot, last));
        }
    }
    times
}

/// Makes the tip of new versions the newest line, so that old ones resume it too: lines that are
/// not older get a time just before it.
fn newest_elsewhere(lines: &Lines<'_>) -> Result<Option<Fix>> {
    let Resumed::From { chain, tip, path } = client::resume(&lines.view, Client::V2_1_50)? else {
        return Ok(None);
    };
    // A call can be the tip; new versions send its results too.
    let row = entries_agent_sees(&lines.view, tip::tip(&lines.view)?)?;
    let Some(at) = row.last().copied() else {
        return Ok(None);
    };
    let is_resumable = is_shown(lines, at) && chain.in_order().any(|slot| slot == at);
    let Some(newest) = millis(lines, at).filter(|_| is_resumable) else {
        return Ok(None);
    };
    if tip.slot() == Some(at) || path.contains(&at) {
        return Ok(None);
    }
    let does = "make it the line with the newest time, which old clients resume".to_owned();
    let mut fix = lines.fix(ProblemKind::LostBranch, at, Confidence::Likely, does);
    fix.helps = BY_TIME;
    let is_late =
        |slot: &Slot| *slot != at && millis(lines, *slot).is_some_and(|time| time >= newest);
    let shown = chain.in_order().filter(|slot| is_shown(lines, *slot));
    for slot in shown.filter(is_late) {
        let before = Instant::from_millis(newest - 1);
        fix.splices.push(set_time(lines, slot, before)?);
    }
    Ok(Some(fix).filter(|fix| !fix.splices.is_empty()))
}

/// Returns the time of a line, in milliseconds.
fn millis(lines: &Lines<'_>, slot: Slot) -> Option<i64> {
    Some(Instant::from(lines.view.log.head(slot)?.time?).millis())
}

/// Whether a line is known and not on a side chain.
fn is_shown(lines: &Lines<'_>, slot: Slot) -> bool {
    let head = lines.view.log.head(slot);
    head.is_some_and(|head| !head.flags.has(Flags::SIDECHAIN))
}

fn set_time(lines: &Lines<'_>, slot: Slot, time: Instant) -> Result<crate::Splice> {
    lines.set(slot, "timestamp", &Json::from(time.to_rfc3339()))
}
