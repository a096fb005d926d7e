//! Health of sessions: findings, and the plan of a repair.

use axum::http::header;
use boswell_app::check::{CheckEvent, CheckRequest};
use boswell_app::repair::{SessionRepairPlan, SessionRepairRequest};
use boswell_app::shape::Shape as _;
use boswell_app::{Answer, App, AppResult, Cancel};
use boswell_model::json::Json;

use super::session::ended;
use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::config::CommandPhrase;
use crate::lines::{Last, Lines};
use crate::params::Params;
use crate::pool::Lane;
use crate::write::Progress;

/// Checks every session. Findings are sent as they are found.
pub(crate) async fn check(mut call: Call) -> Reply {
    call.no_params()?;
    checked(call, CheckRequest::default(), true).await
}

/// Checks one session.
pub(crate) async fn check_session(mut call: Call) -> Reply {
    let sessions = vec![call.session()?];
    call.no_params()?;
    checked(call, CheckRequest { sessions }, false).await
}

async fn checked(call: Call, request: CheckRequest, is_long: bool) -> Reply {
    let mut plan = Plan::list(&call).in_lane(Lane::Search);
    if is_long {
        plan = plan.with_progress(&call);
    }
    plan.is_long = is_long;
    let command = call.server.command;
    run(&call, plan, move |app, cancel, lines| {
        findings(app, &request, (cancel, command), lines)
    })
    .await
}

fn findings(
    app: &App,
    request: &CheckRequest,
    (cancel, command): (&Cancel, CommandPhrase),
    lines: &mut Lines,
) -> AppResult<Last> {
    let mut progress = Progress::of("check");
    let (mut done, mut total) = (0, 0);
    let answer = app.check(request, cancel, &mut |event| {
        match &event {
            CheckEvent::Begin { sessions } => total = *sessions,
            CheckEvent::Session(_) => done += 1,
            _ => {}
        }
        // An archived session counts without its subagents.
        progress.send(lines, (done.min(total), total));
        let shapes: Vec<Json> = match event {
            CheckEvent::Session(session) => session.shapes(command).map(|it| it.object()).collect(),
            CheckEvent::Store(store) => store.shapes(command).map(|it| it.object()).collect(),
            CheckEvent::Unchecked(place) => vec![place.shape().object()],
            _ => Vec::new(),
        };
        for shape in &shapes {
            if !lines.object(shape)? {
                return Ok(false);
            }
        }
        Ok(!cancel.is_cancelled())
    })?;
    ended(answer, |_| Last::None)
}

/// The options of a repair, in an address or a body.
fn options(params: &Params) -> Result<SessionRepairRequest, crate::problem::Problem> {
    let steps = params.words("steps");
    let numbers = steps.iter().map(|it| it.parse::<usize>());
    let steps = numbers.collect::<Result<Vec<usize>, _>>().map_err(|_| {
        crate::problem::Problem::invalid("`steps` is not a list of numbers, such as 1,2")
    })?;
    Ok(SessionRepairRequest {
        provider: false,
        session: String::new(),
        likely: params.switch("likely")?,
        steps,
        in_place: params.switch("in_place")?,
        goals: params.words("for"),
    })
}

/// Returns the plan of a repair. Its ETag is what `POST …/repair` requires.
pub(crate) async fn repair_plan(mut call: Call) -> Reply {
    let params = call.params()?;
    let request = SessionRepairRequest {
        session: call.session()?,
        ..options(&params)?
    };
    params.end()?;
    let plan = ask(&call, Lane::Read, move |app| app.plan_repair(&request)).await?;
    let tag = format!("\"{}\"", plan_tag(&plan));
    let is_document = !call.wants_lines;
    let answer = Plan::list(&call).with_header(header::ETAG, tag);
    run(&call, answer, move |_, _, lines| {
        let end = plan.shape().object();
        for shape in plan_shapes(plan, is_document) {
            lines.object(&shape)?;
        }
        Ok(Answer {
            value: Last::Extra(end),
            notices: Vec::new(),
        })
    })
    .await
}

fn plan_shapes(plan: SessionRepairPlan, with_changes: bool) -> Vec<Json> {
    let steps = match with_changes {
        true => plan.steps_with_changes(),
        false => plan.steps,
    };
    let steps = steps.into_iter().map(|it| it.object());
    let losses = plan.losses.into_iter().map(|it| it.shape.object());
    steps.chain(losses).collect()
}

/// Identifies a plan: another session, or other steps, have another tag.
pub(crate) fn plan_tag(plan: &SessionRepairPlan) -> String {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    hash.update(plan.session.to_string());
    for step in &plan.steps {
        hash.update(step.clone().object().to_bytes());
        hash.update(b"\n");
    }
    let digest = hash.finalize();
    boswell_app::base64::encode_url(digest.get(..16).unwrap_or_default())
}
