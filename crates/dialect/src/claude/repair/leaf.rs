//! Where the client continues: of branches that two clients wrote side by side a fix can choose the
//! other one, and a statement that leads to a side chain is replaced.

use boswell_model::json::Json;
use boswell_model::{ProblemKind, Repair, Result, Slot, Tip};

use super::super::lines::CountedLines;
use super::super::{check, compaction, resumed_leaf, tip};
use super::Lines;
use crate::{Confidence, Fix};

/// Adds a fix that makes another branch the current one. Only a person can decide which one should
/// continue.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut problems = Vec::new();
    check::check(&lines.view, &mut problems)?;
    // The client does not follow a leaf from before a compaction that preserved messages.
    let from = match compaction::last_boundary(lines.view.log) {
        Some(boundary)
            if compaction::kept(&lines.view, boundary, &CountedLines::of(lines.view.log))?
                .is_some() =>
        {
            Some(boundary)
        }
        _ => None,
    };
    for problem in problems
        .into_iter()
        .filter(|problem| problem.kind == ProblemKind::LostBranch)
    {
        let Some((slot, id)) = problem.slot.and_then(|slot| Some((slot, lines.id(slot)?))) else {
            continue;
        };
        if from.is_some_and(|boundary| slot < boundary) {
            continue;
        }
        let does = format!(
            "continue from {id}; the branch that is current now can be chosen again in the same way"
        );
        let mut fix = lines.fix(ProblemKind::LostBranch, slot, Confidence::Guess, does);
        fix.repair = Repair::Append;
        fix.helps = &["2.1.150", "2.1.325"];
        fix.splices = vec![lines.at_end(&statement(lines, id))];
        fixes.push(fix);
    }
    Ok(())
}

/// Returns the line which states that the client continues from an entry.
pub(super) fn statement(lines: &Lines<'_>, id: &str) -> Json {
    Json::object()
        .with("type", "last-prompt")
        .with("leafUuid", id)
        .with("explicit", true)
        .with("sessionId", lines.repair_input.location.id.as_str())
}

/// Adds a fix if the last statement leads to a line of a side chain: new versions then find no
/// conversation. The end of the conversation itself is stated instead.
pub(super) fn side_leaf(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let view = &lines.view;
    let Tip::At(stated) = tip::tip(view)? else {
        return Ok(());
    };
    if !lines.is_side(stated) {
        return Ok(());
    }
    let chain = tip::chain_of(view)?;
    let end = resumed_leaf::last_written(view, &chain)?;
    let Some((slot, id)) = end.and_then(|slot| Some((slot, lines.id(slot)?))) else {
        return Ok(());
    };
    let has_child = chain.has_child();
    let is_end = |slot: &Slot| {
        !has_child.get(slot.index()).copied().unwrap_or(true) && chain.message(*slot).is_some()
    };
    let confidence = match chain.in_order().filter(is_end).count() {
        0 | 1 => Confidence::Certain,
        _ => Confidence::Likely,
    };
    let does = format!("continue from {id}, because no client resumes a side chain");
    let mut fix = lines.fix(ProblemKind::Unsent, slot, confidence, does);
    fix.repair = Repair::Append;
    fix.helps = &["2.1.150", "2.1.325"];
    fix.splices = vec![lines.at_end(&statement(lines, id))];
    fixes.push(fix);
    Ok(())
}
