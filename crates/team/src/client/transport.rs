//! Requests and answers.

use std::sync::Arc;
use std::time::Duration;

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorKind, Result};
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::token::TeamToken;

/// The longest answer: a manifest, or a page of a list.
const LONGEST: u64 = 32 << 20;
/// How often a request is sent that gets no answer.
const TRIES: u32 = 4;

/// A connection to the server of a team.
#[derive(Debug, Clone)]
pub struct TeamClient {
    agent: Agent,
    base: String,
    token: TeamToken,
}

/// What a request sends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sent<'b> {
    Get,
    Delete,
    Post(&'b [u8]),
    Put(&'b [u8]),
    /// With the revision that it follows.
    PutAfter(&'b [u8], u64),
}

/// An answer that is no error.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    pub(super) revision: u64,
}

impl TeamClient {
    /// Names a server. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Invalid` for an address without TLS that is not of this machine.
    pub fn new(url: &str, token: TeamToken) -> Result<TeamClient> {
        let base = url.trim_end_matches('/').to_owned();
        let is_plain = check_address(&base)?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent("boswell")
            .timeout_connect(Some(Duration::from_secs(15)))
            .timeout_recv_response(Some(Duration::from_secs(90)))
            .timeout_per_read(Some(Duration::from_secs(60)))
            .timeout_per_write(Some(Duration::from_secs(60)));
        if is_plain {
            // What is not encrypted stays on this machine.
            config = config.proxy(None);
        } else {
            config = config.tls_config(encryption());
        }
        let agent = config.build().new_agent();
        Ok(TeamClient { agent, base, token })
    }

    /// Returns the address of the server.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Sends a request, again if it gets no answer.
    pub(super) fn send(&self, path: &str, sent: Sent<'_>) -> Result<Received> {
        let mut tries = 1;
        loop {
            match self.send_once(path, sent) {
                Err(error) if error.kind() == ErrorKind::Unavailable && tries < TRIES => {
                    std::thread::sleep(Duration::from_millis(150) * tries * tries);
                    tries += 1;
                }
                done => return done,
            }
        }
    }

    fn send_once(&self, path: &str, sent: Sent<'_>) -> Result<Received> {
        let url = format!("{}{path}", self.base);
        let bearer = format!("Bearer {}", self.token.reveal());
        let (get, post, put) = (
            || self.agent.get(&url).header("authorization", &bearer),
            || self.agent.post(&url).header("authorization", &bearer),
            || self.agent.put(&url).header("authorization", &bearer),
        );
        let answer = match sent {
            Sent::Get => get().call(),
            Sent::Delete => {
                let delete = self.agent.delete(&url);
                delete.header("authorization", &bearer).call()
            }
            Sent::Post(body) => post().send(body),
            Sent::Put(body) => put().send(body),
            Sent::PutAfter(body, 0) => put().header("if-none-match", "*").send(body),
            Sent::PutAfter(body, revision) => {
                let tag = format!("\"{revision}\"");
                put().header("if-match", &tag).send(body)
            }
        };
        received(answer.map_err(|error| self.unreachable(&error))?)
            .map_err(|error| error.unwrap_or_else(|error| self.unreachable(&error)))
    }

    fn unreachable(&self, error: &ureq::Error) -> Error {
        let what = format!("cannot reach {}", self.base);
        Error::new(ErrorKind::Unavailable, what)
            .because(error.to_string())
            .advising("try again: what was sent is not sent twice")
    }
}

/// Reads an answer. The error is one of the server, or of the connection.
fn received(
    mut answer: Response<Body>,
) -> std::result::Result<Received, std::result::Result<Error, ureq::Error>> {
    let status = answer.status().as_u16();
    let tag = answer.headers().get("etag").and_then(|it| it.to_str().ok());
    let revision = tag.and_then(|tag| tag.trim_matches('"').parse().ok());
    let body = answer.body_mut().with_config().limit(LONGEST);
    let bytes = body.read_to_vec().map_err(Err)?;
    if (200..300).contains(&status) {
        return Ok(Received {
            bytes,
            revision: revision.unwrap_or(0),
        });
    }
    Err(Ok(refusal(status, &bytes)))
}

/// Reads an error of the server (RFC 9457).
fn refusal(status: u16, bytes: &[u8]) -> Error {
    let raw = Raw::parse(bytes.trim_ascii()).ok();
    let text = |key: &str| raw?.get(key)?.text().map(|it| it.into_owned());
    let kind = match (status, text("kind").as_deref()) {
        (_, Some("not_found")) => ErrorKind::NotFound,
        (_, Some("conflict")) => ErrorKind::Conflict,
        (_, Some("invalid")) => ErrorKind::Invalid,
        (_, Some("no_space")) => ErrorKind::NoSpace,
        (401 | 403 | 421, _) | (_, Some("denied")) => ErrorKind::Denied,
        (404, _) => ErrorKind::NotFound,
        (502..=504, _) | (_, Some("unavailable" | "busy")) => ErrorKind::Unavailable,
        _ => ErrorKind::Unsupported,
    };
    let said = text("detail").unwrap_or_else(|| format!("the server answered {status}"));
    let error = Error::new(kind, harmless(&said));
    match text("hint") {
        Some(hint) => error.advising(harmless(&hint)),
        None => error,
    }
}

/// What a server says is shown on a terminal.
fn harmless(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(300).collect()
}

/// Returns whether the address is without TLS, on this machine.
fn check_address(base: &str) -> Result<bool> {
    let host = |rest: &str| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ', '\\']);
    if base.strip_prefix("https://").is_some_and(host) {
        return Ok(false);
    }
    let plain = base.strip_prefix("http://").unwrap_or_default();
    let authority = plain.split('/').next().unwrap_or_default();
    let name = match authority.strip_prefix("[::1]") {
        Some(_) => "[::1]",
        None => authority.split(':').next().unwrap_or_default(),
    };
    if host(plain) && matches!(name, "127.0.0.1" | "localhost" | "[::1]") {
        return Ok(true);
    }
    let what = format!(
        "`{}` is not the address of a team's server",
        base.escape_debug()
    );
    Err(Error::new(ErrorKind::Invalid, what)
        .because("a token is only sent over TLS, or within this machine")
        .advising("write https://HOST"))
}

/// Certificates are checked against the roots of the system, or those in `SSL_CERT_FILE`.
fn encryption() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> = found
        .certs
        .iter()
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build()
}

/// Returns one step of an address.
pub(super) fn step(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte);
    let mut out = String::new();
    for byte in name.bytes() {
        match plain(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns an answer as JSON.
pub(super) fn parsed(bytes: &[u8]) -> Result<Raw<'_>> {
    Raw::parse(bytes.trim_ascii()).map_err(|_| {
        let what = "the server's answer is not what was asked for";
        Error::new(ErrorKind::Damaged, what).advising("is it the server of a team?")
    })
}

/// Returns a body.
pub(super) fn body(json: &Json) -> Vec<u8> {
    json.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for good in ["https://team.example", "https://t.example/x"] {
            assert!(!check_address(good).unwrap());
        }
        for local in ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8"] {
            assert!(check_address(local).unwrap(), "{local}");
        }
        for bad in [
            "http://team.example",
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example",
            "ftp://x",
            "https://",
            "",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_one_step_of_an_address() {
        assert_eq!(step("claude:a/b%?"), "claude:a%2Fb%25%3F");
    }
}
