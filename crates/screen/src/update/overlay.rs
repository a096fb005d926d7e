//! What is in front of the view: menus, questions, a line to type.

use crossterm::event::{KeyCode, KeyEvent};

use crate::ask::Ask;
use crate::keys::{self, Action, Binding, Place};
use crate::line::Line;
use crate::state::{Choice, InputPurpose, Menu, Overlay, Question, State};
use crate::update::{check, finder, moved, reader, run, typed_char};
use crate::words::{self, fill};

/// Handles a key while something is in front.
pub(crate) fn press(state: &mut State, key: &KeyEvent, asks: &mut Vec<Ask>) {
    let quits = keys::action(Place::Everywhere, key).is_some_and(|it| it.action == Action::Quit);
    if quits || key.code == KeyCode::Esc {
        state.overlay = None;
        return;
    }
    match state.overlay.take() {
        Some(Overlay::Menu(menu)) => in_menu(state, menu, key, asks),
        Some(Overlay::Question(question)) => answer(state, question, key, asks),
        Some(Overlay::Input(mut input)) => {
            if key.code == KeyCode::Enter {
                return typed(state, &input.purpose, input.line.text(), asks);
            }
            edit(&mut input.line, key);
            state.overlay = Some(Overlay::Input(input));
        }
        None => {}
    }
}

fn edit(line: &mut Line, key: &KeyEvent) {
    if let Some(binding) = keys::action(Place::Line, key) {
        line.edit(binding.action);
    } else if let Some(c) = typed_char(key) {
        line.insert(c.encode_utf8(&mut [0; 4]));
    }
}

/// Returns the items of a menu that its filter leaves: those that contain its letters in order.
pub(crate) fn filtered(menu: &Menu, state: &State) -> Vec<&'static Binding> {
    let wanted = menu.line.text().to_lowercase();
    let fits = |it: &&&'static Binding| {
        let text = format!("{} {}", it.names(), state.look.say(it.does)).to_lowercase();
        let mut rest = text.chars();
        wanted.chars().all(|c| rest.any(|other| other == c))
    };
    menu.items.iter().filter(fits).copied().collect()
}

fn in_menu(state: &mut State, mut menu: Menu, key: &KeyEvent, asks: &mut Vec<Ask>) {
    let items = filtered(&menu, state);
    let action = match key.code {
        KeyCode::Enter => {
            if let Some(binding) = items.get(menu.selected) {
                run(state, binding, asks);
            }
            return;
        }
        KeyCode::Up => Some(Action::Up),
        KeyCode::Down => Some(Action::Down),
        KeyCode::PageUp => Some(Action::PageUp),
        KeyCode::PageDown => Some(Action::PageDown),
        _ => None,
    };
    match action {
        Some(action) => {
            let last = items.len().saturating_sub(1);
            menu.selected = moved(menu.selected, action, 10).min(last);
        }
        None => {
            edit(&mut menu.line, key);
            menu.selected = 0;
        }
    }
    state.overlay = Some(Overlay::Menu(menu));
}

fn answer(state: &mut State, question: Question, key: &KeyEvent, asks: &mut Vec<Ask>) {
    let Some(c) = typed_char(key) else {
        state.overlay = Some(Overlay::Question(question));
        return;
    };
    // Any other letter is no.
    if let Some(choice) = question.choices.into_iter().find(|it| it.key == c) {
        asks.extend(choice.asks);
        if choice.checks {
            check(state, asks);
        }
    }
}

fn typed(state: &mut State, purpose: &InputPurpose, text: &str, asks: &mut Vec<Ask>) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    match purpose {
        InputPurpose::Rename(session) => asks.push(Ask::Rename {
            session: session.clone(),
            title: text.to_owned(),
        }),
        InputPurpose::Tag(sessions) => {
            let words = || text.split_whitespace();
            let removed = words().filter_map(|it| it.strip_prefix('-'));
            asks.push(Ask::Tag {
                sessions: sessions.clone(),
                add: words()
                    .filter(|it| !it.starts_with('-'))
                    .map(str::to_owned)
                    .collect(),
                remove: removed
                    .filter(|it| !it.is_empty())
                    .map(str::to_owned)
                    .collect(),
            });
        }
        InputPurpose::Find => reader::find(state, text),
    }
}

fn question(state: &mut State, text: String, words: words::Words, ask: Ask) {
    let choice = Choice {
        key: 'y',
        words,
        asks: vec![ask],
        checks: false,
    };
    state.overlay = Some(Overlay::Question(Question {
        text,
        choices: vec![choice],
    }));
}

/// Asks before sessions are deleted.
pub(crate) fn ask_delete(state: &mut State) {
    let sessions = finder::chosen(state);
    let name = match (sessions.as_slice(), state.finder.row()) {
        ([], _) => return,
        ([one], Some(row)) if *one == row.session => row.name.clone(),
        (many, _) => fill(state.look.say(words::SESSIONS), &[&many.len().to_string()]),
    };
    let text = fill(state.look.say(words::ASK_DELETE), &[&name]);
    question(state, text, words::YES_DELETE, Ask::Delete(sessions));
}

/// Asks before a session is repaired.
pub(crate) fn ask_repair(state: &mut State) {
    let Some(health) = &state.health else {
        return;
    };
    let Some(Ok(facts)) = &health.facts else {
        return;
    };
    if facts.steps.iter().any(|it| it.taken) {
        let ask = Ask::Repair(health.session.clone());
        let text = state.look.say(words::ASK_REPAIR).to_owned();
        question(state, text, words::YES_APPLY, ask);
    }
}

/// Asks before the last change is undone.
pub(crate) fn ask_undo(state: &mut State) {
    let text = state.look.say(words::ASK_UNDO).to_owned();
    question(state, text, words::YES_UNDO, Ask::Undo);
}
