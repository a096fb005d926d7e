//! Pages of transcripts, trees, checks, costs, and every change that the user confirmed, one after
//! the other.

use std::sync::mpsc::Receiver;

use boswell_app::App;
use boswell_app::resume::Permissions;

use super::looker::LookAsk;
use super::pages::plan;
use super::{Answers, Latest, changes, facts, pages};
use crate::ask::{Answer, Ask};
use crate::words::Language;

/// Answers until the process ends.
pub(crate) fn run(
    app: &App,
    answers: &Answers,
    asks: &Receiver<Ask>,
    (looker, language): (&Latest<LookAsk>, Language),
) {
    while let Ok(ask) = asks.recv() {
        if !is_change(&ask) {
            read(app, answers, ask, language);
            continue;
        }
        match changes::change(app, &ask, language) {
            Ok((_, Some(fork))) if matches!(ask, Ask::Fork { resume: true, .. }) => {
                answers.send(Answer::Planned(plan(app, &fork, Permissions::Asked)));
            }
            Ok((_, Some(made))) if matches!(ask, Ask::Convert(_)) => {
                answers.send(Answer::Planned(plan(app, &made, Permissions::Asked)));
            }
            Ok((message, select)) => answers.send(Answer::Done { message, select }),
            Err(error) => answers.send(Answer::Failed(error)),
        }
        looker.put(LookAsk::Refresh);
    }
}

fn is_change(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Fork { .. }
            | Ask::Rename { .. }
            | Ask::Tag { .. }
            | Ask::Delete(_)
            | Ask::Repair { .. }
            | Ask::Convert(_)
            | Ask::Move(_)
            | Ask::Archive(_)
            | Ask::Keep
            | Ask::Export { .. }
            | Ask::Picture { .. }
            | Ask::Undo
    )
}

fn read(app: &App, answers: &Answers, ask: Ask, language: Language) {
    let answer = match ask {
        Ask::Page(ask) => return pages::answer(app, answers, ask, language),
        Ask::FindIn { page, sought } => {
            let entry = pages::find_in(app, &page, &sought);
            Answer::FoundIn {
                page,
                sought,
                entry,
            }
        }
        Ask::Tree(session) => {
            let nodes = facts::tree(app, &session);
            Answer::Tree { session, nodes }
        }
        Ask::Check(session) => {
            let health = facts::health(app, &session);
            Answer::Health { session, health }
        }
        Ask::Blame { session, entry } => {
            let blame = facts::blame(app, (&session, &entry), language);
            Answer::Blame {
                session,
                entry,
                blame,
            }
        }
        Ask::Stats { by, since } => Answer::Stats {
            by,
            since,
            stats: facts::stats(app, by, since),
        },
        Ask::PlanSame(session) => Answer::Planned(plan(app, &session, Permissions::Same)),
        Ask::Ways { session, linked } => {
            let ways = pages::ways(app, &session, linked);
            Answer::Ways { session, ways }
        }
        Ask::Agents(session) => {
            let agents = changes::agents(app, &session);
            Answer::Agents { session, agents }
        }
        Ask::PlanConversion(converting) => changes::plan_conversion(app, converting),
        Ask::PlanMove(moved) => {
            let steps = changes::plan_move(app, &moved);
            Answer::MovePlanned { moved, steps }
        }
        _ => return,
    };
    answers.send(answer);
}
