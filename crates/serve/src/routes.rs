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
use crate::endpoint::{bare, with_body};
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
        .route("/v1", get(bare(read::about)))
        .route("/v1/stores", get(bare(read::stores)))
        .route("/v1/projects", get(bare(read::projects)))
        .route("/v1/memory", get(bare(read::memory)))
        .route("/v1/files", get(bare(read::project_files)))
        .route("/v1/blame", get(bare(read::blame)))
        .route("/v1/search", get(bare(read::search)))
        .route("/v1/prompts", get(bare(read::prompts)))
        .route("/v1/stats", get(bare(read::stats)))
        .route("/v1/check", get(bare(read::check)))
        .route("/v1/events", get(bare(events::all_events)))
        .route("/v1/ops", get(bare(read::ops)))
        .route("/v1/index", post(with_body(write::index)))
        .route(
            "/v1/keep",
            get(bare(read::kept)).post(with_body(write::keep)),
        )
        .route(
            "/v1/blobs/{sha256}",
            get(bare(read::blob)).put(with_body(write::put_blob)),
        )
        .route("/v1/ops/{op}/undo", post(with_body(write::undo)))
        .route(
            "/v1/sessions",
            get(bare(read::sessions)).post(with_body(write::create)),
        )
}

/// One session.
fn session() -> Router<ServerState> {
    let one = get(bare(read::session))
        .patch(with_body(write::patch))
        .delete(bare(write::delete));
    let below = |name: &str| format!("/v1/sessions/{{session}}/{name}");
    let routes: [(&str, MethodRouter<ServerState>); 22] = [
        (
            "entries",
            get(bare(read::entries)).post(with_body(write::append)),
        ),
        ("entries/{entry}", get(bare(read::entry))),
        ("entries/{entry}/subagents", get(bare(read::subagents))),
        ("entries/{entry}/media/{number}", get(bare(read::media))),
        ("heads", get(bare(read::heads))),
        ("tree", get(bare(read::tree))),
        ("context", get(bare(read::context))),
        ("files", get(bare(read::files))),
        ("stats", get(bare(read::session_stats))),
        ("attachments", get(bare(read::attachments))),
        ("attachments/{number}", get(bare(read::attachment))),
        ("resume", get(bare(read::resume))),
        ("export", get(bare(read::export))),
        ("check", get(bare(read::check_session))),
        (
            "repair",
            get(bare(read::repair_plan)).post(with_body(write::repair)),
        ),
        ("events", get(bare(events::session_events))),
        ("fork", post(with_body(write::fork))),
        ("branch", post(with_body(write::branch))),
        ("rewind", post(with_body(write::rewind))),
        ("label", post(with_body(write::label))),
        ("close", post(with_body(write::close))),
        ("restore", post(with_body(write::restore))),
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
        .route("/v1/login", post(with_body(write::login)))
        .route("/v1/changes", post(with_body(write::allow_changes)))
        .route("/v1/tickets", post(with_body(write::ticket)))
        .route("/v1/take/{ticket}", get(write::take))
}

fn page() -> Router<ServerState> {
    Router::new()
        .route("/", get(bare(assets::index)))
        .route("/favicon.svg", get(bare(assets::icon)))
        .route("/assets/{name}", get(bare(assets::asset)))
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
