//! clinvoker's session interface, row by row.

use serde_json::{Value, json};

use crate::bench::{Answer, Bench, bearer};

fn get(bench: &Bench, path: &str) -> Answer {
    let key = format!("X-Api-Key: {}", bench.read);
    bench.ask("GET", path, &[&key], b"")
}

/// The session of the demo, as its file states it.
fn session(bench: &Bench) -> Value {
    let all = get(bench, "/api/v1/sessions").is(200).json();
    all["sessions"][0].clone()
}

#[test]
fn a_list_has_all_sessions_and_says_limit_0_without_one() {
    let bench = Bench::writing();
    let all = get(&bench, "/api/v1/sessions").is(200).json();
    assert_eq!(all["total"], 1);
    assert_eq!((&all["limit"], &all["offset"]), (&json!(0), &json!(0)));
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
    let none = get(&bench, "/api/v1/sessions?offset=1&limit=5")
        .is(200)
        .json();
    assert_eq!((&none["total"], &none["limit"]), (&json!(1), &json!(5)));
    assert_eq!(none["sessions"], json!([]));
}

#[test]
fn a_list_is_filtered_by_backend_and_status() {
    let bench = Bench::writing();
    let total = |query: &str| {
        let path = format!("/api/v1/sessions?{query}");
        get(&bench, &path).is(200).json()["total"].clone()
    };
    let it = session(&bench);
    let (backend, status) = (
        it["backend"].as_str().unwrap(),
        it["status"].as_str().unwrap(),
    );
    assert_eq!(total(&format!("backend={backend}&status={status}")), 1);
    assert_eq!(total("backend=gemini"), 0);
    assert_eq!(total("status=paused"), 0);
}

#[test]
fn a_parameter_that_is_no_number_is_422_as_its_framework_says_it() {
    let bench = Bench::writing();
    let answer = get(&bench, "/api/v1/sessions?limit=many").is(422);
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    let body = answer.json();
    assert_eq!(body["title"], "Unprocessable Entity");
    assert_eq!(body["errors"][0]["location"], "query.limit");
}

#[test]
fn the_object_has_the_members_of_its_file_and_leaves_out_empty_ones() {
    let bench = Bench::writing();
    let it = session(&bench);
    assert_eq!(it["title"], "HTTP upgrade");
    assert_eq!(it["created_at"], "2026-10-25T13:00:00Z");
    assert_eq!(it["last_used"], "2026-10-25T13:01:10Z");
    assert_eq!(
        it["initial_prompt"],
        "Upgrade the HTTP crate and fix what breaks."
    );
    assert_eq!(
        it["token_usage"],
        json!({"input_tokens": 7100, "output_tokens": 148})
    );
    let known = [
        "id",
        "backend",
        "created_at",
        "last_used",
        "working_dir",
        "model",
        "initial_prompt",
        "status",
        "turn_count",
        "token_usage",
        "tags",
        "title",
    ];
    for (name, value) in it.as_object().unwrap() {
        assert!(known.contains(&name.as_str()), "{name}");
        assert!(
            !value.is_null() && *value != json!("") && *value != json!([]),
            "{name}"
        );
    }
}

#[test]
fn one_session_is_found_by_its_id_or_a_unique_beginning() {
    let bench = Bench::writing();
    let it = session(&bench);
    let id = it["id"].as_str().unwrap();
    assert_eq!(
        get(&bench, &format!("/api/v1/sessions/{id}"))
            .is(200)
            .json(),
        it
    );
    assert_eq!(
        get(&bench, &format!("/api/v1/sessions/{}", &id[..6]))
            .is(200)
            .json(),
        it
    );
    for none in ["ffff", "..%2f..", "index"] {
        let answer = get(&bench, &format!("/api/v1/sessions/{none}")).is(404);
        let body = answer.json();
        assert_eq!(
            (&body["title"], &body["detail"]),
            (&json!("Not Found"), &json!("session not found"))
        );
        assert!(body["errors"][0]["message"].is_string());
    }
}

#[test]
fn several_sessions_come_last_used_first_and_a_beginning_of_both_is_404() {
    let bench = Bench::writing();
    let id = session(&bench)["id"].as_str().unwrap().to_owned();
    let other = format!("{}00000000000000000000000000", &id[..6]);
    let folder = bench.temp.path().join("d/home/.clinvk/sessions");
    let text = std::fs::read_to_string(folder.join(format!("{id}.json"))).unwrap();
    let mut later: Value = serde_json::from_str(&text).unwrap();
    later["id"] = json!(other);
    later["last_used"] = json!("2026-10-26T09:00:00Z");
    std::fs::write(folder.join(format!("{other}.json")), later.to_string()).unwrap();
    let all = get(&bench, "/api/v1/sessions").is(200).json();
    let ids: Vec<&Value> = all["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [&json!(other), &json!(id)]);
    get(&bench, &format!("/api/v1/sessions/{}", &id[..6])).is(404);
    get(&bench, &format!("/api/v1/sessions/{}", &id[..9])).is(200);
}

#[test]
fn a_body_over_the_limit_is_refused_in_its_words() {
    let bench = Bench::writing();
    let head = format!(
        "POST /api/v1/prompt HTTP/1.1\r\nHost: {}\r\n{}\r\nContent-Length: 99999999999\r\n\
         Connection: close\r\n\r\n",
        bench.address,
        bearer(&bench.write)
    );
    let answer = bench.raw(head.as_bytes()).is(413);
    assert_eq!(answer.json()["error"], "request_too_large");
    assert!(answer.json()["message"].is_string());
}

#[test]
fn a_session_is_deleted_into_the_vault() {
    let bench = Bench::writing();
    let it = session(&bench);
    let id = it["id"].as_str().unwrap();
    let short = &id[..8];
    let path = format!("/api/v1/sessions/{short}");
    let reading = format!("X-Api-Key: {}", bench.read);
    bench.ask("DELETE", &path, &[&reading], b"").is(403);
    let answer = bench
        .ask("DELETE", &path, &[&bearer(&bench.write)], b"")
        .is(200);
    assert_eq!(answer.json(), json!({"deleted": true, "id": short}));
    bench
        .ask("DELETE", &path, &[&bearer(&bench.write)], b"")
        .is(404);
    bench
        .change("POST", &format!("/v1/sessions/clinvoker:{id}/restore"), "")
        .is(200);
    assert_eq!(session(&bench), it);
}

#[test]
fn a_key_is_taken_from_either_header_and_nothing_is_open() {
    let bench = Bench::writing();
    let ask = |headers: &[&str]| bench.ask("GET", "/api/v1/sessions", headers, b"");
    ask(&[&bearer(&bench.read)]).is(200);
    let missing = ask(&[]).is(401);
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    assert_eq!(
        missing.json(),
        json!({"error": "unauthorized", "message": "missing API key"})
    );
    let wrong = ask(&["X-Api-Key: wrong"]).is(401);
    assert_eq!(
        wrong.json(),
        json!({"error": "unauthorized", "message": "invalid API key"})
    );
    bench.ask("GET", "/health", &[], b"").is(401);
    let host = "Host: evil.example";
    ask(&[host, &bearer(&bench.read)]).is(421);
}

#[test]
fn health_and_backends_have_its_members() {
    let bench = Bench::writing();
    let health = get(&bench, "/health").is(200).json();
    assert_eq!(health["status"], "ok");
    assert!(health["version"].is_string() && health["uptime"].is_string());
    assert!(health["uptime_ms"].is_u64());
    assert_eq!(
        health["session_store"],
        json!({"available": true, "session_count": 1})
    );
    let backends = get(&bench, "/api/v1/backends").is(200).json();
    let names: Vec<&Value> = backends["backends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["claude", "codex", "gemini"]);
    assert!(backends["backends"][0]["available"].is_boolean());
}

#[test]
fn what_runs_a_model_is_not_implemented() {
    let bench = Bench::writing();
    for path in [
        "/api/v1/prompt",
        "/api/v1/parallel",
        "/api/v1/chain",
        "/api/v1/compare",
        "/openai/v1/chat/completions",
        "/anthropic/v1/messages",
    ] {
        let answer = bench
            .ask("POST", path, &[&bearer(&bench.write)], b"{}")
            .is(501);
        assert_eq!(answer.json()["detail"], "boswell runs no model");
    }
}
