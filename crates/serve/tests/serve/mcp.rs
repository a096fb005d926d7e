//! `/mcp`: who gets in, with which tools, in which revisions of the protocol, and within bounds.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use boswell_serve::Changes;
use serde_json::{Value, json};

use crate::bench::{Answer, Bench, CLAUDE, bearer};
use crate::events::{append, new_session};

/// Maximum time of a message.
const LIMIT: Duration = Duration::from_secs(60);

const JSON: &str = "Content-Type: application/json";
const ACCEPT: &str = "Accept: application/json, text/event-stream";

/// Sends a message of the protocol with a token.
fn post(bench: &Bench, token: &str, message: &Value) -> Answer {
    let body = message.to_string();
    let headers = [&bearer(token), JSON, ACCEPT];
    bench.ask("POST", "/mcp", &headers, body.as_bytes())
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Returns the names of the tools that a token gets.
fn tools(bench: &Bench, token: &str) -> Vec<String> {
    let answer = post(bench, token, &request("tools/list", json!({}))).is(200);
    let listed = answer.json()["result"]["tools"].clone();
    let listed = listed.as_array().unwrap().iter();
    listed
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

fn call(bench: &Bench, token: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    post(bench, token, &request("tools/call", params))
        .is(200)
        .json()
}

#[test]
fn agents_ask_over_http_and_get_framed_text() {
    let bench = Bench::reading();
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let hello = post(&bench, &bench.mcp, &request("initialize", hello)).is(200);
    // No state is kept for a client.
    assert_eq!(hello.header("mcp-session-id"), None);
    assert_eq!(hello.json()["result"]["serverInfo"]["name"], "boswell");
    let read = call(
        &bench,
        &bench.mcp,
        "read_session",
        json!({"session": CLAUDE}),
    );
    let text = read["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Quoted from past sessions"), "{text}");
    let found = call(
        &bench,
        &bench.mcp,
        "search_sessions",
        json!({"query": "the"}),
    );
    assert_eq!(found["result"]["isError"], false, "{found}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(&bench, &bench.mcp, &ready).is(202);
}

#[test]
fn the_token_of_agents_opens_nothing_else() {
    let bench = Bench::writing();
    for (method, path) in [
        ("GET", "/v1"),
        ("GET", "/v1/sessions"),
        ("GET", "/v1/events"),
        ("GET", "/mcp/"),
        ("GET", "/mcp/../v1"),
        ("POST", "/v1/tickets"),
        ("POST", "/v1/changes"),
        ("POST", "/v1/index"),
        ("DELETE", "/v1/sessions/x"),
    ] {
        let answer = bench.ask(method, path, &[&bearer(&bench.mcp)], b"{}");
        assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
    }
    let key = format!("X-Api-Key: {}", bench.mcp);
    for header in [key, bearer(&bench.mcp)] {
        bench
            .ask("GET", "/api/v1/sessions", &[&header], b"")
            .is(401);
    }
}

#[test]
fn only_the_token_for_changes_gets_the_tools_that_write() {
    let bench = Bench::writing();
    assert_eq!(tools(&bench, &bench.mcp).len(), 8);
    assert_eq!(tools(&bench, &bench.read).len(), 8);
    assert_eq!(tools(&bench, &bench.write).len(), 10);
    let tag = json!({"session": CLAUDE, "tag": "race"});
    for token in [&bench.mcp, &bench.read] {
        let refused = call(&bench, token, "tag_session", tag.clone());
        assert!(refused["error"].is_object(), "{refused}");
    }
    let done = call(&bench, &bench.write, "tag_session", tag);
    assert_eq!(done["result"]["isError"], false, "{done}");
    let session = bench.get(&format!("/v1/sessions/{CLAUDE}")).json();
    assert_eq!(session["tags"], json!(["race"]), "{session}");
    for changes in [Changes::Never, Changes::OnceAllowed] {
        let bench = Bench::start(changes);
        assert_eq!(tools(&bench, &bench.write).len(), 8);
    }
}

#[test]
fn other_hosts_other_pages_and_other_tokens_are_refused() {
    let bench = Bench::writing();
    let list = request("tools/list", json!({})).to_string();
    let ask = |headers: &[&str]| {
        let all = [&[JSON, ACCEPT], headers].concat();
        bench.ask("POST", "/mcp", &all, list.as_bytes()).status
    };
    let token = bearer(&bench.mcp);
    assert_eq!(ask(&[&token]), 200);
    for host in ["Host: evil.example", "Host: localhost.evil.example"] {
        assert_eq!(ask(&[&token, host]), 421, "{host}");
    }
    for origin in ["https://evil.example", "null", "http://localhost:3000"] {
        assert_eq!(
            ask(&[&token, &format!("Origin: {origin}")]),
            403,
            "{origin}"
        );
    }
    assert_eq!(ask(&[&token, "Sec-Fetch-Site: cross-site"]), 403);
    assert_eq!(ask(&[]), 401);
    assert_eq!(ask(&[&bearer(&bench.mcp[1..])]), 401);
}

#[test]
fn each_revision_is_answered_and_an_unknown_one_is_not() {
    let bench = Bench::reading();
    let list = |version: &str, params: Value| {
        let body = request("tools/list", params).to_string();
        let version = format!("MCP-Protocol-Version: {version}");
        let method = "Mcp-Method: tools/list";
        let headers = [&bearer(&bench.mcp), JSON, ACCEPT, &version, method];
        bench.ask("POST", "/mcp", &headers, body.as_bytes())
    };
    for version in ["2025-06-18", "2025-11-25"] {
        let listed = list(version, json!({})).is(200).json();
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8);
    }
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let listed = list("2026-07-28", meta).is(200).json();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8);
    // What tools there are depends on the token, so that no cache may share the list.
    assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    list("1999-01-01", json!({})).is(400);
}

#[test]
fn large_and_malformed_messages_are_refused_and_the_server_lives() {
    let bench = Bench::reading();
    let large = request("tools/list", json!({"_meta": {"x": "y".repeat(1 << 20)}}));
    post(&bench, &bench.mcp, &large).is(413);
    let headers = [&bearer(&bench.mcp), JSON, ACCEPT];
    for body in ["", "{", "[]", "7", "{\"jsonrpc\":\"2.0\"}"] {
        let answer = bench.ask("POST", "/mcp", &headers, body.as_bytes());
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.status
        );
    }
    for method in ["GET", "PUT", "OPTIONS", "PATCH"] {
        let answer = bench.ask(method, "/mcp", &headers, b"");
        assert!(
            (400..500).contains(&answer.status),
            "{method}: {}",
            answer.status
        );
    }
    assert_eq!(tools(&bench, &bench.mcp).len(), 8);
}

#[test]
fn many_searches_at_once_are_answered_or_told_to_wait() {
    let bench = Bench::reading();
    let bench = &bench;
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            let found = call(
                bench,
                &bench.mcp,
                "search_sessions",
                json!({"query": "the"}),
            );
            found["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let threads: Vec<_> = (0..100).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let found = answers.iter().filter(|it| it.starts_with("Quoted"));
    let busy = answers.iter().filter(|it| it.contains("try again"));
    let (found, busy) = (found.count(), busy.count());
    assert!(found > 0 && found + busy == 100, "{found} {busy}");
    assert_eq!(tools(bench, &bench.mcp).len(), 8);
}

const LISTEN: &str = "subscriptions/listen";

/// Sends a request that lasts, and returns its messages as they come.
fn listen(bench: &Bench, uri: &str) -> Receiver<Value> {
    let params = json!({
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
        "notifications": {"resourceSubscriptions": [uri]},
    });
    let body = request(LISTEN, params).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{}\r\n{JSON}\r\n{ACCEPT}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {LISTEN}\r\nContent-Length: {}\r\n\r\n",
        bench.address,
        bearer(&bench.mcp),
        body.len()
    );
    let mut stream = bench.connect();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let (send, messages) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            let data = line.strip_prefix("data: ").map(serde_json::from_str);
            if let Some(Ok(message)) = data
                && send.send(message).is_err()
            {
                return;
            }
        }
    });
    messages
}

#[test]
fn a_request_that_listens_is_told_of_changes_until_the_server_ends() {
    let mut bench = Bench::reading();
    let session = new_session(&bench);
    let uri = format!("boswell://session/{session}");
    let messages = listen(&bench, &uri);
    let accepted = messages.recv_timeout(LIMIT).unwrap();
    assert_eq!(
        accepted["params"]["notifications"]["resourceSubscriptions"],
        json!([uri]),
        "{accepted}"
    );
    // It is accepted before the first look: an earlier change is not announced.
    let mut notice = None;
    for number in 0..200 {
        append(&bench, &session, &[format!("Question {number}")]);
        notice = messages.recv_timeout(Duration::from_millis(300)).ok();
        if notice.is_some() {
            break;
        }
    }
    let notice = notice.unwrap();
    assert_eq!(notice["method"], "notifications/resources/updated");
    assert_eq!(notice["params"]["uri"], uri);
    // Nothing of the session is in it.
    assert!(!notice.to_string().contains("Question"), "{notice}");
    bench.end();
    let rest: Vec<Value> = messages.iter().collect();
    let last = rest.last().unwrap();
    assert_eq!(last["id"], 1, "{rest:?}");
    assert!(last["result"].is_object(), "{rest:?}");
}

#[test]
fn requests_that_listen_are_bounded_and_others_are_answered_meanwhile() {
    let bench = Bench::reading();
    let uri = format!("boswell://session/{CLAUDE}");
    let open: Vec<_> = (0..32).map(|_| listen(&bench, &uri)).collect();
    for messages in &open {
        let accepted = messages.recv_timeout(LIMIT).unwrap();
        assert!(accepted["method"].is_string(), "{accepted}");
    }
    // A place is taken just after the request was accepted.
    let refused = (0..100).find_map(|_| {
        let messages = listen(&bench, &uri);
        let accepted = messages.recv_timeout(LIMIT).unwrap();
        assert!(accepted["method"].is_string(), "{accepted}");
        messages.recv_timeout(Duration::from_millis(300)).ok()
    });
    let refused = refused.unwrap();
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too many"),
        "{refused}"
    );
    assert_eq!(tools(&bench, &bench.mcp).len(), 8);
}
