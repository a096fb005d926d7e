//! Compares `context` with what the real Codex sends when it resumes the same session.

use serde_json::Value;

use crate::codex_desk::{CodexDesk, assert_same};

/// A prompt whose answer is a call of Codex's own tool.
const TOOL: &str = "run it SCRIPT=[[{\"think\":\"先想\"},{\"tool\":\"exec_command\",\"input\":{\"cmd\":\"echo 你好\"}}],[{\"text\":\"done\"}]]";

#[track_caller]
fn sends_the_context(desk: &CodexDesk, id: &str, probe: &str) {
    let context = desk.context(id);
    let sent = desk.resumed(id, probe);
    assert!(sent.len() > 3, "{}", sent.len());
    // Of the instructions in the header, Codex sends only the sections about tools that are on.
    for first in [&context[0], &sent[0]] {
        assert!(first.contains("You are a coding agent"), "{first:.200}");
    }
    assert_same(&context[1..], &sent[1..]);
}

#[test]
fn codex_sends_the_context_of_threads_forks_and_compacted_threads() {
    let Some(desk) = CodexDesk::new() else { return };
    let id = desk.begin(TOOL);
    sends_the_context(&desk, &id, "PROBE of the thread");
    let fork = desk.fork(&id, "in the fork");
    sends_the_context(&desk, &fork, "PROBE of the fork");
    let again = desk.fork(&fork, "in the fork of the fork");
    sends_the_context(&desk, &again, "PROBE of the second fork");
    desk.go_on(&id, TOOL, &["-c", "model_auto_compact_token_limit=900"]);
    let log = String::from_utf8(boswell_testkit::disk::read(&desk.log(&id))).unwrap();
    assert!(
        log.contains("\"type\":\"compacted\""),
        "nothing was compacted"
    );
    sends_the_context(&desk, &id, "PROBE after the compaction");
    counts_as_codex(&desk, &id);
    let fork = desk.fork(&id, "in the fork of a compacted thread");
    sends_the_context(&desk, &fork, "PROBE of the last fork");
}

/// Codex states what a thread cost with every response; cached tokens are part of those sent.
#[track_caller]
fn counts_as_codex(desk: &CodexDesk, id: &str) {
    let log = String::from_utf8(boswell_testkit::disk::read(&desk.log(id))).unwrap();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut records: Vec<Value> = lines
        .filter(|line| line["type"] == "token_usage_record")
        .collect();
    let total = records.pop().unwrap()["payload"]["thread_token_usage"].clone();
    let stats = desk.run(&["stats", &format!("codex:{id}"), "--json", "-q"]);
    let tokens = stats.lines().remove(0)["tokens"].clone();
    let number = |value: &Value| value.as_u64().unwrap();
    let cached = number(&total["cached_input_tokens"]);
    assert_eq!(
        number(&tokens["input"]),
        number(&total["input_tokens"]) - cached
    );
    assert_eq!(number(&tokens["cache_read"]), cached);
    assert_eq!(number(&tokens["output"]), number(&total["output_tokens"]));
}
