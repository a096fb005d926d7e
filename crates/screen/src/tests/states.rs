//! Snapshots of every state that the screen can be in, in four sizes, without a home.

use super::demo::{drawn, now};
use super::screens::{SIZES, check};
use crate::ask::{Answer, Event, FoundText, PageAsk};
use crate::rows::{Row, TextHit};
use crate::state::{Look, State};
use crate::transcript::{Block, BlockKind};
use crate::update::update;

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
    let ask = state.finder.wanted.clone();
    answer(
        &mut state,
        Answer::Reading {
            ask,
            rows: hostile_rows(),
            read: 3112,
            total: 10_004,
            since: std::time::Duration::from_millis(1100),
        },
    );
    check_state("state-reading", &mut state);
    let mut state = empty();
    let place =
        |dialect: &str, exists| (dialect.to_owned(), format!("/home/dev/.{dialect}"), exists);
    answer(
        &mut state,
        Answer::LookedAt(vec![place("claude", true), place("codex", false)]),
    );
    rows(&mut state, Vec::new());
    answer(
        &mut state,
        Answer::Refreshed {
            at: now(),
            kept: true,
        },
    );
    check_state("state-nothing-found", &mut state);
    let mut state = empty();
    rows(&mut state, hostile_rows());
    answer(
        &mut state,
        Answer::Refreshed {
            at: now(),
            kept: true,
        },
    );
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
    answer(
        &mut state,
        Answer::Refreshed {
            at: now(),
            kept: true,
        },
    );
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

/// Three sessions with plain names.
fn plain_rows() -> Vec<Row> {
    let names = [
        "Lease survives a crash",
        "二元组索引：中文搜索的召回率",
        "Sketch the format",
    ];
    let row = |(at, name): (usize, &&str)| Row {
        session: format!("claude:{at}"),
        agent: "claude".to_owned(),
        name: (*name).to_owned(),
        project: Some("/home/dev/code".to_owned()),
        active: Some(boswell_model::Instant::from_millis(
            now().millis() - 3_600_000 * at as i64,
        )),
        messages: Some(412),
        ..Row::default()
    };
    names.iter().enumerate().map(row).collect()
}

fn listed(look: Look) -> State {
    let mut state = State::new(look, (120, 40), now());
    rows(&mut state, plain_rows());
    answer(
        &mut state,
        Answer::Refreshed {
            at: now(),
            kept: true,
        },
    );
    state
}

#[test]
fn index_behind_and_slow_search() {
    let mut state = listed(Look::default());
    typed(&mut state, "lease");
    update(&mut state, Event::Slow);
    check_state("state-slow", &mut state);
    let generation = state.finder.generation;
    let hit = TextHit {
        session: "claude:2".to_owned(),
        field: "answers",
        snippet: vec![("the ".to_owned(), false), ("lease".to_owned(), true)],
        ..TextHit::default()
    };
    let found = FoundText {
        hits: vec![hit],
        scanned: Some(41_000_000),
        millis: 180,
        ..FoundText::default()
    };
    answer(
        &mut state,
        Answer::Found {
            generation,
            found: Ok(found),
        },
    );
    check_state("state-index-behind", &mut state);
}

#[test]
fn read_only_and_not_kept() {
    let look = Look {
        read_only: true,
        ..Look::default()
    };
    check_state("state-read-only", &mut listed(look));
    let mut state = listed(Look::default());
    answer(
        &mut state,
        Answer::Refreshed {
            at: now(),
            kept: false,
        },
    );
    check_state("state-not-kept", &mut state);
}

#[test]
fn a_store_that_cannot_be_read_is_one_line_and_a_list() {
    let mut state = listed(Look::default());
    let why = "cannot read /home/dev/.codex: permission denied";
    for _ in 0..2 {
        answer(&mut state, Answer::Warning(why.to_owned()));
    }
    check_state("state-unreadable", &mut state);
    let key = crossterm::event::KeyCode::F(6).into();
    update(&mut state, Event::Key(key));
    check_state("state-unreadable-list", &mut state);
    assert_eq!(state.unread.len(), 1);
}

/// A long line, wide characters and every kind of block.
#[test]
fn a_reader_with_everything() {
    let mut state = listed(Look::default());
    update(
        &mut state,
        Event::Key(crossterm::event::KeyCode::Right.into()),
    );
    let ask = PageAsk {
        session: "claude:0".to_owned(),
        part: crate::ask::PagePart::End,
        branch: None,
        inline: false,
    };
    let live = [("claude:0".to_owned(), vec![48213])].into();
    answer(
        &mut state,
        Answer::Marks {
            live,
            lost_soon: Default::default(),
        },
    );
    let block = |kind, head: &str, text: &str| Block {
        entry: Some(format!("e{head}{}", text.len())),
        at: Some(now()),
        head: head.to_owned(),
        ..Block::note(kind, text.to_owned(), 0)
    };
    let long = "x".repeat(64 * 1024);
    let blocks = vec![
        block(BlockKind::Prompt, "", "👩\u{200d}💻 عربي 二元组 why?"),
        block(
            BlockKind::Answer,
            "",
            "# Title\n\n* **one**\n* `two`\n\n```sh\nls\n```",
        ),
        block(BlockKind::Call, "Read a", "path: a"),
        block(BlockKind::Output { failed: false }, "text", "text\nmore"),
        block(BlockKind::Call, "Bash ls", "command: ls"),
        block(BlockKind::Output { failed: true }, "no", "no\nsuch"),
        block(BlockKind::Call, "Edit b  +1 −1", "- a\n+ b"),
        block(BlockKind::Output { failed: false }, &long, &long),
        block(BlockKind::Media, "", "image/png"),
        block(BlockKind::Subagent, "agent-1", "find callers"),
        block(BlockKind::Compaction, "", "What was said before."),
        block(
            BlockKind::Gap,
            "",
            "line 418 is no record: 212 B, kept as it is",
        ),
        block(
            BlockKind::Branch,
            "",
            "continued here more than once · branch 2 of 3",
        ),
        Block::note(BlockKind::New, String::new(), 0),
        block(BlockKind::Answer, "", "Done."),
    ];
    let page = crate::ask::Page {
        blocks,
        ..Default::default()
    };
    answer(
        &mut state,
        Answer::Page {
            ask,
            page: Ok(page),
        },
    );
    check_state("reader-everything", &mut state);
}
