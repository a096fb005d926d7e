//! Pages, ranges, conditions, errors.

use serde_json::Value;

use crate::bench::{Bench, CLAUDE, bearer};

#[test]
fn pages_of_sessions_follow_each_other_by_their_cursor() {
    let bench = Bench::reading();
    let all = bench.get("/v1/sessions?limit=500").is(200);
    let refs = |items: &[Value]| -> Vec<String> {
        let refs = items
            .iter()
            .map(|it| it["ref"].as_str().unwrap().to_owned());
        refs.collect()
    };
    let all = refs(&all.items());
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = bench.get(&format!("/v1/sessions?limit=2{cursor}")).is(200);
        seen.extend(refs(&page.items()));
        match page.json()["page"]["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", next.replace(':', "%3A")),
            None => break,
        }
    }
    assert!(all.len() > 2);
    assert_eq!(seen, all);
}

#[test]
fn entries_come_by_position_before_after_and_around_an_entry() {
    let bench = Bench::reading();
    let ask = |query: &str| {
        let answer = bench
            .get(&format!("/v1/sessions/{CLAUDE}/entries?{query}"))
            .is(200);
        let ids: Vec<String> = answer
            .items()
            .iter()
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect();
        (ids, answer.json()["page"].clone())
    };
    let (all, page) = ask("limit=500");
    assert_eq!(page["total"], all.len());
    assert_eq!(
        (&page["first"], &page["last"]),
        (&0.into(), &(all.len() - 1).into())
    );
    let (some, page) = ask("from=3&limit=4");
    assert_eq!(some, all[3..7]);
    assert_eq!((&page["first"], &page["last"]), (&3.into(), &6.into()));
    let (last, _) = ask("limit=2");
    assert_eq!(last, all[all.len() - 2..]);
    let (before, _) = ask(&format!("before={}&limit=2", all[5]));
    assert_eq!(before, all[3..5]);
    let (after, _) = ask(&format!("after={}&limit=2", all[5]));
    assert_eq!(after, all[6..8]);
    let (around, _) = ask(&format!("around={}&limit=2", all[5]));
    assert_eq!(around, all[4..7]);
    let (beyond, page) = ask("from=9999");
    assert!(beyond.is_empty() && page["first"].is_null() && page["total"] == all.len());
    let (prompts, page) = ask("only=prompts");
    assert!(!prompts.is_empty() && prompts.len() < all.len());
    assert_eq!(page["total"], all.len(), "positions count all entries");
    let (found, _) = ask("match=WHOLE%20cents");
    assert_eq!(found.len(), 2, "in a prompt and an output, in any case");
    bench
        .get(&format!(
            "/v1/sessions/{CLAUDE}/entries?from=1&after={}",
            all[0]
        ))
        .is(400);
}

pub(crate) fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let digits = chunk.iter().filter(|it| **it != b'=');
        let digits: Vec<u32> = digits
            .map(|it| DIGITS.find(char::from(*it)).unwrap() as u32)
            .collect();
        let value = digits.iter().enumerate();
        let value = value.fold(0, |all, (place, it)| all | it << (18 - 6 * place));
        let bytes = [(value >> 16) as u8, (value >> 8) as u8, value as u8];
        out.extend_from_slice(&bytes[..digits.len() - 1]);
    }
    out
}

#[test]
fn columns_of_heads_have_one_value_per_entry() {
    let bench = Bench::reading();
    let entries = bench.get(&format!("/v1/sessions/{CLAUDE}/entries?limit=500"));
    let total = entries.json()["page"]["total"].as_u64().unwrap() as usize;
    let heads = bench
        .get(&format!("/v1/sessions/{CLAUDE}/heads?as=columns"))
        .is(200)
        .json();
    let bytes = |name: &str| decoded(heads[name].as_str().unwrap());
    assert_eq!(heads["total"], total);
    assert_eq!((bytes("kind").len(), bytes("flags").len()), (total, total));
    for name in ["at", "parent", "bytes"] {
        assert_eq!(bytes(name).len(), total * 4, "{name}");
    }
    let roles: Vec<String> = bytes("kind")
        .iter()
        .map(|it| {
            heads["kinds"][usize::from(*it)]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    for (entry, kind) in entries.items().iter().zip(&roles) {
        let role = entry["role"].as_str().unwrap_or_default();
        assert!(
            kind == role || role == "tool" && kind == "tool_result",
            "{role} {kind}"
        );
    }
}

#[test]
fn a_client_that_has_the_current_revision_gets_304() {
    let bench = Bench::reading();
    let paths = [
        "",
        "/entries?limit=3",
        "/heads",
        "/tree",
        "/entries?from=0&limit=1",
    ];
    for below in paths {
        let path = format!("/v1/sessions/{CLAUDE}{below}");
        let first = bench.get(&path).is(200);
        let tag = first.header("etag").unwrap().to_owned();
        let condition = format!("If-None-Match: {tag}");
        let again = bench.ask("GET", &path, &[&bearer(&bench.read), &condition], b"");
        assert_eq!((again.status, again.body.len()), (304, 0), "{below}");
        let other = "If-None-Match: \"1-00000000\"";
        bench
            .ask("GET", &path, &[&bearer(&bench.read), other], b"")
            .is(200);
    }
    let list = bench.get("/v1/sessions?limit=5").is(200);
    let condition = format!("If-None-Match: {}", list.header("etag").unwrap());
    bench
        .ask(
            "GET",
            "/v1/sessions?limit=5",
            &[&bearer(&bench.read), &condition],
            b"",
        )
        .is(304);
}

#[test]
fn long_texts_are_cut_and_can_be_read_whole() {
    let bench = Bench::reading();
    let cut = bench
        .get(&format!(
            "/v1/sessions/{CLAUDE}/entries?from=0&limit=1&text_limit=5"
        ))
        .is(200);
    let entry = &cut.items()[0];
    assert_eq!(entry["text"].as_str().unwrap().len(), 5);
    let bytes = entry["text_bytes"].as_u64().unwrap() as usize;
    assert!(bytes > 5);
    assert_eq!(entry["content"][0]["bytes"], bytes);
    let whole = bench.get(&format!(
        "/v1/sessions/{CLAUDE}/entries/{}",
        entry["id"].as_str().unwrap()
    ));
    let whole = whole.is(200).json();
    assert_eq!(whole["text"].as_str().unwrap().len(), bytes);
    assert!(whole.get("text_bytes").is_none());
}

#[test]
fn errors_have_a_kind_a_status_and_a_hint() {
    let bench = Bench::reading();
    let cases = [
        ("/v1/sessions/no-such-session", 404, "not_found"),
        ("/v1/sessions?sort=colour", 400, "invalid"),
        ("/v1/sessions?agnet=claude", 400, "invalid"),
        ("/v1/sessions?since=yesteryear", 400, "invalid"),
        ("/v1/search?q=(&mode=regex", 400, "invalid"),
        ("/v1/nothing", 404, "not_found"),
    ];
    for (path, status, kind) in cases {
        let problem = bench.get(path).is(status).json();
        assert_eq!(problem["kind"], kind, "{path}");
        assert_eq!(problem["type"], format!("urn:boswell:{kind}"), "{path}");
        assert_eq!(problem["status"], status, "{path}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{path}");
    }
    let method = bench.ask("PUT", "/v1/stores", &[&bearer(&bench.write)], b"");
    assert!(matches!(method.status, 403 | 405), "{}", method.text());
}

#[test]
fn answers_are_compressed_on_request() {
    let bench = Bench::reading();
    let zipped = bench.ask(
        "GET",
        "/v1/sessions",
        &[&bearer(&bench.read), "Accept-Encoding: gzip"],
        b"",
    );
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert_eq!(zipped.body[..2], [0x1F, 0x8B]);
}

#[test]
fn a_search_that_runs_out_of_time_says_that_it_is_not_complete() {
    let bench = Bench::reading();
    let found = bench
        .get("/v1/search?q=the&timeout_ms=10000")
        .is(200)
        .json();
    assert_eq!(found["page"]["complete"], true);
    assert!(found["page"]["total"].as_u64().unwrap() > 0);
    bench.get("/v1/search?q=the&timeout_ms=10001").is(400);
}

#[test]
fn exports_are_downloads_and_a_ticket_replaces_the_token_once() {
    let bench = Bench::reading();
    let path = format!("/v1/sessions/{CLAUDE}/export?format=md");
    let exported = bench.get(&path).is(200);
    let name = exported.header("content-disposition").unwrap();
    assert!(name.starts_with("attachment; filename=\"claude-"), "{name}");
    assert_eq!(exported.header("content-security-policy"), Some("sandbox"));
    let body = format!(r#"{{"path":"{path}"}}"#);
    let ticket = bench
        .ask(
            "POST",
            "/v1/tickets",
            &[&bearer(&bench.read)],
            body.as_bytes(),
        )
        .is(200)
        .json();
    let take = format!("/v1/take/{}", ticket["ticket"].as_str().unwrap());
    let taken = bench.ask("GET", &take, &[], b"").is(200);
    assert_eq!(taken.body, exported.body);
    bench.ask("GET", &take, &[], b"").is(404);
    let other = br#"{"path":"/v1/sessions"}"#;
    bench
        .ask("POST", "/v1/tickets", &[&bearer(&bench.read)], other)
        .is(400);
}
