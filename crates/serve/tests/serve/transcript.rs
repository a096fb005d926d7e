//! What a page needs of a transcript besides its entries: branches, gaps, subagents, hits, plans,
//! and the progress of long work.

use serde_json::Value;

use crate::bench::{Answer, Bench, CLAUDE, bearer};
use crate::reading::decoded;

/// A session of the demo with two branches.
const BRANCHED: &str = "pi:80459cf1-2168-485b-a791-1b5f65f8e9ff";
/// A session of the demo whose log is damaged.
const DAMAGED: &str = "claude:833ea297-bc15-46f2-af48-b629cdef98bd";

fn entries(bench: &Bench, session: &str, query: &str) -> Vec<Value> {
    let path = format!("/v1/sessions/{session}/entries?limit=500{query}");
    bench.get(&path).is(200).items()
}

#[test]
fn a_branch_is_read_by_its_last_entry_and_named_where_it_was_left() {
    let bench = Bench::reading();
    let current = entries(&bench, BRANCHED, "");
    let fork = current
        .iter()
        .find(|it| it["branches"].is_object())
        .unwrap();
    let ends = fork["branches"]["ends"].as_array().unwrap();
    let shown = fork["branches"]["shown"].as_u64().unwrap() as usize;
    assert!(ends.len() > 1, "{ends:?}");
    let other = ends[(shown + 1) % ends.len()].as_str().unwrap();
    assert!(!current.iter().any(|it| it["id"] == other));
    let left = entries(&bench, BRANCHED, &format!("&branch={other}"));
    assert!(left.iter().any(|it| it["id"] == other));
    let again = left.iter().find(|it| it["id"] == fork["id"]).unwrap();
    assert_eq!(again["position"], fork["position"], "both begin alike");
    assert_ne!(again["branches"]["shown"], fork["branches"]["shown"]);
    let heads = format!("/v1/sessions/{BRANCHED}/heads?branch={other}");
    let heads = bench.get(&heads).is(200).json();
    assert_eq!(heads["total"], left.len());
    let flags = decoded(heads["flags"].as_str().unwrap());
    let place = fork["position"].as_u64().unwrap() as usize;
    assert_ne!(flags[place] & 128, 0, "the place of the branches is marked");
    assert_eq!(flags.iter().filter(|it| **it & 128 != 0).count(), 1);
}

#[test]
fn bytes_that_are_not_records_are_named_where_they_are() {
    let bench = Bench::reading();
    let all = entries(&bench, DAMAGED, "");
    let gaps = all.iter().flat_map(|it| {
        let of = |member: &str| it[member].as_array().cloned().unwrap_or_default();
        of("gaps").into_iter().chain(of("gaps_after"))
    });
    let gaps: Vec<Value> = gaps.collect();
    assert!(!gaps.is_empty());
    for gap in gaps {
        assert!(gap["line"].as_u64().unwrap() > 0 && gap["bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_entries_of_subagents_are_below_the_entry_that_started_them() {
    let bench = Bench::reading();
    let all = entries(&bench, CLAUDE, "");
    let starting: Vec<&Value> = all.iter().filter(|it| it["subagents"].is_array()).collect();
    assert_eq!(starting.len(), 1, "one call of the demo starts a subagent");
    let id = starting[0]["id"].as_str().unwrap();
    let agent = starting[0]["subagents"][0]["id"].as_str().unwrap();
    let path = format!("/v1/sessions/{CLAUDE}/entries/{id}/subagents");
    let inside = bench.get(&path).is(200).items();
    assert!(inside.len() > 1, "{inside:?}");
    for entry in &inside {
        assert!(entry["session"].as_str().unwrap().contains(agent));
        assert_ne!(entry["id"], id);
    }
    let none = all.iter().find(|it| it["subagents"].is_null()).unwrap();
    let path = format!(
        "/v1/sessions/{CLAUDE}/entries/{}/subagents",
        none["id"].as_str().unwrap()
    );
    assert!(bench.get(&path).is(200).items().is_empty());
}

#[test]
fn text_is_searched_in_one_session() {
    let bench = Bench::reading();
    let path = format!("/v1/search?q=cent&mode=substring&session={CLAUDE}&limit=100");
    let hits = bench.get(&path).is(200).items();
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|hit| hit["session"] == CLAUDE));
    let other = format!("/v1/search?q=cent&mode=substring&session={BRANCHED}");
    assert!(bench.get(&other).is(200).items().is_empty());
    bench.get("/v1/search?q=a&session=..%2f..").is(400);
    bench.get("/v1/search?q=a&session=none-such").is(404);
}

#[test]
fn the_plan_of_a_repair_has_the_bytes_of_each_step_and_its_effect() {
    let bench = Bench::reading();
    let plan = bench.get(&format!("/v1/sessions/{DAMAGED}/repair"));
    let plan = plan.is(200).json();
    let steps: Vec<&Value> = plan["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["type"] == "step")
        .collect();
    let changes: Vec<&Value> = steps
        .iter()
        .flat_map(|step| step["changes"].as_array().unwrap())
        .collect();
    assert!(!changes.is_empty());
    assert!(changes.iter().all(|it| it["before"] != it["after"]));
    let end = &plan["page"];
    assert!(end["reachable"].as_u64() < end["would_reach"].as_u64());
    assert_eq!(end["taken"], 3);
}

/// Returns names and data of the events of an answer.
fn events(answer: &Answer) -> Vec<(String, Value)> {
    let text = answer.text();
    let blocks = text.split("\n\n").filter(|it| !it.is_empty());
    blocks
        .map(|block| {
            let (name, data) = block.split_once('\n').unwrap();
            let name = name.strip_prefix("event: ").unwrap().to_owned();
            let data = data.strip_prefix("data: ").unwrap();
            (name, serde_json::from_str(data).unwrap())
        })
        .collect()
}

#[test]
fn long_work_sends_its_progress_and_its_end() {
    let bench = Bench::writing();
    let token = bearer(&bench.write);
    let follow = |method: &str, path: &str| {
        let headers = [token.as_str(), "Accept: text/event-stream"];
        let answer = bench.ask(method, path, &headers, b"").is(200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        events(&answer)
    };
    for (method, path, shape) in [
        ("GET", "/v1/check", "damage"),
        ("POST", "/v1/index", "index"),
        ("POST", "/v1/keep", "kept"),
    ] {
        let events = follow(method, path);
        assert_eq!(events.last().unwrap().0, "done", "{path}: {events:?}");
        assert!(events.iter().any(|(name, _)| name == shape), "{path}");
        let progress: Vec<&Value> = events
            .iter()
            .filter(|(name, _)| name == "progress")
            .map(|(_, data)| data)
            .collect();
        assert!(!progress.is_empty(), "{path}: no progress");
        for one in progress {
            assert!(one["done"].as_u64() <= one["total"].as_u64(), "{one}");
        }
    }
}

#[test]
fn work_that_fails_says_so_in_its_stream() {
    let bench = Bench::reading();
    let headers = [bearer(&bench.read), "Accept: text/event-stream".to_owned()];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    bench.ask("POST", "/v1/keep", &headers, b"").is(403);
    bench.ask("POST", "/v1/index", &headers, b"").is(403);
}

#[test]
fn large_values_are_stored_under_their_digest_and_never_change() {
    let bench = Bench::writing();
    let digest = boswell_testkit::sha256::hex(b"a picture");
    let path = format!("/v1/blobs/{digest}");
    bench.get(&path).is(404);
    bench.change("PUT", &path, "a picture").is(201);
    bench.change("PUT", &path, "a picture").is(200);
    let got = bench.get(&path).is(200);
    assert_eq!(got.body, b"a picture");
    assert_eq!(got.header("content-disposition"), Some("attachment"));
    let wanted = Some("private, max-age=31536000, immutable");
    assert_eq!(got.header("cache-control"), wanted);
    let tag = format!("If-None-Match: {}", got.header("etag").unwrap());
    let again = bench.ask("GET", &path, &[&bearer(&bench.read), &tag], b"");
    assert_eq!(again.status, 304);
    let head = bench.ask("HEAD", &path, &[&bearer(&bench.read)], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    bench.change("PUT", &path, "another picture").is(400);
    assert_eq!(bench.get(&path).body, b"a picture");
    for wrong in ["..%2f..%2fetc", "abc", &digest.to_uppercase()] {
        bench
            .change("PUT", &format!("/v1/blobs/{wrong}"), "x")
            .is(400);
    }
    let read = bench.ask("PUT", &path, &[&bearer(&bench.read)], b"a picture");
    assert_eq!(read.status, 403);
}
