//! A tip that hides a conversation: the current branch has less than another one.

use boswell_testkit::disk;
use serde_json::{Value, json};

use crate::bench::Bench;

const SESSION: &str = "5b539e53-47c8-4996-bc4e-3896a787c8ab";

fn line(number: usize, parent: Option<usize>, word: &str, content: Value) -> String {
    let uuid = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
    let line = json!({
        "parentUuid": parent.map(uuid), "isSidechain": false, "type": word, "uuid": uuid(number),
        "timestamp": format!("2025-07-22T23:00:{number:02}.000Z"), "sessionId": SESSION,
        "version": "1.0.57", "isMeta": number == 0,
        "message": {"role": word, "id": format!("m{number}"), "content": content},
    });
    format!("{line}\n")
}

/// A conversation of ten turns, and a `/export` below its first line, as Claude Code 1.0 wrote it.
fn exported() -> String {
    let mut log = line(
        0,
        None,
        "user",
        json!("Caveat: the messages below are of local commands"),
    );
    for number in 1..=20 {
        log += &match number % 2 {
            1 => line(
                number,
                Some(number - 1),
                "user",
                json!(format!("question {number}")),
            ),
            _ => line(
                number,
                Some(number - 1),
                "assistant",
                json!([{"type": "text", "text": format!("answer {number}")}]),
            ),
        };
    }
    let command = "<command-name>/export</command-name>\n<command-message>export</command-message>";
    log += &line(21, Some(0), "user", json!(command));
    log += &line(
        22,
        Some(21),
        "user",
        json!("<local-command-stdout>Conversation exported</local-command-stdout>"),
    );
    log
}

#[test]
fn show_says_that_another_branch_has_more_and_how_to_read_it() {
    let bench = Bench::new();
    let path = bench.plant(&format!("{SESSION}.jsonl"), exported().as_bytes());
    let path = path.to_str().unwrap();
    let shown = bench.run(["show", path]).ends(0);
    assert!(!shown.text().contains("answer 2"), "{shown:?}");
    let leaf = "00000000-0000-4000-8000-000000000020";
    assert!(
        shown
            .stderr
            .contains("the current branch has 2 of 22 messages; another one has 20")
            && shown.stderr.contains(&format!("--leaf {leaf}")),
        "{shown:?}"
    );
    let other = bench.run(["show", path, "--leaf", leaf]).ends(0);
    let text = other.text();
    assert!(
        text.contains("question 1") && text.contains("answer 20"),
        "{text}"
    );
    assert!(other.stderr.is_empty(), "{other:?}");
}

#[test]
fn context_says_it_too_and_check_reports_the_lost_conversation() {
    let bench = Bench::new();
    let path = bench.plant(&format!("{SESSION}.jsonl"), exported().as_bytes());
    let path = path.to_str().unwrap();
    let context = bench.run(["context", path]).ends(0);
    assert!(context.stderr.contains("another one has 20"), "{context:?}");
    let found = bench
        .run(["check", path, "--json"])
        .ends(1)
        .of_type("damage");
    let lost = found.iter().find(|it| it["problem"] == "lost_branch");
    assert!(
        lost.is_some_and(|it| it["detail"].as_str().unwrap().contains("20 messages")),
        "{found:?}"
    );
    assert_eq!(disk::read(path.as_ref()), exported().as_bytes());
}

#[test]
fn a_session_that_was_rewound_to_the_start_says_which_branch_is_longer() {
    let bench = Bench::new();
    let log = exported().replace("<command-name>/export</command-name>", "a new question");
    let path = bench.plant(&format!("{SESSION}.jsonl"), log.as_bytes());
    let path = path.to_str().unwrap();
    let shown = bench.run(["show", path]).ends(0);
    assert!(shown.stderr.contains("another one has 20"), "{shown:?}");
    // The user asked again, so nothing is lost.
    bench.run(["check", path]).ends(0);
}
