//! What workers answered.

use crate::ScreenExit;
use crate::ask::{Answer, Ask, FoundText};
use crate::keys::Place;
use crate::state::State;
use crate::transcript;
use crate::update::{check, reader, resume};

/// Takes an answer. One to a question that is not asked any more is dropped.
pub(crate) fn take(state: &mut State, answer: Answer, asks: &mut Vec<Ask>) {
    let now = state.now;
    match answer {
        Answer::Rows {
            ask,
            rows,
            complete,
        } if ask == state.finder.wanted => {
            let finder = &mut state.finder;
            finder.complete = complete;
            if ask.agent.is_none() {
                let agents = rows.iter().flat_map(|it| it.agent.split(['+', '/', '@']));
                finder.agents.extend(agents.map(str::to_owned));
            }
            finder.set_rows(rows, now);
            let index = &finder.index;
            finder.marked.retain(|it| index.contains_key(it));
        }
        Answer::Rows { .. } => {}
        Answer::LookedAt(places) => state.finder.looked_at = places,
        Answer::Refreshed(at) => state.finder.refreshed = Some(at),
        Answer::Marks { live, lost_soon } => {
            state.finder.live = live;
            state.finder.lost_soon = lost_soon;
        }
        Answer::Changed(sessions) => changed(state, &sessions, asks),
        Answer::Gone(sessions) => gone(state, &sessions),
        Answer::Found { generation, found } => found_text(state, generation, found),
        Answer::Preview(mut preview) => {
            let wanted = state.finder.asked.as_ref();
            let is_it =
                |it: &(String, Option<String>)| it.0 == preview.session && it.1 == preview.entry;
            if wanted.is_some_and(is_it) {
                if let Ok(blocks) = &mut preview.blocks {
                    let project = state.finder.row().and_then(|it| it.project.clone());
                    transcript::shorten_paths(blocks, project.as_deref());
                }
                state.finder.preview = Some(preview);
                resume::arrived(state, asks);
            }
        }
        Answer::Page { ask, page } => reader::take(state, &ask, page),
        other => views(state, other, asks),
    }
}

fn views(state: &mut State, answer: Answer, asks: &mut Vec<Ask>) {
    match answer {
        Answer::Tree { session, nodes } => {
            if let Some(tree) = state.tree.as_mut().filter(|it| it.session == session) {
                let leaf = nodes
                    .as_ref()
                    .ok()
                    .and_then(|nodes| nodes.iter().position(|it| it.leaf));
                tree.selected = leaf.unwrap_or(0);
                tree.nodes = Some(nodes);
            }
        }
        Answer::Health { session, health } => {
            if let Some(view) = state.health.as_mut().filter(|it| it.session == session) {
                view.facts = Some(health);
            }
        }
        Answer::Stats { by, since, stats }
            if state.costs.by == by && state.costs.span.since() == since =>
        {
            state.costs.stats = Some(stats);
        }
        Answer::Planned(Ok(plan)) => asks.push(Ask::Leave(ScreenExit::Resume(plan))),
        Answer::Planned(Err(why)) | Answer::Failed(why) | Answer::Warning(why) => {
            state.message = Some(why);
        }
        Answer::Done { message, select } => {
            state.message = Some(message);
            state.finder.marked.clear();
            // The preview and the plan may have changed.
            state.finder.asked = None;
            if select.is_some() {
                state.finder.select(select.as_deref());
            }
            if state.place == Place::Health {
                check(state, asks);
            }
        }
        _ => {}
    }
}

fn found_text(state: &mut State, generation: u64, found: Result<FoundText, String>) {
    if generation != state.finder.generation {
        return;
    }
    state.finder.answered = generation;
    match found {
        Ok(found) => state.finder.set_found(found, state.now),
        // An open quote is an error until it is closed: the old rows stay.
        Err(why) => state.finder.error = Some(why),
    }
}

fn changed(state: &mut State, sessions: &[String], asks: &mut Vec<Ask>) {
    let shown = state.finder.asked.as_ref().map(|it| &it.0);
    if shown.is_some_and(|shown| sessions.contains(shown)) {
        state.finder.asked = None;
    }
    reader::changed(state, sessions, asks);
}

/// Removes sessions from every view: a purged text must not stay on the screen.
fn gone(state: &mut State, sessions: &[String]) {
    let is_gone = |session: &String| sessions.contains(session);
    let finder = &mut state.finder;
    finder.change(state.now, |finder| {
        finder.rows.retain(|it| !is_gone(&it.session));
        finder.found.hits.retain(|it| !is_gone(&it.session));
        finder.hit_rows = finder.found.hits.iter().map(|it| it.row()).collect();
        finder.sort();
    });
    finder.marked.retain(|it| !is_gone(it));
    if finder
        .preview
        .as_ref()
        .is_some_and(|it| is_gone(&it.session))
    {
        finder.preview = None;
        finder.asked = None;
    }
    let reader = state.reader.as_ref().is_some_and(|it| is_gone(&it.session));
    let tree = state.tree.as_ref().is_some_and(|it| is_gone(&it.session));
    let health = state.health.as_ref().is_some_and(|it| is_gone(&it.session));
    if reader {
        state.reader = None;
    }
    if tree {
        state.tree = None;
    }
    if health {
        state.health = None;
    }
    let empty = |place: &Place| match place {
        Place::Reader => reader,
        Place::Tree => tree,
        Place::Health => health,
        _ => false,
    };
    state.back.retain(|it| !empty(it));
    if empty(&state.place) {
        state.place = state.back.pop().unwrap_or(Place::Finder);
    }
}
