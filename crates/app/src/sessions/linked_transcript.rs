//! Follows the link from a session without messages to its transcript.

use boswell_dialect::{Capability, Depth, Support};
use boswell_model::{Result, SessionRef};
use boswell_store::store::{Resolved, Selector, Side};

use crate::RequestContext;

/// The result of following a link.
pub(crate) enum LinkedTranscript {
    /// The session contains the messages itself, or `--agent` selected it.
    Own,
    /// The transcript was found.
    There(Box<Resolved>),
    /// The transcript is missing.
    Gone(SessionRef),
}

/// Returns the transcript of a session, if the session itself contains no messages.
pub(crate) fn of(cx: &RequestContext, found: &Resolved) -> Result<LinkedTranscript> {
    let dialect = found.store.dialect();
    if cx.side.is_some() || dialect.facts().capabilities.support(Capability::Context) != Support::No
    {
        return Ok(LinkedTranscript::Own);
    }
    let session = found.store.read(&found.location, Depth::Facts)?;
    let Some(link) = dialect
        .linked_sessions(session.meta(), &found.location.id)
        .into_iter()
        .next()
    else {
        return Ok(LinkedTranscript::Own);
    };
    let other = SessionRef::new(link.dialect, &link.id);
    let selector = Selector::Ref(link.dialect.to_owned(), link.id);
    match cx.stores.resolve(&selector, &cx.env.cwd, Side::Fuller) {
        Ok(there) if there.location.id == other.id => Ok(LinkedTranscript::There(Box::new(there))),
        _ => Ok(LinkedTranscript::Gone(other)),
    }
}

/// Returns the session to read: its transcript, if it contains no messages. Adds a notice about
/// which one was used, or that it is missing.
pub(crate) fn followed(cx: &RequestContext, found: Resolved) -> Result<Resolved> {
    let (title, id) = (
        found.store.dialect().facts().title,
        found.location.id.clone(),
    );
    match of(cx, &found)? {
        LinkedTranscript::Own => Ok(found),
        LinkedTranscript::There(there) => {
            let reference = SessionRef::new(there.store.dialect().name(), &there.location.id);
            cx.remark(format!(
                "{title} keeps no messages; this is {reference}, where they are"
            ));
            Ok(*there)
        }
        LinkedTranscript::Gone(other) => {
            cx.remark(gone(&id, &other));
            Ok(found)
        }
    }
}

/// Returns the sentence about a missing transcript.
pub(crate) fn gone(id: &str, other: &SessionRef) -> String {
    let other = other.to_string();
    format!(
        "the transcript {} of session {id} is not there: resume will start empty",
        other.escape_debug()
    )
}
