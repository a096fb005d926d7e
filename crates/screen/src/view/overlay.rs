//! Menus, questions and a line to type, in front of the view.

use boswell_app::text::{columns, fit};
use ratatui::layout::Rect;

use crate::state::{Input, Menu, MenuItem, MenuRun, Overlay, Question, State};
use crate::transcript::wrap;
use crate::update::overlay::filtered;
use crate::view::canvas::Canvas;
use crate::view::finder::skip_columns;
use crate::view::{FAINT, PLAIN, SELECTED, STRONG};
use crate::words;

/// Draws what is in front.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    match &state.overlay {
        Some(Overlay::Menu(menu)) => draw_menu(state, canvas, menu),
        Some(Overlay::Question(question)) => draw_question(state, canvas, question),
        Some(Overlay::Input(input)) => draw_input(state, canvas, input),
        None => {}
    }
}

/// Draws a menu: its title, the typed words and the items that they leave.
fn draw_menu(state: &State, canvas: &mut Canvas<'_, '_>, menu: &Menu) {
    let items = filtered(menu);
    let (width, height) = state.size;
    let wide = width.saturating_sub(4).min(90);
    let high = u16::try_from(items.len() + 3)
        .unwrap_or(height)
        .min(height - 2);
    let area = Rect::new((width - wide) / 2, 1, wide, high.max(4));
    frame(canvas, area);
    let title = format!(" {} ", state.look.say(menu.title));
    canvas.text_in(area.x + 2, area.y, wide.saturating_sub(4), &title, STRONG);
    let line = boswell_app::text::escape(menu.line.text());
    let x = canvas.text_in(area.x + 2, area.y + 1, wide.saturating_sub(4), &line, PLAIN);
    canvas.cursor(x, area.y + 1);
    draw_items(canvas, area, (&items, menu.selected));
}

/// Draws the items of a menu below its line, so that the selected one is visible.
fn draw_items(canvas: &mut Canvas<'_, '_>, area: Rect, (items, selected): (&[&MenuItem], usize)) {
    let rows = usize::from(area.height.saturating_sub(3));
    let top = selected.saturating_sub(rows.saturating_sub(1));
    let names = items.iter().map(|it| columns(&it.key));
    let names = names.max().unwrap_or(0);
    for (row, (at, item)) in items.iter().enumerate().skip(top).take(rows).enumerate() {
        let y = area.y + 2 + u16::try_from(row).unwrap_or(0);
        let can = !matches!(item.run, MenuRun::Nothing);
        let name = fit(&item.key, names);
        let x = canvas.text_in(area.x + 2, y, area.width.saturating_sub(4), &name, STRONG);
        let x = if names == 0 { x } else { x + 2 };
        let room = (area.right().saturating_sub(2)).saturating_sub(x);
        let ink = if can { PLAIN } else { FAINT };
        canvas.text_in(x, y, room, &item.text, ink);
        if at == selected {
            canvas.paint(Rect::new(area.x + 1, y, area.width - 2, 1), SELECTED);
        }
    }
}

fn draw_question(state: &State, canvas: &mut Canvas<'_, '_>, question: &Question) {
    let look = &state.look;
    let choices = question.choices.iter();
    let mut answers: Vec<String> = choices
        .map(|it| format!("{} {}", it.key, look.say(it.words)))
        .collect();
    answers.push(format!("Esc {}", look.say(words::NO)));
    let mut lines = text_lines(state, &question.text);
    lines.push(answers.join("   "));
    let area = at_bottom(state, lines.len());
    frame(canvas, area);
    for (at, line) in lines.iter().enumerate() {
        let style = if at + 1 == lines.len() { STRONG } else { PLAIN };
        let y = area.y + 1 + u16::try_from(at).unwrap_or(0);
        canvas.text_in(2, y, area.width.saturating_sub(4), line, style);
    }
}

fn draw_input(state: &State, canvas: &mut Canvas<'_, '_>, input: &Input) {
    let area = at_bottom(state, 1);
    frame(canvas, area);
    let title = format!(" {} ", input.title);
    canvas.text_in(2, area.y, area.width.saturating_sub(4), &title, STRONG);
    let room = area.width.saturating_sub(4);
    let text = boswell_app::text::escape(input.line.text());
    let before = columns(&boswell_app::text::escape(input.line.before()));
    let before = u16::try_from(before).unwrap_or(room);
    // The end of a long text is visible, because that is where the user types.
    let skipped = before.saturating_sub(room.saturating_sub(1));
    let shown = skip_columns(&text, usize::from(skipped));
    canvas.text_in(2, area.y + 1, room, shown, PLAIN);
    canvas.cursor(2 + (before - skipped).min(room), area.y + 1);
}

fn text_lines(state: &State, text: &str) -> Vec<String> {
    let most = usize::from(state.size.1.saturating_sub(4)).max(1);
    let width = usize::from(state.size.0).saturating_sub(4);
    let mut lines = wrap(text, width);
    lines.truncate(most);
    lines
}

/// Returns the area for some lines above the footer.
fn at_bottom(state: &State, lines: usize) -> Rect {
    let height = u16::try_from(lines + 2)
        .unwrap_or(u16::MAX)
        .min(state.size.1);
    Rect::new(0, state.size.1 - height, state.size.0, height)
}

fn frame(canvas: &mut Canvas<'_, '_>, area: Rect) {
    canvas.erase(area);
    canvas.rule(area.y, area.x, area.width);
    canvas.rule(area.bottom().saturating_sub(1), area.x, area.width);
    let inside = Rect::new(
        area.x,
        area.y + 1,
        area.width,
        area.height.saturating_sub(2),
    );
    canvas.bar(area.x, inside);
    canvas.bar(area.right().saturating_sub(1), inside);
}
