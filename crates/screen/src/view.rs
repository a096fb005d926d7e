//! Draws the state. Pure: the same state gives the same frame.
//!
//! Colours are the 16 names of the terminal's own theme, and never the only mark of anything.

mod blame;
mod canvas;
mod costs;
mod finder;
mod health;
mod overlay;
mod reader;
mod tree;

use boswell_app::text::{columns, one_line};
use ratatui::Frame;

use crate::keys::Place;
use crate::layout;
use crate::state::State;
use crate::theme::Ink;
use crate::words;
use canvas::Canvas;

pub(crate) const PLAIN: Ink = Ink::Plain;
pub(crate) const FAINT: Ink = Ink::Faint;
pub(crate) const STRONG: Ink = Ink::Strong;
pub(crate) const SELECTED: Ink = Ink::Selected;
pub(crate) const MATCH: Ink = Ink::Match;
pub(crate) const USER: Ink = Ink::User;
pub(crate) const TOOL: Ink = Ink::Tool;
pub(crate) const WARNING: Ink = Ink::Warning;
pub(crate) const GOOD: Ink = Ink::Good;

/// Draws the screen.
pub(crate) fn draw(state: &State, frame: &mut Frame<'_>) {
    let mut canvas = Canvas::new(frame, &state.look);
    if state.is_too_small() || canvas.size() != state.size {
        canvas.text(0, 0, state.look.say(words::TOO_SMALL), PLAIN);
        return;
    }
    canvas.rule(1, 0, state.size.0);
    canvas.rule(state.size.1 - 2, 0, state.size.0);
    match state.place {
        Place::Reader => reader::draw(state, &mut canvas),
        Place::Tree => tree::draw(state, &mut canvas),
        Place::Health => health::draw(state, &mut canvas),
        Place::Costs => costs::draw(state, &mut canvas),
        Place::Blame => blame::draw(state, &mut canvas),
        _ => finder::draw(state, &mut canvas),
    }
    footer(state, &mut canvas);
    if state.overlay.is_some() {
        overlay::draw(state, &mut canvas);
    }
}

fn footer(state: &State, canvas: &mut Canvas<'_, '_>) {
    let y = state.size.1 - 1;
    if let Some(message) = &state.message {
        canvas.text_in(1, y, state.size.0.saturating_sub(2), message, STRONG);
        return;
    }
    for item in layout::footer(state) {
        let x = canvas.text(item.x, y, &item.key, STRONG);
        canvas.text(x + 1, y, &item.word, PLAIN);
    }
}

/// Draws a title at the left and a state at the right of the first line.
pub(crate) fn header(state: &State, canvas: &mut Canvas<'_, '_>, left: &str, right: &str) {
    let width = state.size.0;
    let right_width = u16::try_from(columns(right))
        .unwrap_or(width)
        .min(width / 2);
    let room = width.saturating_sub(right_width + 3);
    canvas.text_in(1, 0, room, left, STRONG);
    canvas.text_in(
        width.saturating_sub(right_width + 1),
        0,
        right_width,
        right,
        FAINT,
    );
}

/// Draws the header of a view of one session. Returns the answer that the view shows, or draws that
/// it is not there yet or why there is none.
pub(crate) fn answer<'a, T>(
    state: &State,
    canvas: &mut Canvas<'_, '_>,
    (title, session): (words::Words, &str),
    answer: Option<&'a Result<T, String>>,
) -> Option<&'a T> {
    let title = format!("‹ {}", state.look.say(title));
    header(state, canvas, &title, &one_line(session));
    let area = layout::body(state.size);
    match answer {
        Some(Ok(answer)) => return Some(answer),
        Some(Err(error)) => canvas.text(1, area.y, error, WARNING),
        None => canvas.text(1, area.y, state.look.say(words::LOADING), FAINT),
    };
    None
}

/// Returns a cost. A small one is not shown as nothing.
pub(crate) fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.005 {
        return "<$0.01".to_owned();
    }
    format!("${cost:.2}")
}
