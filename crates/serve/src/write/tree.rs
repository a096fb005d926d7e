//! Forks, branches, rewinds and repairs.

use axum::body::Body;
use axum::http::{StatusCode, header};
use boswell_app::branch::BranchRequest;
use boswell_app::fork::ForkRequest;
use boswell_app::repair::{SessionRepair, SessionRepairPlan, SessionRepairRequest};
use boswell_app::rewind::{RewindOutcome, RewindRequest};
use boswell_app::session_info::SessionRequest;
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, App, AppResult, Notice};
use boswell_model::{Remark, Revision};

use super::append::id_from_key;
use super::session::acknowledged;
use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::entity::Entity;
use crate::lines::Last;
use crate::pool::Lane;
use crate::problem::Problem;
use crate::read::plan_tag;

/// Creates a new session from a branch of another one.
pub(crate) async fn fork(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["at", "title", "id"])?;
    let key = call
        .header("idempotency-key")
        .map(|key| id_from_key(key, 0));
    let request = ForkRequest {
        session,
        at: entity.text("at")?,
        title: entity.text("title")?,
        id: entity.text("id")?.or(key),
        ..ForkRequest::default()
    };
    let expected = call.expected()?;
    let made = ask(&call, Lane::Change, move |app| {
        app.expecting(expected).fork(&request)
    })
    .await?;
    let plan = Plan::one(&call)
        .in_lane(Lane::Change)
        .with_status(StatusCode::CREATED)
        .with_header(header::LOCATION, format!("/v1/sessions/{}", made.reference));
    let value = made.session.object();
    run(&call, plan, move |_, _, lines| {
        lines.object(&value)?;
        Ok(Answer {
            value: Last::None,
            notices: Vec::new(),
        })
    })
    .await
}

/// Moves the leaf of a session.
pub(crate) async fn branch(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["entry", "summary"])?;
    let request = BranchRequest {
        session,
        entry: entity.text("entry")?,
        summary: entity.text("summary")?,
    };
    let expected = call.expected()?;
    let plan = Plan::one(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        let Answer { value, notices } = app.expecting(expected).branch(&request)?;
        lines.object(&acknowledged(value))?;
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

/// Rewinds to before a prompt. A log that must be truncated is truncated only with `apply`; without
/// it the answer is the plan. Files are never touched.
pub(crate) async fn rewind(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["entry", "apply"])?;
    let request = RewindRequest {
        session,
        entry: entity.required("entry")?,
        files: false,
        may_cut: entity.switch("apply")?,
    };
    let expected = call.expected()?;
    let plan = Plan::list(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        let app = app.expecting(expected);
        let Answer { value, notices } = app.rewind(&request, &mut |_| Ok(()))?;
        match value {
            RewindOutcome::Rewound(rewound) => {
                lines.object(&rewound.object())?;
            }
            RewindOutcome::WouldCut(plan) => {
                for step in plan.steps {
                    lines.object(&step.object())?;
                }
            }
        }
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}

/// Returns what a body asks to repair.
fn repair_request(entity: &Entity, session: String) -> Result<SessionRepairRequest, Problem> {
    Ok(SessionRepairRequest {
        provider: false,
        session,
        likely: entity.switch("likely")?,
        steps: entity.numbers("steps")?,
        in_place: entity.switch("in_place")?,
        goals: entity.texts(&["for"])?,
    })
}

/// The refusal of a repair that does not name the plan that was shown.
fn lacks_plan() -> Problem {
    Problem::new(
        StatusCode::PRECONDITION_REQUIRED,
        boswell_model::ErrorKind::Invalid,
        "a repair needs `If-Match` with the ETag of its plan",
    )
    .hinting("read the plan with GET at the same address first")
}

/// Returns the plan of a repair, and the revision that it is for: the repair plans again under its
/// lock, and the same revision has the same plan.
fn planned(app: &App, request: &SessionRepairRequest) -> AppResult<(Revision, SessionRepairPlan)> {
    let session = request.session.clone();
    let revision = app.revision(&SessionRequest { session })?.value;
    app.plan_repair(request).map(|answer| Answer {
        value: (revision, answer.value),
        notices: answer.notices,
    })
}

/// Repairs a session as its plan was shown: `If-Match` is the ETag of the plan.
pub(crate) async fn repair(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let session = call.session()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["steps", "likely", "in_place", "for"])?;
    let request = repair_request(&entity, session)?;
    let Some(expected) = call.conditions.if_match.clone() else {
        return Err(lacks_plan());
    };
    let again = request.clone();
    let (revision, plan) = ask(&call, Lane::Read, move |app| planned(app, &again)).await?;
    let actual = plan_tag(&plan);
    if expected != actual {
        return Err(Problem::condition(&expected, &actual));
    }
    let plan = Plan::list(&call).in_lane(Lane::Change);
    run(&call, plan, move |app, _, lines| {
        let app = app.expecting(Some(revision));
        let Answer { value, mut notices } = app.repair(&request)?;
        match value {
            SessionRepair::AlreadyRepaired { fork, .. } => {
                notices.push(Notice::Remark(Remark::from(format!(
                    "already repaired as {fork}"
                ))));
            }
            SessionRepair::Done(done) => {
                for step in done.steps {
                    lines.object(&step.object())?;
                }
                if let Some(operation) = done.operation {
                    lines.object(&operation.object())?;
                }
            }
        }
        let value = Last::None;
        Ok(Answer { value, notices })
    })
    .await
}
