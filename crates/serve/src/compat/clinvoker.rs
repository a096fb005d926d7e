//! The session interface of clinvoker's server: its addresses, parameters, bodies and errors.
//!
//! It answers for clinvoker's own stores. What runs a model is not offered.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use axum::routing::{any, get};
use boswell_app::delete::DeleteRequest;
use boswell_app::list::{ListRequest, SessionFilter};
use boswell_app::shape::SessionShape;
use boswell_app::text::json_line;
use boswell_app::{Answer, App, AppResult};
use boswell_model::Instant;
use boswell_model::json::Json;

use crate::access::Scope;
use crate::answer::ask;
use crate::call::Call;
use crate::entity::LARGEST;
use crate::pool::Lane;
use crate::problem::Problem;
use crate::state::ServerState;

/// The programs that clinvoker runs.
const BACKENDS: [&str; 3] = ["claude", "codex", "gemini"];

/// Returns the addresses.
pub(crate) fn routes() -> Router<ServerState> {
    Router::new()
        .route("/api/v1/sessions", get(list))
        .route("/api/v1/sessions/{id}", get(one).delete(remove))
        .route("/api/v1/backends", get(backends))
        .route("/health", get(health))
        .route("/api/v1/prompt", any(no_model))
        .route("/api/v1/parallel", any(no_model))
        .route("/api/v1/chain", any(no_model))
        .route("/api/v1/compare", any(no_model))
        .route("/openai/{*rest}", any(no_model))
        .route("/anthropic/{*rest}", any(no_model))
}

/// Whether an address is one of clinvoker's.
pub(crate) fn is_its(path: &str) -> bool {
    let parts = ["/api/v1/", "/openai/", "/anthropic/"];
    path == "/health" || parts.iter().any(|part| path.starts_with(part))
}

/// Checks the key of a request, in either header. Nothing is open, as it is there without keys.
pub(crate) fn admit(server: &ServerState, request: &Request<Body>) -> Result<(), Response<Body>> {
    let headers = request.headers();
    let key = key_of(headers);
    let unauthorized = |message: &str| {
        let body = plain_error("unauthorized", message);
        let mut response = answered(StatusCode::UNAUTHORIZED, "application/json", &body);
        let bearer = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, bearer);
        response
    };
    let key = key.ok_or_else(|| unauthorized("missing API key"))?;
    let bearer = server.access.bearer(&key);
    let bearer = bearer.filter(|it| it.scope > Scope::Mcp);
    let bearer = bearer.ok_or_else(|| unauthorized("invalid API key"))?;
    if announced_length(headers) > LARGEST as u64 {
        let what = format!("request body exceeds {LARGEST} bytes");
        let body = plain_error("request_too_large", &what);
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return Err(answered(status, "application/json", &body));
    }
    let is_read = matches!(request.method().as_str(), "GET" | "HEAD" | "POST");
    if is_read || bearer.scope == Scope::Write && server.access.may_change() {
        return Ok(());
    }
    Err(huma(StatusCode::FORBIDDEN, "this key only reads", &[]))
}

fn announced_length(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|it| it.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

/// Asks the application; where too many requests wait, the refusal is its own.
async fn asked<T, F>(call: &Call, lane: Lane, work: F) -> Result<T, Response<Body>>
where
    T: Send + 'static,
    F: FnOnce(&App) -> AppResult<T> + Send + 'static,
{
    ask(call, lane, work).await.map_err(|it| refused(&it))
}

fn refused(problem: &Problem) -> Response<Body> {
    if !problem.is_unavailable() {
        return problem.response();
    }
    let body = plain_error("too_many_requests", "too many requests are waiting");
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = answered(status, "application/json", &body);
    let retry = HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, retry);
    response
}

fn key_of(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let bearer = text("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let key = text("x-api-key").or(bearer)?.trim();
    (!key.is_empty()).then(|| key.to_owned())
}

fn plain_error(error: &str, message: &str) -> Json {
    Json::object().with("error", error).with("message", message)
}

fn answered(status: StatusCode, kind: &'static str, body: &Json) -> Response<Body> {
    let mut text = json_line(body);
    text.push('\n');
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn ok(body: &Json) -> Response<Body> {
    answered(StatusCode::OK, "application/json", body)
}

/// An error as its framework writes them.
fn huma(status: StatusCode, detail: &str, errors: &[Json]) -> Response<Body> {
    let title = status.canonical_reason().unwrap_or("Error");
    let mut body = Json::object()
        .with("title", title)
        .with("status", i64::from(status.as_u16()))
        .with("detail", detail);
    if !errors.is_empty() {
        body = body.with("errors", errors.to_vec());
    }
    answered(status, "application/problem+json", &body)
}

fn not_found(name: &str) -> Response<Body> {
    let error = Json::object().with("message", format!("session not found: {name}"));
    huma(StatusCode::NOT_FOUND, "session not found", &[error])
}

/// The parameters of a list.
#[derive(Debug, Default)]
struct Page {
    backend: Option<String>,
    status: Option<String>,
    limit: usize,
    offset: usize,
}

fn page(query: &str) -> Result<Page, Response<Body>> {
    let mut page = Page::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let number = || {
            value.parse::<usize>().map_err(|_| {
                let error = Json::object()
                    .with("message", "invalid integer")
                    .with("location", format!("query.{name}"))
                    .with("value", value.as_ref());
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                huma(status, "validation failed", &[error])
            })
        };
        match name.as_ref() {
            "backend" => page.backend = Some(value.into_owned()).filter(|it| !it.is_empty()),
            "status" => page.status = Some(value.into_owned()).filter(|it| !it.is_empty()),
            "limit" => page.limit = number()?,
            "offset" => page.offset = number()?,
            // Its framework ignores parameters that it does not know.
            _ => {}
        }
    }
    Ok(page)
}

/// Returns all sessions, last used first.
fn sessions(app: &App) -> AppResult<Vec<SessionShape>> {
    let answer = app.list(&ListRequest {
        filter: SessionFilter {
            agent: Some("clinvoker".to_owned()),
            ..SessionFilter::default()
        },
        hidden: true,
        with_shapes: true,
        ..ListRequest::default()
    })?;
    let shapes = answer.value.rows.into_iter().filter_map(|row| row.shape);
    let is_there = |it: &SessionShape| {
        it.dialect == "clinvoker"
            && it.path.is_some()
            && !it.archived
            && it.hidden != Some("deleted")
    };
    Ok(Answer {
        value: shapes.filter(is_there).collect(),
        notices: answer.notices,
    })
}

/// An answer, or a refusal in its own words.
type Answered = Result<Response<Body>, Response<Body>>;

async fn list(call: Call, request: Request<Body>) -> Answered {
    let page = page(request.uri().query().unwrap_or_default())?;
    let mut all = asked(&call, Lane::Read, sessions).await?;
    all.retain(|it| {
        let is =
            |wanted: &Option<String>, value: &Option<String>| wanted.is_none() || wanted == value;
        is(&page.backend, &it.agent) && is(&page.status, &it.status)
    });
    let total = all.len();
    // Without a limit it answers all, and says 0.
    let limit = if page.limit == 0 { total } else { page.limit };
    let shown: Vec<Json> = all
        .into_iter()
        .skip(page.offset)
        .take(limit)
        .map(|it| object(&it))
        .collect();
    let body = Json::object()
        .with("sessions", shown)
        .with("total", total)
        .with("limit", page.limit)
        .with("offset", page.offset);
    Ok(ok(&body))
}

/// Returns the session whose id begins like this, if there is exactly one.
async fn found(call: &mut Call) -> Result<(String, Option<SessionShape>), Response<Body>> {
    let name = call.name("id").map_err(|it| it.response())?;
    let mut all = asked(call, Lane::Read, sessions).await?;
    let is_exact = all.iter().any(|it| it.id == name);
    all.retain(|it| match is_exact {
        true => it.id == name,
        false => !name.is_empty() && it.id.starts_with(&name),
    });
    let one = if all.len() == 1 { all.pop() } else { None };
    Ok((name, one))
}

async fn one(mut call: Call) -> Answered {
    let (name, session) = found(&mut call).await?;
    Ok(session.map_or_else(|| not_found(&name), |it| ok(&object(&it))))
}

/// Deletes a session; the vault has a copy.
async fn remove(mut call: Call) -> Answered {
    let (name, session) = found(&mut call).await?;
    let Some(session) = session else {
        return Ok(not_found(&name));
    };
    let request = DeleteRequest {
        sessions: vec![session.reference],
    };
    let deleted = ask(&call, Lane::Change, move |app| {
        app.delete(&request, &mut |_| Ok(()))
    })
    .await;
    Ok(match deleted {
        Ok(()) => ok(&Json::object().with("deleted", true).with("id", name)),
        // Every failure is the same there.
        Err(_) => not_found(&name),
    })
}

/// The object of a session: members that are empty are left out.
fn object(session: &SessionShape) -> Json {
    let text = |value: &Option<String>| value.clone().filter(|it| !it.is_empty());
    let mut object = Json::object()
        .with("id", session.id.as_str())
        .with("backend", session.agent.clone().unwrap_or_default())
        .with("created_at", time(session.created))
        .with("last_used", time(session.last_active))
        .with_some("working_dir", text(&session.project))
        .with_some("model", session.models.first().cloned())
        .with_some("initial_prompt", text(&session.first_prompt))
        .with_some("status", text(&session.status))
        .with_some("turn_count", session.turns.filter(|it| *it > 0));
    let tokens = &session.tokens;
    if tokens.input.is_some() || tokens.output.is_some() {
        let number = |it: Option<u64>| it.filter(|it| *it > 0);
        let usage = Json::object()
            .with("input_tokens", tokens.input.unwrap_or(0))
            .with("output_tokens", tokens.output.unwrap_or(0))
            .with_some("cached_tokens", number(tokens.cache_read))
            .with_some("reasoning_tokens", number(tokens.reasoning));
        object = object.with("token_usage", usage);
    }
    if !session.tags.is_empty() {
        let tags: Vec<Json> = session.tags.iter().map(|it| it.as_str().into()).collect();
        object = object.with("tags", tags);
    }
    object.with_some("title", text(&session.title))
}

/// A time as Go writes it: without zeros at the end of the fraction.
fn time(at: Option<Instant>) -> String {
    let Some(at) = at else {
        return "0001-01-01T00:00:00Z".to_owned();
    };
    let text = at.to_rfc3339();
    let plain = text.trim_end_matches('Z').trim_end_matches('0');
    match text.contains('.') {
        true => format!("{}Z", plain.trim_end_matches('.')),
        false => text,
    }
}

fn programs(app: &App) -> Vec<Json> {
    let path = app.environment().var("PATH").unwrap_or_default().to_owned();
    let is_there = |name: &str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
    let backend = |name: &&str| {
        Json::object()
            .with("name", *name)
            .with("available", is_there(name))
    };
    BACKENDS.iter().map(backend).collect()
}

async fn backends(call: Call) -> Response<Body> {
    ok(&Json::object().with("backends", programs(&call.server.app)))
}

async fn health(call: Call) -> Response<Body> {
    let sessions = ask(&call, Lane::Read, sessions).await;
    let store = match &sessions {
        Ok(all) => Json::object()
            .with("available", true)
            .with("session_count", all.len()),
        Err(_) => Json::object()
            .with("available", false)
            .with("session_count", 0)
            .with("error", "the sessions cannot be read"),
    };
    let uptime = call.server.started.elapsed();
    let body = Json::object()
        .with("status", if sessions.is_ok() { "ok" } else { "degraded" })
        .with("version", call.server.version)
        .with("uptime", format!("{}s", uptime.as_secs()))
        .with(
            "uptime_ms",
            u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX),
        )
        .with("backends", programs(&call.server.app))
        .with("session_store", store);
    ok(&body)
}

async fn no_model() -> Response<Body> {
    huma(StatusCode::NOT_IMPLEMENTED, "boswell runs no model", &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_requests_are_refused_in_its_words() {
        let kind = boswell_model::ErrorKind::Unavailable;
        let full = Problem::new(StatusCode::SERVICE_UNAVAILABLE, kind, "full");
        let response = refused(&full);
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        let other = refused(&Problem::invalid("wrong"));
        assert_eq!(other.status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn times_are_written_as_go_writes_them() {
        let at = |text: &str| time(Instant::parse(text));
        assert_eq!(at("2026-10-25T13:00:00.000Z"), "2026-10-25T13:00:00Z");
        assert_eq!(at("2026-10-25T13:00:00.120Z"), "2026-10-25T13:00:00.12Z");
        assert_eq!(time(None), "0001-01-01T00:00:00Z");
    }
}
