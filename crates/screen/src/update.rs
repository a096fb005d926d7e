//! The one function that changes the state: an event goes in, asks for workers and terminal come
//! out. It reads no file, no clock and no terminal.

mod answers;
mod blame;
mod export;
mod finder;
mod health;
mod mouse;
pub(crate) mod overlay;
pub(crate) mod reader;
mod resume;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::ScreenExit;
use crate::ask::{Ask, Event};
use crate::keys::{self, Action, Binding, Place};
use crate::layout;
use crate::state::{CostSpan, HealthState, Menu, MenuItem, MenuRun, Overlay, State, TreeState};
use crate::words;

/// Changes the state; returns what is to be done.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Ask> {
    let mut asks = Vec::new();
    match event {
        Event::Tick(now) => {
            state.now = now;
            return asks;
        }
        Event::Key(key) if key.kind == KeyEventKind::Release => return asks,
        Event::Key(key) => press(state, &key, &mut asks),
        Event::Mouse(mouse) => mouse::point(state, mouse, &mut asks),
        Event::Paste(text) => paste(state, &text, &mut asks),
        Event::Resize(width, height) => state.size = (width, height),
        Event::Answer(answer) => answers::take(state, answer, &mut asks),
        Event::Ended(signal) => asks.push(Ask::Leave(ScreenExit::Ended(signal))),
        Event::Stopped => asks.push(Ask::Suspend),
        Event::Continued => asks.push(Ask::Retake),
        Event::Broken => asks.push(Ask::Leave(ScreenExit::Broken)),
        Event::Drawn => return asks,
        Event::Slow => state.finder.is_slow = state.finder.answered != state.finder.generation,
    }
    settle(state, &mut asks);
    asks
}

/// Brings what depends on size and selection up to date.
pub(crate) fn settle(state: &mut State, asks: &mut Vec<Ask>) {
    let areas = layout::finder(state.size);
    let now = state.now;
    state.finder.follow(usize::from(areas.list.height), now);
    let is_finder = matches!(state.place, Place::Finder | Place::Preview);
    if is_finder || state.finder.waiting.is_some() {
        finder::ask_preview(state, asks);
    }
    reader::settle(state, asks);
}

fn press(state: &mut State, key: &KeyEvent, asks: &mut Vec<Ask>) {
    state.message = None;
    if state.is_too_small() {
        let binding = state.look.keys.action(Place::Everywhere, key);
        if binding.is_some_and(|it| it.action == Action::Quit) {
            asks.push(Ask::Leave(ScreenExit::Quit));
        }
        return;
    }
    if state.overlay.is_some() {
        return overlay::press(state, key, asks);
    }
    if state.place == Place::Finder {
        return finder::press(state, key, asks);
    }
    if let Some(binding) = state.look.keys.action(state.place, key) {
        run(state, binding, asks);
    }
}

/// Runs a binding, unless it writes and nothing may be written.
pub(crate) fn run(state: &mut State, binding: &Binding, asks: &mut Vec<Ask>) {
    if !(binding.writes && state.look.read_only) {
        perform(state, binding.action, asks);
    }
}

/// Does what a key of this place stands for.
pub(crate) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    match action {
        Action::Quit => asks.push(Ask::Leave(ScreenExit::Quit)),
        Action::Suspend => asks.push(Ask::Suspend),
        Action::Repaint => asks.extend([Ask::Repaint, Ask::Refresh]),
        Action::Mouse => {
            state.look.mouse = !state.look.mouse;
            let word = if state.look.mouse {
                words::MOUSE_ON
            } else {
                words::MOUSE_OFF
            };
            state.message = Some(state.look.say(word).to_owned());
            asks.push(Ask::Mouse(state.look.mouse));
        }
        Action::Help => menu(state, words::KEYS_OF),
        Action::Commands => menu(state, words::COMMANDS),
        Action::Costs => costs(state, asks),
        Action::Tree => tree(state, asks),
        Action::Check => check(state, asks),
        Action::Blame => blame::open(state, asks),
        Action::Unread => unread(state),
        Action::Export => export::ask_file(state),
        Action::ResumeMenu => resume::ask_ways(state, asks),
        Action::ResumeFork => fork(state, true, asks),
        Action::Resume => resume::enter(state, asks),
        Action::ResumeSame => resume::ask_same(state),
        Action::Undo => overlay::ask_undo(state),
        Action::Fork => fork(state, false, asks),
        _ => in_place(state, action, asks),
    }
}

/// Actions that mean something else in each place.
fn in_place(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    match (state.place, action) {
        (Place::Finder, _) => finder::perform(state, action, asks),
        (_, Action::Back) => back(state),
        (Place::Preview, _) => finder::in_preview(state, action, asks),
        (Place::Reader, _) => reader::perform(state, action, asks),
        (Place::Tree, _) => tree_action(state, action, asks),
        (Place::Health, Action::Apply) => overlay::ask_repair(state),
        (Place::Health, _) => health::perform(state, action),
        (Place::Costs, _) => costs_action(state, action, asks),
        (Place::Blame, _) => blame::perform(state, action, asks),
        _ => {}
    }
}

fn scrolled(top: usize, action: Action) -> usize {
    match action {
        Action::Up => top.saturating_sub(1),
        Action::Down => top.saturating_add(1),
        _ => top,
    }
}

fn back(state: &mut State) {
    if state.place == Place::Reader {
        reader::remember(state);
    }
    state.place = state.back.pop().unwrap_or(Place::Finder);
}

/// Opens the list of what can be done here. Moving and typing are not commands.
fn menu(state: &mut State, title: words::Words) {
    let place = state.place;
    let read_only = state.look.read_only;
    let is_help = title == words::KEYS_OF;
    let is_command = |it: &&Binding| {
        it.place != Place::Line
            && !matches!(
                it.action,
                Action::Up | Action::Down | Action::PageUp | Action::PageDown
            )
    };
    let look = &state.look;
    let items = keys::of_place(place)
        .filter(|it| !(it.writes && read_only))
        .filter(|it| is_help || is_command(it))
        .map(|it| MenuItem {
            key: look.keys.names(it),
            text: look.say(it.does).to_owned(),
            run: MenuRun::Binding(it),
        });
    let items = items.collect();
    open_menu(state, title, items);
}

/// Opens a menu.
pub(crate) fn open_menu(state: &mut State, title: words::Words, items: Vec<MenuItem>) {
    state.overlay = Some(Overlay::Menu(Menu {
        title,
        line: crate::line::Line::default(),
        items,
        selected: 0,
    }));
}

/// Lists what could not be read.
fn unread(state: &mut State) {
    if state.unread.is_empty() {
        return state.say(words::ALL_READ);
    }
    let item = |text: &String| MenuItem {
        key: String::new(),
        text: text.clone(),
        run: MenuRun::Nothing,
    };
    let items = state.unread.iter().map(item).collect();
    open_menu(state, words::UNREAD, items);
}

fn fork(state: &mut State, resume: bool, asks: &mut Vec<Ask>) {
    let at = match state.place {
        Place::Reader => reader::entry(state),
        Place::Tree => node(state),
        _ => None,
    };
    if let Some(session) = state.session() {
        asks.push(Ask::Fork {
            session,
            at,
            resume,
        });
    }
}

fn tree(state: &mut State, asks: &mut Vec<Ask>) {
    let Some(session) = state.session() else {
        return;
    };
    asks.push(Ask::Tree(session.clone()));
    state.tree = Some(TreeState {
        session,
        ..TreeState::default()
    });
    state.go(Place::Tree);
}

/// Shows the problems of the session and its repair.
pub(crate) fn check(state: &mut State, asks: &mut Vec<Ask>) {
    let Some(session) = state.session() else {
        return;
    };
    asks.push(Ask::Check(session.clone()));
    state.health = Some(HealthState {
        session,
        ..HealthState::default()
    });
    state.go(Place::Health);
}

fn node(state: &State) -> Option<String> {
    let tree = state.tree.as_ref()?;
    let nodes = tree.nodes.as_ref()?.as_ref().ok()?;
    nodes.get(tree.selected).map(|it| it.entry.clone())
}

fn tree_action(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    if action == Action::Read {
        let Some(entry) = node(state) else {
            return;
        };
        if let Some(session) = state.session() {
            return reader::open(state, session, Some(entry), asks);
        }
    }
    let page = usize::from(layout::body(state.size).height);
    let Some(tree) = &mut state.tree else {
        return;
    };
    let count = match &tree.nodes {
        Some(Ok(nodes)) => nodes.len(),
        _ => 0,
    };
    tree.selected = moved(tree.selected, action, page).min(count.saturating_sub(1));
}

/// Returns the selection after a move; the caller limits it.
pub(crate) fn moved(selected: usize, action: Action, page: usize) -> usize {
    match action {
        Action::Up => selected.saturating_sub(1),
        Action::Down => selected.saturating_add(1),
        Action::PageUp => selected.saturating_sub(page),
        Action::PageDown => selected.saturating_add(page),
        Action::First => 0,
        Action::Last => usize::MAX,
        _ => selected,
    }
}

fn costs(state: &mut State, asks: &mut Vec<Ask>) {
    state.go(Place::Costs);
    ask_stats(state, asks);
}

fn ask_stats(state: &mut State, asks: &mut Vec<Ask>) {
    state.costs.stats = None;
    state.costs.top = 0;
    asks.push(Ask::Stats {
        by: state.costs.by,
        since: state.costs.span.since(),
    });
}

fn costs_action(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    use crate::ask::Grouping;
    let costs = &mut state.costs;
    match action {
        Action::ByDay => costs.by = Grouping::Day,
        Action::ByProject => costs.by = Grouping::Project,
        Action::ByModel => costs.by = Grouping::Model,
        Action::ByAgent => costs.by = Grouping::Agent,
        Action::Span => {
            costs.span = match costs.span {
                CostSpan::Week => CostSpan::Month,
                CostSpan::Month => CostSpan::All,
                CostSpan::All => CostSpan::Week,
            }
        }
        _ => {
            costs.top = scrolled(costs.top, action);
            return;
        }
    }
    ask_stats(state, asks);
}

fn paste(state: &mut State, text: &str, asks: &mut Vec<Ask>) {
    match &mut state.overlay {
        Some(Overlay::Menu(menu)) => menu.line.insert(text),
        Some(Overlay::Input(input)) => input.line.insert(text),
        Some(Overlay::Question(_)) => {}
        None if state.place == Place::Finder => {
            state.finder.line.insert(text);
            finder::typed(state, asks);
        }
        None => {}
    }
}

/// Returns the ask for the hits of the box.
pub(crate) fn finder_ask(state: &State) -> Ask {
    finder::find(state)
}

/// Returns the character of a key that is text.
pub(crate) fn typed_char(key: &KeyEvent) -> Option<char> {
    let held = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
    match key.code {
        KeyCode::Char(c) if held.is_empty() => Some(c),
        _ => None,
    }
}
