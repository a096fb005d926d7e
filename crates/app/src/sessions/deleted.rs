//! Deleted sessions, with what is still known about them.

use std::collections::{BTreeMap, HashSet};

use boswell_dialect::SessionLocation;
use boswell_model::{Framing, Result, SessionMeta, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{StoreId, Summary};

use crate::RequestContext;
use crate::agent_history::{self, Asked};
use crate::sessions::index::{Create, SessionIndex};

/// The sessions that are there, by the ids of their files and of their logs.
fn known(cx: &RequestContext, here: &[Conversation]) -> HashSet<SessionRef> {
    let mut known = HashSet::new();
    for conversation in here {
        for side in crate::sessions::list::sides(conversation) {
            known.insert(side.reference.clone());
            if let Some(id) = &side.meta.id {
                known.insert(SessionRef::new(&side.reference.dialect, id));
            }
        }
    }
    // A session of an excluded project is not deleted, and must not be shown.
    for held in cx.stores.excluded() {
        if let Some(store) = cx.stores.get(held.store) {
            known.insert(SessionRef::new(store.dialect().name(), &held.location.id));
        }
    }
    known
}

/// Returns all deleted sessions: those that the catalog once saw, and those that only an agent's
/// prompt history names.
pub(crate) fn all(cx: &RequestContext, here: &[Conversation]) -> Result<Vec<Conversation>> {
    let known = known(cx, here);
    let mut deleted_sessions: BTreeMap<SessionRef, (StoreId, SessionMeta)> = BTreeMap::new();
    if let Some(mut session_index) = SessionIndex::open(cx, Create::No)? {
        for session in session_index.deleted_sessions(cx)? {
            let mut stores = cx.stores.iter();
            let store = stores.find(|(_, store)| {
                store.root() == session.root && store.dialect().name() == session.reference.dialect
            });
            if let Some((store, _)) = store
                && !known.contains(&session.reference)
            {
                deleted_sessions.insert(session.reference, (store, session.meta));
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
            let found = deleted_sessions.entry(reference);
            let (_, meta) = found.or_insert_with(|| (id, SessionMeta::default()));
            add_prompt(meta, asked);
        }
    }
    deleted_sessions.retain(|_, (_, meta)| cx.shows(meta.project.as_deref()));
    let sessions = deleted_sessions.into_iter();
    Ok(sessions
        .map(|(reference, (store, meta))| deleted_session(reference, store, meta))
        .collect())
}

fn add_prompt(meta: &mut SessionMeta, asked: Asked) {
    meta.saw_prompt(&asked.text);
    if let Some(at) = asked.at {
        meta.saw_time(at);
    }
    if meta.project.is_none() {
        meta.project = asked.project;
    }
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
