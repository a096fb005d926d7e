//! Snapshots of every view in four sizes. A run with
//! `BOSWELL_BLESS=1` writes them.

use std::path::PathBuf;

use crossterm::event::KeyCode;

use super::demo::Demo;
use super::keys_page::blesses;
use crate::ask::{Answer, Event};
use crate::state::{Look, State};
use crate::words::Language;

pub(super) const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 16), (24, 6)];

/// Removes what differs between runs.
pub(super) fn steady(state: &mut State) {
    state.finder.found.millis = 6;
    state.finder.found.scanned = None;
}

pub(super) fn check(name: &str, screen: &str) {
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
    demo.press(KeyCode::F(5));
    demo.press(KeyCode::Char('w'));
    demo.press(KeyCode::Char('w'));
    demo.wait("the costs", |state| state.costs.stats.is_some());
    check_sizes("costs", &mut demo);
    demo.press(KeyCode::Esc);
    demo.select("The deployment hangs");
    demo.press(KeyCode::F(4));
    demo.wait("the check", |state| {
        state.health.as_ref().is_some_and(|it| it.facts.is_some())
    });
    demo.press(KeyCode::Char('d'));
    check_sizes("health", &mut demo);
}

#[test]
fn the_lines_of_a_file_with_their_agents() {
    let mut demo = Demo::open((120, 40));
    demo.select("Coupon rounding");
    demo.press(KeyCode::Right);
    demo.wait("the reader", |state| {
        state
            .reader
            .as_ref()
            .is_some_and(|it| !it.blocks.is_empty())
    });
    // The cursor is on the call that edits the file.
    demo.press(KeyCode::Char('t'));
    let reader = demo.state.reader.as_mut().unwrap();
    let is_edit = |it: &crate::transcript::TextLine| it.text.contains("Edit src/coupon.rs");
    reader.at = reader.lines.iter().position(is_edit).unwrap();
    demo.press(KeyCode::Char('w'));
    demo.wait("the authors", |state| {
        state.blame.as_ref().is_some_and(|it| it.facts.is_some())
    });
    let lines = |state: &State| {
        let facts = state.blame.as_ref().unwrap().facts.clone().unwrap();
        facts.unwrap().lines
    };
    let written = lines(&demo.state).iter().position(|it| it.author.is_some());
    let written = written.unwrap();
    for _ in 0..written {
        demo.press(KeyCode::Char('j'));
    }
    check_sizes("blame", &mut demo);
    // Enter reads the session at the call that wrote the line.
    let author = lines(&demo.state)[written].author.clone().unwrap();
    demo.press(KeyCode::Enter);
    assert_eq!(demo.state.place, crate::keys::Place::Reader);
    let session = demo.state.session().unwrap();
    assert_eq!(session, author.session);
    demo.press(KeyCode::Esc);
    // What a purged session asked for is not shown any longer.
    demo.event(Event::Answer(Answer::Gone(vec![session])));
    assert!(demo.state.blame.is_none());
    assert_ne!(demo.state.place, crate::keys::Place::Blame);
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
    demo.press(KeyCode::Esc);
    demo.alt(KeyCode::Char('r'));
    demo.wait("the ways", |state| state.overlay.is_some());
    check_sizes("ways-to-resume", &mut demo);
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::Tab);
    check_sizes("preview", &mut demo);
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

#[test]
fn damaged_and_live_sessions_ask_first() {
    let mut demo = super::enter::at(Look::default(), "The deployment hangs");
    demo.press(KeyCode::Enter);
    check_sizes("question-damaged", &mut demo);
    demo.press(KeyCode::Esc);
    demo.select("Coupon rounding");
    let session = demo.state.session().unwrap();
    demo.event(Event::Answer(Answer::Marks {
        live: [(session, vec![48213])].into(),
        lost_soon: Default::default(),
    }));
    demo.press(KeyCode::Enter);
    check_sizes("question-live", &mut demo);
}
