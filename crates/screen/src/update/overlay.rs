//! What is in front of the view: menus, questions, a line to type.

use crossterm::event::{KeyCode, KeyEvent};

use crate::ScreenExit;
use crate::ask::{Ask, Moved};
use crate::keys::{Action, Keymap, Place};
use crate::line::Line;
use crate::state::{Choice, InputPurpose, Menu, MenuItem, MenuRun, Overlay, Question, State};
use crate::update::{check, finder, health, moved, reader, run, typed_char};
use crate::words::{self, fill};

/// Handles a key while something is in front.
pub(crate) fn press(state: &mut State, key: &KeyEvent, asks: &mut Vec<Ask>) {
    let binding = state.look.keys.action(Place::Everywhere, key);
    if binding.is_some_and(|it| it.action == Action::Quit) {
        asks.push(Ask::Leave(ScreenExit::Quit));
        return;
    }
    if key.code == KeyCode::Esc {
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
            edit(&state.look.keys, &mut input.line, key);
            state.overlay = Some(Overlay::Input(input));
        }
        None => {}
    }
}

fn edit(keys: &Keymap, line: &mut Line, key: &KeyEvent) {
    if let Some(binding) = keys.action(Place::Line, key) {
        line.edit(binding.action);
    } else if let Some(c) = typed_char(key) {
        line.insert(c.encode_utf8(&mut [0; 4]));
    }
}

/// Returns the items of a menu that its filter leaves: those that contain its letters in order,
/// with whole words first.
pub(crate) fn filtered(menu: &Menu) -> Vec<&MenuItem> {
    let wanted = menu.line.text().to_lowercase();
    let text = |it: &MenuItem| format!("{} {}", it.key, it.text).to_lowercase();
    let fits = |it: &&MenuItem| {
        let text = text(it);
        let mut rest = text.chars();
        wanted.chars().all(|c| rest.any(|other| other == c))
    };
    let mut items: Vec<&MenuItem> = menu.items.iter().filter(fits).collect();
    items.sort_by_key(|it| !text(it).contains(&wanted));
    items
}

fn in_menu(state: &mut State, mut menu: Menu, key: &KeyEvent, asks: &mut Vec<Ask>) {
    let items = filtered(&menu);
    let action = match key.code {
        KeyCode::Enter => {
            let item = items.get(menu.selected).map(|it| it.run.clone());
            return match item {
                Some(MenuRun::Binding(binding)) => run(state, binding, asks),
                Some(MenuRun::Asks(more)) => asks.extend(more),
                Some(MenuRun::Nothing) | None => {}
            };
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
            edit(&state.look.keys, &mut menu.line, key);
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
        InputPurpose::Find => reader::find(state, text, asks),
        InputPurpose::Move(old) => asks.push(Ask::PlanMove(Moved {
            old: old.clone(),
            new: expanded(state, text),
        })),
        InputPurpose::Export(session) => asks.push(Ask::Export {
            session: session.clone(),
            path: expanded(state, text),
        }),
        InputPurpose::Picture { session, entry } => asks.push(Ask::Picture {
            session: session.clone(),
            entry: entry.clone(),
            folder: expanded(state, text),
        }),
    }
}

/// Returns a path with the home folder in place of `~`.
fn expanded(state: &State, path: &str) -> String {
    let home = state.look.home.as_deref();
    match (home, path.strip_prefix("~/")) {
        (Some(home), Some(rest)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}

pub(super) fn question(state: &mut State, text: String, words: words::Words, ask: Ask) {
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

/// Returns the sessions that a change is about, and their name in a question.
fn chosen(state: &State) -> Option<(Vec<String>, String)> {
    let sessions = finder::chosen(state);
    let name = match (sessions.as_slice(), state.finder.row()) {
        ([], _) => return None,
        ([one], Some(row)) if *one == row.session => row.name.clone(),
        (many, _) => fill(state.look.say(words::SESSIONS), &[&many.len().to_string()]),
    };
    Some((sessions, name))
}

/// Asks before sessions are deleted.
pub(crate) fn ask_delete(state: &mut State) {
    if let Some((sessions, name)) = chosen(state) {
        let text = fill(state.look.say(words::ASK_DELETE), &[&name]);
        question(state, text, words::YES_DELETE, Ask::Delete(sessions));
    }
}

/// Asks before sessions are archived.
pub(crate) fn ask_archive(state: &mut State) {
    if let Some((sessions, name)) = chosen(state) {
        let text = fill(state.look.say(words::ASK_ARCHIVE), &[&name]);
        question(state, text, words::YES_ARCHIVE, Ask::Archive(sessions));
    }
}

/// Asks before copies are made of what agents delete.
pub(crate) fn ask_keep(state: &mut State) {
    let text = state.look.say(words::ASK_KEEP).to_owned();
    question(state, text, words::YES_KEEP, Ask::Keep);
}

/// Asks before a session is repaired.
pub(crate) fn ask_repair(state: &mut State) {
    let Some(health) = &state.health else {
        return;
    };
    match health::chosen(health) {
        Some(steps) => {
            let session = health.session.clone();
            let text = state.look.say(words::ASK_REPAIR).to_owned();
            question(
                state,
                text,
                words::YES_APPLY,
                Ask::Repair { session, steps },
            );
        }
        None => state.say(words::CHOOSE_STEPS),
    }
}

/// Asks before the last change is undone.
pub(crate) fn ask_undo(state: &mut State) {
    let text = state.look.say(words::ASK_UNDO).to_owned();
    question(state, text, words::YES_UNDO, Ask::Undo);
}
