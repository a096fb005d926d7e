//! The reader in a session of which only a part is loaded. No worker, no home.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::demo::now;
use crate::ask::{Answer, Ask, Event, Page, PageAsk, PagePart, Sought};
use crate::rows::Row;
use crate::state::{Look, Reader, State};
use crate::transcript::{Block, BlockKind};
use crate::update::update;

/// Entries of a page.
const PAGE: usize = 200;

fn block(number: usize) -> Block {
    Block {
        entry: Some(format!("e{number}")),
        ..Block::note(BlockKind::Answer, format!("text of {number}"), 0)
    }
}

/// A page with the entries of a range.
fn page(entries: std::ops::Range<usize>, more_above: bool, more_below: bool) -> Page {
    Page {
        first: Some(format!("e{}", entries.start)),
        last: Some(format!("e{}", entries.end - 1)),
        blocks: entries.map(block).collect(),
        more_above,
        more_below,
        ..Page::default()
    }
}

fn press(state: &mut State, c: char) -> Vec<Ask> {
    let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
    update(state, Event::Key(key))
}

fn answer(state: &mut State, part: PagePart, page: Page) -> Vec<Ask> {
    let ask = PageAsk {
        session: "claude:one".to_owned(),
        part,
        branch: None,
        inline: false,
    };
    let page = Ok(page);
    update(state, Event::Answer(Answer::Page { ask, page }))
}

fn reader(state: &State) -> &Reader {
    state.reader.as_ref().unwrap()
}

/// The reader at the end of a session of 100,000 entries.
fn at_end() -> State {
    let mut state = State::new(Look::default(), (80, 24), now());
    let row = Row {
        session: "claude:one".to_owned(),
        agent: "claude".to_owned(),
        name: "one".to_owned(),
        ..Row::default()
    };
    let ask = state.finder.wanted.clone();
    let rows = Answer::Rows {
        ask,
        rows: vec![row],
        complete: true,
    };
    update(&mut state, Event::Answer(rows));
    let right = KeyEvent::new(KeyCode::Right, KeyModifiers::NONE);
    update(&mut state, Event::Key(right));
    answer(
        &mut state,
        PagePart::End,
        page(99_800..100_000, true, false),
    );
    state
}

fn asked_page(asks: &[Ask]) -> Option<PagePart> {
    asks.iter().find_map(|ask| match ask {
        Ask::Page(ask) => Some(ask.part.clone()),
        _ => None,
    })
}

#[test]
fn the_first_and_the_last_key_reach_both_ends() {
    let mut state = at_end();
    assert_eq!(asked_page(&press(&mut state, 'g')), Some(PagePart::Start));
    answer(&mut state, PagePart::Start, page(0..PAGE, false, true));
    let it = reader(&state);
    assert_eq!((it.top, it.at, it.first.as_deref()), (0, 0, Some("e0")));
    // What is there already is not asked for again.
    assert_eq!(asked_page(&press(&mut state, 'g')), None);
    assert_eq!(asked_page(&press(&mut state, 'G')), Some(PagePart::End));
    answer(
        &mut state,
        PagePart::End,
        page(99_800..100_000, true, false),
    );
    assert_eq!(reader(&state).last.as_deref(), Some("e99999"));
    assert_eq!(reader(&state).at + 1, reader(&state).lines.len());
}

#[test]
fn prompts_and_failures_are_found_in_what_is_not_loaded() {
    for (key, sought) in [('[', Sought::Prompt), ('{', Sought::Failure)] {
        let mut state = at_end();
        let asks = press(&mut state, key);
        let [
            Ask::FindIn {
                page: part,
                sought: asked,
            },
        ] = &asks[..]
        else {
            panic!("{asks:?}");
        };
        assert_eq!(*asked, sought);
        assert_eq!(part.part, PagePart::Before("e99800".to_owned()));
        let asks = update(
            &mut state,
            Event::Answer(Answer::FoundIn {
                page: part.clone(),
                sought,
                entry: Some("e500".to_owned()),
            }),
        );
        let around = PagePart::Around("e500".to_owned());
        assert_eq!(asked_page(&asks), Some(around.clone()));
        answer(&mut state, around, page(400..600, true, true));
        let it = reader(&state);
        let at = it.lines[it.at].block;
        assert_eq!(it.blocks[at].entry.as_deref(), Some("e500"));
    }
}

#[test]
fn what_is_far_away_is_dropped_and_comes_back() {
    let mut state = at_end();
    let mut first = 99_800;
    for _ in 0..40 {
        let before = PagePart::Before(format!("e{first}"));
        // Going up asks for the page before.
        let mut asks = Vec::new();
        for _ in 0..400 {
            asks = update(
                &mut state,
                Event::Key(KeyEvent::new(KeyCode::PageUp, KeyModifiers::NONE)),
            );
            if asked_page(&asks).is_some() {
                break;
            }
        }
        assert_eq!(asked_page(&asks), Some(before.clone()), "at {first}");
        answer(&mut state, before, page(first - PAGE..first, true, false));
        first -= PAGE;
        let it = reader(&state);
        assert!(it.blocks.len() <= 4000, "{}", it.blocks.len());
        assert_eq!(it.first, Some(format!("e{first}")));
        let last = it.blocks.last().unwrap().entry.clone();
        assert_eq!(it.last, last);
        assert_eq!(it.more_below, last.as_deref() != Some("e99999"));
    }
    // Down again: what was dropped is asked for, and what is above is dropped.
    let last = reader(&state).last.clone().unwrap();
    let number: usize = last.trim_start_matches('e').parse().unwrap();
    let after = PagePart::After(last);
    let mut asks = Vec::new();
    for _ in 0..1000 {
        asks = press(&mut state, ' ');
        if asked_page(&asks).is_some() {
            break;
        }
    }
    assert_eq!(asked_page(&asks), Some(after.clone()));
    let shown = |state: &State| {
        let it = reader(state);
        it.blocks[it.lines[it.at].block].entry.clone()
    };
    let before = shown(&state);
    answer(
        &mut state,
        after,
        page(number + 1..number + 1 + PAGE, false, true),
    );
    let it = reader(&state);
    assert!(it.blocks.len() <= 4000 && it.more_above);
    assert_eq!(it.first, it.blocks.first().unwrap().entry);
    assert_eq!(shown(&state), before, "the same entry stays at the cursor");
}
