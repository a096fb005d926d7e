//! Titles, tags and labels of a session: written to its log if the format allows, else as a note.

use boswell_dialect::{Body, Depth, Draft, EditRequest, Support};
use boswell_model::json::Json;
use boswell_model::{ErrorKind, Result, SessionMeta, SessionRef};
use boswell_store::notes::NoteKind;
use boswell_store::store::Resolved;
use boswell_store::{Receipt, WritableStore};

use crate::acknowledgement::{Acknowledgement, NoteShape, ReceiptShape};
use crate::planned_change::{self, OperationShape};
use crate::{App, AppResult, RequestContext, summarize};

/// A request to annotate a session.
#[derive(Debug, Clone)]
pub struct AnnotateRequest {
    /// The session: a ref, the beginning of an id, a path, `@last` or `@here`.
    pub session: String,
    /// The annotation to write.
    pub annotation: Annotation,
}

/// An annotation of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Annotation {
    /// Sets the title.
    Title(String),
    /// Adds or removes tags.
    Tags {
        /// These it has from now on.
        add: Vec<String>,
        /// These it has no longer.
        remove: Vec<String>,
    },
    /// The name of an entry; none takes the name away.
    Label {
        /// The entry.
        entry: String,
        /// The label; `None` removes it.
        label: Option<String>,
    },
    /// Sets the status. A session that is completed is summed up, if the settings say so.
    Status {
        /// The status.
        status: SessionStatus,
        /// What went wrong, for an error.
        message: Option<String>,
    },
}

impl Annotation {
    /// Ends a session: its status becomes `completed`.
    pub const CLOSE: Annotation = Annotation::Status {
        status: SessionStatus::Completed,
        message: None,
    };
}

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// It is worked on.
    Active,
    /// It is left for later.
    Paused,
    /// It has ended.
    Completed,
    /// It has failed.
    Error,
}

impl SessionStatus {
    /// The word that is written.
    pub fn word(self) -> &'static str {
        match self {
            SessionStatus::Active => "active",
            SessionStatus::Paused => "paused",
            SessionStatus::Completed => "completed",
            SessionStatus::Error => "error",
        }
    }
}

impl App {
    /// Says something about a session: in its log, by a plan, or as a note of boswell's, whichever
    /// its format has.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, Busy if another process writes it, Denied if
    /// nothing may be written.
    pub fn annotate(&self, request: &AnnotateRequest) -> AppResult<Acknowledgement> {
        self.answer(|cx| annotate(cx, &request.session, &request.annotation))
    }
}

fn annotate(
    cx: &RequestContext,
    session: &str,
    annotation: &Annotation,
) -> Result<Acknowledgement> {
    match annotation {
        Annotation::Title(title) => {
            let found = cx.resolve_front_for_writing(session)?;
            let request = EditRequest::Title(title.clone());
            let note = NoteKind::Title(Some(title.clone()));
            write(cx, &found, &request, vec![note])
        }
        Annotation::Tags { add, remove } => retag(cx, session, add, remove),
        Annotation::Label { entry, label } => set_label(cx, session, entry, label),
        Annotation::Status { status, message } => set_status(cx, session, *status, message),
    }
}

fn set_label(
    cx: &RequestContext,
    session: &str,
    entry: &str,
    label: &Option<String>,
) -> Result<Acknowledgement> {
    // An entry belongs to one log, so the side that has the messages is meant, not the front.
    let found = cx.resolve_for_writing(session)?;
    let session = found.store.read(&found.location, Depth::Heads)?;
    let target = session.log().label(session.find(entry)?).into_owned();
    let request = EditRequest::Label {
        entry: target.clone(),
        label: label.clone(),
    };
    let note = NoteKind::Label {
        entry: target,
        label: label.clone(),
    };
    write(cx, &found, &request, vec![note])
}

fn set_status(
    cx: &RequestContext,
    session: &str,
    status: SessionStatus,
    message: &Option<String>,
) -> Result<Acknowledgement> {
    let found = cx.resolve_front_for_writing(session)?;
    let request = EditRequest::Status {
        status: status.word().to_owned(),
        message: message.clone(),
    };
    let note = NoteKind::Status {
        status: status.word().to_owned(),
        message: message.clone(),
    };
    let done = write(cx, &found, &request, vec![note])?;
    if status == SessionStatus::Completed {
        summarize::at_close(cx, &found.reading());
    }
    Ok(done)
}

/// Tags depend on those that the session has already, so that of two processes that change them at
/// once neither change is lost: a plan makes its request again under its locks, and a log is
/// appended what changed, not what came of it.
fn retag(
    cx: &RequestContext,
    session: &str,
    add: &[String],
    remove: &[String],
) -> Result<Acknowledgement> {
    let found = cx.resolve_front_for_writing(session)?;
    let remake = |meta: &SessionMeta| {
        let kept = meta.tags.iter().filter(|tag| !remove.contains(tag));
        let mut tags: Vec<String> = kept.cloned().collect();
        for tag in add {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        EditRequest::Tags(tags)
    };
    let added = add.iter().cloned().map(NoteKind::Tag);
    let notes = added
        .chain(remove.iter().cloned().map(NoteKind::Untag))
        .collect();
    let append = || {
        let receipt = found.store.retag(&found.location.id, add, remove)?;
        Ok(Some(receipt))
    };
    // Only its sort matters here: what it really is depends on facts that are read under the locks.
    let like = remake(&SessionMeta::default());
    write_by(cx, &found, (&like, Some(&remake)), &append, notes)
}

/// Writes it into the session if the dialect has a place for it; else leaves notes and remarks it.
fn write(
    cx: &RequestContext,
    found: &Resolved<WritableStore>,
    request: &EditRequest,
    notes: Vec<NoteKind>,
) -> Result<Acknowledgement> {
    let append = || {
        draft_of(request)
            .map(|draft| found.store.annotate(&found.location.id, draft))
            .transpose()
    };
    write_by(cx, found, (request, None), &append, notes)
}

/// A request, and how it is made again from the session once its locks are held.
type Remade<'r> = (
    &'r EditRequest,
    Option<&'r dyn Fn(&SessionMeta) -> EditRequest>,
);

fn write_by(
    cx: &RequestContext,
    found: &Resolved<WritableStore>,
    (request, remake): Remade<'_>,
    append: &dyn Fn() -> Result<Option<Receipt>>,
    notes: Vec<NoteKind>,
) -> Result<Acknowledgement> {
    let dialect = found.store.dialect();
    let reference = SessionRef::new(dialect.name(), &found.location.id);
    let operation = request.operation();
    if operation.is_some_and(|operation| dialect.powers().plans(operation)) {
        match planned_change::execute_again(cx, found, request, remake) {
            Ok(done) => {
                outdate(cx, &reference, &notes)?;
                let shape = OperationShape::of(&done, &reference);
                return Ok(Acknowledgement::Operation(shape));
            }
            // What a plan cannot say, such as a second tag, becomes a note like all that has no
            // place.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
    } else if operation.is_some_and(|operation| found.store.support(operation) == Support::Native)
        && let Some(receipt) = append()?
    {
        return Ok(Acknowledgement::Receipt(ReceiptShape::from(&receipt)));
    }
    let mut kept = cx.notes()?;
    for note in notes {
        kept.add(&reference, cx.now, note)?;
    }
    cx.remark(format!(
        "kept as a note of boswell's: {} itself is not told",
        dialect.facts().title
    ));
    Ok(Acknowledgement::Note(NoteShape {
        session: reference.to_string(),
        what: operation.map(|operation| operation.word()),
    }))
}

/// Removes earlier notes about the same value: notes take precedence over the log.
fn outdate(cx: &RequestContext, session: &SessionRef, said: &[NoteKind]) -> Result<()> {
    if !cx.home()?.join("notes.jsonl").is_file() {
        return Ok(());
    }
    let mut kept = cx.notes()?;
    let now = kept.of(session);
    for note in said {
        match note {
            NoteKind::Title(_) if now.title.is_some() => {
                kept.add(session, cx.now, NoteKind::Title(None))?
            }
            NoteKind::Untag(tag) if now.tags.contains(tag) => {
                kept.add(session, cx.now, note.clone())?
            }
            _ => {}
        }
    }
    Ok(())
}

/// The entry that a log of the pi family gets.
fn draft_of(request: &EditRequest) -> Option<Draft> {
    Some(match request {
        EditRequest::Title(title) => Draft::new(Body::Title(title.clone())),
        EditRequest::Label { entry, label } => Draft::new(Body::Label {
            target: entry.into(),
            label: label.clone(),
        }),
        EditRequest::Status { status, message } => Draft::custom(
            "boswell.status",
            Json::object()
                .with("status", status.as_str())
                .with_some("error", message.as_deref()),
        ),
        _ => return None,
    })
}
