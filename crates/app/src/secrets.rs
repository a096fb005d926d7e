//! Lists keys and passwords that sessions contain.
//!
//! Detection is `secrets/` of `boswell-find`; `--scrub` is in `scrub.rs`.

use boswell_dialect::Depth;
use boswell_find::Secrets;
use boswell_model::Result;
use boswell_store::Session;
use boswell_store::store::{Resolved, StoredSession};

use crate::shape::shape;
use crate::{App, AppResult, Cancel, RequestContext};

/// A request to list secrets.
#[derive(Debug, Clone, Default)]
pub struct SecretsRequest {
    /// The sessions; empty for all.
    pub sessions: Vec<String>,
}

shape! {
    /// A secret in a session, without the secret itself.
    SecretShape: "secret" {
        /// the session
        session: String,
        /// path of the log
        path: Option<String>,
        /// the entry
        entry: String,
        /// its line in the log
        line: Option<u64>,
        /// what kind of secret
        kind: &'static str,
        /// the secret, masked
        shown: String,
    }
}

/// The events of the search.
#[derive(Debug)]
pub enum SecretsStep {
    /// The next session is examined: total number of sessions.
    Session(usize),
    /// A secret in it.
    Secret(SecretShape),
}

/// Receives each event; returns false to end the request.
pub type SecretsSink<'s> = &'s mut dyn FnMut(SecretsStep) -> Result<bool>;

/// The totals.
#[derive(Debug, Clone, Copy, Default)]
pub struct SecretsFound {
    /// Number of requested sessions.
    pub sessions: usize,
    /// Number of secrets in them.
    pub secrets: usize,
}

impl App {
    /// Finds keys and passwords in sessions, and reports their positions: never the secret itself.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, and errors of `sink`.
    pub fn secrets(
        &self,
        request: &SecretsRequest,
        cancel: &Cancel,
        sink: SecretsSink<'_>,
    ) -> AppResult<SecretsFound> {
        self.answer_with(cancel.clone(), |cx| secrets(cx, request, sink))
    }
}

fn secrets(
    cx: &RequestContext,
    request: &SecretsRequest,
    sink: SecretsSink<'_>,
) -> Result<SecretsFound> {
    let patterns = Secrets::new()?;
    let sessions = sessions(cx, &request.sessions)?;
    let mut found = SecretsFound {
        sessions: sessions.len(),
        secrets: 0,
    };
    for it in &sessions {
        if cx.cancel.is_cancelled() || !sink(SecretsStep::Session(sessions.len()))? {
            break;
        }
        match it.store.read(&it.location, Depth::Heads) {
            Ok(session) => found.secrets += look(cx, &patterns, &session, sink)?,
            Err(error) => cx.fail(error),
        }
    }
    Ok(found)
}

/// Returns the named sessions, or all that have a log.
fn sessions(cx: &RequestContext, named: &[String]) -> Result<Vec<Resolved>> {
    if !named.is_empty() {
        return named.iter().map(|session| cx.resolve(session)).collect();
    }
    let (held, errors) = cx.stores.held();
    errors.into_iter().for_each(|(_, error)| cx.fail(error));
    let with_store = |held: StoredSession| {
        Some(Resolved {
            store: cx.stores.get(held.store)?.clone(),
            location: held.location,
        })
    };
    Ok(held
        .into_iter()
        .filter(|held| held.location.key.is_some())
        .filter_map(with_store)
        .collect())
}

/// Reports the secrets of a session, and counts them.
fn look(
    cx: &RequestContext,
    patterns: &Secrets,
    session: &Session,
    sink: SecretsSink<'_>,
) -> Result<usize> {
    let log = session.log();
    let mut count = 0;
    for slot in log.slots() {
        let bytes = session.view().payload(slot)?;
        for secret in patterns.find(&bytes) {
            let found = bytes.get(secret.range.clone());
            if found.is_some_and(boswell_find::is_removed) {
                continue;
            }
            count += 1;
            let shape = SecretShape {
                session: session.reference().to_string(),
                path: session.path().map(str::to_owned),
                entry: log.label(slot).into_owned(),
                line: log.head(slot).map(|head| u64::from(head.line)),
                kind: secret.kind,
                shown: secret.masked(&bytes),
            };
            if cx.cancel.is_cancelled() || !sink(SecretsStep::Secret(shape))? {
                return Ok(count);
            }
        }
    }
    Ok(count)
}
