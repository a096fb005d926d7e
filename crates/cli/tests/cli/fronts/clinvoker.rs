//! Commands on clinvoker stores.

use boswell_testkit::make::clinvoker;
use boswell_testkit::{Batch, disk};
use serde_json::{Value, json};

use super::{listed, row};
use crate::bench::Bench;

fn clinvoker_bench(state: clinvoker::ClinvokerIndexState) -> (Bench, Batch) {
    let bench = Bench::new();
    let batch = clinvoker::store(state, 5);
    batch.write_to(&bench.home().join(".clinvk"));
    (bench, batch)
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
        bench.run(["delete", &session]).ends(2);
        bench
            .run(["delete", "--apply", &session])
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
    bench.run(["delete", "--apply", "clinvoker:index"]).ends(2);
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
        .run(["clean", "--older-than", "30d", "--agent", "clinvoker"])
        .ends(2);
    assert!(
        would.text().contains(&"a".repeat(32)) && would.text().lines().count() == 1,
        "{would:?}"
    );
    bench
        .run([
            "clean",
            "--older-than",
            "30d",
            "--agent",
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
