//! A row of a front program and the transcript that it names: how one is found from the other, and
//! how they diverge.

use boswell_testkit::disk;
use boswell_testkit::make::{claude, clinvoker};
use serde_json::{Value, json};

use super::row;
use crate::bench::Bench;

/// Creates a clinvoker session whose document and transcript match; returns both refs.
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
        .run(["show", &front, "--agent", "clinvoker", "--json"])
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
        .run(["delete", "--apply", &front])
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
