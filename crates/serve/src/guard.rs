//! The checks before every request, over the whole server: address, host, origin, token, scope.
//!
//! Any page that the browser has open can send requests to a loopback address. It cannot set the
//! host name that we expect (DNS rebinding), cannot hide its origin, and has no token. There are no
//! cookies, so that no request carries a right that its page does not have.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use boswell_model::ErrorKind;

use crate::access::{Bearer, Scope};
use crate::compat::clinvoker;
use crate::config::Changes;
use crate::mcp;
use crate::problem::Problem;
use crate::state::ServerState;

/// Maximum length of an address.
const LONGEST_URL: usize = 8 << 10;

/// What pages of ours may do: nothing from elsewhere, no inline scripts or styles, no HTML strings.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every answer, unless the answer has its own.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    ),
    (header::CACHE_CONTROL, "private, no-cache"),
];

/// Checks a request, and answers it if it may be answered.
pub(crate) async fn guard(
    State(server): State<ServerState>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let mut response = match admitted(&server, &request) {
        Ok(bearer) => {
            if let Some(bearer) = bearer {
                request.extensions_mut().insert(bearer);
            }
            next.run(request).await
        }
        Err(response) => response,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

/// Returns who asks, or the refusal: in the form of the interface that was asked.
fn admitted(server: &ServerState, request: &Request) -> Result<Option<Bearer>, Response<Body>> {
    if server.clinvoker && clinvoker::is_its(request.uri().path()) {
        let host = check_host(server, request);
        host.and_then(|host| check_origin(server, request, &host))
            .map_err(|problem| problem.response())?;
        return clinvoker::admit(server, request).map(|()| None);
    }
    admit(server, request).map_err(|problem| problem.response())
}

/// Returns who asks; `None` where no token is needed.
fn admit(server: &ServerState, request: &Request) -> Result<Option<Bearer>, Problem> {
    let (headers, uri) = (request.headers(), request.uri());
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > LONGEST_URL {
        let what = "the address is longer than 8 KiB";
        return Err(Problem::new(
            StatusCode::URI_TOO_LONG,
            ErrorKind::Invalid,
            what,
        ));
    }
    let host = check_host(server, request)?;
    check_origin(server, request, &host)?;
    if is_open(request.method(), uri.path()) {
        return Ok(None);
    }
    let bearer = check_token(server, headers)?;
    check_scope(server, request, bearer)?;
    Ok(Some(bearer))
}

/// Returns the host that the client asked for: a loopback name with any port, because forwarded
/// ports differ, or that of the public origin.
fn check_host(server: &ServerState, request: &Request) -> Result<String, Problem> {
    let wrong = |what: String| {
        Problem::new(StatusCode::MISDIRECTED_REQUEST, ErrorKind::Denied, what).hinting(
            "use 127.0.0.1, localhost or [::1]; behind a proxy start with `--public-origin`",
        )
    };
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(wrong("exactly one `Host` is needed".to_owned()));
    };
    let host = host.to_str().unwrap_or_default().to_ascii_lowercase();
    // A request may also name the host in its first line: then both must be the same.
    if let Some(authority) = request.uri().authority()
        && authority.as_str().to_ascii_lowercase() != host
    {
        return Err(wrong("`Host` and the address differ".to_owned()));
    }
    let public = server.public_origin.as_deref().map(authority_of);
    if is_loopback(&host) || public == Some(host.as_str()) {
        return Ok(host);
    }
    Err(wrong(format!(
        "this server is not `{}`",
        host.escape_debug()
    )))
}

fn authority_of(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, rest)| rest)
}

/// Whether a host is a loopback name, with a port or without one.
fn is_loopback(host: &str) -> bool {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    names.iter().any(|name| {
        let rest = host.strip_prefix(name);
        rest.is_some_and(|rest| {
            let port = rest.strip_prefix(':').unwrap_or("1");
            (rest.is_empty() || rest.starts_with(':')) && port.parse::<u16>().is_ok()
        })
    })
}

/// Refuses requests of other pages.
fn check_origin(server: &ServerState, request: &Request, host: &str) -> Result<(), Problem> {
    let wrong = |what: &str| Problem::new(StatusCode::FORBIDDEN, ErrorKind::Denied, what);
    let headers = request.headers();
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let is_public = server.public_origin.as_deref() == Some(origin.as_str());
        if origin != format!("http://{host}") && !is_public {
            return Err(wrong("the request comes from another page"));
        }
    }
    let fetch = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    match fetch("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        // A link to the page may be anywhere; the page itself cannot be framed.
        Some(_) if request.uri().path() == "/" && fetch("sec-fetch-dest") == Some("document") => {
            Ok(())
        }
        Some(_) => Err(wrong("the request comes from another site")),
    }
}

/// Whether an address needs no token: the page, what it gets in with, and signs of life.
fn is_open(method: &Method, path: &str) -> bool {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let is_page = matches!(path, "/" | "/healthz" | "/openapi.json" | "/favicon.svg");
    let is_ticket = path.starts_with("/v1/take/");
    (is_read && (is_page || is_ticket || path.starts_with("/assets/")))
        || (*method == Method::POST && path == "/v1/login")
}

fn check_token(server: &ServerState, headers: &HeaderMap) -> Result<Bearer, Problem> {
    let missing = |what: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, ErrorKind::Denied, what).hinting(
            "send `Authorization: Bearer TOKEN`; the token is in `serve/read.token` of boswell's home",
        )
    };
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(given), None) = (given.next(), given.next()) else {
        return Err(missing("a token is needed"));
    };
    let given = given.to_str().unwrap_or_default();
    let (scheme, token) = given.split_once(' ').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing("a bearer token is needed"));
    }
    let bearer = server.access.bearer(token.trim());
    bearer.ok_or_else(|| missing("the token is not valid"))
}

/// Refuses changes without the write token, and everything but `/mcp` with that of agents.
fn check_scope(server: &ServerState, request: &Request, bearer: Bearer) -> Result<(), Problem> {
    let path = request.uri().path();
    if path == mcp::PATH {
        return Ok(());
    }
    if bearer.scope == Scope::Mcp {
        let what = "this token is for agents, at `/mcp` alone";
        return Err(Problem::new(StatusCode::FORBIDDEN, ErrorKind::Denied, what)
            .hinting("use the token in `serve/read.token`"));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read || path == "/v1/tickets" || path == "/v1/changes" {
        return Ok(());
    }
    let denied = |what: &str, hint: &str| {
        Err(Problem::new(StatusCode::FORBIDDEN, ErrorKind::Denied, what).hinting(hint))
    };
    if server.access.changes() == Changes::Never {
        return denied(
            "this server only reads",
            "start it with `boswell serve --write`",
        );
    }
    if bearer.scope < Scope::Write {
        return denied(
            "this token only reads",
            "use the token in `serve/write.token`, or allow changes in the page",
        );
    }
    Ok(())
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
            "localhost.evil.example",
            "localhost:",
            "localhost:99999",
            "localhost:80.evil.example",
            "127.0.0.2",
            "0.0.0.0",
            "[::1].evil.example",
        ] {
            assert!(!is_loopback(wrong), "{wrong}");
        }
    }
}
