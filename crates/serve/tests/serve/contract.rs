//! Every answer validates against the description of the server.

use serde_json::Value;

use crate::bench::{Bench, CLAUDE, bearer};

/// Fails if a value does not fit a schema, as far as our schemas go: types, constants, members,
/// items, references and alternatives.
fn check(value: &Value, schema: &Value, all: &Value, path: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/components/schemas/").unwrap();
        assert!(all[name].is_object(), "{name} is not defined");
        return check(value, &all[name], all, path);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let tried: Vec<_> = any.iter().map(|it| check(value, it, all, path)).collect();
        return match tried.iter().any(Result::is_ok) {
            true => Ok(()),
            false => Err(format!("{path}: none of {tried:?}")),
        };
    }
    if let Some(wanted) = schema.get("const")
        && wanted != value
    {
        return Err(format!("{path}: {value} is not {wanted}"));
    }
    check_type(value, &schema["type"], path)?;
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return Err(format!("{path}: {name} is missing"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            check(member, inner, all, &format!("{path}.{name}"))?;
        }
    }
    if let Some(inner) = schema.get("items") {
        for item in value.as_array().into_iter().flatten() {
            check(item, inner, all, &format!("{path}[]"))?;
        }
    }
    Ok(())
}

fn check_type(value: &Value, types: &Value, path: &str) -> Result<(), String> {
    let is = |word: &str| match word {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("the type {other} is not known"),
    };
    let fits = match types {
        Value::Null => true,
        Value::String(word) => is(word),
        Value::Array(words) => words.iter().any(|word| is(word.as_str().unwrap())),
        other => panic!("{other} is not a type"),
    };
    fits.then_some(())
        .ok_or_else(|| format!("{path}: {value} is not {types}"))
}

/// Fails if an answer does not fit the description of its address.
#[track_caller]
pub(crate) fn assert_fits(
    description: &Value,
    method: &str,
    path: &str,
    answer: &Value,
    status: u16,
) {
    let operation = &description["paths"][path][method];
    assert!(operation.is_object(), "{method} {path} is not described");
    let (status, kind) = if status < 300 {
        (status.to_string(), "application/json")
    } else {
        ("default".to_owned(), "application/problem+json")
    };
    let schema = &operation["responses"][&status]["content"][kind]["schema"];
    assert!(schema.is_object(), "{method} {path} has no {status} {kind}");
    let all = &description["components"]["schemas"];
    if let Err(wrong) = check(answer, schema, all, "") {
        panic!("{method} {path}: {wrong}");
    }
}

fn description() -> Value {
    serde_json::from_str(&boswell_serve::openapi()).unwrap()
}

/// The addresses below a session that answer JSON to a GET.
const BELOW: [&str; 12] = [
    "",
    "/entries",
    "/heads",
    "/tree",
    "/context",
    "/files",
    "/stats",
    "/attachments",
    "/resume",
    "/check",
    "/repair",
    "/entries?view=records&raw",
];

#[test]
fn every_answer_about_every_session_of_the_demo_fits_the_description() {
    let bench = Bench::reading();
    let description = description();
    let sessions = bench.get("/v1/sessions?hidden&limit=500").is(200).items();
    assert!(sessions.len() > 5, "{sessions:?}");
    for session in &sessions {
        let name = session["ref"].as_str().unwrap();
        assert_session_fits(&bench, &description, name);
    }
}

/// Fails if an answer about a session does not fit the description.
fn assert_session_fits(bench: &Bench, description: &Value, name: &str) {
    for below in BELOW {
        let answer = bench.get(&format!("/v1/sessions/{name}{below}"));
        let path = below.split('?').next().unwrap();
        let path = format!("/v1/sessions/{{session}}{path}");
        assert_ne!(answer.status, 500, "{name}{below}: {}", answer.text());
        assert_fits(description, "get", &path, &answer.json(), answer.status);
    }
}

/// Where the agents of three stores keep a session: the folders of the corpus, theirs, and how the
/// names of files begin.
const PLACES: [(&[&str], &str, &str); 3] = [
    // Every file is read as one of Claude Code: most answers are about damage then.
    (&[""], ".claude/projects/-corpus", ""),
    (
        &["/codex/"],
        ".codex/sessions/2026/01/01",
        "rollout-2026-01-01T00-00-00-",
    ),
    (
        &["/pi/", "/openclaw/"],
        ".pi/agent/sessions/--corpus--",
        "2026-01-01T00-00-00-000Z_",
    ),
];

#[test]
fn every_answer_about_every_file_of_the_corpus_fits_the_description() {
    use boswell_testkit::corpus;
    let Some(folder) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    let bench = Bench::reading();
    let description = description();
    let home = bench.temp.path().join("d/home");
    let mut planted = 0;
    for file in corpus::files(&folder) {
        let bytes = std::fs::read(&file).unwrap();
        let path = file.display().to_string();
        let fits = |(folders, ..): &&(&[&str], _, _)| folders.iter().any(|it| path.contains(it));
        for (_, place, start) in PLACES.iter().filter(fits) {
            planted += 1;
            let folder = home.join(place);
            std::fs::create_dir_all(&folder).unwrap();
            let name = format!("{start}0c0c0c0c-0000-4000-8000-{planted:012}.jsonl");
            std::fs::write(folder.join(name), &bytes).unwrap();
        }
    }
    assert!(planted > 80, "{planted}");
    let mut checked = 0;
    let mut cursor = String::new();
    loop {
        let page = bench.get(&format!("/v1/sessions?hidden&limit=500{cursor}"));
        let page = page.is(200).json();
        for session in page["items"].as_array().unwrap() {
            checked += 1;
            assert_session_fits(&bench, &description, session["ref"].as_str().unwrap());
        }
        match page["page"]["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(checked * 2 > planted, "{checked} of {planted}");
}

#[test]
fn the_client_in_typescript_is_generated_from_the_addresses() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/client.ts");
    let client = boswell_serve::typescript_client();
    if std::env::var_os("BOSWELL_BLESS").is_some() {
        std::fs::write(&path, &client).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap();
    assert!(
        pinned == client,
        "run BOSWELL_BLESS=1 cargo test -p boswell-serve"
    );
}

#[test]
fn every_answer_about_the_machine_fits_the_description() {
    let bench = Bench::reading();
    let description = description();
    for path in [
        "/v1",
        "/v1/stores",
        "/v1/projects",
        "/v1/memory?text",
        "/v1/sessions?limit=3",
        "/v1/search?q=the",
        "/v1/search?q=coupon&mode=substring&in=prompts,answers&sort=newest",
        "/v1/prompts?limit=10",
        "/v1/stats",
        "/v1/stats?by=day,agent",
        "/v1/check",
        "/v1/ops",
        "/v1/keep",
    ] {
        let answer = bench.get(path).is(200);
        let path = path.split('?').next().unwrap();
        assert_fits(&description, "get", path, &answer.json(), 200);
    }
    let shop = bench.temp.path().join("d/projects/shop");
    let shop = format!("project={}", shop.display());
    for path in ["/v1/files?", "/v1/blame?file=src/coupon.rs&"] {
        let answer = bench.get(&format!("{path}{shop}")).is(200);
        let path = path.split('?').next().unwrap();
        assert_fits(&description, "get", path, &answer.json(), 200);
    }
    for path in [
        "/v1/sessions/none-such",
        "/v1/search",
        "/v1/sessions?limit=9999",
    ] {
        let answer = bench.get(path);
        assert!(
            matches!(answer.status, 400 | 404),
            "{path}: {}",
            answer.text()
        );
        let kind = answer.header("content-type");
        assert_eq!(kind, Some("application/problem+json"), "{path}");
    }
}

#[test]
fn the_description_has_every_address_and_no_other() {
    let source = include_str!("../../src/routes.rs");
    let description = description();
    let described = description["paths"].as_object().unwrap();
    let dense: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    let dense = dense.replace("( \"", "(\"");
    let mut routed: Vec<String> = Vec::new();
    for part in dense.split(".route(\"").skip(1) {
        routed.push(part.split('"').next().unwrap().to_owned());
    }
    let (_, below) = dense
        .split_once("MethodRouter<ServerState>); 22] = [")
        .unwrap();
    let (below, _) = below.split_once("];").unwrap();
    for part in below.split("(\"").skip(1) {
        let name = part.split('"').next().unwrap();
        routed.push(format!("/v1/sessions/{{session}}/{name}"));
    }
    routed.push("/v1/sessions/{session}".to_owned());
    routed.sort();
    routed.dedup();
    let mut described: Vec<String> = described.keys().cloned().collect();
    described.sort();
    assert_eq!(described, routed);
}

#[test]
fn every_described_method_is_answered() {
    let bench = Bench::writing();
    let description = description();
    let mut count = 0;
    for (path, methods) in description["paths"].as_object().unwrap() {
        if path.ends_with("/events") {
            continue;
        }
        let real = path
            .replace("{session}", CLAUDE)
            .replace("{entry}", "none")
            .replace("{number}", "99")
            .replace("{op}", "none")
            .replace("{ticket}", "none")
            .replace("{name}", "app.js");
        for method in methods.as_object().unwrap().keys() {
            // A body that no address takes: nothing is changed.
            let method = method.to_uppercase();
            let body = if method == "GET" || method == "DELETE" {
                ""
            } else {
                r#"{"no_such_member":1}"#
            };
            if method == "DELETE" {
                continue;
            }
            let answer = bench.ask(&method, &real, &[&bearer(&bench.write)], body.as_bytes());
            assert!(
                !matches!(answer.status, 405 | 500),
                "{method} {path}: {}",
                answer.text()
            );
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}
