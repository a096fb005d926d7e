//! Metadata: into the session where its format has a place, else a note beside it.

use std::process::ExitCode;

use boswell_dialect::{Body, Draft, EditRequest, Support};
use boswell_model::json::Json;
use boswell_model::{ErrorKind, Result, SessionMeta, SessionRef};
use boswell_store::{NoteKind, Receipt, Resolved};

use super::{planned_change, receipt};
use crate::app::App;
use crate::output::Output;

/// Writes it into the session if the dialect has a place for it; else leaves notes and says so.
pub(crate) fn annotate_or_note(
    app: &App,
    found: &Resolved,
    request: &EditRequest,
    notes: Vec<NoteKind>,
) -> Result<ExitCode> {
    let annotate = || {
        draft_of(request)
            .map(|draft| found.store.annotate(&found.location.id, draft))
            .transpose()
    };
    say(app, found, request, None, &annotate, notes)
}

/// The same for a change that depends on what the session says already, so that of two processes
/// that change it at once neither change is lost: a plan calls `remake` under its locks, and
/// `annotate` appends what changed, not what came of it.
pub(crate) fn annotate_or_note_again(
    app: &App,
    found: &Resolved,
    remake: &dyn Fn(&SessionMeta) -> EditRequest,
    annotate: &dyn Fn() -> Result<Receipt>,
    notes: Vec<NoteKind>,
) -> Result<ExitCode> {
    // Only its sort matters here: what it really is depends on facts that are read under the locks.
    let like = remake(&SessionMeta::default());
    say(
        app,
        found,
        &like,
        Some(remake),
        &|| annotate().map(Some),
        notes,
    )
}

fn say(
    app: &App,
    found: &Resolved,
    request: &EditRequest,
    remake: Option<&dyn Fn(&SessionMeta) -> EditRequest>,
    annotate: &dyn Fn() -> Result<Option<Receipt>>,
    notes: Vec<NoteKind>,
) -> Result<ExitCode> {
    let dialect = found.store.dialect();
    let mut out = Output::paged(app);
    let reference = SessionRef::new(dialect.name(), &found.location.id);
    let operation = request.operation();
    let support = operation.map_or(Support::No, |operation| found.store.support(operation));
    let has_plan = operation.is_some_and(|operation| dialect.powers().plans(operation));
    let planned = has_plan.then(|| planned_change::execute_again(app, found, request, remake));
    // What a plan cannot say, such as a second tag, is said by a note like all that has no place.
    let planned = planned.filter(|done| {
        !done
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    });
    let native = if !has_plan && support == Support::Native {
        annotate()?
    } else {
        None
    };
    if let Some(done) = planned {
        let done = done?;
        outdate(app, &reference, &notes)?;
        planned_change::report(&done, &reference, &mut out)?;
    } else if let Some(receipt) = native {
        receipt::print(&receipt, &mut out)?;
    } else {
        let mut kept = app.notes()?;
        for note in notes {
            kept.add(&reference, app.now, note)?;
        }
        if out.json {
            out.object(
                &Json::object()
                    .with("v", 1)
                    .with("type", "note")
                    .with("session", reference.to_string())
                    .with("what", operation.map(|operation| operation.word())),
            )?;
        } else {
            out.line(&reference.to_string())?;
        }
        if !app.quiet {
            crate::error_report::say(&format!(
                "kept as a note of boswell's: {} itself is not told",
                dialect.facts().title
            ));
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Takes back what earlier notes say of the same matter: notes come before what a log says.
fn outdate(app: &App, session: &SessionRef, said: &[NoteKind]) -> Result<()> {
    if !app.home()?.join("notes.jsonl").is_file() {
        return Ok(());
    }
    let mut kept = app.notes()?;
    let now = kept.of(session);
    for note in said {
        match note {
            NoteKind::Title(_) if now.title.is_some() => {
                kept.add(session, app.now, NoteKind::Title(None))?
            }
            NoteKind::Untag(tag) if now.tags.contains(tag) => {
                kept.add(session, app.now, note.clone())?
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a log of the pi family is told.
fn draft_of(request: &EditRequest) -> Option<Draft> {
    Some(match request {
        EditRequest::Title(title) => Draft::new(Body::Title(title.clone())),
        EditRequest::Label { entry, label } => Draft::new(Body::Label {
            target: entry.clone(),
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
