//! Who wrote the lines of a file: opening the view, moving in it, reading the session of a line.

use crate::ask::{Ask, BlameFacts, BlameLine};
use crate::keys::{Action, Place};
use crate::layout;
use crate::state::{BlameState, State};
use crate::update::{moved, reader};
use crate::words;

/// Asks who wrote the file of the call at the cursor.
pub(super) fn open(state: &mut State, asks: &mut Vec<Ask>) {
    let (Some(session), Some(entry)) = (state.session(), reader::entry(state)) else {
        return state.say(words::NO_CALLED_FILE);
    };
    asks.push(Ask::Blame {
        session: session.clone(),
        entry: entry.clone(),
    });
    state.blame = Some(BlameState {
        session,
        entry,
        ..BlameState::default()
    });
    state.go(Place::Blame);
}

/// Does an action of the view.
pub(super) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let page = usize::from(layout::body(state.size).height.saturating_sub(1));
    let Some(blame) = &mut state.blame else {
        return;
    };
    if action == Action::Read {
        let author = lines(blame)
            .get(blame.selected)
            .and_then(|it| it.author.clone());
        match author {
            Some(author) => reader::open(state, author.session, author.entry, asks),
            None => state.say(words::UNEXPLAINED),
        }
        return;
    }
    let last = lines(blame).len().saturating_sub(1);
    blame.selected = moved(blame.selected, action, page).min(last);
}

fn lines(blame: &BlameState) -> &[BlameLine] {
    match &blame.facts {
        Some(Ok(BlameFacts { lines, .. })) => lines,
        _ => &[],
    }
}

/// Takes the answer, if it is still wanted.
pub(super) fn known(
    state: &mut State,
    (session, entry): (&str, &str),
    facts: Result<BlameFacts, String>,
) {
    let is_wanted = |it: &&mut BlameState| it.session == session && it.entry == entry;
    if let Some(blame) = state.blame.as_mut().filter(is_wanted) {
        blame.facts = Some(facts);
    }
}
