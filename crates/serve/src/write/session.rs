//! Changes of one session: title, tags, status, labels, deletion and its undo.

use axum::body::Body;
use boswell_app::acknowledgement::Acknowledgement;
use boswell_app::annotate::{AnnotateRequest, Annotation, SessionStatus};
use boswell_app::delete::{DeleteRequest, RemovalPlan, RestoreRequest};
use boswell_app::operations::UndoRequest;
use boswell_app::session_info::SessionRequest;
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, App, AppResult, Notice};
use boswell_model::json::Json;

use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::entity::Entity;
use crate::lines::{Last, Lines};
use crate::pool::Lane;
use crate::problem::Problem;

const STATUSES: [SessionStatus; 4] = [
    SessionStatus::Active,
    SessionStatus::Paused,
    SessionStatus::Completed,
    SessionStatus::Error,
];

/// Fails if the session is not at the revision that `If-Match` names. For a request that changes
/// nothing: a change compares the revision under its own lock.
async fn require_match(call: &Call, session: &str) -> Result<(), Problem> {
    let Some(expected) = call.conditions.if_match.clone() else {
        return Ok(());
    };
    let request = SessionRequest {
        session: session.to_owned(),
    };
    let shape = ask(call, Lane::Read, move |app| app.session(&request)).await?;
    let actual = shape.revision.unwrap_or_default();
    if expected == "*" || expected == actual {
        return Ok(());
    }
    Err(Problem::condition(&expected, &actual))
}

/// Returns the shape of an acknowledgement.
pub(super) fn acknowledged(done: Acknowledgement) -> Json {
    match done {
        Acknowledgement::Receipt(receipt) => receipt.object(),
        Acknowledgement::Operation(operation) => operation.object(),
        Acknowledgement::Note(note) => note.object(),
    }
}

/// Changes title, tags or status. The answer is the session as it is then, after what was written.
pub(crate) async fn patch(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    let annotations = annotations(&entity)?;
    annotated(&call, session, annotations).await
}

fn annotations(entity: &Entity) -> Result<Vec<Annotation>, Problem> {
    entity.only(&["title", "tags", "status", "message"])?;
    let mut annotations = Vec::new();
    annotations.extend(entity.text("title")?.map(Annotation::Title));
    let (add, remove) = (
        entity.texts(&["tags", "add"])?,
        entity.texts(&["tags", "remove"])?,
    );
    if !add.is_empty() || !remove.is_empty() {
        annotations.push(Annotation::Tags { add, remove });
    }
    if let Some(word) = entity.text("status")? {
        let status = STATUSES.into_iter().find(|it| it.word() == word);
        let status = status.ok_or_else(|| {
            Problem::invalid(format!("there is no status `{}`", word.escape_debug()))
                .hinting("use active, paused, completed or error")
        })?;
        let message = entity.text("message")?;
        annotations.push(Annotation::Status { status, message });
    }
    if annotations.is_empty() {
        let what = "nothing to change: give `title`, `tags` or `status`";
        return Err(Problem::invalid(what));
    }
    Ok(annotations)
}

async fn annotated(call: &Call, session: String, annotations: Vec<Annotation>) -> Reply {
    let plan = Plan::list(call).in_lane(Lane::Change);
    let mut expected = call.expected()?;
    run(call, plan, move |app, _, lines| {
        let mut notices = Vec::new();
        for annotation in annotations {
            // The first one changes the revision.
            let app = app.expecting(expected.take());
            let done = annotate(&app, &session, annotation, &mut notices)?;
            lines.object(&done)?;
        }
        let now = app.session(&SessionRequest { session })?;
        lines.object(&now.value.object())?;
        notices.extend(now.notices);
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

fn annotate(
    app: &App,
    session: &str,
    annotation: Annotation,
    notices: &mut Vec<Notice>,
) -> Result<Json, boswell_app::Refusal> {
    let done = app.annotate(&AnnotateRequest {
        session: session.to_owned(),
        annotation,
    })?;
    notices.extend(done.notices);
    Ok(acknowledged(done.value))
}

/// Sets or removes the label of an entry.
pub(crate) async fn label(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["entry", "label"])?;
    let annotation = Annotation::Label {
        entry: entity.required("entry")?,
        label: entity.text("label")?,
    };
    annotated(&call, session, vec![annotation]).await
}

/// Ends a session.
pub(crate) async fn close(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    Entity::read(&call, body).await?.only(&[])?;
    annotated(&call, session, vec![Annotation::CLOSE]).await
}

/// Deletes a session; the vault has a copy. With `plan` only says what would be done.
pub(crate) async fn delete(mut call: Call) -> Reply {
    let params = call.params()?;
    let is_plan = params.switch("plan")?;
    params.end()?;
    let session = call.session()?;
    let expected = call.expected()?;
    if is_plan {
        require_match(&call, &session).await?;
    }
    let request = DeleteRequest {
        sessions: vec![session],
    };
    let plan = Plan::list(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        if is_plan {
            plan_of_delete(app, &request, lines)
        } else {
            let done = app.expecting(expected).delete(&request, &mut |deleted| {
                lines.object(&deleted.op.object()).map(|_| ())
            })?;
            app.forget_open_sessions();
            ended(done)
        }
    })
    .await
}

fn ended(done: Answer<()>) -> AppResult<Last> {
    Ok(Answer {
        value: Last::None,
        notices: done.notices,
    })
}

fn plan_of_delete(app: &App, request: &DeleteRequest, lines: &mut Lines) -> AppResult<Last> {
    let done = app.plan_delete(request, &mut |plan| {
        let steps: Vec<Json> = match plan.removal {
            RemovalPlan::Planned(plan) => plan.steps.into_iter().map(|it| it.object()).collect(),
            RemovalPlan::Files(steps) => steps.into_iter().map(|it| it.object()).collect(),
        };
        steps
            .iter()
            .try_for_each(|step| lines.object(step).map(|_| ()))
    })?;
    ended(done)
}

/// Restores a deleted or archived session.
pub(crate) async fn restore(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    Entity::read(&call, body).await?.only(&[])?;
    let request = RestoreRequest {
        refs: vec![call.session()?],
    };
    let plan = Plan::list(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        let done = app.restore(&request, &mut |restored| {
            lines.object(&restored.op.object()).map(|_| ())
        })?;
        ended(done)
    })
    .await
}

/// Undoes an operation.
pub(crate) async fn undo(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let operation = call.name("op")?;
    let is_id = !operation.is_empty()
        && operation
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_id {
        return Err(Problem::invalid("an operation is named by its id"));
    }
    let entity = Entity::read(&call, body).await?;
    entity.only(&["keep_new"])?;
    let request = UndoRequest {
        operations: vec![operation],
        keep_new: entity.switch("keep_new")?,
    };
    let plan = Plan::list(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        let done = app.undo(&request, &mut |operation| {
            lines.object(&operation.object()).map(|_| ())
        })?;
        ended(done)
    })
    .await
}
