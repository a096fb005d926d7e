//! The table of addresses.

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use boswell_model::ErrorKind;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};

use crate::answer::Reply;
use crate::compat::clinvoker;
use crate::problem::Problem;
use crate::state::ServerState;
use crate::{assets, events, guard, mcp, openapi, read, write};

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        self.response()
    }
}

/// Returns everything that the server answers, behind its checks.
pub(crate) fn all(server: ServerState) -> Router {
    let events = NotForContentType::const_new("text/event-stream");
    // Attachments and exports may be large and are compressed already, or streamed.
    // Most clients are on this machine, where compressing takes longer than sending.
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(1024).and(events));
    let guard = axum::middleware::from_fn_with_state(server.clone(), guard::guard);
    let mut routes = routes();
    if server.clinvoker {
        routes = routes.merge(clinvoker::routes());
    }
    if let Some(endpoint) = server.mcp.clone() {
        routes = routes.merge(mcp::routes(endpoint));
    }
    routes
        .with_state(server)
        .layer(compression)
        .layer(guard)
        .layer(CatchPanicLayer::custom(|_| bug()))
}

/// Returns the addresses without the checks, for a request that was checked already.
pub(crate) fn inner(server: ServerState) -> Router {
    routes().with_state(server)
}

fn routes() -> Router<ServerState> {
    Router::new()
        .merge(machine())
        .merge(session())
        .merge(door())
        .merge(page())
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
}

/// What there is on this machine.
fn machine() -> Router<ServerState> {
    Router::new()
        .route("/healthz", get(healthy))
        .route("/openapi.json", get(openapi::document))
        .route("/v1", get(read::about))
        .route("/v1/stores", get(read::stores))
        .route("/v1/projects", get(read::projects))
        .route("/v1/memory", get(read::memory))
        .route("/v1/files", get(read::project_files))
        .route("/v1/blame", get(read::blame))
        .route("/v1/search", get(read::search))
        .route("/v1/prompts", get(read::prompts))
        .route("/v1/stats", get(read::stats))
        .route("/v1/check", get(read::check))
        .route("/v1/events", get(events::all_events))
        .route("/v1/ops", get(read::ops))
        .route("/v1/index", post(write::index))
        .route("/v1/keep", get(read::kept).post(write::keep))
        .route("/v1/blobs/{sha256}", get(read::blob).put(write::put_blob))
        .route("/v1/ops/{op}/undo", post(write::undo))
        .route("/v1/sessions", get(read::sessions).post(write::create))
}

/// One session.
fn session() -> Router<ServerState> {
    let one = get(read::session).patch(write::patch).delete(write::delete);
    let below = |name: &str| format!("/v1/sessions/{{session}}/{name}");
    let routes: [(&str, MethodRouter<ServerState>); 22] = [
        ("entries", get(read::entries).post(write::append)),
        ("entries/{entry}", get(read::entry)),
        ("entries/{entry}/subagents", get(read::subagents)),
        ("entries/{entry}/media/{number}", get(read::media)),
        ("heads", get(read::heads)),
        ("tree", get(read::tree)),
        ("context", get(read::context)),
        ("files", get(read::files)),
        ("stats", get(read::session_stats)),
        ("attachments", get(read::attachments)),
        ("attachments/{number}", get(read::attachment)),
        ("resume", get(read::resume)),
        ("export", get(read::export)),
        ("check", get(read::check_session)),
        ("repair", get(read::repair_plan).post(write::repair)),
        ("events", get(events::session_events)),
        ("fork", post(write::fork)),
        ("branch", post(write::branch)),
        ("rewind", post(write::rewind)),
        ("label", post(write::label)),
        ("close", post(write::close)),
        ("restore", post(write::restore)),
    ];
    let mut router = Router::new().route("/v1/sessions/{session}", one);
    for (name, methods) in routes {
        router = router.route(&below(name), methods);
    }
    router
}

/// How a page gets in.
fn door() -> Router<ServerState> {
    Router::new()
        .route("/v1/login", post(write::login))
        .route("/v1/changes", post(write::allow_changes))
        .route("/v1/tickets", post(write::ticket))
        .route("/v1/take/{ticket}", get(write::take))
}

fn page() -> Router<ServerState> {
    Router::new()
        .route("/", get(assets::index))
        .route("/favicon.svg", get(assets::icon))
        .route("/assets/{name}", get(assets::asset))
}

async fn healthy() -> Response<Body> {
    let mut response = Response::new(Body::from("{\"status\":\"ok\"}\n"));
    let kind = axum::http::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(axum::http::header::CONTENT_TYPE, kind);
    response
}

async fn nowhere() -> Reply {
    let what = "there is nothing at this address";
    Err(
        Problem::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, what)
            .hinting("see /openapi.json for all addresses"),
    )
}

async fn wrong_method() -> Reply {
    let what = "this address does not take this method";
    Err(Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        ErrorKind::Unsupported,
        what,
    ))
}

/// The answer after a panic.
fn bug() -> Response<Body> {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Internal,
        "this is a bug in boswell",
    )
    .response()
}
