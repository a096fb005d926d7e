//! Puts the results of tools behind the message that called them, which every provider demands.

use std::collections::{HashMap, VecDeque};

use boswell_model::Part;

use super::Turn;
use crate::Role;

/// A piece of a conversation in the order in which providers want it.
#[derive(Debug)]
pub(super) enum Exchange {
    /// A message of the user.
    Prompt(Turn),
    /// Messages of the model that follow each other, and a result for each of their calls, in the
    /// order of the calls; `None` if there is none.
    Answer {
        said: Vec<Turn>,
        results: Vec<Option<Turn>>,
    },
    /// A result whose call is missing.
    Orphan(Turn),
}

/// Where calls and results are, by the id of the call. Agents use an id again after a while, so a
/// result belongs to the nearest call before it.
#[derive(Default)]
struct Places {
    calls: HashMap<String, VecDeque<usize>>,
    results: HashMap<String, VecDeque<usize>>,
}

impl Places {
    fn of(turns: &[Option<Turn>]) -> Places {
        let mut places = Places::default();
        for (at, turn) in turns.iter().enumerate() {
            let Some(turn) = turn else { continue };
            if let Role::Tool { call, .. } = &turn.message.role {
                places
                    .results
                    .entry(call.clone())
                    .or_default()
                    .push_back(at);
            }
            for id in calls(turn) {
                places.calls.entry(id.to_owned()).or_default().push_back(at);
            }
        }
        places
    }

    /// Returns the place of the result of a call in a message that ends before `end`.
    fn result(&mut self, call: &str, end: usize) -> Option<usize> {
        let calls = self.calls.get_mut(call)?;
        while calls.front().is_some_and(|at| *at < end) {
            calls.pop_front();
        }
        let next_call = calls.front().copied().unwrap_or(usize::MAX);
        let results = self.results.get_mut(call)?;
        while results.front().is_some_and(|at| *at < end) {
            results.pop_front();
        }
        let place = results.front().copied().filter(|at| *at < next_call)?;
        results.pop_front();
        Some(place)
    }
}

/// Groups turns so that each message of the model is followed by its results.
pub(super) fn exchanges(turns: Vec<Turn>) -> Vec<Exchange> {
    let mut turns: Vec<Option<Turn>> = turns.into_iter().map(Some).collect();
    let mut places = Places::of(&turns);
    let mut exchanges = Vec::new();
    for at in 0..turns.len() {
        let Some(turn) = take(&mut turns, at) else {
            continue;
        };
        exchanges.push(match turn.message.role {
            Role::Tool { .. } => Exchange::Orphan(turn),
            Role::Assistant => answer(turn, at, &mut turns, &mut places),
            _ => Exchange::Prompt(turn),
        });
    }
    exchanges
}

fn take(turns: &mut [Option<Turn>], at: usize) -> Option<Turn> {
    turns.get_mut(at).and_then(Option::take)
}

fn answer(first: Turn, at: usize, turns: &mut [Option<Turn>], places: &mut Places) -> Exchange {
    let mut said = vec![first];
    let mut end = at + 1;
    // Places of results that went to an earlier message are empty.
    while let Some(turn) = turns.get(end) {
        match turn {
            Some(turn) if turn.message.role != Role::Assistant => break,
            _ => said.extend(take(turns, end)),
        }
        end += 1;
    }
    let calls: Vec<String> = said.iter().flat_map(calls).map(str::to_owned).collect();
    let results = calls
        .iter()
        .map(|call| take(turns, places.result(call, end)?))
        .collect();
    Exchange::Answer { said, results }
}

fn calls(turn: &Turn) -> impl Iterator<Item = &str> {
    turn.message.parts.iter().filter_map(|part| match part {
        Part::Call { id, .. } => Some(id.as_str()),
        _ => None,
    })
}
