//! The finder on a demo home.

use crossterm::event::KeyCode;

use super::demo::Demo;
use crate::ask::{Answer, Ask, Event};
use crate::keys::Place;
use crate::rows_ask::Scope;
use crate::state::{Look, MenuRun, Order, Overlay};

#[test]
fn the_first_list_has_every_session_of_the_demo_by_day() {
    let demo = Demo::open((120, 40));
    let screen = demo.screen();
    for name in [
        "Coupon rounding",
        "RSS 订阅",
        "博客的中文全文搜索",
        "Flaky websocket test",
    ] {
        assert!(screen.contains(name), "{name} in\n{screen}");
    }
    assert!(
        screen.contains("sessions") && screen.contains("LAST 30 DAYS"),
        "{screen}"
    );
}

#[test]
fn names_answer_before_the_search_does() {
    let mut demo = Demo::open((120, 40));
    demo.text("websocket");
    // No answer was taken since the keys.
    let row = demo.state.finder.row().unwrap();
    assert_eq!(row.name, "Flaky websocket test");
    assert_ne!(demo.state.finder.answered, demo.state.finder.generation);
}

#[test]
fn text_of_tools_and_chinese_is_found_with_its_place() {
    let mut demo = Demo::open((120, 40));
    demo.search("spring10_takes_ten");
    assert_eq!(demo.state.finder.row().unwrap().name, "Coupon rounding");
    assert!(demo.state.finder.entry().is_some());
    assert!(demo.screen().contains("spring10_takes_ten_percent"));
    demo.press(KeyCode::Esc);
    demo.search("分词");
    assert_eq!(demo.state.finder.row().unwrap().name, "博客的中文全文搜索");
}

#[test]
fn what_is_sought_is_sought_again_once_the_catalog_is_refreshed() {
    let mut demo = Demo::open((120, 40));
    let refreshed = || {
        Event::Answer(Answer::Refreshed {
            at: super::demo::now(),
            kept: true,
        })
    };
    let asks = crate::update::update(&mut demo.state, refreshed());
    assert!(!asks.iter().any(|it| matches!(it, Ask::Find { .. })));
    demo.search("spring10_takes_ten");
    // As if the search had been answered before the session was known.
    demo.event(Event::Answer(Answer::Found {
        generation: demo.state.finder.generation,
        found: Ok(Default::default()),
    }));
    assert!(demo.state.finder.entry().is_none());
    demo.event(refreshed());
    demo.wait("hits", |state| state.finder.entry().is_some());
}

#[test]
fn an_answer_to_an_older_text_is_dropped() {
    let mut demo = Demo::open((120, 40));
    demo.search("coupon");
    let old = demo.state.finder.generation;
    demo.text("s");
    demo.event(Event::Answer(Answer::Found {
        generation: old,
        found: Ok(Default::default()),
    }));
    assert_ne!(demo.state.finder.answered, demo.state.finder.generation);
    demo.settle();
}

#[test]
fn the_selection_stays_on_its_session_when_rows_move() {
    let mut demo = Demo::open((120, 40));
    demo.select("Coupon rounding");
    let mut rows = demo.state.finder.rows.clone();
    rows.rotate_left(3);
    for row in &mut rows {
        row.active = None;
    }
    rows.truncate(rows.len());
    let ask = demo.state.finder.wanted.clone();
    demo.event(Event::Answer(Answer::Rows {
        ask,
        rows,
        complete: true,
    }));
    assert_eq!(demo.state.finder.row().unwrap().name, "Coupon rounding");
    for _ in 0..4 {
        demo.alt(KeyCode::Char('s'));
        assert_eq!(demo.state.finder.row().unwrap().name, "Coupon rounding");
    }
    assert_eq!(demo.state.finder.order, Order::Active);
}

#[test]
fn escape_clears_the_text_and_then_leaves() {
    let mut demo = Demo::open((80, 24));
    demo.text("x");
    demo.press(KeyCode::Esc);
    assert!(demo.state.finder.line.is_empty() && demo.left().is_none());
    demo.press(KeyCode::Esc);
    assert!(demo.left().is_some());
}

#[test]
fn scope_and_agent_narrow_the_list() {
    let mut demo = Demo::open((120, 40));
    let all = demo.state.finder.rows.len();
    demo.ctrl('g');
    let agent = demo.state.finder.wanted.agent.clone().unwrap();
    demo.wait("one agent", |state| state.finder.rows.len() < all);
    assert!(
        demo.state
            .finder
            .rows
            .iter()
            .all(|row| row.agent.contains(&agent)),
        "{agent}"
    );
    demo.ctrl('s');
    assert_eq!(demo.state.finder.wanted.scope, Scope::Here);
}

#[test]
fn tab_completes_a_filter() {
    let mut demo = Demo::open((120, 40));
    demo.text("ag");
    demo.press(KeyCode::Tab);
    demo.text("om");
    demo.press(KeyCode::Tab);
    assert_eq!(demo.state.finder.line.text(), "agent:omp");
    demo.settle();
    assert!(demo.state.finder.shown.len() < demo.state.finder.rows.len());
}

#[test]
fn an_open_quote_is_reported_and_the_rows_stay() {
    let mut demo = Demo::open((120, 40));
    demo.search("coupon");
    demo.text(" \"take");
    demo.wait("the error", |state| state.finder.error.is_some());
    assert!(!demo.state.finder.found.hits.is_empty());
}

#[test]
fn what_a_key_writes_is_absent_when_nothing_may_be_written() {
    let look = Look {
        read_only: true,
        ..Look::default()
    };
    let mut demo = Demo::with((120, 40), look);
    assert!(!demo.screen().contains("fork"), "{}", demo.screen());
    demo.ctrl('x');
    assert!(demo.state.overlay.is_none());
    demo.ctrl('k');
    let Some(Overlay::Menu(menu)) = &demo.state.overlay else {
        panic!("no menu");
    };
    assert!(
        menu.items
            .iter()
            .all(|it| !matches!(it.run, MenuRun::Binding(binding) if binding.writes))
    );
}

#[test]
fn delete_asks_and_undo_restores() {
    let mut demo = Demo::open((120, 40));
    let name = "Coupon rounding";
    let has = |demo: &Demo| demo.state.finder.rows.iter().any(|row| row.name == name);
    demo.select(name);
    demo.ctrl('x');
    demo.press(KeyCode::Char('n'));
    assert!(demo.state.overlay.is_none() && has(&demo));
    demo.ctrl('x');
    demo.press(KeyCode::Char('y'));
    demo.wait("the deletion", |state| {
        state.finder.rows.iter().all(|row| row.name != name)
    });
    demo.alt(KeyCode::Char('u'));
    demo.press(KeyCode::Char('y'));
    demo.wait("the undo", |state| {
        state.finder.rows.iter().any(|row| row.name == name)
    });
}

#[test]
fn a_new_name_is_shown_in_the_list() {
    let mut demo = Demo::open((120, 40));
    demo.select("Flaky websocket test");
    demo.press(KeyCode::F(2));
    demo.ctrl('u');
    demo.text("Calm websocket test");
    demo.press(KeyCode::Enter);
    demo.wait("the name", |state| {
        state
            .finder
            .rows
            .iter()
            .any(|row| row.name == "Calm websocket test")
    });
    assert_eq!(demo.state.finder.row().unwrap().name, "Calm websocket test");
}

#[test]
fn a_session_that_is_gone_leaves_every_view() {
    let mut demo = Demo::open((120, 40));
    demo.search("spring10");
    let session = demo.state.session().unwrap();
    demo.press(KeyCode::Right);
    demo.wait("the reader", |state| {
        state
            .reader
            .as_ref()
            .is_some_and(|it| !it.blocks.is_empty())
    });
    assert!(demo.screen().contains("SPRING10"));
    demo.event(Event::Answer(Answer::Gone(vec![session])));
    assert_eq!(demo.state.place, Place::Finder);
    assert!(demo.state.reader.is_none() && demo.state.finder.preview.is_none());
    assert!(!demo.screen().contains("SPRING10"), "{}", demo.screen());
}

#[test]
fn the_mouse_selects_reads_and_presses_words_of_the_footer() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut demo = Demo::open((120, 40));
    let click = |column, row| {
        Event::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::NONE,
        })
    };
    let screen = demo.screen();
    let row = screen
        .lines()
        .position(|line| line.contains("Coupon rounding"))
        .unwrap();
    let row = u16::try_from(row).unwrap();
    demo.event(click(20, row));
    assert_eq!(demo.state.finder.row().unwrap().name, "Coupon rounding");
    demo.event(click(20, row));
    assert_eq!(demo.state.place, Place::Reader);
    let items = crate::layout::footer(&demo.state);
    let back = items.iter().find(|it| it.word == "back").unwrap();
    demo.event(click(back.x, 39));
    assert_eq!(demo.state.place, Place::Finder);
}

#[test]
fn the_command_is_copied_as_it_can_be_pasted() {
    let mut demo = Demo::open((120, 40));
    demo.select("Coupon rounding");
    demo.ctrl('y');
    let copied = demo.terminal_asks.iter().find_map(|ask| match ask {
        Ask::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.unwrap();
    assert!(
        copied.contains("cd -- ") && copied.contains("claude --resume 5ac5e505"),
        "{copied}"
    );
}

#[test]
fn home_and_end_move_in_the_list_only_without_text() {
    let mut demo = Demo::open((120, 40));
    let last = demo.state.finder.shown.len() - 1;
    demo.press(KeyCode::End);
    assert_eq!(demo.state.finder.selected, last);
    demo.press(KeyCode::Home);
    assert_eq!(demo.state.finder.selected, 0);
    demo.search("o");
    demo.press(KeyCode::Down);
    demo.press(KeyCode::Home);
    assert_eq!(demo.state.finder.selected, 1);
    assert_eq!(demo.state.finder.line.before(), "");
}
