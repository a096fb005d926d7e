//! Problems of a session, and the repair that would fix them.

use crate::ask::HealthFacts;
use crate::layout;
use crate::state::State;
use crate::transcript;
use crate::view::canvas::Canvas;
use crate::view::{FAINT, GOOD, PLAIN, STRONG, WARNING, answer};
use crate::words::{self, fill};

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
    let lines = lines(state, facts, usize::from(area.width).saturating_sub(2));
    let last = lines.len().saturating_sub(usize::from(area.height));
    let top = health.top.min(last);
    for (y, (style, text)) in (area.top()..area.bottom()).zip(lines.iter().skip(top)) {
        canvas.text(1, y, text, *style);
    }
}

fn lines(state: &State, facts: &HealthFacts, width: usize) -> Vec<(ratatui::style::Style, String)> {
    let look = &state.look;
    let mut lines = Vec::new();
    if facts.findings.is_empty() {
        lines.push((GOOD, look.say(words::NO_DAMAGE).to_owned()));
    }
    for finding in &facts.findings {
        let wrapped = transcript::wrap(&format!("! {finding}"), width).into_iter();
        lines.extend(wrapped.map(|it| (WARNING, it)));
    }
    if let Some((now, all, after)) = facts.reach {
        let values = [now.to_string(), all.to_string(), after.to_string()];
        let [now, all, after] = &values;
        lines.push((PLAIN, String::new()));
        lines.push((STRONG, fill(look.say(words::REACHES), &[now, all, after])));
    }
    for step in &facts.steps {
        let (mark, word) = match step.taken {
            true => ("+", words::STEP_TAKEN),
            false => ("-", words::STEP_LEFT),
        };
        let text = format!("{mark} {} · {}", step.text, look.say(word));
        let style = if step.taken { PLAIN } else { FAINT };
        lines.extend(
            transcript::wrap(&text, width)
                .into_iter()
                .map(|it| (style, it)),
        );
    }
    lines
}
