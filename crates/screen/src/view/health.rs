//! Problems of a session, and the repair that would fix them.

use crate::ask::{HealthFacts, RepairStepLine};
use crate::layout;
use crate::state::{HealthState, State};
use crate::theme::Ink;
use crate::transcript;
use crate::view::canvas::Canvas;
use crate::view::{FAINT, GOOD, PLAIN, STRONG, WARNING, answer};
use crate::words::{self, fill};

/// A line, and the step that it belongs to.
type StepLine = (Ink, String, Option<usize>);

/// Draws the health of a session.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let Some(health) = &state.health else {
        return;
    };
    let about = (words::HEALTH, health.session.as_str());
    let Some(facts) = answer(state, canvas, about, health.facts.as_ref()) else {
        return;
    };
    let area = layout::body(state.size);
    let height = usize::from(area.height);
    let lines = lines(
        state,
        health,
        facts,
        usize::from(area.width).saturating_sub(3),
    );
    let last = lines.len().saturating_sub(height);
    let of_step = |it: &StepLine| it.2 == Some(health.selected);
    let selected = lines.iter().position(of_step).unwrap_or(0);
    let end = lines.iter().rposition(of_step).unwrap_or(selected);
    // The selected step is visible, and as much as possible of what is before it.
    let shown = (end + 1).saturating_sub(height).min(selected);
    let top = health.top.unwrap_or(shown).min(last);
    for (y, (style, text, step)) in (area.top()..area.bottom()).zip(lines.iter().skip(top)) {
        canvas.text(2, y, text, *style);
        if *step == Some(health.selected) {
            canvas.text_in(0, y, 1, "▎", STRONG);
        }
    }
}

fn lines(state: &State, health: &HealthState, facts: &HealthFacts, width: usize) -> Vec<StepLine> {
    let look = &state.look;
    let mut lines = Vec::new();
    if facts.findings.is_empty() {
        lines.push((GOOD, look.say(words::NO_DAMAGE).to_owned(), None));
    }
    for finding in &facts.findings {
        let wrapped = transcript::wrap(&format!("! {finding}"), width).into_iter();
        lines.extend(wrapped.map(|it| (WARNING, it, None)));
    }
    // Of a session without problems the figures would only alarm.
    let is_fine = facts.findings.is_empty() && facts.steps.is_empty();
    if let Some((now, all, after)) = facts.reach.filter(|_| !is_fine) {
        let values = [now.to_string(), all.to_string(), after.to_string()];
        let [now, all, after] = &values;
        lines.push((PLAIN, String::new(), None));
        let text = fill(look.say(words::REACHES), &[now, all, after]);
        lines.push((STRONG, text, None));
    }
    for (at, step) in facts.steps.iter().enumerate() {
        let step = step_lines(state, health, step, width);
        lines.extend(step.into_iter().map(|(ink, text)| (ink, text, Some(at))));
    }
    lines
}

fn step_lines(
    state: &State,
    health: &HealthState,
    step: &RepairStepLine,
    width: usize,
) -> Vec<(Ink, String)> {
    let look = &state.look;
    let is_taken = health.is_taken(step);
    let (mark, word, ink) = match is_taken {
        true => ("[x]", words::STEP_TAKEN, PLAIN),
        false => ("[ ]", words::STEP_LEFT, FAINT),
    };
    let text = format!("{mark} {} · {}", step.text, look.say(word));
    let mut lines: Vec<(Ink, String)> = transcript::wrap(&text, width)
        .into_iter()
        .map(|it| (ink, it))
        .collect();
    if !health.open.contains(&step.number) {
        return lines;
    }
    for (before, after) in &step.changes {
        for (sign, ink, text) in [("- ", WARNING, before), ("+ ", GOOD, after)] {
            let wrapped = transcript::wrap(text, width.saturating_sub(6));
            lines.extend(
                wrapped
                    .into_iter()
                    .map(|it| (ink, format!("    {sign}{it}"))),
            );
        }
    }
    lines
}
