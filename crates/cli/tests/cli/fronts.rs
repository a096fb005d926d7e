//! clinvoker and open-agent-sdk from the outside: what the capability table promises works on
//! folders of every era.

use boswell_testkit::home::Home;
use boswell_testkit::make::{claude, clinvoker, oas};
use boswell_testkit::{Batch, disk};
use serde_json::{Value, json};

use crate::bench::Bench;

fn clinvoker_bench(state: clinvoker::ClinvokerIndexState) -> (Bench, Batch) {
    let bench = Bench::new();
    let batch = clinvoker::store(state, 5);
    batch.write_to(&bench.home().join(".clinvk"));
    (bench, batch)
}

fn listed(bench: &Bench, args: &[&str]) -> Vec<Value> {
    bench
        .run(["list", "--json"].iter().chain(args))
        .ends(0)
        .of_type("session")
}

fn row(bench: &Bench, reference: &str) -> Value {
    listed(bench, &["--hidden"])
        .into_iter()
        .find(|row| row["ref"] == reference)
        .unwrap()
}

fn index(bench: &Bench) -> Value {
    serde_json::from_slice(&disk::read(
        &bench.home().join(".clinvk/sessions/index.json"),
    ))
    .unwrap()
}

#[test]
fn every_promised_command_works_on_a_clinvoker_folder_whatever_its_index() {
    for &state in clinvoker::ClinvokerIndexState::ALL {
        let (bench, batch) = clinvoker_bench(state);
        let session = format!("clinvoker:{}", batch.sessions[0].id);
        bench.run(["rename", &session, "会话 <b>"]).ends(0);
        bench.run(["tag", &session, "one", "two"]).ends(0);
        bench.run(["untag", &session, "one"]).ends(0);
        bench
            .run(["status", &session, "error", "--message", "no credit"])
            .ends(0);
        let found = row(&bench, &session);
        assert_eq!(
            (&found["title"], &found["error"]),
            (&json!("会话 <b>"), &json!("no credit")),
            "{state:?}"
        );
        assert!(
            found["tags"].as_array().unwrap().contains(&json!("two")),
            "{found}"
        );
        bench.run(["close", &session]).ends(0);
        let fork = bench
            .run(["fork", &session])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(row(&bench, &fork)["parent"], batch.sessions[0].id.as_str());
        let new = bench
            .run([
                "new",
                "--dialect",
                "clinvoker",
                "--backend",
                "codex",
                "--project",
                "/p",
            ])
            .ends(0);
        assert_eq!(row(&bench, new.text().trim())["agent"], "codex");
        bench.run(["delete", &session, "--dry-run"]).ends(0);
        bench
            .run(["delete", &session])
            .ends(0)
            .says("the transcript stays with");
        bench.run(["tag", &fork, "meanwhile"]).ends(0);
        bench.run(["restore", &session]).ends(0);
        assert_eq!(row(&bench, &session)["status"], "completed");
        let rows = index(&bench)["index"].as_object().unwrap().len();
        assert_eq!(rows, batch.sessions.len() + 2, "{state:?}");
        let unsupported = bench.run(["append", &session, "--user", "x"]).ends(2);
        assert!(
            unsupported.stderr.contains("cannot be appended to"),
            "{unsupported:?}"
        );
    }
}

#[test]
fn lists_of_clinvoker_filter_page_and_count() {
    let (bench, batch) = clinvoker_bench(clinvoker::ClinvokerIndexState::Stale);
    let total = batch.sessions.len();
    let page = bench
        .run([
            "list", "--hidden", "--limit", "2", "--offset", "1", "--json",
        ])
        .ends(0);
    let line = &page.of_type("page")[0];
    assert_eq!((&line["shown"], &line["total"]), (&json!(2), &json!(total)));
    for (args, wanted) in [
        (["--agent", "codex"], 1),
        (["--status", "paused"], 1),
        (["--project", "/home/dev/proj/demo"], 1),
    ] {
        let args: Vec<&str> = args.into_iter().chain(["--hidden"]).collect();
        assert_eq!(listed(&bench, &args).len(), wanted, "{args:?}");
    }
    let times: Vec<Value> = listed(&bench, &["--hidden"])
        .iter()
        .map(|row| row["last_active"].clone())
        .collect();
    let mut sorted = times.clone();
    sorted.sort_by(|a, b| b.as_str().cmp(&a.as_str()));
    assert_eq!(times, sorted, "last used first");
}

#[test]
fn last_here_and_a_prefix_find_a_clinvoker_session_and_index_is_none() {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap().display().to_string();
    let mut documents = Vec::new();
    for (id, dir) in [
        ("aa".repeat(16), cwd.as_str()),
        ("ab".repeat(16), "/elsewhere"),
    ] {
        let spec = clinvoker::ClinvokerSpec {
            id: &id,
            backend: "gemini",
            working_dir: dir,
            seed: 1,
            ..clinvoker::ClinvokerSpec::default()
        };
        documents.push(clinvoker::document(&spec));
    }
    documents[0]["last_used"] = json!("2026-01-01T00:00:00Z");
    documents[1]["last_used"] = json!("2026-02-01T00:00:00.123456789+09:00");
    clinvoker::finish(clinvoker::ClinvokerIndexState::Right, &documents)
        .write_to(&bench.home().join(".clinvk"));
    let shown = |name: &str| {
        bench
            .run(["show", name, "--records", "--json"])
            .ends(0)
            .lines()[0]["session"]
            .clone()
    };
    assert_eq!(shown("@here"), format!("clinvoker:{}", "aa".repeat(16)));
    assert_eq!(
        shown("@last"),
        format!("clinvoker:{}", "aa".repeat(16)),
        "this folder's comes first"
    );
    assert_eq!(shown("abab"), format!("clinvoker:{}", "ab".repeat(16)));
    bench.run(["show", "a"]).ends(2).says("fits 2 sessions");
    bench
        .run(["show", "clinvoker:index"])
        .ends(2)
        .says("no session is called");
    bench.run(["delete", "clinvoker:index"]).ends(2);
    bench.run(["show", "--", "-x"]).ends(2);
}

#[test]
fn cleaning_goes_by_last_use_spares_active_ones_and_needs_the_dialect_named() {
    let bench = Bench::new();
    let mut documents = Vec::new();
    for (digit, status, used) in [
        ("a", "completed", "2020-01-01T00:00:00+09:00"),
        ("b", "active", "2020-01-01T00:00:00Z"),
        ("c", "error", "2999-01-01T00:00:00Z"),
        ("d", "completed", "0001-01-01T00:00:00Z"),
    ] {
        let id = digit.repeat(32);
        let spec = clinvoker::ClinvokerSpec {
            id: &id,
            backend: "claude",
            status,
            seed: 1,
            ..clinvoker::ClinvokerSpec::default()
        };
        let mut document = clinvoker::document(&spec);
        document["last_used"] = json!(used);
        documents.push(document);
    }
    clinvoker::finish(clinvoker::ClinvokerIndexState::Right, &documents)
        .write_to(&bench.home().join(".clinvk"));
    assert_eq!(
        bench
            .run(["clean", "--older-than", "30d", "--apply"])
            .ends(0)
            .text(),
        "",
        "only boswell's own"
    );
    let would = bench
        .run(["clean", "--older-than", "30d", "--dialect", "clinvoker"])
        .ends(0);
    assert!(
        would.text().contains(&"a".repeat(32)) && would.text().lines().count() == 1,
        "{would:?}"
    );
    bench
        .run([
            "clean",
            "--older-than",
            "30d",
            "--dialect",
            "clinvoker",
            "--apply",
        ])
        .ends(0);
    let left: Vec<String> = index(&bench)["index"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        left,
        ["b".repeat(32), "c".repeat(32), "d".repeat(32)],
        "a time in the future or never is not old"
    );
    bench
        .run(["restore", &format!("clinvoker:{}", "a".repeat(32))])
        .ends(0);
    assert_eq!(index(&bench)["index"].as_object().unwrap().len(), 4);
}

/// A clinvoker session whose document and transcript were written by hand to agree, and both refs.
fn pair(bench: &Bench, change: impl FnOnce(&mut Value)) -> (String, String) {
    let transcript = claude::file(claude::ClaudeShape::Plain, "/proj/demo", 9);
    transcript.write_to(&bench.home().join(".claude"));
    let other = format!("claude:{}", transcript.id);
    let known = row(bench, &other);
    let id = "cd".repeat(16);
    let mut document = json!({
        "id": id, "backend": "claude", "created_at": known["created"], "last_used": known["last_active"], "working_dir": "",
        "backend_session_id": transcript.id, "initial_prompt": "why?", "status": "completed", "turn_count": known["turns"],
        "token_usage": {"input_tokens": known["tokens"]["input"], "output_tokens": known["tokens"]["output"]},
    });
    change(&mut document);
    clinvoker::finish(clinvoker::ClinvokerIndexState::Right, &[document])
        .write_to(&bench.home().join(".clinvk"));
    (format!("clinvoker:{id}"), other)
}

#[test]
fn showing_a_clinvoker_session_follows_to_its_transcript() {
    let bench = Bench::new();
    let (front, other) = pair(&bench, |_| {});
    let shown = bench
        .run(["show", &front, "--json"])
        .ends(0)
        .says(&format!("this is {other}"));
    assert!(
        shown
            .lines()
            .iter()
            .all(|line| line["session"] == other.as_str())
            && shown.lines().len() > 1
    );
    bench.run(["context", &front]).ends(0);
    let own = bench.run(["show", &front, "--records", "--json"]).ends(0);
    assert_eq!(
        own.lines()[0]["session"],
        front.as_str(),
        "records are those of the file that was named"
    );
    let own = bench
        .run(["show", &front, "--side", "clinvoker", "--json"])
        .ends(0);
    assert_eq!(own.lines()[0]["session"], front.as_str());
}

#[test]
fn sides_that_agree_are_clean_and_each_way_of_drifting_is_reported() {
    let bench = Bench::new();
    let (front, _) = pair(&bench, |_| {});
    bench.run(["check", &front]).ends(0);
    assert_eq!(row(&bench, &front)["links"][0]["drift"], json!([]));
    assert_eq!(
        bench
            .run(["stores", "--pairs", "--json"])
            .ends(0)
            .of_type("pairs")[0]["drifted"],
        0
    );
    type Change = fn(&mut Value);
    let ways: [(&str, Change, &str); 3] = [
        (
            "turns",
            |document| document["turn_count"] = json!(99),
            "99 turns",
        ),
        (
            "last_active",
            |document| document["last_used"] = json!("2020-01-01T00:00:00Z"),
            "2020-01-01",
        ),
        (
            "tokens",
            |document| document["token_usage"]["output_tokens"] = json!(123_456_789),
            "123456789 tokens",
        ),
    ];
    for (word, change, said) in ways {
        let bench = Bench::new();
        let (front, other) = pair(&bench, change);
        let found = bench
            .run(["check", &front, "--json"])
            .ends(1)
            .of_type("damage");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0]["problem"], "drift");
        let detail = found[0]["detail"].as_str().unwrap();
        assert!(detail.contains(said) && detail.contains(&other), "{detail}");
        assert_eq!(row(&bench, &front)["links"][0]["drift"], json!([word]));
        assert_eq!(
            bench
                .run(["stores", "--pairs", "--json"])
                .ends(0)
                .of_type("pairs")[0]["drifted"],
            1
        );
    }
}

#[test]
fn a_front_row_whose_transcript_is_gone_says_that_resume_will_start_empty() {
    let bench = Bench::new();
    let (front, other) = pair(&bench, |_| {});
    bench
        .run(["delete", &front])
        .ends(0)
        .says("the transcript stays with claude");
    assert_eq!(
        row(&bench, &other)["ref"],
        other.as_str(),
        "deleting one side leaves the other"
    );
    bench.run(["restore", &front]).ends(0);
    disk::remove(&bench.home().join(".claude"));
    let found = bench
        .run(["check", &front, "--json"])
        .ends(1)
        .of_type("damage");
    assert_eq!(found[0]["problem"], "missing_file");
    assert!(
        found[0]["detail"]
            .as_str()
            .unwrap()
            .contains("resume will start empty"),
        "{found:?}"
    );
    bench
        .run(["show", &front])
        .ends(0)
        .says("resume will start empty");
    bench
        .run(["resume", &front, "--print"])
        .ends(0)
        .says("resume will start empty");
    let named = format!("clinvoker={}", bench.home().join(".clinvk").display());
    bench.run(["check", &front, "--store", &named]).ends(0);
}

#[test]
fn this_folders_session_is_found_by_what_its_transcript_knows() {
    let bench = Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap().display().to_string();
    let transcript = claude::file(claude::ClaudeShape::Plain, &cwd, 9);
    transcript.write_to(&bench.home().join(".claude"));
    let id = "cd".repeat(16);
    let spec = clinvoker::ClinvokerSpec {
        id: &id,
        backend: "claude",
        backend_session: &transcript.id,
        seed: 1,
        ..clinvoker::ClinvokerSpec::default()
    };
    clinvoker::finish(
        clinvoker::ClinvokerIndexState::Right,
        &[clinvoker::document(&spec)],
    )
    .write_to(&bench.home().join(".clinvk"));
    bench.run(["show", "@here"]).ends(0);
}

#[test]
fn every_promised_command_works_on_an_open_agent_sdk_folder_whatever_its_index() {
    for &state in oas::OasIndexState::ALL {
        let bench = Bench::new();
        let batch = oas::store(state, "/home/dev/proj/demo", 3);
        batch.write_to(&bench.home().join(".open-agent"));
        for made in [&batch.sessions[1], &batch.sessions[4]] {
            let session = format!("oas:{}", made.id);
            let fork = bench
                .run(["fork", &session])
                .ends(0)
                .text()
                .trim()
                .to_owned();
            assert_eq!(row(&bench, &fork)["parent"], made.id.as_str());
            bench
                .run(["rename", &session, "a note"])
                .ends(0)
                .says("kept as a note");
            let before = disk::read(&bench.home().join(".open-agent").join(&made.main));
            bench.run(["delete", &session]).ends(0);
            bench.run(["restore", &session]).ends(0);
            assert_eq!(
                disk::read(&bench.home().join(".open-agent").join(&made.main)),
                before
            );
        }
        let new = bench
            .run([
                "new",
                "--dialect",
                "oas",
                "--project",
                "/p",
                "--backend",
                "openai/gpt-4o",
            ])
            .ends(0);
        assert_eq!(row(&bench, new.text().trim())["models"], json!(["gpt-4o"]));
        bench
            .run(["new", "--dialect", "oas"])
            .ends(2)
            .says("--backend openai/gpt-4o");
    }
}

#[test]
fn secrets_in_stored_options_are_never_shown_copied_or_exported_unasked() {
    let bench = Bench::new();
    let home = Home::build(&bench.home(), 4);
    let fresh = home
        .of("oas")
        .find(|planted| String::from_utf8_lossy(&disk::read(&planted.path)).contains(oas::SECRET));
    let planted = fresh.unwrap().clone();
    let session = format!("oas:{}", planted.id);
    for args in [
        vec!["show", &session, "--records", "--raw"],
        vec!["show", &session, "--json"],
        vec!["list", "--json", "--hidden"],
        vec!["context", &session, "--json"],
        vec!["search", "sk-test", "--json"],
        vec!["export", &session],
    ] {
        let ran = bench.run(args.iter().copied());
        assert!(
            !ran.text().contains(oas::SECRET) && !ran.stderr.contains(oas::SECRET),
            "{args:?}"
        );
    }
    let exported = bench.run(["export", &session]).ends(0).says("--no-redact");
    let bytes = disk::read(&planted.path);
    let (header, rows) = bytes.split_at(bytes.iter().position(|b| *b == b'\n').unwrap());
    assert!(
        exported.stdout.ends_with(rows),
        "all but the header is exact"
    );
    assert_ne!(exported.stdout.len(), bytes.len());
    assert!(String::from_utf8_lossy(&exported.stdout).contains("[redacted]"));
    let exact = bench.run(["export", &session, "--no-redact"]).ends(0);
    assert!(exact.stdout == bytes && exact.stdout.starts_with(header));
    let fork = bench
        .run(["fork", &session])
        .ends(0)
        .says("not copied into the fork")
        .text()
        .trim()
        .to_owned();
    let copy = bench.run(["export", &fork, "--no-redact"]).ends(0);
    assert!(!copy.text().contains(oas::SECRET));
}

#[test]
fn a_session_of_ours_is_paused_when_nothing_happened_for_an_hour() {
    let bench = Bench::new();
    let old = bench
        .run(["new", "--title", "old"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let new = bench
        .run(["new", "--title", "new"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let path = row(&bench, &old)["path"].as_str().unwrap().to_owned();
    let text = String::from_utf8(disk::read(std::path::Path::new(&path))).unwrap();
    let year = text.find("\"timestamp\":\"20").unwrap() + 13;
    let now = &text[year..year + 10];
    disk::write(
        std::path::Path::new(&path),
        text.replace(now, "2026-01-01").as_bytes(),
    );
    assert_eq!(
        (&row(&bench, &old)["status"], &row(&bench, &new)["status"]),
        (&json!("paused"), &json!("active"))
    );
    bench.run(["close", &old]).ends(0);
    assert_eq!(
        row(&bench, &old)["status"],
        "completed",
        "what was ended is not paused"
    );
}
