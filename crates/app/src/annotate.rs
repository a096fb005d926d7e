//! Titles, tags, labels and statuses of a session (`rename`, `tag`, `untag`, `label`, `status`,
//! `close`): written to its log if the format allows, else as a note.
//!
//! Of a conversation in two stores the front side is annotated, except that a label goes to the
//! fuller side, which has the entry: see `request_context.rs`.

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
    /// The session as users name it: see `boswell_store::store::Selector`.
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
        /// Tags to add.
        add: Vec<String>,
        /// Tags to remove.
        remove: Vec<String>,
    },
    /// Sets the label of an entry; `None` removes it.
    Label {
        /// The entry.
        entry: String,
        /// The label; `None` removes it.
        label: Option<String>,
    },
    /// Sets the status. A completed session is summarised, if the settings enable it.
    Status {
        /// The status.
        status: SessionStatus,
        /// The error message, for the status `error`.
        message: Option<String>,
    },
}

impl Annotation {
    /// Ends a session by setting its status to `completed`.
    pub const CLOSE: Annotation = Annotation::Status {
        status: SessionStatus::Completed,
        message: None,
    };
}

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// In progress.
    Active,
    /// Paused by the user.
    Paused,
    /// Ended.
    Completed,
    /// Failed.
    Error,
}

impl SessionStatus {
    /// Every status.
    pub const ALL: [SessionStatus; 4] = [
        SessionStatus::Active,
        SessionStatus::Paused,
        SessionStatus::Completed,
        SessionStatus::Error,
    ];

    /// Returns the word that is written.
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
    /// Annotates a session: in its log, by a plan, or as a note of boswell, depending on its
    /// format.
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
    // An entry belongs to one log, so the side with the messages is used, not the front.
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

/// Changes tags relative to the existing ones, so that no change of two concurrent processes is
/// lost: a plan computes its request again under its locks, and a log gets a record of the change,
/// not of the result.
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
    // Only the kind of the request matters here; its contents depend on metadata that is read under
    // the locks.
    let like = remake(&SessionMeta::default());
    write_by(cx, &found, (&like, Some(&remake)), &append, notes)
}

/// Writes the change into the session if the dialect supports it; else writes notes and reports
/// that.
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

/// A request, and the function that computes it again once the locks are held.
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
            // Values that a plan does not support, such as a second tag, become notes.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
    } else if operation.is_some_and(|operation| found.store.support(operation) == Support::Native)
        && let Some(receipt) = append()?
    {
        return Ok(Acknowledgement::Receipt(ReceiptShape::from(&receipt)));
    }
    // A note changes no log, and has no lock of it.
    found.store.require_expected(&found.location)?;
    let mut kept = cx.notes()?;
    for note in notes {
        kept.add(&reference, cx.now, note)?;
    }
    cx.remark(format!(
        "kept as a note of boswell's: {} does not see it",
        dialect.facts().title
    ));
    Ok(Acknowledgement::Note(NoteShape {
        session: reference.to_string(),
        what: operation.map(|operation| operation.word()),
    }))
}

/// Ends earlier notes that contradict what a plan wrote into the session, because notes take
/// precedence over it: a title, and tags that were removed. Notes of labels and statuses stay.
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

/// Returns the entry for a log of the pi family.
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
