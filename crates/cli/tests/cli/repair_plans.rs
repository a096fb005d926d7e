//! Plans of repairs say what `--apply` does, on files that once misled.

use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::claude;
use boswell_testkit::{Rng, disk, jsonl};
use serde_json::{Value, json};

use crate::bench::Bench;

fn lines_of(bytes: &[u8]) -> Vec<Value> {
    jsonl::parse(bytes)
}

fn file_of(lines: &[Value]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}

#[test]
fn a_file_outside_all_stores_is_repaired_next_to_itself() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let bytes = damage::apply(Damage::ResultRemoved, made.bytes(), 6, &mut Rng::new(1));
    let path = bench.plant("copy/of.jsonl", &bytes);
    let path = path.to_str().unwrap();
    let plan = bench.run(["repair", path]).ends(2);
    assert!(plan.text().contains("missing_result"), "{plan:?}");
    let done = bench.run(["repair", path, "--apply"]).ends(0);
    let fork = done.text().lines().last().unwrap().to_owned();
    assert!(
        fork.ends_with(".jsonl") && fork.contains("copy/"),
        "{done:?}"
    );
    assert_eq!(disk::read(path.as_ref()), bytes, "the original stays");
    let shown = bench.run(["show", &fork]).ends(0).text();
    assert!(shown.contains("is not in the session's file"), "{shown}");
    let again = bench.run(["repair", path, "--apply"]).ends(0);
    assert!(again.stderr.contains("already repaired as"), "{again:?}");
    bench.run(["undo"]).ends(0);
    bench.run(["show", &fork]).ends(2);
}

#[test]
fn lines_of_a_file_outside_all_stores_are_repaired_in_place() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::Plain, "/home/dev/p", 3);
    let bytes = damage::apply(Damage::GluedRecords, made.bytes(), 11, &mut Rng::new(1));
    let path = bench.plant("copy/of.jsonl", &bytes);
    let path = path.to_str().unwrap();
    bench.run(["repair", path]).ends(2);
    bench.run(["repair", path, "--apply"]).ends(0);
    assert_eq!(disk::read(path.as_ref()), made.bytes());
}

#[test]
fn a_database_is_refused_as_no_session() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let mut bytes = b"SQLite format 3\0\x10\0\x01\x01".to_vec();
    for line in made.bytes().split_inclusive(|byte| *byte == b'\n') {
        bytes.extend_from_slice(b"\0\0\x81\x23");
        bytes.extend_from_slice(line);
    }
    let path = bench.plant("state.db", &bytes);
    let path = path.to_str().unwrap();
    for args in [&["repair", path][..], &["repair", path, "--apply"]] {
        let refused = bench.run(args).ends(4);
        assert!(
            refused.stderr.contains("is not a session of a known agent"),
            "{refused:?}"
        );
    }
    assert_eq!(disk::read(path.as_ref()), bytes);
}

#[test]
fn a_log_without_links_is_one_step_that_matters() {
    let bench = Bench::new();
    let mut lines = Vec::new();
    for number in 0..500 {
        let (word, content) = match number % 2 {
            0 => ("user", json!(format!("question {number}"))),
            _ => (
                "assistant",
                json!([{"type": "text", "text": format!("answer {number}")}]),
            ),
        };
        lines.push(json!({
            "parentUuid": null, "isSidechain": false, "type": word,
            "uuid": format!("00000000-0000-4000-8000-{number:012}"),
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", number / 60, number % 60),
            "sessionId": "5b539e53-47c8-4996-bc4e-3896a787c8ab", "version": "2.1.325",
            "message": {"role": word, "id": format!("m{number}"), "content": content},
        }));
    }
    let name = "5b539e53-47c8-4996-bc4e-3896a787c8ab.jsonl";
    let path = bench.plant(name, &file_of(&lines));
    let path = path.to_str().unwrap();
    let plan = bench.run(["repair", path]).ends(0);
    let text = plan.text();
    assert!(
        text.contains("likely") && text.contains("make each of 499 lines follow the one before"),
        "{text}"
    );
    assert!(text.lines().count() < 10, "{text}");
    assert!(plan.stderr.contains("--apply --likely"), "{plan:?}");
    let done = bench.run(["repair", path, "--apply", "--likely"]).ends(0);
    let fork = done.text().lines().last().unwrap().to_owned();
    let after = lines_of(&disk::read(fork.as_ref()));
    let linked = after.iter().filter(|line| line["parentUuid"].is_string());
    assert_eq!(linked.count(), 499);
}

#[test]
fn every_chosen_step_is_applied_also_two_of_one_record() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let mut lines = lines_of(made.bytes());
    let call = lines
        .iter()
        .position(|line| line["message"]["content"][0]["type"] == "tool_use")
        .unwrap();
    lines.remove(call);
    let path = made.write_to(&bench.home().join(".claude"));
    disk::write(&path, &file_of(&lines));
    let path = path.to_str().unwrap();
    let request = ["repair", path, "--for", "2.1.50", "--likely", "--json"];
    let plan = bench.run(request).ends(2).of_type("step");
    let numbers: Vec<String> = plan.iter().map(|step| step["step"].to_string()).collect();
    let mut chosen = vec![
        "repair", path, "--for", "2.1.50", "--likely", "--apply", "--json",
    ];
    for number in &numbers {
        chosen.extend(["--step", number]);
    }
    let done = bench.run(&chosen).ends(0).of_type("step");
    assert!(plan.len() >= 2, "{plan:?}");
    assert_eq!(done.len(), plan.len(), "{plan:?} but {done:?}");
}

#[test]
fn a_plan_names_what_a_version_still_leaves_out_and_why() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::Plain, "/home/dev/p", 3);
    let mut lines = lines_of(made.bytes());
    let at = lines
        .iter()
        .rposition(|line| line["type"] == "assistant")
        .unwrap();
    lines[at]["message"] = Value::Null;
    let path = made.write_to(&bench.home().join(".claude"));
    disk::write(&path, &file_of(&lines));
    let path = path.to_str().unwrap();
    let plan = bench.run(["repair", path, "--json"]).ends(0);
    let unsent = plan.of_type("unsent");
    let fails = unsent.iter().find(|it| it["reason"] == "reader_fails");
    assert_eq!(
        fails.map(|it| &it["readers"]),
        Some(&json!(["2.1.50", "2.1.150"])),
        "{unsent:?}"
    );
    let text = bench.run(["repair", path]).ends(0).text();
    assert!(text.contains("it fails when it resumes the file"), "{text}");
    let goals = ["--for", "2.1.50", "--for", "2.1.150"];
    let plan = bench.run([&["repair", path, "--json"][..], &goals].concat());
    let is_avoidable = |it: &Value| it["intended"] == false;
    assert!(!plan.ends(2).of_type("unsent").iter().any(is_avoidable));
}

#[test]
fn a_repaired_session_is_marked_and_its_damage_is_not_reported_again() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let bytes = damage::apply(Damage::ResultRemoved, made.bytes(), 6, &mut Rng::new(1));
    let path = made.write_to(&bench.home().join(".claude"));
    disk::write(&path, &bytes);
    bench.run(["check"]).ends(1);
    let done = bench.run(["repair", &made.id, "--apply"]).ends(0);
    let fork = done.text().lines().last().unwrap().to_owned();
    let checked = bench.run(["check"]).ends(0).text();
    assert!(
        checked.contains(&format!("claude:{} was repaired as {fork}", made.id)),
        "{checked}"
    );
    let listed = bench.run(["list", "--json"]).ends(0).of_type("session");
    let marked = listed.iter().find(|it| it["id"] == made.id.as_str());
    assert_eq!(marked.map(|it| &it["superseded_by"]), Some(&json!(fork)));
    let text = bench.run(["list"]).ends(0).text();
    assert!(text.contains("[repaired as "), "{text}");
    bench.run(["undo"]).ends(0);
    bench.run(["check"]).ends(1);
}

/// A message of the user that names a parent.
fn message(like: &Value, parent: &str, number: usize, time: &str) -> String {
    let mut record = like.clone();
    record["uuid"] = json!(format!("00000000-0000-4000-8000-{number:012}"));
    record["parentUuid"] = json!(parent);
    record["timestamp"] = json!(time);
    record["message"] = json!({"role": "user", "content": format!("later {number}")});
    record.to_string() + "\n"
}

#[test]
fn damage_that_came_after_a_repair_is_reported_and_repaired_again() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let bytes = damage::apply(Damage::ResultRemoved, made.bytes(), 6, &mut Rng::new(1));
    let path = made.write_to(&bench.home().join(".claude"));
    disk::write(&path, &bytes);
    let first = bench.run(["repair", &made.id, "--apply"]).ends(0).text();
    let lines = lines_of(&bytes);
    let is_said = |it: &&Value| it["type"] == "user" || it["type"] == "assistant";
    let last = lines.iter().rfind(is_said).unwrap();
    let user = lines.iter().rfind(|it| it["type"] == "user").unwrap();
    let below = last["uuid"].as_str().unwrap();
    // What follows the conversation is no damage, and what was repaired is none either.
    let sound = message(user, below, 1, "2027-01-01T00:00:00.000Z");
    let longer = [bytes.as_slice(), sound.as_bytes()].concat();
    disk::write(&path, &longer);
    let text = bench.run(["check"]).ends(0).text();
    assert!(text.contains("was repaired as"), "{text}");
    // A line whose parent is missing is damage, and the only one that is named.
    let lost = message(user, "no-such-parent", 2, "2027-01-02T00:00:00.000Z");
    disk::write(&path, &[longer.as_slice(), lost.as_bytes()].concat());
    let found = bench.run(["check", "--json"]).ends(1).of_type("damage");
    let number = lines.len() as u64 + 2;
    let is_new = |it: &Value| it["line"].is_null() || it["line"] == number;
    assert!(found.iter().all(is_new), "{found:?}");
    let is_missing = |it: &Value| it["problem"] == "missing_parent" && it["line"] == number;
    assert!(found.iter().any(is_missing), "{found:?}");
    let text = bench.run(["check"]).ends(1).text();
    assert!(text.contains(", and written to since:"), "{text}");
    // The fork lacks the new lines, so that a second repair makes another one.
    let second = bench.run(["repair", &made.id, "--apply"]).ends(0).text();
    let fork = |text: &str| text.lines().last().map(str::to_owned);
    assert_ne!(fork(&first), fork(&second));
    bench.run(["check"]).ends(0);
    let again = bench.run(["repair", &made.id, "--apply"]).ends(0);
    again.says("already repaired as");
}

#[test]
fn a_repaired_session_that_was_replaced_is_checked_as_a_whole() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let remove =
        |place| damage::apply(Damage::ResultRemoved, made.bytes(), place, &mut Rng::new(1));
    let path = made.write_to(&bench.home().join(".claude"));
    disk::write(&path, &remove(6));
    bench.run(["repair", &made.id, "--apply"]).ends(0);
    bench.run(["check"]).ends(0);
    let other = String::from_utf8(remove(6)).unwrap();
    disk::write(&path, other.replace("2026-", "2025-").as_bytes());
    bench.run(["check"]).ends(1);
}
