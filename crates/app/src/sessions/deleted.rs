//! Deleted sessions, with what is still known about them.

use std::collections::{BTreeMap, HashSet};

use boswell_dialect::SessionLocation;
use boswell_model::{Framing, Result, SessionMeta, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{StoreId, Summary};

use crate::RequestContext;
use crate::agent_history;
use crate::sessions::index::{Create, SessionIndex};

/// Returns all deleted sessions: those that the catalog once saw, and those that only an agent's
/// prompt history names.
pub(crate) fn all(cx: &RequestContext, here: &[Conversation]) -> Result<Vec<Conversation>> {
    let mut known: HashSet<SessionRef> = HashSet::new();
    for conversation in here {
        for side in crate::sessions::list::sides(conversation) {
            known.insert(side.reference.clone());
            known.extend(
                side.meta
                    .id
                    .as_ref()
                    .map(|id| SessionRef::new(&side.reference.dialect, id)),
            );
        }
    }
    // A session of an excluded project is not deleted, and must not be shown.
    for held in cx.stores.excluded() {
        let dialect = cx
            .stores
            .get(held.store)
            .map(|store| store.dialect().name());
        known.extend(dialect.map(|dialect| SessionRef::new(dialect, &held.location.id)));
    }
    let mut deleted_sessions: BTreeMap<SessionRef, (StoreId, SessionMeta)> = BTreeMap::new();
    if let Some(session_index) = SessionIndex::open(cx, Create::No)? {
        for deleted_session in session_index.catalog().deleted_sessions()? {
            let store = cx.stores.iter().find(|(_, store)| {
                store.root() == deleted_session.root
                    && store.dialect().name() == deleted_session.reference.dialect
            });
            if let Some((store, _)) = store.filter(|_| !known.contains(&deleted_session.reference))
            {
                deleted_sessions.insert(deleted_session.reference, (store, deleted_session.meta));
            }
        }
    }
    for (id, store) in cx.stores.iter() {
        for asked in agent_history::read(store).unwrap_or_default() {
            let Some(session) = &asked.session else {
                continue;
            };
            let reference = SessionRef::new(store.dialect().name(), session);
            if known.contains(&reference) {
                continue;
            }
            let (_, meta) = deleted_sessions
                .entry(reference)
                .or_insert_with(|| (id, SessionMeta::default()));
            meta.saw_prompt(&asked.text);
            asked.at.into_iter().for_each(|at| meta.saw_time(at));
            meta.project = meta.project.take().or(asked.project);
        }
    }
    deleted_sessions.retain(|_, (_, meta)| cx.shows(meta.project.as_deref()));
    Ok(deleted_sessions
        .into_iter()
        .map(|(reference, (store, meta))| deleted_session(reference, store, meta))
        .collect())
}

fn deleted_session(reference: SessionRef, store: StoreId, meta: SessionMeta) -> Conversation {
    let location = SessionLocation {
        hidden: Some("ghost"),
        ..SessionLocation::of(reference.id.clone(), Framing::Lines, 0)
    };
    let summary = Summary {
        reference,
        location,
        path: None,
        meta: Box::new(meta),
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
