//! Shapes that are not yet structs.

use boswell_model::json::Json;
use boswell_model::{SessionRef, Slot, Usage, View};
use boswell_store::{Conversation, Session, Store, Summary};

use crate::RequestContext;
use crate::sessions::expiry::Fates;
use crate::shape::{self, Shape, TokensShape};
pub use crate::shape::{EntryParts, EntryPlace, content};

pub fn session(summary: &Summary, store: Option<&Store>) -> Json {
    shape::session(summary, store).object()
}

pub fn conversation(cx: &RequestContext, it: &Conversation, fates: &Fates) -> Json {
    shape::conversation(cx, it, fates).object()
}

pub fn tokens(usage: &Usage) -> Json {
    TokensShape::from(usage).object()
}

pub fn entry(
    session: &Session,
    slot: Slot,
    bytes: &[u8],
    view: Option<&View>,
    place: &EntryPlace,
    raw: bool,
) -> Json {
    let reference = session.reference();
    let parts = EntryParts::of_slot(session, &reference, slot, bytes, view, place);
    parts.map_or(Json::Null, |parts| parts.shape(raw).object())
}

/// The `op` shape of what was done to a session.
pub fn op(operation: &str, kind: &str, session: &SessionRef) -> Json {
    Json::object()
        .with("v", 1)
        .with("type", "op")
        .with("op", operation)
        .with("kind", kind)
        .with("session", session.to_string())
}
