//! The finder: typing, moving, choosing.

use crossterm::event::{KeyCode, KeyEvent};

use crate::ScreenExit;
use crate::ask::Ask;
use crate::keys::{Action, Place};
use crate::layout;
use crate::line::Line;
use crate::rows;
use crate::rows_ask::{HitCount, Scope};
use crate::state::{Finder, Input, InputPurpose, Order, Overlay, State};
use crate::update::{moved, overlay, reader, run, typed_char};
use crate::words;

/// Handles a key: a binding, an edit of the box, else text.
pub(crate) fn press(state: &mut State, key: &KeyEvent, asks: &mut Vec<Ask>) {
    // Inside the text the arrow moves the cursor; at its end it reads.
    let inside = key.code == KeyCode::Right && !state.finder.line.is_at_end();
    if let Some(binding) = state
        .look
        .keys
        .action(Place::Finder, key)
        .filter(|_| !inside)
    {
        return run(state, binding, asks);
    }
    if let Some(binding) = state.look.keys.action(Place::Line, key) {
        // Without text these keys have nothing to edit, so they move in the list.
        match key.code {
            KeyCode::Home if state.finder.line.is_empty() => {
                return perform(state, Action::First, asks);
            }
            KeyCode::End if state.finder.line.is_empty() => {
                return perform(state, Action::Last, asks);
            }
            _ => {}
        }
        if state.finder.line.edit(binding.action) {
            typed(state, asks);
        }
        return;
    }
    if typed_char(key) == Some('?') && state.finder.line.is_empty() {
        return crate::update::perform(state, Action::Help, asks);
    }
    if let Some(c) = typed_char(key) {
        state.finder.line.insert(c.encode_utf8(&mut [0; 4]));
        typed(state, asks);
    }
}

/// Answers the new text from names, and asks for its hits. The old hits stay until the new ones
/// arrive.
pub(crate) fn typed(state: &mut State, asks: &mut Vec<Ask>) {
    let finder = &mut state.finder;
    finder.generation += 1;
    finder.hits = HitCount::First;
    finder.error = None;
    finder.waiting = None;
    if !asks_for_text(finder.line.text()) {
        finder.answered = finder.generation;
        finder.found = Default::default();
        finder.hit_rows.clear();
        asks.push(Ask::StopFinding);
    } else {
        asks.push(find(state));
    }
    state.finder.show(state.now);
    state.finder.top = 0;
}

/// Whether the text of sessions is searched. A single letter of the Latin alphabet is in the text
/// of nearly every session; an ideograph can be a word.
pub(crate) fn asks_for_text(query: &str) -> bool {
    let query = query.trim();
    query.len() > 1 || query.starts_with(|it: char| !it.is_ascii_alphanumeric())
}

/// Returns the ask for the hits of the box.
pub(crate) fn find(state: &State) -> Ask {
    Ask::Find {
        generation: state.finder.generation,
        query: state.finder.line.text().to_owned(),
        rows: state.finder.wanted.clone(),
        hits: state.finder.hits,
    }
}

/// Asks for the preview of the selected session, if it is not the one that was asked for.
pub(crate) fn ask_preview(state: &mut State, asks: &mut Vec<Ask>) {
    let finder = &mut state.finder;
    let Some(row) = finder.row() else {
        finder.asked = None;
        finder.preview = None;
        return;
    };
    let wanted = (row.session.clone(), finder.entry());
    if finder.asked.as_ref() != Some(&wanted) {
        asks.push(Ask::Preview {
            session: wanted.0.clone(),
            entry: wanted.1.clone(),
        });
        finder.preview_scroll = 0;
        finder.asked = Some(wanted);
    }
}

/// Does an action of the finder.
pub(crate) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    match action {
        Action::Up
        | Action::Down
        | Action::PageUp
        | Action::PageDown
        | Action::First
        | Action::Last => select(state, action, asks),
        Action::Read => read(state, asks),
        Action::Complete => complete(state, asks),
        Action::CopyCommand => copy_command(state, asks),
        Action::NextScope | Action::NextAgent | Action::Hidden => widen(state, action, asks),
        Action::Sort => sort(state),
        Action::Mark => mark(state),
        Action::Rename => rename(state),
        Action::Tag => tag(state),
        Action::Delete => overlay::ask_delete(state),
        Action::Archive => overlay::ask_archive(state),
        Action::Keep => overlay::ask_keep(state),
        Action::Back if state.finder.line.is_empty() => asks.push(Ask::Leave(ScreenExit::Quit)),
        Action::Back => {
            state.finder.line = Line::default();
            typed(state, asks);
        }
        _ => {}
    }
}

/// Moves the selection.
fn select(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let page = usize::from(layout::finder(state.size).list.height).max(1);
    let finder = &mut state.finder;
    let last = finder.shown.len().saturating_sub(1);
    finder.selected = moved(finder.selected, action, page).min(last);
    finder.waiting = None;
    let is_full = finder.found.hits.len() >= HitCount::First.limit(finder.line.text());
    if is_full && finder.hits == HitCount::First {
        finder.hits = HitCount::Many;
        asks.push(find(state));
    }
}

/// Changes to the next order of the list.
fn sort(state: &mut State) {
    state.finder.change(state.now, |finder| {
        finder.order = match finder.order {
            Order::Active => Order::Cost,
            Order::Cost => Order::Size,
            Order::Size => Order::Messages,
            Order::Messages => Order::Active,
        };
        finder.sort();
    });
}

/// Opens the selected session at its hit.
pub(crate) fn read(state: &mut State, asks: &mut Vec<Ask>) {
    let entry = state.finder.entry();
    if let Some(session) = state.session() {
        reader::open(state, session, entry, asks);
    }
}

fn complete(state: &mut State, asks: &mut Vec<Ask>) {
    let finder = &mut state.finder;
    let before = finder.line.before();
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or("")
        .to_owned();
    let Some(whole) = rows::completed(&word, &finder.rows) else {
        return focus_preview(state);
    };
    for _ in word.chars() {
        finder.line.edit(Action::EraseBefore);
    }
    finder.line.insert(&whole);
    typed(state, asks);
}

/// Goes to the preview, where the keys scroll.
fn focus_preview(state: &mut State) {
    if layout::finder(state.size).preview.is_some() && state.finder.row().is_some() {
        state.go(Place::Preview);
    }
}

/// Does an action of the preview.
pub(crate) fn in_preview(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let page = layout::finder(state.size).preview.map_or(1, |it| it.height);
    let page = isize::try_from(page).unwrap_or(1).saturating_sub(1).max(1);
    let scroll = &mut state.finder.preview_scroll;
    match action {
        Action::Up => *scroll -= 1,
        Action::Down => *scroll += 1,
        Action::PageUp => *scroll -= page,
        Action::PageDown => *scroll += page,
        Action::Read => {
            state.place = state.back.pop().unwrap_or(Place::Finder);
            return read(state, asks);
        }
        _ => {}
    }
    // Longer than any preview, so that the way back is not far.
    *scroll = (*scroll).clamp(-5_000, 5_000);
}

fn copy_command(state: &mut State, asks: &mut Vec<Ask>) {
    let say = |words| state.look.say(words).to_owned();
    match state.finder.resumable() {
        Some(Ok(known)) => asks.push(Ask::Copy(known.plan.command_line())),
        Some(Err(why)) => state.message = Some(why.clone()),
        None => state.message = Some(say(words::PREPARING)),
    }
}

/// Changes which sessions are listed, and lists them again.
fn widen(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let finder = &mut state.finder;
    match action {
        Action::NextScope => {
            finder.wanted.scope = match finder.wanted.scope {
                Scope::Everywhere => Scope::Here,
                Scope::Here => Scope::Repository,
                Scope::Repository => Scope::Everywhere,
            }
        }
        Action::NextAgent => finder.wanted.agent = next_agent(finder),
        _ => finder.wanted.hidden = !finder.wanted.hidden,
    }
    asks.push(Ask::Rows(state.finder.wanted.clone()));
    if !state.finder.line.text().trim().is_empty() {
        state.finder.generation += 1;
        asks.push(find(state));
    }
}

/// Returns the agent after the current one; `None` after the last.
fn next_agent(finder: &Finder) -> Option<String> {
    let mut agents: Vec<&str> = finder.agents.iter().map(String::as_str).collect();
    agents.sort_unstable();
    let Some(now) = &finder.wanted.agent else {
        return agents.first().map(|it| (*it).to_owned());
    };
    agents
        .into_iter()
        .find(|it| *it > now.as_str())
        .map(str::to_owned)
}

fn mark(state: &mut State) {
    let finder = &mut state.finder;
    let Some(session) = finder.row().map(|it| it.session.clone()) else {
        return;
    };
    if !finder.marked.remove(&session) {
        finder.marked.insert(session);
    }
    finder.selected = (finder.selected + 1).min(finder.shown.len().saturating_sub(1));
}

/// Returns the marked sessions, else the selected one.
pub(crate) fn chosen(state: &State) -> Vec<String> {
    if state.finder.marked.is_empty() {
        return state
            .finder
            .row()
            .map(|it| it.session.clone())
            .into_iter()
            .collect();
    }
    state.finder.marked.iter().cloned().collect()
}

fn rename(state: &mut State) {
    if let Some(row) = state.finder.row() {
        state.overlay = Some(Overlay::Input(Input {
            title: state.look.say(words::NEW_NAME).to_owned(),
            line: Line::new(row.name.clone()),
            purpose: InputPurpose::Rename(row.session.clone()),
        }));
    }
}

fn tag(state: &mut State) {
    let sessions = chosen(state);
    if !sessions.is_empty() {
        state.overlay = Some(Overlay::Input(Input {
            title: state.look.say(words::NEW_TAG).to_owned(),
            line: Line::default(),
            purpose: InputPurpose::Tag(sessions),
        }));
    }
}
