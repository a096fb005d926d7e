//! Short helpers for steps and checks that the suite repeats.

use boswell_model::{EntryKind, Error, ErrorKind, Slot};
use boswell_store::{Body, Draft, NewSession, Session, SessionWriter};

use super::{WritePlace, ok};

/// Simulates a crash of the machine, which ends all leases.
pub(super) fn died(place: &dyn WritePlace) {
    place.crash();
    place.expire_leases();
}

pub(super) fn created(place: &dyn WritePlace, id: &str) -> SessionWriter {
    ok(place
        .store()
        .create(NewSession::in_project("/proj").with_id(id)))
}

/// Returns a prompt per id, with the id as its text.
pub(super) fn drafts(ids: &[&str]) -> Vec<Draft> {
    ids.iter().map(|id| Draft::user(*id).with_id(*id)).collect()
}

pub(super) fn label(target: &str) -> Draft {
    Draft::new(Body::Label {
        target: target.into(),
        label: Some("here".to_owned()),
    })
}

pub(super) fn kind_of<T>(result: Result<T, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// Returns the ids of all entries in the order of the log, including duplicates.
pub(super) fn entries(session: &Session) -> Vec<String> {
    ids(session, |kind| kind != EntryKind::Header)
}

/// As above, for prompts and answers only.
pub(super) fn messages(session: &Session) -> Vec<String> {
    ids(session, |kind| {
        matches!(kind, EntryKind::User | EntryKind::Assistant)
    })
}

fn ids(session: &Session, which: impl Fn(EntryKind) -> bool) -> Vec<String> {
    let log = session.log();
    log.entries()
        .filter(|(_, head)| which(head.kind))
        .map(|(slot, _)| name(session, slot))
        .collect()
}

/// Returns the entries from the root to the current leaf.
pub(super) fn branch(session: &Session) -> Vec<String> {
    let tip = ok(session.tip()).slot();
    tip.map(|tip| {
        session
            .tree()
            .path(tip)
            .into_iter()
            .map(|slot| name(session, slot))
            .collect()
    })
    .unwrap_or_default()
}

pub(super) fn leaf(session: &Session) -> Option<String> {
    ok(session.leaf()).map(|slot| name(session, slot))
}

/// Returns the id that an entry states, even if it is a duplicate.
fn name(session: &Session, slot: Slot) -> String {
    let log = session.log();
    log.head(slot)
        .and_then(|head| head.id)
        .map_or_else(String::new, |id| log.names.text(id).to_owned())
}
