//! The model as a proxy that leads to itself alone.
//!
//! Some clients send every request to the proxy of their environment, also those to this machine,
//! and ignore `NO_PROXY`. With the model as their proxy they reach the model and nothing else.

use std::net::SocketAddr;

/// Where a request goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination<'r> {
    /// To a path of the model.
    Here(&'r str),
    /// Through a tunnel to the model: the request itself follows.
    Tunnel,
    /// To another host.
    Elsewhere,
}

/// Returns where a request goes, by its method and the target of its first line.
pub(super) fn destination<'r>(method: &str, target: &'r str, own: SocketAddr) -> Destination<'r> {
    let is_own = |host: &str| host == own.to_string();
    if method == "CONNECT" {
        return match is_own(target) {
            true => Destination::Tunnel,
            false => Destination::Elsewhere,
        };
    }
    let Some((_, rest)) = target.split_once("://") else {
        return Destination::Here(target);
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match is_own(host) {
        true => Destination::Here(path),
        false => Destination::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;
    use crate::scripted_model::ScriptedModel;

    #[test]
    fn a_tunnel_leads_to_the_model_and_to_no_other_host() {
        let model = ScriptedModel::start();
        let asked = |first: &str, second: &str| {
            let mut stream = TcpStream::connect(model.address).unwrap();
            write!(stream, "CONNECT {first} HTTP/1.1\r\n\r\n{second}").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).ok();
            answer
        };
        let prompt = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
        let length = prompt.len();
        let request =
            format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{prompt}");
        let answer = asked(&model.address.to_string(), &request);
        assert!(answer.contains("ECHO: hi"), "{answer}");
        let answer = asked("example.org:443", "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert_eq!(model.requests().len(), 1);
    }

    #[test]
    fn only_the_model_is_reached() {
        let own: SocketAddr = ([127, 0, 0, 1], 4000).into();
        for (method, target, expected) in [
            ("POST", "/v1/messages", Destination::Here("/v1/messages")),
            ("CONNECT", "127.0.0.1:4000", Destination::Tunnel),
            ("CONNECT", "127.0.0.1:40001", Destination::Elsewhere),
            ("CONNECT", "example.org:443", Destination::Elsewhere),
            (
                "GET",
                "http://127.0.0.1:4000/a/b",
                Destination::Here("/a/b"),
            ),
            ("GET", "http://127.0.0.1:4000", Destination::Here("")),
            ("POST", "http://example.org/a", Destination::Elsewhere),
        ] {
            assert_eq!(destination(method, target, own), expected, "{target}");
        }
    }
}
