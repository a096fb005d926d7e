//! Snapshots of every view in four sizes, and of every state of the finder. A run with
//! `BOSWELL_BLESS=1` writes them.

use std::path::PathBuf;

use crossterm::event::KeyCode;

use super::demo::{Demo, drawn, now};
use super::keys_page::blesses;
use crate::ask::{Answer, Event, FoundText};
use crate::rows::Row;
use crate::state::{Look, State};
use crate::update::update;
use crate::words::Language;

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 16), (24, 6)];

/// Removes what differs between runs.
pub(super) fn steady(state: &mut State) {
    state.finder.found.millis = 6;
    state.finder.found.scanned = None;
}

fn check(name: &str, screen: &str) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("src/tests/screens/{name}.txt"));
    if blesses() {
        boswell_testkit::disk::write(&path, screen.as_bytes());
        return;
    }
    assert!(
        path.is_file(),
        "{name} has no snapshot; run with BOSWELL_BLESS=1\n{screen}"
    );
    let expected = String::from_utf8(boswell_testkit::disk::read(&path)).unwrap();
    assert_eq!(
        screen, expected,
        "{name}; bless it with BOSWELL_BLESS=1 if this is right"
    );
}

/// Compares all sizes, in one file.
fn check_sizes(name: &str, demo: &mut Demo) {
    let mut text = String::new();
    for size in SIZES {
        demo.resize(size);
        demo.settle();
        steady(&mut demo.state);
        text.push_str(&format!("{}x{}\n{}\n", size.0, size.1, demo.screen()));
    }
    demo.resize(SIZES[0]);
    check(name, &text);
}

#[test]
fn finder_list_and_hits() {
    let mut demo = Demo::open((120, 40));
    demo.select("博客的中文全文搜索");
    check_sizes("finder", &mut demo);
    demo.search("test");
    check_sizes("finder-hits", &mut demo);
}

#[test]
fn reader_tree_health_and_costs() {
    let mut demo = Demo::open((120, 40));
    demo.select("Coupon rounding");
    demo.press(KeyCode::Right);
    demo.wait("the reader", |state| {
        state
            .reader
            .as_ref()
            .is_some_and(|it| !it.blocks.is_empty())
    });
    check_sizes("reader", &mut demo);
    demo.press(KeyCode::Char('t'));
    demo.press(KeyCode::Char('T'));
    demo.press(KeyCode::Char('g'));
    check_sizes("reader-full", &mut demo);
    demo.press(KeyCode::Char('b'));
    demo.wait("the tree", |state| {
        state.tree.as_ref().is_some_and(|it| it.nodes.is_some())
    });
    check_sizes("tree", &mut demo);
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::Esc);
    demo.select("The deployment hangs");
    demo.press(KeyCode::F(4));
    demo.wait("the check", |state| {
        state.health.as_ref().is_some_and(|it| it.facts.is_some())
    });
    check_sizes("health", &mut demo);
}

#[test]
fn menus_questions_and_lines() {
    let mut demo = Demo::open((120, 40));
    demo.select("Coupon rounding");
    demo.press(KeyCode::F(1));
    check_sizes("help", &mut demo);
    demo.press(KeyCode::Esc);
    demo.ctrl('k');
    demo.text("undo");
    check_sizes("commands", &mut demo);
    demo.press(KeyCode::Esc);
    demo.ctrl('x');
    check_sizes("question", &mut demo);
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::F(2));
    check_sizes("rename", &mut demo);
}

#[test]
fn in_chinese_and_in_ascii() {
    let look = Look {
        language: Language::Chinese,
        ..Look::default()
    };
    let mut demo = Demo::with((120, 40), look);
    demo.select("博客的中文全文搜索");
    check_sizes("finder-zh", &mut demo);
    let look = Look {
        ascii: true,
        ..Look::default()
    };
    let mut demo = Demo::with((120, 40), look);
    demo.select("Coupon rounding");
    check_sizes("finder-ascii", &mut demo);
    assert!(!demo.screen().contains(['─', '│', '▸', '●']));
}

/// Compares a state without a home in all sizes.
fn check_state(name: &str, state: &mut State) {
    let mut text = String::new();
    for size in SIZES {
        update(state, Event::Resize(size.0, size.1));
        text.push_str(&format!("{}x{}\n{}\n", size.0, size.1, drawn(state)));
    }
    check(name, &text);
}

fn empty() -> State {
    State::new(Look::default(), (120, 40), now())
}

fn typed(state: &mut State, text: &str) {
    update(state, Event::Paste(text.to_owned()));
}

fn answer(state: &mut State, answer: Answer) {
    update(state, Event::Answer(answer));
}

fn rows(state: &mut State, rows: Vec<Row>) {
    let ask = state.finder.wanted.clone();
    answer(
        state,
        Answer::Rows {
            ask,
            rows,
            complete: true,
        },
    );
}

#[test]
fn first_run_nothing_found_and_no_hit() {
    let mut state = empty();
    check_state("state-first-run", &mut state);
    let place =
        |dialect: &str, exists| (dialect.to_owned(), format!("/home/dev/.{dialect}"), exists);
    answer(
        &mut state,
        Answer::LookedAt(vec![place("claude", true), place("codex", false)]),
    );
    rows(&mut state, Vec::new());
    answer(&mut state, Answer::Refreshed(now()));
    check_state("state-nothing-found", &mut state);
    let mut state = empty();
    rows(&mut state, hostile_rows());
    answer(&mut state, Answer::Refreshed(now()));
    typed(&mut state, "deadlok lease");
    check_state("state-waiting", &mut state);
    let generation = state.finder.generation;
    let found = FoundText {
        nearest: vec![("deadlok".to_owned(), "deadlock".to_owned())],
        ..FoundText::default()
    };
    answer(
        &mut state,
        Answer::Found {
            generation,
            found: Ok(found),
        },
    );
    check_state("state-no-hit", &mut state);
}

/// Rows with every mark, and names that terminals draw in odd ways.
fn hostile_rows() -> Vec<Row> {
    let names = [
        "a\u{1b}[2Jb\u{202e}reversed\u{200b}",
        "👩\u{200d}💻 emoji of several parts 🇨🇳 flags",
        "عربي right to left with 中文 and more text that does not fit into a narrow list at all",
        "",
    ];
    let row = |(at, name): (usize, &&str)| Row {
        session: format!("claude:{at}"),
        agent: "claude".to_owned(),
        name: boswell_app::text::one_line(name),
        project: Some("/w/\u{1b}]0;title\u{7}".to_owned()),
        active: Some(boswell_model::Instant::from_millis(
            now().millis() - 3_600_000 * at as i64,
        )),
        messages: Some(1234 * at as u64),
        cost: Some(0.001 + at as f64),
        damaged: at == 1,
        archived: at == 2,
        pinned: at == 3,
        ..Row::default()
    };
    names.iter().enumerate().map(row).collect()
}

#[test]
fn marks_and_hostile_text() {
    let mut state = empty();
    rows(&mut state, hostile_rows());
    answer(
        &mut state,
        Answer::Marks {
            live: [("claude:0".to_owned(), vec![48213])].into(),
            lost_soon: ["claude:3".to_owned()].into(),
        },
    );
    answer(&mut state, Answer::Refreshed(now()));
    check_state("state-marks", &mut state);
    for size in SIZES {
        update(&mut state, Event::Resize(size.0, size.1));
        let screen = drawn(&state);
        let hostile =
            |(at, c): (usize, char)| c != '\n' && boswell_model::is_hostile(&screen, at, c);
        assert!(!screen.char_indices().any(hostile), "{screen:?}");
    }
}

#[test]
fn a_small_terminal_says_so() {
    let mut state = empty();
    for size in [(23, 6), (24, 5), (1, 1), (0, 0)] {
        update(&mut state, Event::Resize(size.0, size.1));
        let screen = drawn(&state);
        assert!(size.0 < 9 || screen.starts_with("too small"), "{screen:?}");
    }
}
