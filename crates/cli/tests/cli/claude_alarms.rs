//! `check` ends with 1 if, and only if, a known reader of a Claude Code file loses or refuses
//! something, and names it. What real versions send of such files is recorded: see
//! `crates/testkit/verdicts`.

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::Bench;

const SESSION: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn line(word: &str, uuid: &str, parent: Option<&str>, second: usize, rest: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{word}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:{second:02}.000Z","version":"2.1.50","cwd":"/w","sessionId":"{SESSION}",{rest}}}"#
    )
}

fn user(uuid: &str, parent: Option<&str>, second: usize, text: &str) -> String {
    let rest = format!(r#""message":{{"role":"user","content":"{text}"}}"#);
    line("user", uuid, parent, second, &rest)
}

fn answer(uuid: &str, parent: &str, second: usize, content: &str) -> String {
    let rest = format!(
        r#""message":{{"id":"m-{uuid}","role":"assistant","model":"claude-sonnet-4-5","content":[{content}]}}"#
    );
    line("assistant", uuid, Some(parent), second, &rest)
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}"#)
}

fn result(uuid: &str, parent: &str, second: usize, call: &str) -> String {
    let rest = format!(
        r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"out"}}]}}"#
    );
    line("user", uuid, Some(parent), second, &rest)
}

/// Three turns, the second with a call.
fn sound() -> Vec<String> {
    vec![
        user("u1", None, 1, "ONE"),
        answer("a1", "u1", 2, &text("one done")),
        user("u2", Some("a1"), 3, "TWO"),
        answer("a2", "u2", 4, &call("t1")),
        result("r1", "a2", 5, "t1"),
        answer("a3", "r1", 6, &text("two done")),
        user("u3", Some("a3"), 7, "THREE"),
        answer("a4", "u3", 8, &text("three done")),
    ]
}

/// Checks a file with these lines. Returns the findings: kind, severity, and readers.
fn checked(lines: &[String], code: i32) -> Vec<(String, String, Vec<String>)> {
    found_in(&format!("{SESSION}.jsonl"), lines, code)
        .iter()
        .map(|it| {
            let word = |key: &str| it[key].as_str().unwrap().to_owned();
            let hurts = it["hurts"].as_array().unwrap().iter();
            let hurts = hurts.map(|name| name.as_str().unwrap().to_owned());
            (word("problem"), word("severity"), hurts.collect())
        })
        .collect()
}

fn found_in(name: &str, lines: &[String], code: i32) -> Vec<Value> {
    let bench = Bench::new();
    let path = bench.home().join(".claude/projects/-w").join(name);
    disk::write(&path, (lines.join("\n") + "\n").as_bytes());
    let ran = bench.run(["check", path.to_str().unwrap(), "--json"]);
    ran.ends(code).of_type("damage")
}

fn kinds(found: &[(String, String, Vec<String>)]) -> Vec<&str> {
    found.iter().map(|(kind, ..)| kind.as_str()).collect()
}

fn changed(change: impl Fn(String) -> String) -> Vec<String> {
    sound().into_iter().map(change).collect()
}

#[test]
fn a_sound_session_has_no_findings() {
    assert_eq!(checked(&sound(), 0), []);
}

#[test]
fn blank_text_blocks_are_information() {
    let mut lines = sound();
    lines[3] = answer("a2", "u2", 4, &format!("{},{}", text("\\n\\n"), call("t1")));
    let found = checked(&lines, 0);
    assert_eq!(kinds(&found), ["refused_block"]);
    assert_eq!((found[0].1.as_str(), found[0].2.len()), ("info", 0));
}

#[test]
fn a_subagent_log_whose_parent_is_in_the_owning_session_is_information() {
    let lines: Vec<String> = sound()
        .into_iter()
        .map(|line| {
            let line = line.replace("\"isSidechain\":false", "\"isSidechain\":true");
            line.replace("\"parentUuid\":null", "\"parentUuid\":\"in-the-owner\"")
        })
        .collect();
    let name = format!("{SESSION}/subagents/agent-a1.jsonl");
    let found = found_in(&name, &lines, 0);
    let told: Vec<_> = found
        .iter()
        .map(|it| (&it["problem"], &it["severity"]))
        .collect();
    assert_eq!(told, [(&"missing_parent".into(), &"info".into())]);
}

#[test]
fn api_request_blobs_that_repeat_calls_are_not_reported() {
    let mut lines = sound();
    let message = format!(
        r#"{{"type":"api-request-blob","hash":"x","message":{{"role":"assistant","content":[{}]}}}}"#,
        call("t1")
    );
    lines.push(message);
    assert_eq!(checked(&lines, 0), []);
}

#[test]
fn a_compact_boundary_without_a_logical_parent_loses_nothing() {
    let mut lines = sound();
    let boundary = r#""subtype":"compact_boundary","compactMetadata":{"trigger":"manual"}"#;
    lines.push(line("system", "b1", None, 9, boundary));
    lines.push(user("k1", Some("b1"), 10, "SUMMARY"));
    assert_eq!(checked(&lines, 0), []);
}

#[test]
fn exit_stubs_and_what_precedes_clear_are_not_lost() {
    let mut exited = sound();
    let exit = "<command-name>/exit</command-name>";
    exited.push(user("x1", Some("a4"), 9, exit));
    exited.push(user("u4", Some("a4"), 10, "FOUR"));
    exited.push(answer("a5", "u4", 11, &text("four done")));
    assert_eq!(checked(&exited, 0), []);
    let mut cleared = sound();
    let hook = r#""attachment":{"type":"hook_success"}"#;
    cleared.push(line("attachment", "h1", None, 9, hook));
    cleared.push(user("u4", Some("h1"), 10, "AFTER CLEAR"));
    assert_eq!(checked(&cleared, 0), []);
}

#[test]
fn a_uuid_collision_that_no_client_minds_is_information() {
    // The client wrote a line again, with another version in it.
    let mut lines = sound();
    lines.push(lines[7].replace("2.1.50", "2.1.45"));
    let found = checked(&lines, 0);
    assert_eq!(kinds(&found), ["duplicate_id"]);
    assert_eq!(found[0].1, "info");
    // Another message with the same id hides the first one.
    let mut hidden = sound();
    hidden.push(user("u1", Some("a4"), 9, "FOUR"));
    let found = checked(&hidden, 1);
    assert!(kinds(&found).contains(&"duplicate_id"), "{found:?}");
    assert!(
        found
            .iter()
            .any(|(_, _, hurts)| hurts.contains(&"2.1.325".to_owned()))
    );
}

#[test]
fn a_line_of_garbage_costs_nobody_anything() {
    let mut lines = sound();
    lines.insert(3, "this is not JSON".to_owned());
    let found = checked(&lines, 0);
    assert_eq!(kinds(&found), ["not_json"]);
    assert_eq!(found[0].1, "info");
}

#[test]
fn records_without_timestamps_are_lost_to_new_versions() {
    let found = checked(
        &changed(|line| line.replace("\"timestamp\"", "\"time\"")),
        1,
    );
    let unsent = found.iter().find(|(kind, ..)| kind == "unsent").unwrap();
    assert!(unsent.2.contains(&"2.1.150".to_owned()), "{found:?}");
    assert!(unsent.2.contains(&"2.1.325".to_owned()), "{found:?}");
}

#[test]
fn records_without_uuids_are_lost() {
    let found = checked(&changed(|line| line.replace("\"uuid\"", "\"id\"")), 1);
    let hurt: Vec<&String> = found.iter().flat_map(|(_, _, hurts)| hurts).collect();
    for version in ["2.1.50", "2.1.150", "2.1.325"] {
        assert!(hurt.iter().any(|name| *name == version), "{found:?}");
    }
}

#[test]
fn all_parents_null_or_missing_lose_all_but_the_last_message() {
    let without = |line: String| {
        let (_, rest) = line.split_once(",\"isSidechain\"").unwrap();
        format!("{{\"isSidechain\"{rest}")
    };
    let null = |line: String| without(line).replacen('{', "{\"parentUuid\":null,", 1);
    for lines in [changed(null), changed(without)] {
        for end in [lines.len(), lines.len() - 1] {
            let found = checked(&lines[..end], 1);
            let hurt: Vec<&String> = found.iter().flat_map(|(_, _, hurts)| hurts).collect();
            for version in ["2.1.50", "2.1.150", "2.1.325"] {
                assert!(hurt.iter().any(|name| *name == version), "{end}: {found:?}");
            }
        }
    }
}

#[test]
fn reversed_and_shuffled_order_loses_what_follows_the_last_line() {
    let mut reversed = sound();
    reversed.reverse();
    let mut shuffled = sound();
    shuffled.swap(1, 3);
    shuffled.swap(2, 7);
    for lines in [reversed, shuffled] {
        // Other versions follow the links, which are whole.
        let found = checked(&lines, 1);
        assert_eq!(kinds(&found), ["unsent"]);
        assert_eq!(found[0].2, ["2.1.150"]);
    }
}

#[test]
fn a_null_line_is_reported_for_each_version_and_other_lines_that_are_no_objects_are_not() {
    let with = |odd: &str, code| {
        let mut lines = sound();
        lines.insert(4, odd.to_owned());
        checked(&lines, code)
    };
    let found = with("null", 1);
    let unsent = found.iter().find(|(kind, ..)| kind == "unsent").unwrap();
    assert_eq!(unsent.2, ["2.1.50", "2.1.150"], "{found:?}");
    for odd in ["[]", "7", "\"text\"", "{}"] {
        let found = with(odd, 0);
        assert!(
            found.iter().all(|(_, severity, _)| severity == "info"),
            "{odd}"
        );
    }
}
