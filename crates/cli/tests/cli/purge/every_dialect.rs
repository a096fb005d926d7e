//! A purged session of every dialect leaves no byte anywhere.

use boswell_testkit::disk;
use boswell_testkit::make::{clinvoker, myagents, oas};
use serde_json::{Value, json};

use super::{Case, ID, OTHER, case, claude};
use crate::bench::Bench;
use crate::pi_lab::{answer, header, user};

fn pi_like(dialect: &str) -> Case {
    let bench = Bench::new();
    let log =
        |id: &str, said: &[String]| format!("{}\n{}\n", header(id, "/w", ""), said.join("\n"));
    let said = [
        user("u1", "", "zebuprompt"),
        answer("a1", "u1", "yakanswer"),
    ];
    let side_files = "2026-02-16T10-20-30-000Z_0b7e";
    for (key, text) in [
        (format!("--w--/{side_files}.jsonl"), log("0b7e", &said)),
        (
            format!("--w--/{side_files}/1.bash.log"),
            "vicunaoutput".to_owned(),
        ),
        (
            format!("--w--/{side_files}/numbatname.md"),
            "uakarifile".to_owned(),
        ),
        (
            format!("--w--/{side_files}/0-Explore.jsonl"),
            log("sub", &[user("u1", "", "walrusagent")]),
        ),
        (
            "--w--/2026-02-16T10-20-31-000Z_0c00.jsonl".to_owned(),
            log(
                "0c00",
                &[user("u1", "", "other"), answer("a1", "u1", "stays")],
            ),
        ),
    ] {
        bench.plant(&format!(".{dialect}/agent/sessions/{key}"), text.as_bytes());
    }
    let other = Some(format!("{dialect}:0c00"));
    Case {
        entry: Some("u1"),
        ..case(
            bench,
            &format!(".{dialect}/agent"),
            &format!("{dialect}:0b7e"),
            other,
        )
    }
}

#[test]
fn a_purged_claude_session_leaves_no_byte_anywhere() {
    let case = claude();
    case.leaves_nothing();
    let index: Value = serde_json::from_slice(&disk::read(
        &case.root.join("projects/-w/sessions-index.json"),
    ))
    .unwrap();
    assert_eq!(index["entries"].as_array().unwrap().len(), 1, "{index}");
    let history = String::from_utf8(disk::read(&case.root.join("history.jsonl"))).unwrap();
    assert!(
        history.contains("stays") && history.lines().count() == 1,
        "{history}"
    );
}

#[test]
fn a_purged_session_of_the_pi_family_leaves_no_byte_anywhere() {
    for dialect in ["pi", "omp", "xcsh"] {
        pi_like(dialect).leaves_nothing();
    }
}

#[test]
fn a_purged_session_of_boswells_own_leaves_no_byte_anywhere() {
    let bench = Bench::new();
    let session = bench
        .run(["new", "--project", "/w", "--title", "xerustitle"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let other = bench
        .run(["new", "--project", "/w"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    // Long enough to become a blob.
    let long = format!("zebuprompt {}", "w".repeat(100_000));
    bench.run(["append", &session, "--user", &long]).ends(0);
    bench
        .run(["append", &session, "--assistant", "yakanswer"])
        .ends(0);
    case(bench, "nowhere", &session, Some(other)).leaves_nothing();
}

#[test]
fn a_purged_session_of_a_store_with_an_index_leaves_no_byte_anywhere() {
    for (dialect, batch, root) in [
        (
            "myagents",
            myagents::store(myagents::MyAgentsShape::E3, 5),
            ".myagents",
        ),
        (
            "clinvoker",
            clinvoker::store(clinvoker::ClinvokerIndexState::Right, 5),
            ".clinvk",
        ),
        (
            "oas",
            oas::store(oas::OasIndexState::Right, "/proj/demo", 5),
            ".open-agent",
        ),
    ] {
        let bench = Bench::new();
        batch.write_to(&bench.home().join(root));
        let reference = |at: usize| format!("{dialect}:{}", batch.sessions[at].id);
        let case = case(bench, root, &reference(0), Some(reference(1)));
        let before = case
            .run(&["rename", &reference(1), "an older title"])
            .ends(0);
        drop(before);
        case.leaves_nothing();
    }
}

#[test]
fn a_purged_codex_session_leaves_no_byte_anywhere() {
    let bench = Bench::new();
    let rollout = |id: &str, text: &str| {
        format!(
            "{}\n{}\n{}\n",
            json!({"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":id,"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.46.0"}}),
            json!({"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":text}]}}),
            json!({"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yakanswer".repeat(usize::from(id == ID))}]}}),
        )
    };
    for (key, text) in [
        (
            format!("sessions/2026/01/01/rollout-2026-01-01T00-00-00-{ID}.jsonl"),
            rollout(ID, "zebuprompt"),
        ),
        (
            format!("sessions/2026/01/01/rollout-2026-01-01T00-00-01-{OTHER}.jsonl"),
            rollout(OTHER, "other"),
        ),
        (
            "session_index.jsonl".to_owned(),
            format!(
                "{{\"id\":\"{OTHER}\",\"thread_name\":\"o\"}}\n{{\"id\":\"{ID}\",\"thread_name\":\"xerustitle\"}}\n"
            ),
        ),
        (
            "history.jsonl".to_owned(),
            format!(
                "{{\"session_id\":\"{ID}\",\"ts\":1767225600,\"text\":\"pandahistory\"}}\n{{\"session_id\":\"{OTHER}\",\"ts\":1767225601,\"text\":\"stays\"}}\n"
            ),
        ),
    ] {
        bench.plant(&format!(".codex/{key}"), text.as_bytes());
    }
    case(
        bench,
        ".codex",
        &format!("codex:{ID}"),
        Some(format!("codex:{OTHER}")),
    )
    .leaves_nothing();
}
