//! What workers answered.

use boswell_model::Instant;

use crate::ScreenExit;
use crate::ask::{Answer, Ask, FoundText, Node, Preview};
use crate::keys::Place;
use crate::rows::Row;
use crate::rows_ask::RowsAsk;
use crate::state::{BlameState, Finder, FirstRead, Order, State};
use crate::transcript;
use crate::update::{blame, check, finder, reader, resume};
use crate::words::{self, fill};

/// Takes an answer. One to a question that is not asked any more is dropped.
pub(crate) fn take(state: &mut State, answer: Answer, asks: &mut Vec<Ask>) {
    match answer {
        Answer::Rows {
            ask,
            rows,
            complete,
        } => listed(state, &ask, rows, complete, asks),
        Answer::Reading {
            ask,
            rows,
            read,
            total,
            since,
        } => reading(state, &ask, rows, FirstRead { read, total, since }, asks),
        Answer::LookedAt(places) => state.finder.looked_at = places,
        Answer::Refreshed { at, kept } => {
            state.finder.refreshed = Some(at);
            state.finder.reading = None;
            state.finder.unkept = !kept;
            // Text that is sought was answered from what the catalog knew before.
            if finder::asks_for_text(state.finder.line.text()) {
                asks.push(finder::find(state));
            }
        }
        Answer::Costs(costs) => {
            let now = state.now;
            state.finder.costs = costs;
            state.finder.change(now, |finder| {
                finder.price();
                if finder.order == Order::Cost {
                    finder.sort();
                }
            });
        }
        Answer::Marks { live, lost_soon } => {
            state.finder.live = live;
            state.finder.lost_soon = lost_soon;
        }
        Answer::Changed(sessions) => changed(state, &sessions, asks),
        Answer::Gone(sessions) => gone(state, &sessions),
        Answer::Found { generation, found } => found_text(state, generation, found),
        Answer::Preview(preview) => previewed(state, preview, asks),
        Answer::Page { ask, page } => reader::take(state, &ask, page),
        other => views(state, other, asks),
    }
}

/// Takes the rows of the list, if they are still the wanted ones.
fn listed(
    state: &mut State,
    ask: &RowsAsk,
    mut rows: Vec<Row>,
    complete: bool,
    asks: &mut Vec<Ask>,
) {
    rows.retain(|it| !state.gone.contains(&it.session));
    let now = state.now;
    let finder = &mut state.finder;
    if *ask != finder.wanted {
        return;
    }
    finder.complete = complete;
    if ask.agent.is_none() {
        let agents = rows.iter().flat_map(|it| it.agent.split(['+', '/', '@']));
        finder.agents.extend(agents.map(str::to_owned));
    }
    let old = finder.set_rows(rows, now);
    if !old.is_empty() {
        asks.push(Ask::Discard(old));
    }
    let index = &finder.index;
    finder.marked.retain(|it| index.contains_key(it));
}

/// Takes what was read so far of sessions that the catalog does not know. What narrows the list is
/// applied when all are read.
fn reading(state: &mut State, ask: &RowsAsk, rows: Vec<Row>, read: FirstRead, asks: &mut Vec<Ask>) {
    state.finder.reading = Some(read);
    let is_first = !state.finder.complete && *ask == RowsAsk::default();
    if is_first && !rows.is_empty() {
        listed(state, ask, rows, false, asks);
    }
}

/// Takes a preview, if it is the one that was asked for last.
fn previewed(state: &mut State, mut preview: Preview, asks: &mut Vec<Ask>) {
    let wanted = state.finder.asked.as_ref();
    let is_it = |it: &(String, Option<String>)| it.0 == preview.session && it.1 == preview.entry;
    if !wanted.is_some_and(is_it) {
        return;
    }
    if let Ok(blocks) = &mut preview.blocks {
        let project = state.finder.row().and_then(|it| it.project.clone());
        transcript::shorten_paths(blocks, project.as_deref());
    }
    state.finder.preview = Some(preview);
    resume::arrived(state, asks);
}

/// Takes what the other views asked for, and what came of a change.
fn views(state: &mut State, answer: Answer, asks: &mut Vec<Ask>) {
    match answer {
        Answer::Tree { session, nodes } => tree_known(state, &session, nodes),
        Answer::Blame {
            session,
            entry,
            blame,
        } => blame::known(state, (&session, &entry), blame),
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
        Answer::Planned(Err(why)) | Answer::Failed(why) => state.message = Some(why),
        Answer::Warning(why) => warned(state, why),
        Answer::Ways { session, ways } => resume::ways_known(state, &session, ways),
        Answer::Agents { session, agents } => resume::agents_known(state, &session, agents),
        Answer::ConversionPlanned { converting, lacks } => {
            resume::conversion_planned(state, converting, lacks);
        }
        Answer::MovePlanned { moved, steps } => resume::move_planned(state, moved, steps),
        Answer::FoundIn {
            page,
            sought,
            entry,
        } => reader::found_in(state, &page, &sought, entry, asks),
        Answer::Done { message, select } => done(state, message, select.as_deref(), asks),
        _ => {}
    }
}

/// Shows the nodes of a session's tree, with its leaf selected.
fn tree_known(state: &mut State, session: &str, nodes: Result<Vec<Node>, String>) {
    if let Some(tree) = state.tree.as_mut().filter(|it| it.session == session) {
        let leaf = nodes
            .as_ref()
            .ok()
            .and_then(|nodes| nodes.iter().position(|it| it.leaf));
        tree.selected = leaf.unwrap_or(0);
        tree.nodes = Some(nodes);
    }
}

/// Says that a change was made, and selects the session that it is about.
fn done(state: &mut State, message: String, select: Option<&str>, asks: &mut Vec<Ask>) {
    state.message = Some(message);
    state.finder.marked.clear();
    // The preview and the plan may have changed: Enter waits for the new plan.
    state.finder.asked = None;
    if let Some(preview) = &mut state.finder.preview {
        preview.resume = None;
    }
    if select.is_some() {
        state.finder.select(select);
    }
    if state.place == Place::Health {
        check(state, asks);
    }
}

/// Takes the hits of a search, if it is the newest one.
fn found_text(state: &mut State, generation: u64, found: Result<FoundText, String>) {
    if generation != state.finder.generation {
        return;
    }
    state.finder.answered = generation;
    state.finder.is_slow = false;
    match found {
        Ok(mut found) => {
            found.hits.retain(|it| !state.gone.contains(&it.session));
            state.finder.set_found(found, state.now);
        }
        // An open quote is an error until it is closed: the old rows stay.
        Err(why) => state.finder.error = Some(why),
    }
}

/// Takes a warning: one line now, and a list for later.
fn warned(state: &mut State, why: String) {
    if state.unread.contains(&why) {
        return;
    }
    state.message = Some(fill(state.look.say(words::SEE_UNREAD), &[&why]));
    state.unread.push(why);
}

/// Asks again for what is shown of sessions whose logs changed.
fn changed(state: &mut State, sessions: &[String], asks: &mut Vec<Ask>) {
    // One that is there again, such as after an undo.
    state.gone.retain(|it| !sessions.contains(it));
    let shown = state.finder.asked.as_ref().map(|it| &it.0);
    if shown.is_some_and(|shown| sessions.contains(shown)) {
        state.finder.asked = None;
    }
    reader::changed(state, sessions, asks);
}

/// Removes sessions from every view: a purged text must not stay on the screen.
fn gone(state: &mut State, sessions: &[String]) {
    state.gone.extend(sessions.iter().cloned());
    close_questions_about(state, sessions);
    gone_from_finder(&mut state.finder, sessions, state.now);
    let is_gone = |session: &String| sessions.contains(session);
    // A subagent goes with the session that started it.
    let with_parent = state.parents.iter().any(|it| is_gone(&it.session));
    let reader = state
        .reader
        .take_if(|it| with_parent || is_gone(&it.session))
        .is_some();
    if reader {
        state.parents.clear();
    }
    state.seen.retain(|session, _| !is_gone(session));
    let tree = state.tree.take_if(|it| is_gone(&it.session)).is_some();
    let health = state.health.take_if(|it| is_gone(&it.session)).is_some();
    let blame = gone_from_blame(state, sessions);
    let empty = |place: &Place| match place {
        Place::Reader => reader,
        Place::Tree => tree,
        Place::Health => health,
        Place::Blame => blame,
        _ => false,
    };
    state.back.retain(|it| !empty(it));
    if empty(&state.place) {
        state.place = state.back.pop().unwrap_or(Place::Finder);
    }
}

/// Closes a file that quotes the prompts of sessions; returns whether it did.
fn gone_from_blame(state: &mut State, sessions: &[String]) -> bool {
    let quotes = |it: &mut BlameState| {
        sessions.contains(&it.session) || it.sessions().any(|session| sessions.contains(session))
    };
    state.blame.take_if(quotes).is_some()
}

/// Closes a question, a line and a message, which may quote the session that they are about.
fn close_questions_about(state: &mut State, sessions: &[String]) {
    let about = [
        state.session(),
        state.finder.row().map(|it| it.session.clone()),
    ];
    if about.iter().flatten().any(|it| sessions.contains(it)) {
        (state.overlay, state.message) = (None, None);
    }
}

/// Removes sessions from the list, the hits, the marks and the preview.
fn gone_from_finder(finder: &mut Finder, sessions: &[String], now: Instant) {
    let is_gone = |session: &String| sessions.contains(session);
    finder.change(now, |finder| {
        finder.rows.retain(|it| !is_gone(&it.session));
        finder.found.hits.retain(|it| !is_gone(&it.session));
        finder.hit_rows = finder.found.hits.iter().map(|it| it.row()).collect();
        finder.sort();
    });
    finder.marked.retain(|it| !is_gone(it));
    let preview = finder.preview.take_if(|it| is_gone(&it.session));
    if preview.is_some() {
        finder.asked = None;
    }
}
