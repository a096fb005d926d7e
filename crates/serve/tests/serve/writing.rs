//! Changes over HTTP: appending, annotating, deleting and its undo, forks, repairs.

use serde_json::{Value, json};

use crate::bench::{Bench, CLAUDE, bearer};

fn create(bench: &Bench) -> String {
    let body = json!({"project": "/w", "title": "Over HTTP"}).to_string();
    let made = bench.change("POST", "/v1/sessions", &body).is(201);
    let session = made.json()["ref"].as_str().unwrap().to_owned();
    assert_eq!(
        made.header("location"),
        Some(format!("/v1/sessions/{session}").as_str())
    );
    session
}

fn texts(bench: &Bench, session: &str) -> Vec<String> {
    let entries = bench
        .get(&format!("/v1/sessions/{session}/entries"))
        .is(200);
    let texts = entries.items().into_iter();
    let texts = texts.filter(|it| it["role"] == "user" || it["role"] == "assistant");
    texts
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn entries_are_appended_from_an_array_from_lines_and_one_by_one() {
    let bench = Bench::writing();
    let session = create(&bench);
    let path = format!("/v1/sessions/{session}/entries");
    let array = r#"[{"role":"user","text":"one"},{"role":"assistant","text":"two"}]"#;
    let receipts = bench.change("POST", &path, array).is(201).items();
    assert_eq!(receipts.len(), 2);
    assert!(
        receipts
            .iter()
            .all(|it| it["durable"] == "fsync" && it["deduplicated"] == false)
    );
    bench
        .change("POST", &path, r#"{"role":"user","text":"three"}"#)
        .is(201);
    let lines =
        b"{\"role\":\"assistant\",\"text\":\"four\"}\n\n{\"role\":\"user\",\"text\":\"five\"}\n";
    let kind = "Content-Type: application/x-ndjson";
    let durable = "Prefer: durability=os, wait=1";
    let receipts = bench
        .ask(
            "POST",
            &path,
            &[&bearer(&bench.write), kind, durable],
            lines,
        )
        .is(201)
        .items();
    assert_eq!(receipts[0]["durable"], "os");
    assert_eq!(
        texts(&bench, &session),
        ["one", "two", "three", "four", "five"]
    );
    bench.change("POST", &path, "[]").is(400);
    bench.change("POST", &path, "not json").is(400);
    bench
        .change("POST", &path, r#"{"role":"king","text":"x"}"#)
        .is(400);
}

#[test]
fn the_same_request_again_writes_nothing_twice() {
    let bench = Bench::writing();
    let session = create(&bench);
    let path = format!("/v1/sessions/{session}/entries");
    let key = "Idempotency-Key: turn-1";
    let send = |key: &str, body: &str| {
        bench.ask(
            "POST",
            &path,
            &[&bearer(&bench.write), key],
            body.as_bytes(),
        )
    };
    let body = r#"[{"role":"user","text":"one"},{"role":"assistant","text":"two"}]"#;
    let first = send(key, body).is(201).items();
    let again = send(key, body).is(201).items();
    let entries = |receipts: &[Value]| -> Vec<Value> {
        receipts.iter().map(|it| it["entry"].clone()).collect()
    };
    assert_eq!(entries(&first), entries(&again));
    assert!(
        again.iter().all(|it| it["deduplicated"] == true),
        "{again:?}"
    );
    send(key, r#"[{"role":"user","text":"another"}]"#).is(409);
    send(
        "Idempotency-Key: turn-2",
        r#"{"role":"user","text":"three"}"#,
    )
    .is(201);
    assert_eq!(texts(&bench, &session), ["one", "two", "three"]);
}

#[test]
fn a_session_made_twice_with_one_key_is_made_once() {
    let bench = Bench::writing();
    let body = json!({"project": "/w"}).to_string();
    let make = || {
        let key = "Idempotency-Key: session-1";
        bench.ask(
            "POST",
            "/v1/sessions",
            &[&bearer(&bench.write), key],
            body.as_bytes(),
        )
    };
    let first = make().is(201).json();
    let again = make().is(200).json();
    assert_eq!(first["ref"], again["ref"]);
}

#[test]
fn an_append_after_another_one_needs_the_current_revision_or_leaf() {
    let bench = Bench::writing();
    let session = create(&bench);
    let path = format!("/v1/sessions/{session}/entries");
    let old = bench.get(&format!("/v1/sessions/{session}")).is(200);
    let old = old.header("etag").unwrap().to_owned();
    let send = |condition: &str, text: &str| {
        let body = json!({"role": "user", "text": text}).to_string();
        bench.ask(
            "POST",
            &path,
            &[&bearer(&bench.write), condition],
            body.as_bytes(),
        )
    };
    let receipt = send(&format!("If-Match: {old}"), "one")
        .is(201)
        .items()
        .remove(0);
    let late = send(&format!("If-Match: {old}"), "two").is(412).json();
    assert_eq!(late["expected"], old.trim_matches('"'));
    assert_eq!(late["actual"], receipt["revision"]);
    let leaf = receipt["entry"].as_str().unwrap();
    send(&format!("Boswell-Expect-Leaf: {leaf}"), "three").is(201);
    send(&format!("Boswell-Expect-Leaf: {leaf}"), "four").is(412);
    assert_eq!(texts(&bench, &session), ["one", "three"]);
}

#[test]
fn titles_tags_and_status_are_changed_and_undone() {
    let bench = Bench::writing();
    let path = format!("/v1/sessions/{CLAUDE}");
    let before = bench.get(&path).is(200).json();
    let body = r#"{"title":"Cents","tags":{"add":["money"]}}"#;
    let done = bench.change("PATCH", &path, body).is(200).items();
    let now = done.last().unwrap();
    assert_eq!(now["title"], "Cents");
    assert!(now["tags"].as_array().unwrap().contains(&"money".into()));
    let stale = format!("If-Match: \"{}\"", before["revision"].as_str().unwrap());
    bench
        .ask(
            "PATCH",
            &path,
            &[&bearer(&bench.write), &stale],
            br#"{"title":"x"}"#,
        )
        .is(412);
    bench.change("PATCH", &path, r#"{"titel":"x"}"#).is(400);
    bench
        .change("PATCH", &path, r#"{"status":"asleep"}"#)
        .is(400);
    bench.change("PATCH", &path, "{}").is(400);
}

#[test]
fn a_deleted_session_comes_back_from_the_vault() {
    let bench = Bench::writing();
    let path = format!("/v1/sessions/{CLAUDE}");
    let before = bench.get(&format!("{path}/export?redact=0")).is(200).body;
    let plan = bench.ask(
        "DELETE",
        &format!("{path}?plan"),
        &[&bearer(&bench.write)],
        b"",
    );
    assert!(plan.is(200).items().iter().all(|it| it["type"] == "step"));
    bench.get(&path).is(200);
    let gone = bench
        .ask("DELETE", &path, &[&bearer(&bench.write)], b"")
        .is(200)
        .items();
    assert_eq!(gone[0]["type"], "op");
    bench.get(&format!("{path}/entries")).is(404);
    bench.change("POST", &format!("{path}/restore"), "").is(200);
    let after = bench.get(&format!("{path}/export?redact=0")).is(200).body;
    assert_eq!(before, after);
    let again = bench
        .ask("DELETE", &path, &[&bearer(&bench.write)], b"")
        .is(200)
        .items();
    let op = again[0]["op"].as_str().unwrap();
    bench
        .change("POST", &format!("/v1/ops/{op}/undo"), "")
        .is(200);
    assert_eq!(
        bench.get(&format!("{path}/export?redact=0")).is(200).body,
        before
    );
}

#[test]
fn forks_branches_and_rewinds_work_as_on_the_command_line() {
    let bench = Bench::writing();
    let path = format!("/v1/sessions/{CLAUDE}");
    let made = bench
        .change("POST", &format!("{path}/fork"), r#"{"title":"Fork"}"#)
        .is(201);
    let fork = made.json()["ref"].as_str().unwrap().to_owned();
    assert_ne!(fork, CLAUDE);
    let prompts = bench
        .get(&format!("/v1/sessions/{fork}/entries?only=prompts"))
        .is(200)
        .items();
    let last = prompts.last().unwrap()["id"].as_str().unwrap().to_owned();
    let body = json!({"entry": last}).to_string();
    let rewound = bench
        .change("POST", &format!("/v1/sessions/{fork}/rewind"), &body)
        .is(200);
    assert_eq!(rewound.items()[0]["type"], "rewound");
    let session = create(&bench);
    let entries = format!("/v1/sessions/{session}/entries");
    let first = bench
        .change("POST", &entries, r#"{"role":"user","text":"one"}"#)
        .is(201);
    let first = first.items()[0]["entry"].as_str().unwrap().to_owned();
    bench
        .change("POST", &entries, r#"{"role":"assistant","text":"two"}"#)
        .is(201);
    let body = json!({"entry": first}).to_string();
    bench
        .change("POST", &format!("/v1/sessions/{session}/branch"), &body)
        .is(200);
    bench
        .change("POST", &entries, r#"{"role":"assistant","text":"other"}"#)
        .is(201);
    assert_eq!(texts(&bench, &session), ["one", "other"]);
    let body = json!({"entry": first, "label": "start"}).to_string();
    bench
        .change("POST", &format!("/v1/sessions/{session}/label"), &body)
        .is(200);
    let closed = bench
        .change("POST", &format!("/v1/sessions/{session}/close"), "")
        .is(200);
    assert_eq!(closed.items().last().unwrap()["status"], "completed");
}

#[test]
fn a_repair_is_applied_only_as_it_was_planned() {
    let bench = Bench::writing();
    let damaged = bench.get("/v1/check").is(200).items();
    let damaged = damaged.iter().find(|it| {
        it["type"] == "damage" && it["repair"] == "rewrite" && it["session"].is_string()
    });
    let session = damaged.expect("the demo has a damaged session")["session"].clone();
    let path = format!("/v1/sessions/{}/repair", session.as_str().unwrap());
    let plan = bench.get(&path).is(200);
    let tag = plan.header("etag").unwrap().to_owned();
    assert!(
        plan.items().iter().any(|it| it["taken"] == true),
        "{}",
        plan.text()
    );
    bench.change("POST", &path, "{}").is(428);
    let wrong = "If-Match: \"another plan\"";
    bench
        .ask("POST", &path, &[&bearer(&bench.write), wrong], b"{}")
        .is(412);
    let right = format!("If-Match: {tag}");
    let done = bench
        .ask("POST", &path, &[&bearer(&bench.write), &right], b"{}")
        .is(200)
        .items();
    let op = done.iter().find(|it| it["type"] == "op").unwrap()["op"]
        .as_str()
        .unwrap()
        .to_owned();
    bench
        .change("POST", &format!("/v1/ops/{op}/undo"), "")
        .is(200);
    let again = bench.get(&path).is(200);
    assert_eq!(
        again.header("etag"),
        Some(tag.as_str()),
        "the damage is back"
    );
}
