//! The checks before every request: host, origin, and who asks.
//!
//! There are no cookies: a page of a browser has no right that it does not send itself, and pages
//! of other origins are refused anyway.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use boswell_model::ErrorKind;
use boswell_remote::TeamPerson;

use super::metrics::Metrics;
use super::problem::TeamProblem;
use super::state::{TeamIdentity, TeamState};
use crate::token::TeamToken;

/// Maximum length of an address.
const LONGEST_URL: usize = 8 << 10;

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Checks a request, and answers it if it may be answered.
pub(super) async fn guard(
    State(state): State<TeamState>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let metrics = &state.metrics;
    Metrics::add(&metrics.running, 1);
    // A reference to a body cannot wait: other threads may go on with it.
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    let mut response = match admit(&state, &headers, &uri).await {
        Ok(person) => match state.requests.acquire().await {
            Ok(_running) => {
                if let Some(person) = person {
                    request.extensions_mut().insert(person);
                }
                next.run(request).await
            }
            Err(_) => ending().into_response(),
        },
        Err(problem) => problem.into_response(),
    };
    for (name, value) in HEADERS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    let metrics = &state.metrics;
    metrics
        .running
        .fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    metrics.answered(response.status().as_u16());
    response
}

/// Returns who asks; `None` where nobody has to be known.
async fn admit(
    state: &TeamState,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Option<TeamPerson>, TeamProblem> {
    if uri.path().len() + uri.query().map_or(0, str::len) > LONGEST_URL {
        let what = "the address is longer than 8 KiB";
        let status = StatusCode::URI_TOO_LONG;
        return Err(TeamProblem::new(status, ErrorKind::Invalid, what));
    }
    if !state.on_socket {
        check_host(state, headers)?;
    }
    check_origin(state, headers)?;
    if matches!(uri.path(), "/healthz" | "/metrics") {
        return Ok(None);
    }
    let found = match &state.identity {
        TeamIdentity::Token => by_token(state, headers).await,
        TeamIdentity::ProxyHeader(name) => by_proxy(state, headers, name).await,
    };
    if found.is_err() {
        Metrics::add(&state.metrics.refused_tokens, 1);
    }
    found.map(Some)
}

async fn by_token(state: &TeamState, headers: &HeaderMap) -> Result<TeamPerson, TeamProblem> {
    let given = only(headers, &header::AUTHORIZATION).unwrap_or_default();
    let (scheme, token) = given.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthorized("a token of the team is needed"));
    }
    let Ok(token) = TeamToken::parse(token) else {
        return Err(unauthorized("the token is not valid"));
    };
    // A hash is looked up: how long that takes says nothing about the token.
    state
        .database
        .enter(token.hash())
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::Denied => unauthorized(&error.to_string()),
            _ => error.into(),
        })
}

async fn by_proxy(
    state: &TeamState,
    headers: &HeaderMap,
    name: &str,
) -> Result<TeamPerson, TeamProblem> {
    let Ok(name) = HeaderName::try_from(name) else {
        return Err(unauthorized("the proxy names nobody"));
    };
    let Some(person) = only(headers, &name) else {
        return Err(unauthorized("the proxy names nobody"));
    };
    state
        .database
        .enter_as(person)
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::Denied => unauthorized(&error.to_string()),
            _ => error.into(),
        })
}

/// Returns a header that is there exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => one.to_str().ok(),
        _ => None,
    }
}

/// A loopback name with any port, or the host of the proxy.
fn check_host(state: &TeamState, headers: &HeaderMap) -> Result<(), TeamProblem> {
    let host = only(headers, &header::HOST).unwrap_or_default();
    let host = host.to_ascii_lowercase();
    let public = state.public_origin.as_deref();
    let public = public.and_then(|origin| origin.strip_prefix("https://"));
    if is_loopback(&host) || public == Some(host.as_str()) {
        return Ok(());
    }
    let what = format!("this server is not `{}`", host.escape_debug());
    let status = StatusCode::MISDIRECTED_REQUEST;
    let problem = TeamProblem::new(status, ErrorKind::Denied, what);
    Err(problem.hinting("behind a proxy start the server with `--public-origin`"))
}

fn is_loopback(host: &str) -> bool {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    names.iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| {
            let port = rest.strip_prefix(':');
            rest.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_ok())
        })
    })
}

fn check_origin(state: &TeamState, headers: &HeaderMap) -> Result<(), TeamProblem> {
    let is_own = |origin: &HeaderValue| origin.to_str().ok() == state.public_origin.as_deref();
    let site = only(headers, &HeaderName::from_static("sec-fetch-site"));
    let is_own = headers.get_all(header::ORIGIN).iter().all(is_own);
    if is_own && matches!(site, None | Some("same-origin" | "none")) {
        return Ok(());
    }
    let what = "the request comes from a page of another site";
    Err(TeamProblem::new(
        StatusCode::FORBIDDEN,
        ErrorKind::Denied,
        what,
    ))
}

fn unauthorized(what: &str) -> TeamProblem {
    TeamProblem::new(StatusCode::UNAUTHORIZED, ErrorKind::Denied, what)
        .hinting("run `boswell team login URL` with a token of yours")
}

fn ending() -> TeamProblem {
    let what = "the server is ending";
    TeamProblem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Unavailable,
        what,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_loopback() {
        for right in ["127.0.0.1", "127.0.0.1:17400", "localhost:1", "[::1]:80"] {
            assert!(is_loopback(right), "{right}");
        }
        for wrong in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost:",
            "127.0.0.2",
        ] {
            assert!(!is_loopback(wrong), "{wrong}");
        }
    }
}
