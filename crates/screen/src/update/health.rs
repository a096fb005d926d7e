//! The health of a session: choosing steps, and looking at their bytes.

use crate::ask::{HealthFacts, RepairStepLine};
use crate::keys::Action;
use crate::state::{HealthState, State};
use crate::update::moved;
use crate::words;

/// Does an action of the health view.
pub(super) fn perform(state: &mut State, action: Action) {
    let Some(health) = &mut state.health else {
        return;
    };
    let step = steps(health)
        .get(health.selected)
        .map(|it| (it.number, it.changes.is_empty()));
    match (action, step) {
        (Action::Choose, Some((number, _))) => toggle(&mut health.toggled, number),
        (Action::Diff, Some((_, true))) => state.say(words::NO_BYTES),
        (Action::Diff, Some((number, _))) => toggle(&mut health.open, number),
        (Action::PageUp | Action::PageDown, _) => {
            let top = health.top.unwrap_or(0);
            health.top = Some(moved(top, action, 10));
        }
        _ => {
            let last = steps(health).len().saturating_sub(1);
            health.selected = moved(health.selected, action, 1).min(last);
            health.top = None;
        }
    }
}

fn toggle(set: &mut std::collections::BTreeSet<usize>, number: usize) {
    if !set.remove(&number) {
        set.insert(number);
    }
}

fn steps(health: &HealthState) -> &[RepairStepLine] {
    match &health.facts {
        Some(Ok(HealthFacts { steps, .. })) => steps,
        _ => &[],
    }
}

/// Returns the steps that are to be taken: none if they are those that the plan takes anyway.
pub(super) fn chosen(health: &HealthState) -> Option<Vec<usize>> {
    let taken = steps(health).iter().filter(|it| health.is_taken(it));
    let taken: Vec<usize> = taken.map(|it| it.number).collect();
    if taken.is_empty() {
        return None;
    }
    Some(if health.toggled.is_empty() {
        Vec::new()
    } else {
        taken
    })
}
