//! Every message counts once in the totals (dedupe).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use boswell_find::{By, Catalog, Prices, WantedRows};
use boswell_store::store::Stores;
use boswell_testkit::disk;
use serde_json::Value;

use super::{Lab, append, later};

/// Returns the output tokens of all distinct messages, by reading all lines.
fn brute_force(logs: &[PathBuf]) -> u64 {
    let mut unique: HashMap<(String, String), u64> = HashMap::new();
    for log in logs {
        for line in String::from_utf8_lossy(&disk::read(log)).lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let Some(output) = record["message"]["usage"]["output_tokens"].as_u64() else {
                continue;
            };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let counted = unique
                .entry((text(&record["message"]["id"]), text(&record["requestId"])))
                .or_default();
            *counted = output.max(*counted);
        }
    }
    unique.values().sum()
}

#[test]
fn every_message_counts_once_in_forks_subagents_copies_and_repeated_lines() {
    let lab = Lab::new(10);
    let logs = lab.logs();
    let honest = brute_force(&logs);
    assert!(honest > 0);
    let fork_id = "0f0e0d0c-0b0a-4908-8706-050403020100";
    for (number, log) in logs.iter().take(3).enumerate() {
        let bytes = String::from_utf8_lossy(&disk::read(log)).into_owned();
        let id = log.file_stem().unwrap().to_str().unwrap();
        // A fork under another id, a copy in another project, a subagent that repeats lines of its
        // parent session.
        let fork = bytes.replace(id, &fork_id.replace("0f0e", &format!("{number}f0e")));
        disk::write(
            &log.with_file_name(format!(
                "{}.jsonl",
                fork_id.replace("0f0e", &format!("{number}f0e"))
            )),
            fork.as_bytes(),
        );
        disk::write(
            &lab.folder
                .path()
                .join(format!(".claude/projects/-elsewhere/{id}.jsonl")),
            bytes.as_bytes(),
        );
        let agent = log.with_extension("").join("subagents/agent-a1.jsonl");
        disk::write(&agent, bytes.as_bytes());
        append(log, &bytes);
    }
    assert_eq!(brute_force(&lab.logs()), honest);
    let mut catalog = lab.catalog();
    let entries = lab.look(&mut catalog);
    for by in [By::Total, By::Day, By::Project, By::Agent, By::Model] {
        let sums = catalog
            .tally(&lab.stores, &entries, by, &|_| true)
            .unwrap()
            .sums(&Prices::default());
        let output: u64 = sums.values().filter_map(|sum| sum.usage.output).sum();
        assert_eq!(output, honest, "{by:?}");
    }
}

fn pi_header(id: &str, day: u32) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-{day:02}T00:00:00.000Z\",\"cwd\":\"/p\"}}\n"
    )
}

fn pi_answer(id: &str, second: u32, output: u64) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:{second:02}.000Z\",\"message\":{{\"role\":\"assistant\",\"content\":[],\"provider\":\"x\",\"model\":\"m\",\"usage\":{{\"input\":1,\"output\":{output}}}}}}}\n"
    )
}

fn pi_task(id: &str, output: u64) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:30.000Z\",\"message\":{{\"role\":\"toolResult\",\"toolName\":\"task\",\"content\":[],\"details\":{{\"usage\":{{\"output\":{output}}}}}}}}}\n"
    )
}

fn pi_output(folder: &Path, dialect: &str) -> u64 {
    let mut stores = Stores::default();
    stores.add(dialect, folder).unwrap();
    let mut catalog = Catalog::in_memory().unwrap();
    let mut entries = catalog.refresh(&stores, later(60)).unwrap().entries;
    catalog
        .fill(&stores, &mut entries, WantedRows::Whole, 2, &|| true)
        .unwrap();
    let tally = catalog
        .tally(&stores, &entries, By::Total, &|_| true)
        .unwrap();
    tally
        .sums(&Prices::default())
        .values()
        .filter_map(|sum| sum.usage.output)
        .sum()
}

#[test]
fn forks_of_the_pi_family_count_once_and_short_ids_of_others_apart() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| {
        folder.path().join(format!(
            "sessions/--p--/2026-01-01T00-00-00-000Z_{name}.jsonl"
        ))
    };
    let first = [
        pi_header("one", 1),
        pi_answer("a1", 1, 7),
        pi_answer("a2", 2, 5),
    ]
    .concat();
    disk::write(&log("one"), first.as_bytes());
    let fork = [
        pi_header("two", 2),
        pi_answer("a1", 1, 7),
        pi_answer("b1", 3, 100),
    ]
    .concat();
    disk::write(&log("two"), fork.as_bytes());
    // The same short id with another time: another message.
    disk::write(
        &log("three"),
        [pi_header("three", 3), pi_answer("a1", 9, 1000)]
            .concat()
            .as_bytes(),
    );
    assert_eq!(pi_output(folder.path(), "pi"), 7 + 5 + 100 + 1000);
}

#[test]
fn what_a_session_repeats_of_its_subagents_counts_only_without_their_transcripts() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder
        .path()
        .join("sessions/--p--/2026-01-01T00-00-00-000Z_one.jsonl");
    disk::write(
        &log,
        [
            pi_header("one", 1),
            pi_answer("a1", 1, 7),
            pi_task("t1", 50),
        ]
        .concat()
        .as_bytes(),
    );
    assert_eq!(pi_output(folder.path(), "omp"), 57);
    let transcript = log.with_extension("").join("0-Task.jsonl");
    disk::write(
        &transcript,
        [pi_header("sub", 1), pi_answer("s1", 20, 48)]
            .concat()
            .as_bytes(),
    );
    assert_eq!(pi_output(folder.path(), "omp"), 55);
}
