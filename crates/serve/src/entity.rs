//! Bodies of requests: bounded in size and time, never compressed.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use boswell_model::ErrorKind;
use boswell_model::json::{Raw, RawKind};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::call::Call;
use crate::problem::Problem;

/// How long a client may take to send a body.
const LONGEST: Duration = Duration::from_secs(30);
/// How large most bodies may be, and those that append.
pub(crate) const LARGEST: usize = 16 << 20;
pub(crate) const LARGEST_APPEND: usize = 64 << 20;

/// Reads the body of a request.
pub(crate) async fn read(call: &Call, body: Body, largest: usize) -> Result<Bytes, Problem> {
    let coding = call.header(header::CONTENT_ENCODING.as_str());
    if coding.is_some_and(|it| it != "identity") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorKind::Unsupported,
            "compressed bodies are not accepted",
        ));
    }
    let collected = tokio::time::timeout(LONGEST, Limited::new(body, largest).collect()).await;
    let collected = collected.map_err(|_| {
        let what = format!("the body took longer than {} s", LONGEST.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, ErrorKind::Invalid, what)
    })?;
    match collected {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Invalid,
            format!("the body is larger than {} MiB", largest >> 20),
        )),
        Err(_) => Err(Problem::invalid("the body could not be read")),
    }
}

/// A JSON object that a client sent.
#[derive(Debug)]
pub(crate) struct Entity(Bytes);

impl Entity {
    /// Reads the body of a request as an object; an empty body is an empty object.
    pub(crate) async fn read(call: &Call, body: Body) -> Result<Entity, Problem> {
        let bytes = read(call, body, LARGEST).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Entity(Bytes::from_static(b"{}")));
        }
        let raw = Raw::parse(bytes.trim_ascii())
            .map_err(|error| Problem::invalid(format!("the body is not JSON: {error}")))?;
        if raw.kind() != RawKind::Object {
            return Err(Problem::invalid("the body is not a JSON object"));
        }
        let bytes = Bytes::copy_from_slice(bytes.trim_ascii());
        Ok(Entity(bytes))
    }

    fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.0)
    }

    /// Fails if there is a member that is not one of these: a misspelt one must not be ignored.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        for (name, _) in self.raw().members() {
            if !known.iter().any(|it| name.is(it)) {
                let what = format!(
                    "there is no member `{}` here",
                    name.to_text().escape_debug()
                );
                let hint = format!("known are: {}", known.join(", "));
                return Err(Problem::invalid(what).hinting(hint));
            }
        }
        Ok(())
    }

    /// Returns a text; `None` if it is missing or null.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let Some(value) = self.raw().get(name).filter(|it| !it.is_null()) else {
            return Ok(None);
        };
        let text = value.text().map(|it| it.into_owned());
        text.map(Some).ok_or_else(|| wrong(name, "a text"))
    }

    /// Returns a text that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String, Problem> {
        self.text(name)?
            .ok_or_else(|| Problem::invalid(format!("the member `{name}` is missing")))
    }

    /// Returns whether a switch is on.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Problem> {
        match self.raw().get(name).filter(|it| !it.is_null()) {
            None => Ok(false),
            Some(value) => value.bool().ok_or_else(|| wrong(name, "true or false")),
        }
    }

    /// Returns a list of texts.
    pub(crate) fn texts(&self, path: &[&str]) -> Result<Vec<String>, Problem> {
        let name = path.join(".");
        let Some(list) = self.raw().at(path).filter(|it| !it.is_null()) else {
            return Ok(Vec::new());
        };
        if list.kind() != RawKind::Array {
            return Err(wrong(&name, "a list of texts"));
        }
        let texts = list.items().map(|it| it.text().map(|it| it.into_owned()));
        texts
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| wrong(&name, "a list of texts"))
    }

    /// Returns a list of numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<usize>, Problem> {
        let Some(list) = self.raw().get(name).filter(|it| !it.is_null()) else {
            return Ok(Vec::new());
        };
        let number = |it: Raw<'_>| it.u64().and_then(|it| usize::try_from(it).ok());
        let numbers: Option<Vec<usize>> = match list.kind() {
            RawKind::Array => list.items().map(number).collect(),
            _ => None,
        };
        numbers.ok_or_else(|| wrong(name, "a list of numbers"))
    }
}

fn wrong(name: &str, what: &str) -> Problem {
    Problem::invalid(format!("the member `{name}` is not {what}"))
}
