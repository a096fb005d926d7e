//! Links parallel tool calls one after the other, for readers that follow single parents only.
//!
//! The client writes each call as a child of the call before and each result as a child of its own
//! call, and continues below one of the results. Newer versions restore the other results; older
//! ones never see them, and drop their calls as well.

use std::collections::HashSet;

use boswell_model::json::Json;
use boswell_model::{ProblemKind, Result, Slot};

use super::super::client::{self, Client, Resumed};
use super::super::{parallel_calls, tip};
use super::readers::ONE_PARENT;
use super::{Lines, leaf, path};
use crate::{Confidence, Fix};

/// Returns the tip, or the line that the oldest version continues from if that is below the tip: it
/// does not know statements about the leaf.
fn last_line(lines: &Lines<'_>) -> Result<Option<Slot>> {
    let at = tip::tip(&lines.view)?.slot();
    let oldest = client::resume(&lines.view, Client::V2_1_50)?;
    Ok(match (oldest, at) {
        (Resumed::From { tip, path, .. }, Some(at)) if path.contains(&at) => tip.slot(),
        _ => at,
    })
}

/// Adds one fix for each part of the branch that is not on its path of parents.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let Some(at) = last_line(lines)? else {
        return Ok(());
    };
    let path = path(&lines.view, &lines.chain, at);
    let mut row = parallel_calls::put_back(&lines.view, &lines.chain, &path)?;
    // Nothing can follow a line that another one with the same id hides.
    row.retain(|slot| lines.stands_for_its_id(*slot));
    if row.len() == path.len() {
        return Ok(());
    }
    let on_path: HashSet<Slot> = path.into_iter().collect();
    let end = end_of_statement(lines)?;
    let mut open: Option<Fix> = None;
    for pair in row.windows(2) {
        let &[above, slot] = pair else { continue };
        let side_files = !on_path.contains(&slot) || !on_path.contains(&above);
        if !side_files {
            fixes.extend(open.take());
            continue;
        }
        let (Some(id), false) = (lines.id(above), lines.is_cut(slot)) else {
            continue;
        };
        if lines.parent(slot) == Some(above) {
            state_end(lines, end, slot, open.as_mut());
            continue;
        }
        let fix = open.get_or_insert_with(|| row_fix(lines, slot));
        fix.splices
            .push(lines.set(slot, "parentUuid", &Json::from(id))?);
        state_end(lines, end, slot, open.as_mut());
    }
    fixes.extend(open);
    Ok(())
}

/// Returns a fix without changes yet, for the calls that begin at a line.
fn row_fix(lines: &Lines<'_>, slot: Slot) -> Fix {
    let does = "put calls that were made at once, and their answers, in a row".to_owned();
    let mut fix = lines.fix(ProblemKind::ParallelCalls, slot, Confidence::Certain, does);
    fix.helps = ONE_PARENT;
    fix
}

/// Returns the last line of what a client sends that continues between calls which were made at
/// once, if that is not where it continues.
fn end_of_statement(lines: &Lines<'_>) -> Result<Option<Slot>> {
    let Some(at) = tip::tip(&lines.view)?.slot() else {
        return Ok(None);
    };
    let path = path(&lines.view, &lines.chain, at);
    let row = parallel_calls::put_back(&lines.view, &lines.chain, &path)?;
    Ok(row.last().copied().filter(|end| *end != at))
}

/// Lets clients continue at the end of the row: they would not find what follows the old place.
fn state_end(lines: &Lines<'_>, end: Option<Slot>, slot: Slot, fix: Option<&mut Fix>) {
    if let (Some(fix), Some(id)) = (fix, lines.id(slot).filter(|_| end == Some(slot))) {
        fix.splices.push(lines.at_end(&leaf::statement(lines, id)));
    }
}
