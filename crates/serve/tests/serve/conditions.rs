//! Changes with `If-Match` that are sent at the same time: one of them is made, the others are
//! refused.

use serde_json::json;

use crate::bench::{Bench, CLAUDE, bearer};

/// How often two clients race.
const ROUNDS: usize = 12;
/// How many clients race.
const CLIENTS: usize = 3;

/// Returns the ref of a new session with one entry, and the id of the entry.
fn created(bench: &Bench) -> (String, String) {
    let body = json!({"project": "/w"}).to_string();
    let made = bench.change("POST", "/v1/sessions", &body).is(201);
    let session = made.json()["ref"].as_str().unwrap().to_owned();
    let entries = format!("/v1/sessions/{session}/entries");
    let receipt = bench.change("POST", &entries, r#"{"role":"user","text":"one"}"#);
    let entry = receipt.is(201).items()[0]["entry"].clone();
    (session, entry.as_str().unwrap().to_owned())
}

fn etag(bench: &Bench, session: &str) -> String {
    let answer = bench.get(&format!("/v1/sessions/{session}")).is(200);
    answer.header("etag").unwrap().to_owned()
}

/// Sends requests at the same time, each with the ETag that the session has now, and returns their
/// statuses.
fn race(bench: &Bench, session: &str, requests: &[(&str, String, String)]) -> Vec<u16> {
    let tag = format!("If-Match: {}", etag(bench, session));
    let token = bearer(&bench.write);
    let start = std::sync::Barrier::new(requests.len());
    std::thread::scope(|scope| {
        let sent: Vec<_> = requests
            .iter()
            .map(|(method, path, body)| {
                let (start, headers) = (&start, [token.as_str(), tag.as_str()]);
                scope.spawn(move || {
                    start.wait();
                    bench.ask(method, path, &headers, body.as_bytes()).status
                })
            })
            .collect();
        sent.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

/// One request was carried out; the others found another revision, or the session locked.
#[track_caller]
fn assert_one_won(statuses: &[u16]) {
    let won = statuses.iter().filter(|it| matches!(it, 200 | 201)).count();
    let refused = |status: &u16| matches!(status, 412 | 423);
    let lost = statuses.iter().filter(|it| refused(it)).count();
    assert_eq!((won, lost), (1, statuses.len() - 1), "{statuses:?}");
}

fn titles(path: &str, round: usize) -> Vec<(&'static str, String, String)> {
    let title = |client: usize| json!({"title": format!("{round} of {client}")}).to_string();
    let clients = 0..CLIENTS;
    clients
        .map(|it| ("PATCH", path.to_owned(), title(it)))
        .collect()
}

#[test]
fn of_changes_of_a_log_with_one_revision_one_is_made() {
    let bench = Bench::writing();
    let (session, entry) = created(&bench);
    let path = format!("/v1/sessions/{session}");
    for round in 0..ROUNDS {
        assert_one_won(&race(&bench, &session, &titles(&path, round)));
        let branch = json!({ "entry": entry }).to_string();
        let text = json!({"role": "user", "text": format!("{round}")}).to_string();
        let requests = [
            ("POST", format!("{path}/branch"), branch),
            ("POST", format!("{path}/entries"), text),
            titles(&path, round).remove(0),
        ];
        assert_one_won(&race(&bench, &session, &requests));
    }
}

#[test]
fn of_planned_changes_with_one_revision_one_is_made() {
    let bench = Bench::writing();
    let path = format!("/v1/sessions/{CLAUDE}");
    for round in 0..ROUNDS {
        assert_one_won(&race(&bench, CLAUDE, &titles(&path, round)));
        let requests = [
            ("DELETE", path.clone(), String::new()),
            titles(&path, round).remove(0),
        ];
        assert_one_won(&race_of_deletion(&bench, &requests));
        let restored = bench.change("POST", &format!("{path}/restore"), "");
        assert!(
            matches!(restored.status, 200 | 404 | 409),
            "{}",
            restored.text()
        );
        bench.get(&path).is(200);
    }
}

/// As [`race`]; a change that comes after the deletion finds no session.
fn race_of_deletion(bench: &Bench, requests: &[(&str, String, String)]) -> Vec<u16> {
    let statuses = race(bench, CLAUDE, requests).into_iter();
    statuses
        .map(|status| if status == 404 { 412 } else { status })
        .collect()
}

#[test]
fn a_deletion_of_a_log_that_grew_is_refused() {
    let bench = Bench::writing();
    for round in 0..ROUNDS {
        let (session, _) = created(&bench);
        let path = format!("/v1/sessions/{session}");
        let text = json!({"role": "user", "text": format!("{round}")}).to_string();
        let requests = [
            ("DELETE", path.clone(), String::new()),
            ("POST", format!("{path}/entries"), text),
        ];
        let statuses = race(&bench, &session, &requests);
        let won: Vec<bool> = statuses.iter().map(|it| *it < 300).collect();
        assert_eq!(won.iter().filter(|it| **it).count(), 1, "{statuses:?}");
        let is_there = bench.get(&format!("{path}/entries")).status == 200;
        assert_eq!(is_there, won[1], "{statuses:?}");
    }
}

#[test]
fn a_fork_of_another_revision_than_expected_is_refused() {
    let bench = Bench::writing();
    for session in [CLAUDE.to_owned(), created(&bench).0] {
        let old = etag(&bench, &session);
        let path = format!("/v1/sessions/{session}");
        bench.change("PATCH", &path, r#"{"title":"other"}"#).is(200);
        let ask = |condition: &str| {
            let condition = format!("If-Match: {condition}");
            let headers = [bearer(&bench.write), condition];
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            bench.ask("POST", &format!("{path}/fork"), &headers, b"{}")
        };
        let late = ask(&old).is(412).json();
        assert_eq!(late["expected"], old.trim_matches('"'));
        ask("\"yesterday\"").is(400);
        ask("*").is(201);
        ask(&etag(&bench, &session)).is(201);
    }
}
