//! Bodies of requests and of answers.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use boswell_model::ErrorKind;
use boswell_model::json::Json;

use super::problem::TeamProblem;

/// The largest body that describes something.
pub(super) const LARGEST_JSON: usize = 16 << 20;

/// What a handler returns.
pub(super) type Reply = Result<Response<Body>, TeamProblem>;

/// Returns an answer of JSON.
pub(super) fn json(value: &Json) -> Response<Body> {
    let mut bytes = value.to_bytes();
    bytes.push(b'\n');
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Returns an answer with a revision.
pub(super) fn revised(mut response: Response<Body>, revision: u64) -> Response<Body> {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{revision}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Returns an answer without a body.
pub(super) fn done() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Reads a body of at most this length.
pub(super) async fn read(body: Body, limit: usize) -> Result<Bytes, TeamProblem> {
    axum::body::to_bytes(body, limit).await.map_err(|_| {
        let what = format!("the body is longer than {limit} bytes, or ended early");
        TeamProblem::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorKind::Invalid, what)
    })
}
