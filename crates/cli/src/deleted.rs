//! Sessions that are gone, with what is still known of them.

use std::collections::{BTreeMap, HashSet};

use boswell_dialect::SessionLocation;
use boswell_model::{SessionMeta, Framing, Result, SessionRef};
use boswell_store::{Conversation, StoreId, Summary};

use crate::agent_history;
use crate::session_index::{Create, SessionIndex};
use crate::app::App;

/// Every ghost: sessions that the catalog saw once, and those of which only an agent's
/// prompt history speaks.
pub(crate) fn all(machine: &App, here: &[Conversation]) -> Result<Vec<Conversation>> {
    let mut known: HashSet<SessionRef> = HashSet::new();
    for conversation in here {
        for side in crate::command::list::sides(conversation) {
            known.insert(side.reference.clone());
            known.extend(
                side.facts
                    .id
                    .as_ref()
                    .map(|id| SessionRef::new(&side.reference.dialect, id)),
            );
        }
    }
    // A session of an excluded project is not gone, and nothing is told of it.
    for held in machine.stores.excluded() {
        let dialect = machine
            .stores
            .get(held.store)
            .map(|store| store.dialect().name());
        known.extend(dialect.map(|dialect| SessionRef::new(dialect, &held.located.id)));
    }
    let mut ghosts: BTreeMap<SessionRef, (StoreId, SessionMeta)> = BTreeMap::new();
    if let Some(library) = SessionIndex::open(machine, Create::No)? {
        for ghost in library.catalog().ghosts()? {
            let store = machine.stores.iter().find(|(_, store)| {
                store.root() == ghost.root && store.dialect().name() == ghost.reference.dialect
            });
            if let Some((store, _)) = store.filter(|_| !known.contains(&ghost.reference)) {
                ghosts.insert(ghost.reference, (store, ghost.facts));
            }
        }
    }
    for (id, store) in machine.stores.iter() {
        for asked in agent_history::read(store).unwrap_or_default() {
            let Some(session) = &asked.session else {
                continue;
            };
            let reference = SessionRef::new(store.dialect().name(), session);
            if known.contains(&reference) {
                continue;
            }
            let (_, facts) = ghosts
                .entry(reference)
                .or_insert_with(|| (id, SessionMeta::default()));
            facts.saw_prompt(&asked.text);
            asked.at.into_iter().for_each(|at| facts.saw_time(at));
            facts.project = facts.project.take().or(asked.project);
        }
    }
    ghosts.retain(|_, (_, facts)| machine.shows(facts.project.as_deref()));
    Ok(ghosts
        .into_iter()
        .map(|(reference, (store, facts))| ghost(reference, store, facts))
        .collect())
}

fn ghost(reference: SessionRef, store: StoreId, facts: SessionMeta) -> Conversation {
    let located = SessionLocation {
        hidden: Some("ghost"),
        ..SessionLocation::of(reference.id.clone(), Framing::Lines, 0)
    };
    let summary = Summary {
        reference,
        located,
        path: None,
        facts: Box::new(facts),
        complete: false,
        records: 0,
        leaf: None,
        conversation: false,
        gaps: 0,
    };
    Conversation {
        front: (store, summary),
        linked: Vec::new(),
        dangling: Vec::new(),
    }
}
