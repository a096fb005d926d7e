//! Tags and notes that a program adds to a session: always in boswell's own notes, never in an
//! agent's log.

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::notes::NoteKind;

use crate::acknowledgement::NoteShape;
use crate::{App, AppResult, RequestContext};

/// The longest tag, and the longest note.
const LONGEST_TAG: usize = 64;
const LONGEST_NOTE: usize = 2_000;

/// A request to add tags or a note to a session.
#[derive(Debug, Clone, Default)]
pub struct SessionNoteRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Tags to add.
    pub tags: Vec<String>,
    /// A sentence that is added to the summary.
    pub text: Option<String>,
}

impl App {
    /// Adds tags and a note to a session, as notes of boswell's own.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Denied if nothing may be written, Invalid for an empty
    /// or too long text.
    pub fn note_session(&self, request: &SessionNoteRequest) -> AppResult<NoteShape> {
        self.answer(|cx| note_session(cx, request))
    }
}

fn note_session(cx: &RequestContext, request: &SessionNoteRequest) -> Result<NoteShape> {
    cx.may_write()?;
    for tag in &request.tags {
        check(tag, LONGEST_TAG, "a tag")?;
    }
    if let Some(text) = &request.text {
        check(text, LONGEST_NOTE, "a note")?;
    }
    let found = cx.resolve_front(&request.session)?;
    let reference = found.reference();
    let tags = request.tags.iter().cloned().map(NoteKind::Tag);
    let mut added: Vec<NoteKind> = tags.collect();
    if let Some(text) = &request.text {
        let mut summary = found.store.summary(&found.location)?;
        cx.add_notes(std::iter::once(&mut summary))?;
        // What the summary says already stays.
        let before = summary.meta.summary.filter(|it| !it.trim().is_empty());
        let whole = match before {
            Some(before) => format!("{before}\n{}", text.trim()),
            None => text.trim().to_owned(),
        };
        added.push(NoteKind::Summary(whole));
    }
    let mut notes = cx.notes()?;
    for note in added {
        notes.add(&reference, cx.now, note)?;
    }
    Ok(NoteShape {
        session: reference.to_string(),
        what: Some(if request.text.is_some() {
            "note"
        } else {
            "tag"
        }),
    })
}

fn check(text: &str, longest: usize, what: &str) -> Result<()> {
    let length = text.trim().chars().count();
    if length > 0 && length <= longest && !text.chars().any(|c| c.is_control() && c != '\n') {
        return Ok(());
    }
    let what = format!("{what} has 1 to {longest} characters, and no control characters");
    Err(Error::new(ErrorKind::Invalid, what))
}
