//! Errors as `application/problem+json` (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind};

/// An error that a client gets.
#[derive(Debug)]
pub(super) struct TeamProblem {
    status: StatusCode,
    kind: ErrorKind,
    detail: String,
    hint: Option<String>,
    more: Vec<(&'static str, Json)>,
}

impl TeamProblem {
    pub(super) fn new(status: StatusCode, kind: ErrorKind, detail: impl Into<String>) -> Self {
        TeamProblem {
            status,
            kind,
            detail: detail.into(),
            hint: None,
            more: Vec::new(),
        }
    }

    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        TeamProblem::new(StatusCode::BAD_REQUEST, ErrorKind::Invalid, detail)
    }

    /// A session that is not there, or that this person may not see: both look the same.
    pub(super) fn no_session() -> Self {
        let what = "there is no such session, or it is not shared with you";
        TeamProblem::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, what)
    }

    pub(super) fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    fn json(&self) -> Json {
        let mut body = Json::object()
            .with("type", format!("urn:boswell:{}", self.kind.word()))
            .with("title", self.status.canonical_reason().unwrap_or("Error"))
            .with("status", i64::from(self.status.as_u16()))
            .with("detail", self.detail.as_str())
            .with("kind", self.kind.word())
            .with("hint", self.hint.clone().map_or(Json::Null, Json::from));
        for (name, value) in &self.more {
            body = body.with(name, value.clone());
        }
        body
    }
}

impl From<Error> for TeamProblem {
    fn from(error: Error) -> TeamProblem {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Denied => StatusCode::FORBIDDEN,
            ErrorKind::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
            ErrorKind::Busy | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // What went wrong inside of the database is for the log of the database.
        let detail = match status {
            StatusCode::SERVICE_UNAVAILABLE => "the database cannot be reached now".to_owned(),
            StatusCode::INTERNAL_SERVER_ERROR => "this is a bug in boswell".to_owned(),
            _ => error.to_string(),
        };
        let hint = match error.advice() {
            Some(Advice::Plain(text)) => Some(text.to_string()),
            _ => None,
        };
        TeamProblem {
            hint,
            ..TeamProblem::new(status, error.kind(), detail)
        }
    }
}

impl IntoResponse for TeamProblem {
    fn into_response(self) -> Response<Body> {
        let mut text = self.json().to_bytes();
        text.push(b'\n');
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
