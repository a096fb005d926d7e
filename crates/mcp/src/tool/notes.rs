//! `tag_session`, `note_session`: notes of boswell's own, never a change of an agent's log.

use boswell_app::session_note::SessionNoteRequest;

use super::{ToolContext, ToolResult, asked, session_name};
use crate::arguments::Arguments;
use crate::frame::safe_head;

pub(super) fn tag_session(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["session", "tag"])?;
    let tag = arguments.needed("tag")?;
    note(cx, arguments, (vec![tag], None))
}

pub(super) fn note_session(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["session", "text"])?;
    let text = arguments.needed("text")?;
    note(cx, arguments, (Vec::new(), Some(text)))
}

fn note(
    cx: &ToolContext<'_>,
    arguments: &Arguments,
    (tags, text): (Vec<String>, Option<String>),
) -> ToolResult {
    let named = arguments.needed("session")?;
    let session = cx.scope.session(session_name(&named))?;
    let request = SessionNoteRequest {
        session: session.reference.to_string(),
        tags,
        text,
    };
    let noted = asked(cx.scope.app.note_session(&request))?;
    let what = noted.what.unwrap_or("note");
    Ok(format!(
        "the {what} of {} is kept in boswell's notes",
        safe_head(&noted.session)
    ))
}
