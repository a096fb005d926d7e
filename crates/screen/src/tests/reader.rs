//! The reader, the preview and the health view on a demo home.

use crossterm::event::KeyCode;

use super::demo::Demo;
use crate::ask::{Answer, Event, Page, PageAsk, PagePart};
use crate::keys::Place;
use crate::state::{Overlay, Reader};
use crate::transcript::{Block, BlockKind};

/// Opens a session and waits for its page.
fn read(demo: &mut Demo, name: &str) {
    demo.select(name);
    demo.press(KeyCode::Right);
    loaded(demo);
}

fn loaded(demo: &mut Demo) {
    demo.wait("the page", |state| {
        let reader = state.reader.as_ref();
        reader.is_some_and(|it| it.loading.is_none() && !it.blocks.is_empty())
    });
}

fn reader(demo: &Demo) -> &Reader {
    demo.state.reader.as_ref().unwrap()
}

/// The text of the line at the cursor.
fn at_cursor(demo: &Demo) -> &str {
    let reader = reader(demo);
    &reader.lines[reader.at].text
}

/// Moves the cursor up to the nearest line with a text.
fn up_to(demo: &mut Demo, text: &str) {
    while !at_cursor(demo).contains(text) {
        let before = reader(demo).at;
        demo.press(KeyCode::Char('k'));
        assert!(reader(demo).at < before, "no {text} in\n{}", demo.screen());
    }
}

#[test]
fn a_call_opens_as_a_diff_and_closes() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    let closed = reader(&demo).lines.len();
    up_to(&mut demo, "→ Edit src/coupon.rs");
    demo.press(KeyCode::Enter);
    let screen = demo.screen();
    assert!(
        screen.contains("  - ") && screen.contains("  + "),
        "{screen}"
    );
    assert!(reader(&demo).lines.len() > closed);
    demo.press(KeyCode::Enter);
    assert_eq!(reader(&demo).lines.len(), closed);
    demo.press(KeyCode::Char('z'));
    assert!(reader(&demo).lines.len() > closed + 5);
    demo.press(KeyCode::Char('z'));
    assert_eq!(reader(&demo).lines.len(), closed);
}

#[test]
fn other_branches_are_where_they_begin_and_keys_lead_there() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    assert!(demo.screen().contains("branch 2 of 2"), "{}", demo.screen());
    assert!(demo.screen().contains("use whole cents"));
    demo.press(KeyCode::Char(')'));
    loaded(&mut demo);
    let screen = demo.screen();
    assert!(screen.contains("branch 1 of 2"), "{screen}");
    assert!(
        screen.contains("Add a test for the 100.05 basket"),
        "{screen}"
    );
    demo.press(KeyCode::Char('('));
    loaded(&mut demo);
    assert!(demo.screen().contains("branch 2 of 2"), "{}", demo.screen());
}

#[test]
fn a_subagent_is_entered_and_left() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    demo.press(KeyCode::Char('g'));
    demo.press(KeyCode::Char('s'));
    loaded(&mut demo);
    assert!(
        reader(&demo).session.contains("agent-"),
        "{}",
        reader(&demo).session
    );
    demo.press(KeyCode::Char('P'));
    assert!(
        demo.screen().contains("‹ Coupon rounding"),
        "{}",
        demo.screen()
    );
    demo.press(KeyCode::Char('P'));
    assert!(
        demo.state
            .message
            .as_ref()
            .unwrap()
            .contains("not opened from another")
    );
    demo.press(KeyCode::Char('S'));
    loaded(&mut demo);
    assert!(reader(&demo).blocks.iter().any(|it| it.depth > 0));
}

#[test]
fn lines_that_are_no_records_are_shown_where_they_are() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "The deployment hangs");
    let gaps = reader(&demo)
        .blocks
        .iter()
        .filter(|it| it.kind == BlockKind::Gap);
    assert!(gaps.count() > 0);
    assert!(demo.screen().contains("is no record"), "{}", demo.screen());
}

#[test]
fn a_text_is_found_also_where_it_is_folded() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    demo.press(KeyCode::Char('/'));
    demo.text("running 3");
    demo.press(KeyCode::Enter);
    assert!(
        at_cursor(&demo).contains("running 3"),
        "{}",
        at_cursor(&demo)
    );
    demo.press(KeyCode::Char('/'));
    demo.text("no such words here");
    demo.press(KeyCode::Enter);
    assert!(demo.state.message.as_ref().unwrap().contains("not found"));
}

#[test]
fn prompts_are_jumped_to_and_copied_with_their_link() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    demo.press(KeyCode::Char('['));
    assert!(at_cursor(&demo).starts_with("┃ Rather than a test"));
    demo.press(KeyCode::Char('['));
    assert!(at_cursor(&demo).starts_with("┃ The coupon SPRING10"));
    demo.press(KeyCode::Char('y'));
    demo.press(KeyCode::Char('Y'));
    let copied: Vec<String> = (demo.terminal_asks.iter())
        .filter_map(|it| match it {
            crate::ask::Ask::Copy(text) => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert!(copied[0].starts_with("The coupon SPRING10"), "{copied:?}");
    assert!(copied[1].starts_with("claude:5ac5e505") && copied[1].contains('#'));
}

#[test]
fn what_arrived_since_the_user_looked_is_marked() {
    let mut demo = Demo::open((120, 40));
    read(&mut demo, "Coupon rounding");
    let (session, last) = (reader(&demo).session.clone(), reader(&demo).last.clone());
    demo.event(Event::Answer(Answer::Changed(vec![session.clone()])));
    let ask = PageAsk {
        session,
        part: PagePart::After(last.unwrap()),
        branch: None,
        inline: false,
    };
    assert_eq!(reader(&demo).loading, Some(ask.clone()));
    let block = Block {
        entry: Some("new".to_owned()),
        ..Block::note(BlockKind::Answer, "A new answer.".to_owned(), 0)
    };
    let page = Page {
        blocks: vec![block],
        last: Some("new".to_owned()),
        ..Page::default()
    };
    demo.event(Event::Answer(Answer::Page {
        ask,
        page: Ok(page),
    }));
    let screen = demo.screen();
    let mark = screen.find("new since you looked").unwrap();
    assert!(mark < screen.find("A new answer.").unwrap(), "{screen}");
}

#[test]
fn a_first_look_is_replaced_by_the_page_without_moving_the_view() {
    let mut demo = Demo::open((80, 24));
    demo.select("Coupon rounding");
    demo.press(KeyCode::Right);
    let ask = reader(&demo).loading.clone().unwrap();
    let lines: Vec<String> = (0..60).map(|it| format!("line {it}")).collect();
    let block = Block::note(BlockKind::Answer, lines.join("\n"), 0);
    let look = Page {
        blocks: vec![block.clone()],
        is_first_look: true,
        ..Page::default()
    };
    let take = |demo: &mut Demo, page: Page| {
        let ask = ask.clone();
        demo.event(Event::Answer(Answer::Page {
            ask,
            page: Ok(page),
        }));
    };
    take(&mut demo, look);
    assert!(
        demo.screen().contains("reading the rest"),
        "{}",
        demo.screen()
    );
    demo.press(KeyCode::PageUp);
    let before = at_cursor(&demo).to_owned();
    let whole = Page {
        blocks: vec![Block::note(BlockKind::Prompt, "why?".to_owned(), 0), block],
        ..Page::default()
    };
    take(&mut demo, whole);
    assert_eq!(at_cursor(&demo), before);
    assert!(reader(&demo).loading.is_none() && !demo.screen().contains("reading the rest"));
}

#[test]
fn tab_goes_to_the_preview_and_back() {
    let mut demo = Demo::open((80, 24));
    demo.select("Coupon rounding");
    demo.press(KeyCode::Tab);
    assert_eq!(demo.state.place, Place::Preview);
    let before = demo.screen();
    demo.press(KeyCode::Char('k'));
    demo.press(KeyCode::PageUp);
    assert_ne!(demo.screen(), before);
    demo.press(KeyCode::Tab);
    assert_eq!(demo.state.place, Place::Finder);
    demo.press(KeyCode::Tab);
    demo.press(KeyCode::Right);
    assert_eq!(demo.state.place, Place::Reader);
    demo.press(KeyCode::Esc);
    assert_eq!(demo.state.place, Place::Finder);
}

#[test]
fn steps_of_a_repair_are_chosen_and_show_their_bytes() {
    let mut demo = Demo::open((120, 40));
    demo.select("The deployment hangs");
    demo.press(KeyCode::F(4));
    demo.wait("the check", |state| {
        state.health.as_ref().is_some_and(|it| it.facts.is_some())
    });
    demo.press(KeyCode::Char('d'));
    let screen = demo.screen();
    assert!(
        screen.contains("  - ") && screen.contains("  + "),
        "{screen}"
    );
    assert!(screen.contains("[x] put it on a line"), "{screen}");
    for _ in 0..4 {
        demo.press(KeyCode::Char(' '));
        demo.press(KeyCode::Char('j'));
    }
    assert!(
        demo.screen().contains("[ ] put it on a line"),
        "{}",
        demo.screen()
    );
    demo.press(KeyCode::Char('a'));
    let asked = matches!(demo.state.overlay, Some(Overlay::Question(_)));
    assert!(asked, "the likely step is chosen now");
    demo.press(KeyCode::Esc);
    demo.press(KeyCode::Char(' '));
    demo.press(KeyCode::Char('a'));
    assert!(demo.state.overlay.is_none());
    assert!(
        demo.state
            .message
            .as_ref()
            .unwrap()
            .contains("no step is chosen")
    );
}

#[test]
fn an_export_is_written_to_a_new_file_only() {
    let mut demo = Demo::open((120, 40));
    let file = demo.root.join("out.md");
    demo.select("Coupon rounding");
    for expected in ["written:", "already"] {
        demo.alt(KeyCode::Char('e'));
        demo.ctrl('u');
        demo.text("~/out.md");
        demo.press(KeyCode::Enter);
        demo.wait(expected, |state| {
            state
                .message
                .as_ref()
                .is_some_and(|it| it.contains(expected))
        });
        let text = String::from_utf8(boswell_testkit::disk::read(&file)).unwrap();
        assert!(text.contains("Coupon rounding"));
    }
}
