//! The mouse: the wheel scrolls, a click selects, words of the footer are buttons.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::{finder, in_place, perform};
use crate::ask::Ask;
use crate::keys::{Action, Place};
use crate::layout;
use crate::state::{ListLine, State};

pub(super) fn point(state: &mut State, mouse: MouseEvent, asks: &mut Vec<Ask>) {
    if state.overlay.is_some() || state.is_too_small() {
        return;
    }
    match mouse.kind {
        MouseEventKind::ScrollUp => wheel(state, mouse, Action::Up, asks),
        MouseEventKind::ScrollDown => wheel(state, mouse, Action::Down, asks),
        MouseEventKind::Down(MouseButton::Left) => click(state, mouse, asks),
        _ => {}
    }
}

/// Scrolls what is under the wheel.
fn wheel(state: &mut State, mouse: MouseEvent, action: Action, asks: &mut Vec<Ask>) {
    let preview = layout::finder(state.size).preview;
    let place = (mouse.column, mouse.row).into();
    let is_preview = state.place == Place::Finder && preview.is_some_and(|it| it.contains(place));
    for _ in 0..3 {
        if is_preview {
            finder::in_preview(state, action, asks);
        } else {
            in_place(state, action, asks);
        }
    }
}

fn click(state: &mut State, mouse: MouseEvent, asks: &mut Vec<Ask>) {
    if mouse.row + 1 == state.size.1 {
        let items = layout::footer(state);
        let hit = items
            .iter()
            .find(|it| (it.x..it.x + it.width()).contains(&mouse.column));
        if let Some(item) = hit {
            perform(state, item.action, asks);
        }
        return;
    }
    match state.place {
        Place::Reader => return click_line(state, mouse, asks),
        Place::Finder => {}
        _ => return,
    }
    let list = layout::finder(state.size).list;
    if !list.contains((mouse.column, mouse.row).into()) {
        return;
    }
    let line = state.finder.top + usize::from(mouse.row - list.y);
    let lines = state.finder.lines(state.now);
    if let Some(ListLine::Row(at) | ListLine::Snippet(at)) = lines.get(line) {
        // A click on the selected session reads it.
        if state.finder.selected == *at {
            return finder::read(state, asks);
        }
        state.finder.selected = *at;
    }
}

/// Puts the cursor of the reader on a line; a click on a fold opens or closes it.
fn click_line(state: &mut State, mouse: MouseEvent, asks: &mut Vec<Ask>) {
    let body = layout::body(state.size);
    let Some(reader) = &mut state.reader else {
        return;
    };
    if !body.contains((mouse.column, mouse.row).into()) {
        return;
    }
    let at = reader.top + usize::from(mouse.row - body.y);
    let Some(line) = reader.lines.get(at) else {
        return;
    };
    reader.at = at;
    if line.fold.is_some() {
        in_place(state, Action::Toggle, asks);
    }
}
