//! Errors as `application/problem+json` (RFC 9457), with the kind and the hint of the CLI.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use boswell_app::shape::ErrorShape;
use boswell_app::text::json_line;
use boswell_model::json::Json;
use boswell_model::{Error, ErrorDetails, ErrorKind};

use crate::config::Phrase;

/// An error that a client gets.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    kind: &'static str,
    detail: String,
    hint: Option<String>,
    retry: bool,
    /// Members in addition to those of the RFC.
    more: Vec<(&'static str, Json)>,
}

impl Problem {
    /// Returns an error of the protocol, before a request reaches the application.
    pub(crate) fn new(status: StatusCode, kind: ErrorKind, detail: impl Into<String>) -> Problem {
        Problem {
            status,
            kind: kind.word(),
            detail: detail.into(),
            hint: None,
            retry: matches!(kind, ErrorKind::Busy | ErrorKind::Unavailable),
            more: Vec::new(),
        }
    }

    /// Returns an error about a parameter or a body.
    pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, ErrorKind::Invalid, detail)
    }

    /// Returns an error of the application.
    pub(crate) fn of(error: &Error, phrase: Phrase) -> Problem {
        let shape = ErrorShape::new(error, error.advice().map(phrase));
        let detail = match error.kind() {
            ErrorKind::Internal => "this is a bug in boswell".to_owned(),
            _ => shape.message,
        };
        let problem = Problem {
            hint: shape.hint,
            ..Problem::new(status_of(error.kind()), error.kind(), detail)
        };
        match error.details() {
            Some(ErrorDetails::Conflict { expected, actual }) => Problem {
                status: StatusCode::PRECONDITION_FAILED,
                ..problem
                    .with("expected", expected.as_str())
                    .with("actual", actual.clone().map_or(Json::Null, Json::from))
            },
            Some(ErrorDetails::Ambiguous { candidates }) => {
                let candidates = candidates.iter().map(|it| Json::from(it.as_str()));
                problem.with("candidates", Json::Array(candidates.collect()))
            }
            _ => problem,
        }
    }

    /// Returns the error of a condition that does not hold.
    pub(crate) fn condition(expected: &str, actual: &str) -> Problem {
        Problem::new(
            StatusCode::PRECONDITION_FAILED,
            ErrorKind::Conflict,
            "the session changed since",
        )
        .hinting("read it again, then repeat the request with the new ETag")
        .with("expected", expected)
        .with("actual", actual)
    }

    /// Adds what to do next.
    pub(crate) fn hinting(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a member.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Json>) -> Problem {
        self.more.push((name, value.into()));
        self
    }

    /// Whether the server cannot answer now.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }

    /// Returns the body.
    pub(crate) fn json(&self) -> Json {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut body = Json::object()
            .with("type", format!("urn:boswell:{}", self.kind))
            .with("title", title)
            .with("status", i64::from(self.status.as_u16()))
            .with("detail", self.detail.as_str())
            .with("kind", self.kind)
            .with("hint", self.hint.clone().map_or(Json::Null, Json::from));
        for (name, value) in &self.more {
            body = body.with(name, value.clone());
        }
        body
    }

    /// Returns the response.
    pub(crate) fn response(&self) -> Response<Body> {
        let mut text = json_line(&self.json());
        text.push('\n');
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if self.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// Returns the status of an error of the application.
fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Busy => StatusCode::LOCKED,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Unsupported | ErrorKind::Damaged | ErrorKind::TooNew => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        ErrorKind::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
