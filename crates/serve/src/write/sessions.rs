//! `POST /v1/sessions`.

use std::path::PathBuf;

use axum::body::Body;
use axum::http::{StatusCode, header};
use boswell_app::new_session::NewSessionRequest;
use boswell_app::shape::{SessionShape, Shape as _};
use boswell_app::{Answer, App, AppResult};
use boswell_model::ErrorKind;

use super::append::id_from_key;
use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::entity::Entity;
use crate::lines::Last;
use crate::pool::Lane;
use crate::problem::Problem;

/// Creates a session.
pub(crate) async fn create(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["dialect", "project", "title", "id", "backend"])?;
    let key = call
        .header("idempotency-key")
        .map(|key| id_from_key(key, 0));
    let has_key = key.is_some();
    let request = request(&entity, key)?;
    let made = ask(&call, Lane::Change, move |app| {
        created_or_known(app, &request, has_key)
    })
    .await?;
    let (session, was_there) = made;
    let status = if was_there {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let plan = Plan::one(&call)
        .in_lane(Lane::Change)
        .with_status(status)
        .with_header(
            header::LOCATION,
            format!("/v1/sessions/{}", session.reference),
        );
    let value = session.object();
    run(&call, plan, move |_, _, lines| {
        lines.object(&value)?;
        Ok(Answer {
            value: Last::None,
            notices: Vec::new(),
        })
    })
    .await
}

/// Returns what a body asks for. The id from the key is used if the body has none.
fn request(entity: &Entity, key: Option<String>) -> Result<NewSessionRequest, Problem> {
    let default = NewSessionRequest::default();
    Ok(NewSessionRequest {
        dialect: entity.text("dialect")?.unwrap_or(default.dialect),
        project: PathBuf::from(entity.required("project")?),
        title: entity.text("title")?,
        id: entity.text("id")?.or(key),
        backend: entity.text("backend")?,
    })
}

/// Creates a session, or returns the one of the same request before; whether it was there.
fn created_or_known(
    app: &App,
    request: &NewSessionRequest,
    has_key: bool,
) -> AppResult<(SessionShape, bool)> {
    let created = app.new_session(request);
    // The same request again: the session is there.
    let session = request.id.as_ref().filter(|_| has_key);
    match (created, session) {
        (Err(refusal), Some(id)) if refusal.error.kind() == ErrorKind::Conflict => {
            let request = boswell_app::session_info::SessionRequest {
                session: format!("{}:{id}", request.dialect),
            };
            app.session(&request).map(|answer| Answer {
                value: (answer.value, true),
                notices: answer.notices,
            })
        }
        (created, _) => created.map(|answer| Answer {
            value: (answer.value.session, false),
            notices: answer.notices,
        }),
    }
}
