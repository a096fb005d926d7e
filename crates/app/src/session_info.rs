//! One session, as a row of the list.

use boswell_model::{Result, Revision, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::store::{Resolved, StoreId};

use crate::sessions::expiry::Expiries;
use crate::sessions::list::{Look, SessionList};
use crate::shape::{self, SessionShape};
use crate::{App, AppResult, RequestContext};

/// A request for what is known about one session.
#[derive(Debug, Clone, Default)]
pub struct SessionRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
}

impl App {
    /// Returns what a list shows about one session, also if lists hide it.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid if several match.
    pub fn session(&self, request: &SessionRequest) -> AppResult<SessionShape> {
        self.answer(|cx| session(cx, request))
    }

    /// Returns the current revision of the session that reading requests would use. Its log is not
    /// read.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid if several match.
    pub fn revision(&self, request: &SessionRequest) -> AppResult<Revision> {
        self.answer(|cx| Ok(cx.resolve(&request.session)?.location.revision()))
    }
}

fn session(cx: &RequestContext, request: &SessionRequest) -> Result<SessionShape> {
    let found = cx.resolve_front(&request.session)?;
    let reference = found.reference();
    let conversation = match listed(cx, &reference)? {
        Some(listed) => listed,
        None => alone(cx, found)?,
    };
    Ok(shape::conversation(cx, &conversation, &Expiries::read(cx)?))
}

/// Returns the conversation in whose front the session is.
fn listed(cx: &RequestContext, session: &SessionRef) -> Result<Option<Conversation>> {
    let mut sessions = SessionList::open(cx, Look::Keys)?;
    sessions.only(session);
    let mut page = sessions.page(0, 1)?;
    sessions.leave();
    Ok(page.pop())
}

/// Returns a session that no list has at the front of a conversation: a file that was named, or the
/// other side of a conversation.
fn alone(cx: &RequestContext, found: Resolved) -> Result<Conversation> {
    let summary = found.store.summary(&found.location)?;
    let mut stores = cx.stores.iter_with_archived();
    let store = stores.find(|(_, store)| store.root() == found.store.root());
    let mut conversation = Conversation {
        // A file that was named may be in no store: then there is none with this number.
        front: (store.map_or(StoreId(usize::MAX), |(id, _)| id), summary),
        linked: Vec::new(),
        dangling: Vec::new(),
    };
    cx.annotate(std::slice::from_mut(&mut conversation))?;
    Ok(conversation)
}
