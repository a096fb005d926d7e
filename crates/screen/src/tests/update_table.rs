//! `update` as a table: a place and a key give a place, an overlay and asks. No worker, no home.

use crate::rows_ask::Scope;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::demo::now;
use crate::ScreenExit;
use crate::ask::{
    Answer, Ask, BlameFacts, BlameLine, Event, HealthFacts, LineAuthor, Node, Page, RepairStepLine,
};
use crate::keys::{BINDINGS, Place};
use crate::rows::Row;
use crate::state::{Look, Overlay, State};
use crate::transcript::{Block, BlockKind};
use crate::update::update;

fn row(name: &str) -> Row {
    Row {
        session: format!("claude:{name}"),
        agent: "claude".to_owned(),
        name: name.to_owned(),
        searched: name.to_owned(),
        ..Row::default()
    }
}

/// A state with two sessions, in a place.
fn state(place: Place) -> State {
    let mut state = State::new(Look::default(), (120, 40), now());
    let ask = state.finder.wanted.clone();
    let rows = vec![row("one"), row("two")];
    let rows = Answer::Rows {
        ask,
        rows,
        complete: true,
    };
    update(&mut state, Event::Answer(rows));
    match place {
        Place::Preview => drop(key(&mut state, KeyCode::Tab)),
        Place::Reader => in_reader(&mut state),
        Place::Tree => {
            key(&mut state, KeyCode::F(3));
            let nodes = vec![Node {
                entry: "e1".to_owned(),
                ..Node::default()
            }];
            let session = "claude:one".to_owned();
            update(
                &mut state,
                Event::Answer(Answer::Tree {
                    session,
                    nodes: Ok(nodes),
                }),
            );
        }
        Place::Health => {
            key(&mut state, KeyCode::F(4));
            let step = RepairStepLine {
                number: 1,
                taken: true,
                text: "mend".to_owned(),
                changes: vec![("a".to_owned(), "b".to_owned())],
            };
            let health = HealthFacts {
                steps: vec![step],
                ..HealthFacts::default()
            };
            let session = "claude:one".to_owned();
            update(
                &mut state,
                Event::Answer(Answer::Health {
                    session,
                    health: Ok(health),
                }),
            );
        }
        Place::Costs => drop(key(&mut state, KeyCode::F(5))),
        Place::Blame => in_blame(&mut state),
        _ => {}
    }
    assert_eq!(state.place, place);
    state
}

fn in_reader(state: &mut State) {
    key(state, KeyCode::Right);
    let ask = state
        .reader
        .as_ref()
        .and_then(|it| it.loading.clone())
        .unwrap();
    let block = |kind, text: &str| Block {
        entry: Some("e1".to_owned()),
        ..Block::note(kind, text.to_owned(), 0)
    };
    let branch = Block {
        ends: vec!["x".to_owned(), "y".to_owned()],
        ..block(BlockKind::Branch, "branch")
    };
    let subagent = Block {
        head: "agent-1".to_owned(),
        ..block(BlockKind::Subagent, "task")
    };
    let page = Page {
        blocks: vec![
            block(BlockKind::Prompt, "why?"),
            branch,
            subagent,
            block(BlockKind::Media, "image/png"),
            block(BlockKind::Output { failed: true }, "boom"),
            block(BlockKind::Answer, "because"),
        ],
        first: Some("e1".to_owned()),
        last: Some("e1".to_owned()),
        ..Page::default()
    };
    update(
        state,
        Event::Answer(Answer::Page {
            ask,
            page: Ok(page),
        }),
    );
    key(state, KeyCode::Char('g'));
}

fn in_blame(state: &mut State) {
    in_reader(state);
    key(state, KeyCode::Char('w'));
    let author = LineAuthor {
        session: "claude:two".to_owned(),
        entry: Some("e7".to_owned()),
        ..LineAuthor::default()
    };
    let line = BlameLine {
        author: Some(author),
        ..BlameLine::default()
    };
    let blame = BlameFacts {
        lines: vec![line],
        ..BlameFacts::default()
    };
    let (session, entry) = ("claude:one".to_owned(), "e1".to_owned());
    update(
        state,
        Event::Answer(Answer::Blame {
            session,
            entry,
            blame: Ok(blame),
        }),
    );
}

fn key(state: &mut State, code: KeyCode) -> Vec<Ask> {
    update(state, Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

/// What a key did, in a few words.
fn did(state: &State, asks: &[Ask]) -> String {
    let mut words = vec![format!("{:?}", state.place)];
    match &state.overlay {
        Some(Overlay::Menu(menu)) => words.push(format!("menu {}", menu.title.0)),
        Some(Overlay::Question(_)) => words.push("question".to_owned()),
        Some(Overlay::Input(input)) => words.push(format!("line {}", input.title)),
        None => {}
    }
    for ask in asks {
        let text = match ask {
            Ask::Leave(ScreenExit::Quit) => "quit".to_owned(),
            Ask::Rows(rows) if rows.scope != Scope::Everywhere => "rows of a scope".to_owned(),
            other => format!("{other:?}")
                .split([' ', '(', '{'])
                .next()
                .unwrap_or("")
                .to_owned(),
        };
        words.push(format!("ask {text}"));
    }
    words.extend(state.message.iter().map(|it| format!("say {it}")));
    words.join(", ")
}

/// Every key of the table in its place, and what it does there.
#[test]
fn every_key_of_the_table_does_what_the_snapshot_says() {
    let mut out = String::new();
    for binding in BINDINGS {
        let places: &[Place] = match binding.place {
            Place::Everywhere => &[Place::Finder, Place::Reader, Place::Costs],
            Place::Line => &[Place::Finder],
            _ => std::slice::from_ref(&binding.place),
        };
        for (place, bound) in places
            .iter()
            .flat_map(|it| binding.keys.iter().map(move |key| (it, key)))
        {
            let mut state = state(*place);
            let asks = update(&mut state, Event::Key(bound.event()));
            let (name, action) = (bound.name(), binding.name());
            out.push_str(&format!(
                "{place:?} {name} ({action}): {}\n",
                did(&state, &asks)
            ));
        }
    }
    super::screens::check("update-table", &out);
}

#[test]
fn a_release_of_a_key_does_nothing() {
    let mut state = state(Place::Finder);
    let mut event = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    event.kind = crossterm::event::KeyEventKind::Release;
    assert_eq!(update(&mut state, Event::Key(event)), Vec::new());
}

#[test]
fn quitting_works_in_front_of_every_view_too() {
    for key in ['c', 'q'] {
        let mut state = state(Place::Finder);
        let press = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        update(&mut state, press(KeyCode::F(1), KeyModifiers::NONE));
        assert!(state.overlay.is_some());
        let asks = update(&mut state, press(KeyCode::Char(key), KeyModifiers::CONTROL));
        assert_eq!(asks, [Ask::Leave(ScreenExit::Quit)]);
    }
}

#[test]
fn in_a_terminal_that_is_too_small_only_quitting_works() {
    for binding in BINDINGS {
        for bound in binding.keys {
            let mut state = state(Place::Finder);
            update(&mut state, Event::Resize(20, 5));
            let asks = update(&mut state, Event::Key(bound.event()));
            let quits = matches!(asks.as_slice(), [Ask::Leave(_)]);
            assert_eq!(
                quits,
                binding.action == crate::keys::Action::Quit,
                "{}",
                bound.name()
            );
        }
    }
}
