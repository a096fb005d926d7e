//! Branches that two clients of one session wrote side by side: a fix can make the client continue
//! from the other one.

use boswell_model::json::Json;
use boswell_model::{ProblemKind, Repair, Result};

use super::super::{check, compaction};
use super::Lines;
use crate::{Confidence, Fix};

/// Adds a fix that makes another branch the current one. Only a person can decide which one should
/// continue.
pub(super) fn fixes(lines: &Lines<'_>, fixes: &mut Vec<Fix>) -> Result<()> {
    let mut problems = Vec::new();
    check::check(&lines.view, &mut problems)?;
    // The client does not follow a leaf from before a compaction that preserved messages.
    let from = match compaction::last_boundary(lines.view.log) {
        Some(boundary) if compaction::kept(&lines.view, boundary)?.is_some() => Some(boundary),
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
        let line = Json::object()
            .with("type", "last-prompt")
            .with("leafUuid", id)
            .with("explicit", true)
            .with("sessionId", lines.repair_input.location.id.as_str());
        let does = format!(
            "continue from {id}; the branch that is current now can be chosen again in the same way"
        );
        let mut fix = lines.fix(ProblemKind::LostBranch, slot, Confidence::Guess, does);
        fix.repair = Repair::Append;
        fix.helps = &["2.1.150", "2.1.325"];
        fix.splices = vec![lines.at_end(&line)];
        fixes.push(fix);
    }
    Ok(())
}
