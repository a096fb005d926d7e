//! One request as handlers see it: parameters, names, conditions, and the form of the answer.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use boswell_model::Revision;

use crate::access::Bearer;
use crate::conditions::Conditions;
use crate::params::Params;
use crate::problem::Problem;
use crate::session_name::{entry_name, session_name};
use crate::state::ServerState;

/// A request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) server: ServerState,
    pub(crate) conditions: Conditions,
    pub(crate) headers: HeaderMap,
    pub(crate) bearer: Option<Bearer>,
    /// Whether the client wants the lines of `--json`.
    pub(crate) wants_lines: bool,
    /// Path and parameters as they were sent.
    pub(crate) address: String,
    params: Result<Params, Problem>,
    names: Result<BTreeMap<String, String>, Problem>,
}

impl FromRequestParts<ServerState> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &ServerState,
    ) -> Result<Call, Infallible> {
        let names = RawPathParams::from_request_parts(parts, server).await;
        let names = names.map(|names| {
            let pairs = names.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        });
        Ok(Call {
            server: server.clone(),
            conditions: Conditions::of(&parts.headers),
            bearer: parts.extensions.get().copied(),
            wants_lines: wants_lines(&parts.headers),
            address: parts.uri.to_string(),
            params: Params::parse(parts.uri.query().unwrap_or_default()),
            names: names.map_err(|_| Problem::invalid("the address is not UTF-8")),
            headers: parts.headers.clone(),
        })
    }
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    accept
        .and_then(|it| it.to_str().ok())
        .is_some_and(|it| it.contains("application/x-ndjson"))
}

impl Call {
    /// Returns the parameters.
    pub(crate) fn params(&mut self) -> Result<Params, Problem> {
        std::mem::replace(&mut self.params, Ok(Params::default()))
    }

    /// Fails if there are parameters.
    pub(crate) fn no_params(&mut self) -> Result<(), Problem> {
        self.params()?.end()
    }

    /// Returns the session in the address.
    pub(crate) fn session(&mut self) -> Result<String, Problem> {
        session_name(&self.name("session")?)
    }

    /// Returns the entry in the address.
    pub(crate) fn entry(&mut self) -> Result<String, Problem> {
        entry_name(&self.name("entry")?)
    }

    /// Returns another part of the address.
    pub(crate) fn name(&mut self, name: &str) -> Result<String, Problem> {
        match &self.names {
            Ok(names) => Ok(names.get(name).cloned().unwrap_or_default()),
            Err(_) => Err(Problem::invalid("the address is not UTF-8")),
        }
    }

    /// Returns the revision that `If-Match` requires of the session; `None` for any.
    pub(crate) fn expected(&self) -> Result<Option<Revision>, Problem> {
        let expected = self.conditions.if_match.as_deref();
        let expected = expected.filter(|it| *it != "*").map(str::parse);
        let wrong = |_| Problem::invalid("`If-Match` is not the ETag of a session");
        expected.transpose().map_err(wrong)
    }

    /// Returns a header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
