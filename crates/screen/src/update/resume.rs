//! Enter: how a session is resumed, and what is asked before.
//!
//! No agent starts but by Enter on a row whose footer named agent and folder. A session that is in
//! use or damaged is asked about first.

use std::sync::Arc;

use boswell_app::resume::ResumeWayKind;
use boswell_app::text::one_line;

use crate::ScreenExit;
use crate::ask::{Ask, Converting, Moved, Resumable, Way};
use crate::keys::{Action, BINDINGS, Binding, Place};
use crate::line::Line;
use crate::state::{
    Choice, Input, InputPurpose, Look, MenuItem, MenuRun, Overlay, Question, State,
};
use crate::update::{finder, open_menu, overlay};
use crate::words::{self, fill};

/// Enter on a session.
pub(crate) fn enter(state: &mut State, asks: &mut Vec<Ask>) {
    if state.place == Place::Finder && state.look.pick {
        if let Some(session) = state.session() {
            asks.push(Ask::Leave(ScreenExit::Picked(session)));
        }
        return;
    }
    if state.place == Place::Finder && state.look.enter_reads {
        return finder::read(state, asks);
    }
    // The plan is that of the selected session; the list may have changed behind the reader.
    let session = state.session();
    if state.finder.row().map(|it| it.session.clone()) != session {
        state.finder.select(session.as_deref());
        if state.finder.row().map(|it| it.session.clone()) != session {
            return;
        }
    }
    match state.finder.resumable().cloned() {
        Some(Ok(known)) => start(state, &known, asks),
        Some(Err(_)) if state.place == Place::Finder => finder::read(state, asks),
        Some(Err(why)) => state.message = Some(why),
        None => {
            state.finder.waiting = state.session();
            state.message = Some(state.look.say(words::PREPARING).to_owned());
        }
    }
}

/// Starts the session for which Enter was pressed before its plan was known. The footer named agent
/// and folder of the list; if the plan has others, the user is asked.
pub(crate) fn arrived(state: &mut State, asks: &mut Vec<Ask>) {
    let session = state.finder.row().map(|it| it.session.clone());
    if state.finder.waiting.is_none() || state.finder.waiting != session {
        return;
    }
    state.finder.waiting = None;
    state.message = None;
    let project = state.finder.row().and_then(|it| it.project.clone());
    match state.finder.resumable().cloned() {
        Some(Ok(known)) if known.plan.cwd.is_none() || known.plan.cwd == project => {
            start(state, &known, asks);
        }
        Some(Ok(known)) => ask_command(state, &known),
        Some(Err(why)) => state.message = Some(why),
        None => {}
    }
}

fn yes(known: Resumable) -> Choice {
    Choice {
        key: 'y',
        words: words::YES_RESUME,
        asks: vec![Ask::Leave(ScreenExit::Resume(known.plan))],
        checks: false,
    }
}

fn start(state: &mut State, known: &Resumable, asks: &mut Vec<Ask>) {
    let look = &state.look;
    if !known.folder_exists {
        let folder = known.plan.cwd.clone().unwrap_or_default();
        return folder_gone(state, folder);
    }
    let Some(row) = state.finder.row() else {
        return;
    };
    if let Some(pids) = live_pids(state, &row.session) {
        let text = fill(look.say(words::ASK_LIVE), &[&row.agent, &pids]);
        let fork = Choice {
            key: 'f',
            words: words::OR_FORK,
            asks: vec![Ask::Fork {
                session: row.session.clone(),
                at: None,
                resume: false,
            }],
            checks: false,
        };
        return ask(state, text, vec![yes(known.clone()), fork]);
    }
    if row.damaged {
        let text = look.say(words::ASK_DAMAGED).to_owned();
        let check = Choice {
            key: 'c',
            words: words::OR_CHECK,
            asks: Vec::new(),
            checks: true,
        };
        return ask(state, text, vec![yes(known.clone()), check]);
    }
    // Only the footer of the list names agent and folder.
    if look.first_time || state.place != Place::Finder {
        return ask_command(state, known);
    }
    asks.push(Ask::Leave(ScreenExit::Resume(known.plan.clone())));
}

/// Asks where the folder of a session is now. What may not be written is told as a command.
fn folder_gone(state: &mut State, folder: String) {
    let look = &state.look;
    if look.read_only {
        let quoted = boswell_model::shell_quote(&folder);
        let values = [&*look.folder(&folder), &*quoted];
        state.message = Some(fill(look.say(words::FOLDER_GONE), &values));
        return;
    }
    state.overlay = Some(Overlay::Input(Input {
        title: fill(look.say(words::NEW_FOLDER), &[&look.folder(&folder)]),
        line: Line::new(folder.clone()),
        purpose: InputPurpose::Move(folder),
    }));
}

/// Shows what a move would change, and asks.
pub(crate) fn move_planned(state: &mut State, moved: Moved, steps: Result<Vec<String>, String>) {
    let look = &state.look;
    let steps = match steps {
        Ok(steps) => steps,
        Err(why) => {
            state.message = Some(why);
            return;
        }
    };
    if steps.is_empty() {
        let text = fill(look.say(words::NOTHING_MOVES), &[&look.folder(&moved.old)]);
        state.message = Some(text);
        return;
    }
    let (old, new) = (look.folder(&moved.old), look.folder(&moved.new));
    let text = fill(look.say(words::ASK_MOVE), &[&old, &new, &steps.join("; ")]);
    overlay::question(state, text, words::YES_MOVE, Ask::Move(moved));
}

/// Asks for the ways to resume the selected session.
pub(crate) fn ask_ways(state: &mut State, asks: &mut Vec<Ask>) {
    let Some(row) = state.finder.row() else {
        return;
    };
    asks.push(Ask::Ways {
        session: row.session.clone(),
        linked: row.linked.clone(),
    });
    state.say(words::PREPARING);
}

/// Opens the menu of ways to resume the selected session. Each names its command and folder,
/// because Enter on it starts the agent.
pub(crate) fn ways_known(state: &mut State, session: &str, ways: Result<Vec<Way>, String>) {
    if state.finder.row().is_none_or(|it| it.session != session) || state.overlay.is_some() {
        return;
    }
    state.message = None;
    let ways = match ways {
        Ok(ways) => ways,
        Err(why) => {
            state.message = Some(why);
            return;
        }
    };
    let look = &state.look;
    let mut items: Vec<MenuItem> = ways.iter().map(|it| way(look, it)).collect();
    if let Some(plan) = ways.first().and_then(|it| it.plan.as_ref().ok()) {
        items.extend(with_command(look, &plan.command_line(), session));
    }
    if !look.read_only {
        items.push(MenuItem {
            key: String::new(),
            text: look.say(words::WAY_CONVERT).to_owned(),
            run: MenuRun::Asks(vec![Ask::Agents(session.to_owned())]),
        });
    }
    open_menu(state, words::WAYS_TO_RESUME, items);
}

/// Opens the menu of other agents that can go on with a session.
pub(crate) fn agents_known(
    state: &mut State,
    session: &str,
    agents: Result<Vec<(String, String)>, String>,
) {
    let agents = match agents {
        Ok(agents) if agents.is_empty() => return state.say(words::NO_OTHER_AGENT),
        Ok(agents) => agents,
        Err(why) => {
            state.message = Some(why);
            return;
        }
    };
    let item = |(agent, title): (String, String)| {
        let converting = Converting {
            session: session.to_owned(),
            agent,
            shown: None,
        };
        MenuItem {
            key: String::new(),
            text: title,
            run: MenuRun::Asks(vec![Ask::PlanConversion(converting)]),
        }
    };
    let items = agents.into_iter().map(item).collect();
    open_menu(state, words::WAYS_TO_RESUME, items);
}

/// Shows what a session for another agent would lack, and asks.
pub(crate) fn conversion_planned(
    state: &mut State,
    converting: Converting,
    lacks: Result<(String, Vec<String>), String>,
) {
    let look = &state.look;
    match lacks {
        Ok((agent, lacks)) => {
            let lacks = match lacks.is_empty() {
                true => look.say(words::NOTHING_LACKS).to_owned(),
                false => lacks.join("; "),
            };
            let text = fill(look.say(words::ASK_CONVERT), &[&agent, &lacks]);
            overlay::question(state, text, words::YES_CONVERT, Ask::Convert(converting));
        }
        Err(why) => state.message = Some(why),
    }
}

/// Returns the line of a way that starts an agent.
fn way(look: &Look, way: &Way) -> MenuItem {
    let plan = match &way.plan {
        Ok(plan) => plan,
        Err(why) => {
            let values = [&*one_line(&way.session), &**why];
            return MenuItem {
                key: String::new(),
                text: fill(look.say(words::WAY_NONE), &values),
                run: MenuRun::Nothing,
            };
        }
    };
    let folder = look.folder(plan.cwd.as_deref().unwrap_or("."));
    let argv = one_line(&plan.argv.join(" "));
    let (words, action) = match way.kind {
        ResumeWayKind::Plain => (words::WAY_PLAIN, Some(Action::Resume)),
        ResumeWayKind::SamePermissions => (words::WAY_SAME, Some(Action::ResumeSame)),
        ResumeWayKind::OtherSide => (words::WAY_OTHER, None),
    };
    let is_it = |it: &&'static Binding| it.place == Place::Finder && Some(it.action) == action;
    let (key, run) = match BINDINGS.iter().find(is_it) {
        Some(bound) => (look.keys.names(bound), MenuRun::Binding(bound)),
        None => {
            let leave = Ask::Leave(ScreenExit::Resume(Arc::clone(plan)));
            (String::new(), MenuRun::Asks(vec![leave]))
        }
    };
    MenuItem {
        key,
        text: fill(look.say(words), &[&argv, &folder]),
        run,
    }
}

/// Returns what else can be done with the command of a session.
fn with_command(look: &Look, command: &str, session: &str) -> Vec<MenuItem> {
    let fork = Ask::Fork {
        session: session.to_owned(),
        at: None,
        resume: true,
    };
    let print = Ask::Leave(ScreenExit::Printed(command.to_owned()));
    let copy = Ask::Copy(command.to_owned());
    let mut all = vec![(words::WAY_PRINT, print), (words::WAY_COPY, copy)];
    if !look.read_only {
        all.insert(0, (words::WAY_FORK, fork));
    }
    let item = |(words, ask)| MenuItem {
        key: String::new(),
        text: look.say(words).to_owned(),
        run: MenuRun::Asks(vec![ask]),
    };
    all.into_iter().map(item).collect()
}

/// Asks whether the command is to be run.
fn ask_command(state: &mut State, known: &Resumable) {
    let command = boswell_app::text::one_line(&known.plan.command_line());
    let text = fill(state.look.say(words::ASK_RESUME), &[&command]);
    ask(state, text, vec![yes(known.clone())]);
}

/// Returns the processes that have a session open.
fn live_pids(state: &State, session: &str) -> Option<String> {
    let pids = state.finder.live.get(session).filter(|it| !it.is_empty())?;
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    Some(pids.join(", "))
}

/// Asks before a session is resumed with the permissions that it had.
pub(crate) fn ask_same(state: &mut State) {
    if state.look.pick {
        return;
    }
    let Some(session) = state.session() else {
        return;
    };
    let text = state.look.say(words::ASK_SAME).to_owned();
    let choice = Choice {
        key: 'y',
        words: words::YES_RESUME,
        asks: vec![Ask::PlanSame(session)],
        checks: false,
    };
    ask(state, text, vec![choice]);
}

fn ask(state: &mut State, text: String, choices: Vec<Choice>) {
    state.overlay = Some(Overlay::Question(Question { text, choices }));
}
