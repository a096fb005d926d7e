//! Enter: when an agent is started, and when it is not.

use std::collections::BTreeMap;

use crossterm::event::KeyCode;

use super::demo::Demo;
use crate::ScreenExit;
use crate::ask::{Answer, Ask, Event};
use crate::keys::Place;
use crate::state::{Look, Overlay};

fn projects_exist(demo: &Demo) {
    for name in ["shop", "blog"] {
        std::fs::create_dir_all(demo.root.join("projects").join(name)).unwrap();
    }
}

/// Opens a demo whose projects exist, with a session selected.
pub(super) fn at(look: Look, name: &str) -> Demo {
    let mut demo = Demo::with((120, 40), look);
    projects_exist(&demo);
    // Folders are examined with the preview.
    demo.state.finder.asked = None;
    demo.state.finder.preview = None;
    demo.press(KeyCode::Down);
    demo.settle();
    demo.select(name);
    demo
}

fn question(demo: &Demo) -> &str {
    match &demo.state.overlay {
        Some(Overlay::Question(question)) => &question.text,
        _ => "",
    }
}

#[test]
fn enter_resumes_what_the_footer_said() {
    let mut demo = at(Look::default(), "Coupon rounding");
    let footer = demo.screen().lines().last().unwrap().to_owned();
    assert!(
        footer.contains("resume claude in ~/projects/shop"),
        "{footer}"
    );
    demo.press(KeyCode::Enter);
    let Some(ScreenExit::Resume(plan)) = demo.left() else {
        panic!("not resumed: {:?}", demo.terminal_asks);
    };
    assert_eq!(plan.argv.first().map(String::as_str), Some("claude"));
    assert!(plan.cwd.as_deref().unwrap().ends_with("/projects/shop"));
    assert!(!plan.argv.iter().any(|it| it.contains("dangerously")));
}

#[test]
fn the_very_first_enter_asks() {
    let look = Look {
        first_time: true,
        ..Look::default()
    };
    let mut demo = at(look, "Coupon rounding");
    demo.press(KeyCode::Enter);
    assert!(demo.left().is_none() && question(&demo).contains("claude --resume"));
    demo.press(KeyCode::Char('x'));
    assert!(demo.left().is_none() && demo.state.overlay.is_none());
    demo.press(KeyCode::Enter);
    demo.press(KeyCode::Char('y'));
    assert!(matches!(demo.left(), Some(ScreenExit::Resume(_))));
}

#[test]
fn a_folder_that_is_gone_starts_nothing() {
    let mut demo = Demo::open((120, 40));
    let shop = demo.root.join("projects/shop");
    if shop.exists() {
        std::fs::remove_dir_all(&shop).unwrap();
    }
    demo.select("Flaky websocket test");
    demo.state.finder.asked = None;
    demo.select("Coupon rounding");
    demo.press(KeyCode::Enter);
    assert!(demo.left().is_none());
    let Some(Overlay::Input(input)) = &demo.state.overlay else {
        panic!("not asked where it is");
    };
    assert_eq!(input.title, "Where is ~/projects/shop now?");
    // The user says where; the stores are told after a question.
    let moved = demo.root.join("projects/store");
    std::fs::create_dir_all(&moved).unwrap();
    demo.ctrl('u');
    demo.text("~/projects/store");
    demo.press(KeyCode::Enter);
    demo.wait("the plan", |state| state.overlay.is_some());
    assert!(question(&demo).contains("~/projects/shop is now ~/projects/store"));
    demo.press(KeyCode::Char('y'));
    demo.wait("the move", |state| {
        let said = state.message.as_ref();
        said.is_some_and(|it| it.starts_with("moved"))
    });
    demo.wait("the moved session", |state| {
        let row = state
            .finder
            .rows
            .iter()
            .find(|it| it.name == "Coupon rounding");
        row.and_then(|it| it.project.as_deref())
            .is_some_and(|it| it.ends_with("/store"))
    });
    demo.settle();
    demo.select("Coupon rounding");
    demo.press(KeyCode::Enter);
    let Some(ScreenExit::Resume(plan)) = demo.left() else {
        panic!(
            "not resumed: {:?} {:?}",
            demo.terminal_asks, demo.state.message
        );
    };
    assert!(plan.cwd.as_deref().unwrap().ends_with("/projects/store"));
}

#[test]
fn a_folder_that_is_gone_is_told_as_a_command_where_nothing_may_be_written() {
    let look = Look {
        read_only: true,
        ..Look::default()
    };
    let mut demo = Demo::with((120, 40), look);
    let shop = demo.root.join("projects/shop");
    if shop.exists() {
        std::fs::remove_dir_all(&shop).unwrap();
    }
    demo.select("Flaky websocket test");
    demo.state.finder.asked = None;
    demo.select("Coupon rounding");
    demo.press(KeyCode::Enter);
    assert!(demo.left().is_none() && demo.state.overlay.is_none());
    let said = demo.state.message.as_ref().unwrap();
    assert!(said.contains("boswell move"), "{said}");
}

#[test]
fn the_menu_of_ways_to_resume_says_what_each_does() {
    let mut demo = at(Look::default(), "博客的中文全文搜索");
    demo.alt(KeyCode::Char('r'));
    demo.wait("the ways", |state| state.overlay.is_some());
    let Some(Overlay::Menu(menu)) = &demo.state.overlay else {
        panic!("no menu");
    };
    let texts: Vec<&str> = menu.items.iter().map(|it| it.text.as_str()).collect();
    for wanted in [
        "claude --resume",
        "fork",
        "print",
        "copy",
        "another store: claude --resume",
        "another agent",
    ] {
        assert!(
            texts.iter().any(|it| it.contains(wanted)),
            "{wanted} in {texts:?}"
        );
    }
    demo.text("print");
    demo.press(KeyCode::Enter);
    let Some(ScreenExit::Printed(command)) = demo.left() else {
        panic!("not printed: {:?}", demo.terminal_asks);
    };
    assert!(command.contains("claude --resume"), "{command}");
}

#[test]
fn a_fork_is_resumed_from_an_entry() {
    let mut demo = at(Look::default(), "Coupon rounding");
    demo.press(KeyCode::Right);
    demo.wait("the reader", |state| {
        state
            .reader
            .as_ref()
            .is_some_and(|it| !it.blocks.is_empty())
    });
    demo.press(KeyCode::Char('['));
    demo.press(KeyCode::Char('R'));
    while demo.left().is_none() {
        demo.take_one();
    }
    let Some(ScreenExit::Resume(plan)) = demo.left() else {
        panic!("not resumed: {:?}", demo.terminal_asks);
    };
    assert!(
        !plan.argv.iter().any(|it| it.contains("5ac5e505")),
        "{:?}",
        plan.argv
    );
}

#[test]
fn a_session_in_use_is_asked_about() {
    let mut demo = at(Look::default(), "Coupon rounding");
    let session = demo.state.session().unwrap();
    demo.event(Event::Answer(Answer::Marks {
        live: BTreeMap::from([(session, vec![48213])]),
        lost_soon: Default::default(),
    }));
    demo.press(KeyCode::Enter);
    assert!(question(&demo).contains("48213") && demo.left().is_none());
    demo.press(KeyCode::Char('y'));
    assert!(matches!(demo.left(), Some(ScreenExit::Resume(_))));
}

#[test]
fn a_damaged_session_leads_to_its_repair() {
    let mut demo = at(Look::default(), "The deployment hangs");
    demo.press(KeyCode::Enter);
    assert!(question(&demo).contains("damaged") && demo.left().is_none());
    demo.press(KeyCode::Char('c'));
    assert_eq!(demo.state.place, Place::Health);
    demo.wait("the plan", |state| {
        state.health.as_ref().is_some_and(|it| it.facts.is_some())
    });
    let screen = demo.screen();
    assert!(
        screen.contains("glued_records") && screen.contains("4 of 7"),
        "{screen}"
    );
    demo.press(KeyCode::Char('a'));
    demo.press(KeyCode::Char('y'));
    demo.wait("the repair", |state| {
        state
            .message
            .as_ref()
            .is_some_and(|it| it.starts_with("repaired"))
    });
}

#[test]
fn enter_before_the_plan_is_known_waits_for_it() {
    let mut demo = at(Look::default(), "Coupon rounding");
    demo.state.finder.preview = None;
    demo.state.finder.asked = None;
    demo.press(KeyCode::Enter);
    assert!(demo.left().is_none() && demo.state.finder.waiting.is_some());
    demo.settle();
    assert!(matches!(demo.left(), Some(ScreenExit::Resume(_))));
}

#[test]
fn a_move_before_the_plan_is_known_starts_nothing() {
    let mut demo = at(Look::default(), "Coupon rounding");
    demo.state.finder.preview = None;
    demo.state.finder.asked = None;
    demo.press(KeyCode::Enter);
    demo.press(KeyCode::Up);
    demo.settle();
    assert!(demo.left().is_none() && demo.state.finder.waiting.is_none());
}

#[test]
fn permissions_are_given_only_after_a_question() {
    let mut demo = at(Look::default(), "Coupon rounding");
    demo.alt(KeyCode::Enter);
    assert!(question(&demo).contains("permissions") && demo.left().is_none());
    demo.press(KeyCode::Esc);
    assert!(demo.left().is_none());
}

#[test]
fn a_picker_returns_the_session() {
    let look = Look {
        pick: true,
        ..Look::default()
    };
    let mut demo = at(look, "Coupon rounding");
    assert!(demo.screen().lines().last().unwrap().contains("choose"));
    demo.press(KeyCode::Enter);
    let Some(ScreenExit::Picked(session)) = demo.left() else {
        panic!("nothing picked");
    };
    assert!(session.starts_with("claude:5ac5e505"), "{session}");
}

#[test]
fn enter_reads_if_the_user_wants_that() {
    let look = Look {
        enter_reads: true,
        ..Look::default()
    };
    let mut demo = at(look, "Coupon rounding");
    demo.press(KeyCode::Enter);
    assert_eq!(
        (demo.state.place, demo.left().is_none()),
        (Place::Reader, true)
    );
}

#[test]
fn fork_makes_a_session_and_selects_it() {
    let mut demo = at(Look::default(), "Coupon rounding");
    let before = demo.state.finder.rows.len();
    demo.ctrl('f');
    demo.wait("the fork", |state| state.finder.rows.len() > before);
    assert!(
        demo.terminal_asks
            .iter()
            .all(|it| !matches!(it, Ask::Leave(_)))
    );
}

#[test]
fn the_reader_names_the_command_before_it_resumes() {
    let mut demo = at(Look::default(), "Coupon rounding");
    demo.press(KeyCode::Right);
    demo.press(KeyCode::Char('r'));
    assert!(question(&demo).contains("claude --resume 5ac5e505") && demo.left().is_none());
    demo.press(KeyCode::Char('y'));
    assert!(matches!(demo.left(), Some(ScreenExit::Resume(_))));
}
