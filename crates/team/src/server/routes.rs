//! The table of addresses.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post, put};
use boswell_model::ErrorKind;
use boswell_model::json::Json;

use super::answer::{Reply, json};
use super::problem::TeamProblem;
use super::state::TeamState;
use super::{guard, people, sessions};

/// Returns the whole server.
pub(super) fn all(state: TeamState) -> Router {
    let session = "/team/v1/sessions/{owner}/{session}";
    let below = |name: &str| format!("{session}/{name}");
    let one = get(sessions::read)
        .put(sessions::publish)
        .delete(sessions::delete);
    let members = put(people::set_role).delete(people::end_role);
    Router::new()
        .route("/healthz", get(healthy))
        .route("/metrics", get(metrics))
        .route("/team/v1/me", get(people::me))
        .route("/team/v1/sessions", get(sessions::list))
        .route(session, one)
        .route(&below("missing"), post(sessions::missing))
        .route(
            &below("parts/{part}"),
            get(sessions::part).put(sessions::store),
        )
        .route(
            &below("projects/{project}"),
            put(sessions::share).delete(sessions::take_back),
        )
        .route("/team/v1/audit", get(people::audit))
        .route("/team/v1/projects", get(people::projects))
        .route("/team/v1/projects/{project}", put(people::set_project))
        .route("/team/v1/projects/{project}/members/{person}", members)
        .route("/team/v1/people/{person}", delete(people::erase))
        .route("/team/v1/people/{person}/tokens", post(people::token))
        .route("/team/v1/sweep", post(people::sweep))
        .fallback(nowhere)
        .layer(axum::middleware::from_fn_with_state(
            state.clone(),
            guard::guard,
        ))
        .with_state(state)
}

/// Says whether the server can answer: its database does, and it is not about to end.
async fn healthy(State(state): State<TeamState>) -> Reply {
    let unwell = |what: &str| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Err(TeamProblem::new(status, ErrorKind::Unavailable, what))
    };
    if state.is_ending() {
        return unwell("the server is ending");
    }
    match state.database.enter([0; 32]).await {
        Err(error) if error.kind() != ErrorKind::Denied => {
            unwell("the database cannot be reached now")
        }
        _ => Ok(json(&Json::object().with("status", "ok"))),
    }
}

async fn metrics(State(state): State<TeamState>) -> Response<Body> {
    let mut response = Response::new(Body::from(state.metrics.text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn nowhere() -> Response<Body> {
    let what = "there is nothing at this address";
    TeamProblem::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, what).into_response()
}
