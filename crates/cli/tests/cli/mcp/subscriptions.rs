//! A client is told when a session changes. Over HTTP, `crates/serve/tests/serve/mcp.rs` listens.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, HttpClient};
use super::machine;
use crate::serve::Serving;

const UPDATED: &str = "notifications/resources/updated";

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn a_session_is_subscribed_to_and_its_changes_are_announced() {
    let (bench, mut own, other) = machine();
    let mut client = Client::spawn(&bench, &["--only-here"]);
    let hello = client.initialize("2025-11-25");
    assert_eq!(
        hello["capabilities"]["resources"]["subscribe"], true,
        "{hello}"
    );
    let uri = format!("boswell://session/{}", own.reference());
    let answer = client.ask("resources/subscribe", json!({"uri": uri}));
    assert!(answer["result"].is_object(), "{answer}");
    own.prompt("One more question").write(&bench);
    let notice = client.notice(UPDATED);
    // Nothing of the session is in it.
    assert_eq!(notice, json!({"uri": uri}));
    for (uri, why) in [
        (
            format!("boswell://session/{}", other.reference()),
            "out of reach",
        ),
        ("boswell://session/claude:gone".to_owned(), "no session"),
        (
            format!("{uri}/entry/{}", own.entry(1)),
            "an entry does not change",
        ),
        ("file:///etc/passwd".to_owned(), "not ours"),
    ] {
        let answer = client.ask("resources/subscribe", json!({"uri": uri}));
        assert!(answer["error"].is_object(), "{why}: {answer}");
    }
    let answer = client.ask("resources/unsubscribe", json!({"uri": uri}));
    assert!(answer["result"].is_object(), "{answer}");
    client.close();
}

#[test]
fn the_newest_revision_listens_to_sessions_with_a_request() {
    let (bench, mut own, _) = machine();
    let mut client = Client::spawn(&bench, &[]);
    let uri = format!("boswell://session/{}", own.reference());
    let wanted = json!({"resourceSubscriptions": [uri, "boswell://project/x/memory"]});
    let params = json!({"_meta": meta(), "notifications": wanted});
    let id = 77;
    client.send(&json!({
        "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params,
    }));
    let accepted = client.notice("notifications/subscriptions/acknowledged");
    let accepted = accepted["notifications"]["resourceSubscriptions"].clone();
    assert_eq!(accepted, json!([uri]));
    // It is accepted before the first look: an earlier change is not announced.
    let mut notice = None;
    for question in 0..200 {
        own.prompt(&format!("Question {question}")).write(&bench);
        notice = client.notice_within(UPDATED, Duration::from_millis(300));
        if notice.is_some() {
            break;
        }
    }
    assert_eq!(notice.map(|it| it["uri"].clone()), Some(json!(uri)));
    let cancelled = json!({"requestId": id, "reason": "enough", "_meta": meta()});
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }));
    client.close();
}

#[test]
fn over_http_older_revisions_cannot_subscribe_because_nothing_is_kept() {
    let (bench, own, _) = machine();
    let serving = Serving::run(bench.command(["serve", "--json", "--port", "0"]));
    let mut client = HttpClient::new(&serving.address, &serving.mcp);
    let uri = format!("boswell://session/{}", own.reference());
    let hello = client.ask(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    );
    let resources = &hello["result"]["capabilities"]["resources"];
    assert!(resources.is_object(), "{hello}");
    assert_eq!(resources["subscribe"], Value::Null, "{hello}");
    let answer = client.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}
