//! [`Exchange`]: signs a request, sends it, and repeats it while its failure passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use jiff::Timestamp;
use rusty_s3::S3Action;
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

use super::failure::CallFailure;
use super::options::ObjectsOptions;

/// How long a signature is valid.
const VALID: Duration = Duration::from_secs(900);

/// Clocks that differ by more than this are corrected: servers refuse from 15 minutes on.
const SKEW: i64 = 60_000;

/// The first pause before a call is repeated, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// What a request has beside its address.
#[derive(Debug, Clone, Copy)]
pub(super) enum Method<'a> {
    Get,
    Head,
    Delete,
    Put(&'a [u8]),
}

/// An answer that is no failure.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// The time of the server when it answered.
    pub(super) date: Option<Timestamp>,
    pub(super) modified: Option<Timestamp>,
    pub(super) length: Option<u64>,
    /// Whether the request was sent before and its answer was lost.
    pub(super) repeated: bool,
}

#[derive(Debug)]
pub(super) struct Exchange {
    agent: Agent,
    pub(super) options: ObjectsOptions,
    /// Milliseconds that the server's clock is ahead of ours.
    ahead: AtomicI64,
}

impl Exchange {
    pub(super) fn new(options: ObjectsOptions) -> Exchange {
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots = roots
            .iter()
            .map(|root| Certificate::from_der(root).to_owned());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::from(roots))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(options.timeout))
            .user_agent("boswell")
            .build()
            .new_agent();
        Exchange {
            agent,
            options,
            ahead: AtomicI64::new(0),
        }
    }

    /// Sends a request until its answer is no failure that passes. `expected` are the failures that
    /// the caller treats.
    pub(super) fn call<'a>(
        &'a self,
        action: &impl S3Action<'a>,
        headers: &[(&str, &str)],
        method: Method<'_>,
        expected: &[u16],
    ) -> Result<Reply> {
        let (mut pause, mut repeated) = (PAUSES.0, false);
        let mut left = self.options.attempts;
        loop {
            left -= 1;
            let (now, ahead) = self.now();
            let url = action.sign_with_time(VALID, &now);
            let failure = match self.once(&url, headers, method, expected) {
                Ok(reply) => return Ok(Reply { repeated, ..reply }),
                Err(failure) => failure,
            };
            // Refused because of the time in its signature: the answer says the server's.
            let clock = (self.ahead.load(Ordering::Relaxed) - ahead).abs() > SKEW;
            if left == 0 || !failure.passes && !clock {
                return Err(failure.error);
            }
            repeated = repeated || failure.passes;
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Returns the server's time, as far as it is known, and how far it is ahead.
    pub(super) fn now(&self) -> (Timestamp, i64) {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let millis = self.options.clock.now().millis().saturating_add(ahead);
        (
            Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH),
            ahead,
        )
    }

    fn once(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        method: Method<'_>,
        expected: &[u16],
    ) -> std::result::Result<Reply, CallFailure> {
        let mut answer = self.send(url.as_str(), headers, method)?;
        let date = header(&answer, "date").and_then(http_date);
        self.learn(date);
        let length = header(&answer, "content-length").and_then(|text| text.parse().ok());
        let modified = header(&answer, "last-modified").and_then(http_date);
        let body = read(&mut answer)?;
        let is_head = matches!(method, Method::Head);
        if !is_head && length.is_some_and(|length| length != body.len() as u64) {
            return Err(CallFailure::passing("the answer is cut off"));
        }
        let status = answer.status().as_u16();
        if !answer.status().is_success() && !expected.contains(&status) {
            return Err(CallFailure::of_status(status, &body));
        }
        Ok(Reply {
            status,
            body,
            date,
            modified,
            length,
            repeated: false,
        })
    }

    fn send(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        method: Method<'_>,
    ) -> std::result::Result<Response<Body>, ureq::Error> {
        if let Method::Put(bytes) = method {
            let put = headers
                .iter()
                .fold(self.agent.put(url), |put, (name, value)| {
                    put.header(*name, *value)
                });
            return put.send(bytes);
        }
        let call = match method {
            Method::Head => self.agent.head(url),
            Method::Delete => self.agent.delete(url),
            _ => self.agent.get(url),
        };
        let call = headers
            .iter()
            .fold(call, |call, (name, value)| call.header(*name, *value));
        call.call()
    }

    /// Remembers how far the server's clock is from ours.
    fn learn(&self, date: Option<Timestamp>) {
        let Some(date) = date else { return };
        let ahead = date.as_millisecond() - self.options.clock.now().millis();
        if (ahead - self.ahead.load(Ordering::Relaxed)).abs() > SKEW {
            self.ahead.store(ahead, Ordering::Relaxed);
        }
    }
}

fn read(answer: &mut Response<Body>) -> std::result::Result<Vec<u8>, ureq::Error> {
    if answer.status() == StatusCode::NO_CONTENT {
        return Ok(Vec::new());
    }
    let body = answer.body_mut().with_config().limit(u64::MAX);
    body.read_to_vec()
}

fn header<'a>(answer: &'a Response<Body>, name: &str) -> Option<&'a str> {
    answer.headers().get(name)?.to_str().ok()
}

fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text)
        .ok()
}

/// An answer that has another form than it should.
pub(super) fn strange(why: impl Into<String>) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "the object storage answers in an unknown way",
    )
    .because(why)
    .advising("check that the endpoint is one of S3-compatible storage")
}
