//! `POST /v1/sessions`.

use std::path::PathBuf;

use axum::body::Body;
use axum::http::{StatusCode, header};
use boswell_app::Answer;
use boswell_app::new_session::NewSessionRequest;
use boswell_app::shape::Shape as _;
use boswell_model::ErrorKind;

use super::append::id_from_key;
use crate::answer::{Plan, Reply, ask, run};
use crate::call::Call;
use crate::entity::Entity;
use crate::lines::Last;
use crate::pool::Lane;

/// Creates a session.
pub(crate) async fn create(mut call: Call, body: Body) -> Reply {
    call.no_params()?;
    let entity = Entity::read(&call, body).await?;
    entity.only(&["dialect", "project", "title", "id", "backend"])?;
    let key = call
        .header("idempotency-key")
        .map(|key| id_from_key(key, 0));
    let default = NewSessionRequest::default();
    let request = NewSessionRequest {
        dialect: entity.text("dialect")?.unwrap_or(default.dialect),
        project: PathBuf::from(entity.required("project")?),
        title: entity.text("title")?,
        id: entity.text("id")?.or_else(|| key.clone()),
        backend: entity.text("backend")?,
    };
    let has_key = key.is_some();
    let made = ask(&call, Lane::Change, move |app| {
        let created = app.new_session(&request);
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
