//! A file with the agents that wrote its lines, and the prompt of the selected one.

use boswell_app::text::fit;
use ratatui::layout::Rect;

use crate::ask::BlameLine;
use crate::layout;
use crate::state::State;
use crate::view::canvas::Canvas;
use crate::view::{FAINT, PLAIN, SELECTED, TOOL, USER, answer, header};
use crate::words::{self, fill};

/// Columns for the name of an agent.
const AGENT: usize = 9;

/// Draws the file.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let Some(blame) = &state.blame else {
        return;
    };
    let Some(Ok(facts)) = &blame.facts else {
        let about = (words::BLAME, blame.session.as_str());
        answer(state, canvas, about, blame.facts.as_ref());
        return;
    };
    let title = format!(
        "‹ {} {}",
        state.look.say(words::BLAME),
        state.look.folder(&facts.file)
    );
    let counts = [facts.unexplained.to_string(), facts.lines.len().to_string()];
    let [unexplained, all] = &counts;
    let right = fill(state.look.say(words::UNEXPLAINED_OF), &[unexplained, all]);
    header(state, canvas, &title, &right);
    let area = layout::body(state.size);
    // The last row has the prompt of the selected line.
    let rows = area.height.saturating_sub(1);
    let shown = Rect::new(area.x, area.y, area.width, rows);
    draw_lines(&facts.lines, blame.selected, shown, canvas);
    if let Some(line) = facts.lines.get(blame.selected) {
        canvas.text(
            1,
            area.bottom().saturating_sub(1),
            &prompt(state, line),
            USER,
        );
    }
}

fn draw_lines(lines: &[BlameLine], selected: usize, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let top = (selected + 1).saturating_sub(usize::from(area.height));
    let digits = lines.len().to_string().len();
    let visible = lines.iter().enumerate().skip(top);
    for (y, (at, line)) in (area.top()..area.bottom()).zip(visible) {
        let agent = line.author.as_ref().map_or("", |it| it.agent.as_str());
        let x = canvas.text(1, y, &format!("{:>digits$} ", at + 1), FAINT);
        let x = canvas.text(x, y, &fit(agent, AGENT), TOOL);
        let ink = if line.author.is_some() { PLAIN } else { FAINT };
        canvas.text(x + 1, y, &line.text, ink);
        if at == selected {
            canvas.paint(Rect::new(0, y, area.width, 1), SELECTED);
        }
    }
}

fn prompt(state: &State, line: &BlameLine) -> String {
    match &line.author {
        Some(author) => format!("¶ {}", author.prompt),
        None => state.look.say(words::UNEXPLAINED).to_owned(),
    }
}
