//! Invariants of every generated transcript.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::*;
use crate::{corpus, disk, jsonl};

const CWD: &str = "/home/dev/proj/demo";

fn parsed(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    jsonl::parse(text.replace("\\ud83d", "?").as_bytes())
}

fn chain(lines: &[Value]) -> Vec<&Value> {
    lines
        .iter()
        .filter(|line| line["uuid"].is_string())
        .collect()
}

#[test]
fn every_line_of_every_file_is_json() {
    for &shape in ClaudeShape::ALL {
        let made = file(shape, CWD, 5);
        assert!(
            made.main.starts_with("projects/-home-dev-proj-demo/"),
            "{}",
            made.main
        );
        for spec in made
            .files
            .list
            .iter()
            .filter(|spec| spec.path.ends_with(".jsonl"))
        {
            assert!(!parsed(&spec.bytes).is_empty(), "{shape:?} {}", spec.path);
        }
    }
}

#[test]
fn chain_lines_begin_with_their_parent_and_metadata_with_its_type() {
    for &shape in ClaudeShape::ALL {
        for line in jsonl::lines(file(shape, CWD, 5).bytes()) {
            let begins = line.starts_with(b"{\"parentUuid\"") || line.starts_with(b"{\"type\"");
            assert!(begins, "{shape:?} {}", String::from_utf8_lossy(&line[..60]));
        }
    }
}

#[test]
fn parents_are_found_and_ids_do_not_repeat() {
    for &shape in ClaudeShape::ALL {
        for spec in file(shape, CWD, 5)
            .files
            .list
            .iter()
            .filter(|spec| spec.path.ends_with(".jsonl"))
        {
            let lines = parsed(&spec.bytes);
            let chain = chain(&lines);
            let ids: HashSet<&str> = chain
                .iter()
                .map(|line| line["uuid"].as_str().unwrap())
                .collect();
            assert_eq!(ids.len(), chain.len(), "{shape:?}");
            for line in chain {
                let parent = line["parentUuid"].as_str();
                assert!(
                    parent.is_none_or(|parent| ids.contains(parent)),
                    "{shape:?}"
                );
            }
        }
    }
}

#[test]
fn a_result_is_a_child_of_the_line_that_holds_its_call() {
    let made = file(ClaudeShape::ToolUse, CWD, 6);
    let lines = parsed(made.bytes());
    let by_id: HashMap<&str, &Value> = chain(&lines)
        .into_iter()
        .map(|l| (l["uuid"].as_str().unwrap(), l))
        .collect();
    let results: Vec<_> = lines
        .iter()
        .filter(|l| l["message"]["content"][0]["type"] == "tool_result")
        .collect();
    assert_eq!(results.len(), 3);
    for result in results {
        let caller = by_id[result["parentUuid"].as_str().unwrap()];
        assert_eq!(
            caller["message"]["content"][0]["id"],
            result["message"]["content"][0]["tool_use_id"]
        );
        assert_eq!(result["sourceToolAssistantUUID"], result["parentUuid"]);
    }
}

#[test]
fn a_compaction_names_its_last_line_its_summary_and_what_it_preserves() {
    let lines = parsed(file(ClaudeShape::Compacted, CWD, 7).bytes());
    let at = lines
        .iter()
        .position(|line| line["subtype"] == "compact_boundary")
        .unwrap();
    let boundary = &lines[at];
    assert!(boundary["parentUuid"].is_null());
    let ids: HashSet<&str> = lines[..at]
        .iter()
        .filter_map(|line| line["uuid"].as_str())
        .collect();
    assert!(ids.contains(boundary["logicalParentUuid"].as_str().unwrap()));
    let preserved = &boundary["compactMetadata"]["preservedMessages"];
    assert!(ids.contains(preserved["uuids"][0].as_str().unwrap()));
    assert_eq!(lines[at + 1]["uuid"], preserved["anchorUuid"]);
    assert_eq!(lines[at + 1]["isCompactSummary"], true);
    assert!(lines.len() > at + 5);
}

#[test]
fn an_explicit_leaf_is_the_last_statement_and_lies_on_the_older_branch() {
    let lines = parsed(file(ClaudeShape::ExplicitLeaf, CWD, 8).bytes());
    let stated = lines
        .iter()
        .rposition(|line| line["explicit"] == true)
        .unwrap();
    let leaf = &lines[stated]["leafUuid"];
    let last = lines[..stated]
        .iter()
        .rfind(|line| line["uuid"].is_string())
        .unwrap();
    assert_ne!(last["uuid"], *leaf);
    assert!(lines[stated..].iter().all(|line| line["uuid"].is_null()));
}

#[test]
fn backups_and_subagents_lie_where_the_lines_say() {
    let made = file(ClaudeShape::Checkpointed, CWD, 9);
    let deltas: Vec<_> = parsed(made.bytes())
        .into_iter()
        .filter(|l| l["type"] == "file-history-delta")
        .collect();
    assert_eq!(deltas.len(), 2);
    for delta in deltas {
        let name = delta["backup"]["backupFileName"].as_str().unwrap();
        assert!(
            made.files
                .get(&format!("file-history/{}/{name}", made.id))
                .is_some()
        );
    }
    let made = file(ClaudeShape::Subagents, CWD, 9);
    let logs: Vec<_> = made
        .files
        .list
        .iter()
        .filter(|f| f.path.contains("/subagents/"))
        .collect();
    assert_eq!(logs.len(), 4);
    let first = parsed(&logs[0].bytes);
    assert!(
        first
            .iter()
            .filter(|l| l["uuid"].is_string())
            .all(|l| l["isSidechain"] == true)
    );
    assert_eq!(first[0]["sessionId"], made.id.as_str());
    let side = file(ClaudeShape::V2_0_76, CWD, 9);
    assert!(
        side.files
            .list
            .iter()
            .any(|f| f.path.starts_with("projects/-home-dev-proj-demo/agent-"))
    );
}

#[test]
fn a_fork_repeats_the_uuids_under_another_session() {
    let source = file(ClaudeShape::Branched, CWD, 10);
    let fork = fork_of(&source, 1);
    assert_ne!(fork.id, source.id);
    let ids = |made: &crate::Made| -> Vec<Value> {
        chain(&parsed(made.bytes()))
            .iter()
            .map(|l| l["uuid"].clone())
            .collect()
    };
    assert_eq!(ids(&fork), ids(&source));
    assert!(!String::from_utf8_lossy(fork.bytes()).contains(&source.id));
}

#[test]
fn a_seed_gives_the_same_files_again_and_another_seed_others() {
    for &shape in ClaudeShape::ALL {
        assert_eq!(file(shape, CWD, 5).files, file(shape, CWD, 5).files);
        assert_ne!(file(shape, CWD, 5).files, file(shape, CWD, 6).files);
    }
    assert_eq!(linked(ClaudeShape::Plain, CWD, "an-id", 1).id, "an-id");
}

#[test]
fn side_files_hold_what_the_client_puts_there() {
    let line: Value = serde_json::from_str(&history_line("你好", 5, CWD, "s")).unwrap();
    assert_eq!(line["display"], "你好");
    let live = live_registry(4_242, "s", CWD, 5);
    let entry: Value = serde_json::from_slice(live.get("sessions/4242.json").unwrap()).unwrap();
    assert_eq!(entry["sessionId"], "s");
    assert_eq!(memory(CWD).list.len(), 3);
}

#[test]
fn lines_have_no_field_that_the_real_client_does_not_write() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    // Prompts, results, answers and the rest of one type differ, so they are distinguished.
    let kind = |line: &Value| -> String {
        let of = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let result = line["message"]["content"][0]["type"] == "tool_result";
        format!(
            "{} {} {} {result}",
            of("type"),
            of("subtype"),
            line["isCompactSummary"] == true
        )
    };
    let mut known: HashMap<String, HashSet<String>> = HashMap::new();
    for path in corpus::files(&captures)
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
    {
        for line in jsonl::lines(&disk::read(path)) {
            let Ok(Value::Object(map)) = serde_json::from_slice(line) else {
                continue;
            };
            if map.get("version").is_none_or(|version| version == TODAY) {
                let line = Value::Object(map);
                known
                    .entry(kind(&line))
                    .or_default()
                    .extend(line.as_object().unwrap().keys().cloned());
            }
        }
    }
    let mut checked = 0;
    for shape in [
        ClaudeShape::Plain,
        ClaudeShape::ToolUse,
        ClaudeShape::Compacted,
        ClaudeShape::Checkpointed,
        ClaudeShape::Subagents,
        ClaudeShape::BigOutput,
    ] {
        for spec in file(shape, CWD, 5)
            .files
            .list
            .iter()
            .filter(|spec| spec.path.ends_with(".jsonl"))
        {
            for line in parsed(&spec.bytes) {
                let real = known
                    .get(&kind(&line))
                    .unwrap_or_else(|| panic!("no such line: {}", kind(&line)));
                for key in line.as_object().unwrap().keys() {
                    assert!(real.contains(key), "{shape:?}: {key} in {}", kind(&line));
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1_000);
}
