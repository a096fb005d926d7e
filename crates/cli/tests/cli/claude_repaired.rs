//! Damaged captures, resumed by the real clients before and after a repair: everything in the bytes
//! reaches the model.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::damage::{self, Damage};
use boswell_testkit::{Rng, corpus, disk, scanner};
use serde_json::Value;

use crate::claude_desk::{Desk, id_of};

const PROBE: &str = "PROBE-OF-A-REPAIR";
/// The old client does not support newer models.
const OLD_MODEL: &str = "claude-sonnet-4-5-20250929";

/// A damaged log, and the expected effect of a repair.
struct Trial {
    name: String,
    bytes: Vec<u8>,
    /// Arguments of `repair` besides `--apply --likely`.
    more: &'static [&'static str],
    /// Whether the client loses something before the repair.
    loses: bool,
}

/// Counts every text, call and result in a log, without using boswell's code.
fn said(bytes: &[u8]) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for record in scanner::records(bytes, &scanner::is_claude) {
        let line: Value = serde_json::from_slice(&record).unwrap();
        let is_talk = matches!(line["type"].as_str(), Some("user" | "assistant"));
        let is_aside = ["isSidechain", "isMeta", "isApiErrorMessage"]
            .iter()
            .any(|key| line[*key] == true);
        if !is_talk || is_aside || !seen.insert(record) {
            continue;
        }
        for word in words_of(&line["message"]["content"]) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}

fn words_of(content: &Value) -> Vec<String> {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => words_of(&block["text"]),
        Some("tool_use") => vec![block["input"].to_string()],
        Some("tool_result") => words_of(&block["content"]),
        _ => Vec::new(),
    };
    match content {
        Value::String(text) => Some(text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect(),
        Value::Array(blocks) => blocks.iter().flat_map(block).collect(),
        _ => Vec::new(),
    }
}

/// Returns those that a request does not contain.
fn lacking(said: &BTreeMap<String, usize>, messages: &[Value]) -> Vec<String> {
    let sent: Vec<String> = messages
        .iter()
        .flat_map(|message| words_of(&message["content"]))
        .collect();
    let count = |word: &str| {
        sent.iter()
            .map(|text| text.matches(word).count())
            .sum::<usize>()
    };
    said.iter()
        .filter(|(word, times)| count(word) < **times)
        .map(|(word, _)| word.clone())
        .collect()
}

/// Creates a desk with the log of a capture, under the id of the capture.
fn desk(client: &ClaudeClient, id: &str, bytes: &[u8]) -> Desk {
    let desk = Desk::with(client.clone());
    disk::write(&desk.log(id), bytes);
    desk
}

/// Returns the messages that the client sends when it resumes a session; empty if it does not
/// resume it.
fn resume(desk: &Desk, session: &str, probe: &str, is_old: bool) -> Vec<Value> {
    let mut more = vec!["--resume", id_of(session)];
    if is_old {
        more.extend(["--model", OLD_MODEL]);
    }
    desk.say(probe, &more);
    desk.model.asked(probe).unwrap_or_default()
}

/// Repairs, and returns the session to resume.
fn repair(desk: &Desk, id: &str, more: &[&str]) -> String {
    let session = format!("claude:{id}");
    let words = [&["repair", &session, "--apply", "--likely"], more].concat();
    desk.run(&words)
        .text()
        .lines()
        .last()
        .unwrap_or_default()
        .to_owned()
}

fn examine(client: &ClaudeClient, is_old: bool, id: &str, trial: &Trial) -> Result<(), String> {
    let said = said(&trial.bytes);
    let before = lacking(
        &said,
        &resume(&desk(client, id, &trial.bytes), id, PROBE, is_old),
    );
    if before.is_empty() == trial.loses {
        return Err(format!(
            "{}: before it is repaired, the client lacks {before:?}",
            trial.name
        ));
    }
    let desk = desk(client, id, &trial.bytes);
    let session = repair(&desk, id, trial.more);
    match lacking(&said, &resume(&desk, &session, PROBE, is_old)).as_slice() {
        [] => Ok(()),
        after => Err(format!(
            "{}: after it is repaired, the client lacks {after:?}",
            trial.name
        )),
    }
}

/// Runs every trial, two at a time.
fn examine_all(client: &ClaudeClient, is_old: bool, id: &str, trials: Vec<Trial>) {
    let count = trials.len();
    let queue = Mutex::new(trials.into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(trial) = queue.lock().unwrap().next() else {
                        return;
                    };
                    if let Err(why) = examine(client, is_old, id, &trial) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Returns the log of a captured scenario, and its id.
fn capture(scenario: &str) -> Option<(String, Vec<u8>)> {
    let captures = corpus::require_or_skip(corpus::CAPTURES)?;
    let is_log = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 42);
    let path = corpus::files(&captures.join("claude-code").join(scenario))
        .into_iter()
        .find(is_log)
        .unwrap();
    Some((
        path.file_stem().unwrap().to_string_lossy().into_owned(),
        disk::read(&path),
    ))
}

/// Returns the number of the line with the nth matching message.
fn line_of(bytes: &[u8], nth: usize, suits: impl Fn(&Value) -> bool) -> usize {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| serde_json::from_slice(line).unwrap_or(Value::Null));
    lines
        .enumerate()
        .filter(|(_, line)| suits(line))
        .nth(nth)
        .unwrap()
        .0
}

fn answer(line: &Value) -> bool {
    line["type"] == "assistant"
}

fn trial(
    bytes: &[u8],
    damage: Damage,
    place: usize,
    loses: bool,
    more: &'static [&'static str],
) -> Trial {
    let broken = damage::apply(damage, bytes, place, &mut Rng::new(1));
    assert!(broken != bytes, "{damage:?} damages nothing");
    Trial {
        name: format!("{damage:?}"),
        bytes: broken,
        more,
        loses,
    }
}

/// A prompt with the id of an earlier assistant message.
fn duplicates(bytes: &[u8], more: &'static [&'static str]) -> Trial {
    let (first, second) = (line_of(bytes, 0, answer), line_of(bytes, 3, answer));
    let mut lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let id = |line: &[u8]| {
        serde_json::from_slice::<Value>(line).unwrap()["uuid"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, other) = (id(&lines[first]), id(&lines[second]));
    for line in &mut lines[second..] {
        *line = String::from_utf8_lossy(line)
            .replace(&other, &one)
            .into_bytes();
    }
    Trial {
        name: "two lines with one id".to_owned(),
        bytes: lines.concat(),
        more,
        loses: true,
    }
}

#[test]
fn the_newest_client_sends_everything_that_is_in_a_capture_once_it_is_repaired() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("checkpoint") else {
        return;
    };
    let middle = line_of(&bytes, 2, answer);
    let mut trials: Vec<Trial> = [
        (Damage::CutAndGlued, true),
        (Damage::NulBeforeRecord, true),
        (Damage::ResultRemoved, true),
        (Damage::OrphanResult, true),
        (Damage::AllParentsNull, true),
        (Damage::DuplicateToolUseId, true),
        (Damage::NulHole, true),
    ]
    .into_iter()
    .map(|(kind, loses)| trial(&bytes, kind, middle, loses, &[]))
    .collect();
    trials.push(trial(
        &bytes,
        Damage::GluedRecords,
        line_of(&bytes, 0, answer),
        true,
        &[],
    ));
    trials.push(duplicates(&bytes, &[]));
    examine_all(&client, false, &id, trials);
}

#[test]
fn an_old_client_sends_everything_that_is_in_a_capture_once_it_is_repaired_for_it() {
    let Some(client) = ClaudeClient::old_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("checkpoint") else {
        return;
    };
    let middle = line_of(&bytes, 2, answer);
    let more: &[&str] = &["--for", "2.1.50"];
    let mut trials: Vec<Trial> = [
        (Damage::CutAndGlued, true),
        (Damage::NulBeforeRecord, true),
        (Damage::NulHole, true),
        (Damage::LineDeleted, true),
        (Damage::PhantomParent, true),
        (Damage::ParentCycle, true),
        (Damage::ResultRemoved, true),
        (Damage::AllParentsNull, true),
    ]
    .into_iter()
    .map(|(kind, loses)| trial(&bytes, kind, middle, loses, more))
    .collect();
    trials.push(trial(
        &bytes,
        Damage::GluedRecords,
        line_of(&bytes, 0, answer),
        true,
        more,
    ));
    trials.push(duplicates(&bytes, more));
    examine_all(&client, true, &id, trials);
}

#[test]
fn calls_made_at_once_reach_an_old_client_once_they_stand_in_a_row() {
    let Some(client) = ClaudeClient::old_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("checkpoint") else {
        return;
    };
    let name = "a sound session with calls made at once".to_owned();
    examine_all(
        &client,
        true,
        &id,
        vec![Trial {
            name,
            bytes,
            more: &["--for", "2.1.50"],
            loses: true,
        }],
    );
}

#[test]
fn the_branch_that_a_second_client_left_is_taken_up_once_it_is_chosen() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("concurrent") else {
        return;
    };
    let session = format!("claude:{id}");
    let desk = desk(&client, &id, &bytes);
    let plan = desk.run(&["repair", &session, "--json"]).of_type("step");
    assert_eq!(plan.len(), 1, "{plan:?}");
    let end = plan[0]["entry"].as_str().unwrap().to_owned();
    let words = words_up_from(&bytes, &end);
    let sent = |messages: Vec<Value>| {
        messages
            .iter()
            .flat_map(|it| words_of(&it["content"]))
            .collect::<Vec<_>>()
    };
    let holds = |sent: &[String], word: &str| sent.iter().any(|text| text.contains(word.trim()));
    desk.run(&["repair", &session, "--apply", "--step", "1"]);
    let after = sent(resume(&desk, &session, PROBE, false));
    assert!(
        words.len() > 3 && words.iter().all(|word| holds(&after, word)),
        "{words:?} in {after:?}"
    );
    disk::write(&desk.log(&id), &bytes);
    let before = sent(resume(&desk, &session, "PROBE-BEFORE", false));
    assert!(words.iter().any(|word| !holds(&before, word)), "{before:?}");
}

#[test]
fn a_broken_image_is_sent_with_every_request_until_repair_leaves_it_out() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("checkpoint") else {
        return;
    };
    let mut lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let line = &mut lines[line_of(&bytes, 0, |line| {
        line["message"]["content"][0]["type"] == "tool_result"
    })];
    let mut result: Value = serde_json::from_slice(line).unwrap();
    let source = serde_json::json!({"type": "base64", "media_type": "image/png", "data": "bm90IGFuIGltYWdl"});
    result["message"]["content"][0]["content"] =
        serde_json::json!([{"type": "image", "source": source}]);
    *line = format!("{result}\n").into_bytes();
    let desk = desk(&client, &id, &lines.concat());
    let sent = |session: &str, probe| {
        serde_json::to_string(&resume(&desk, session, probe, false)).unwrap()
    };
    let session = repair(&desk, &id, &[]);
    let after = sent(&session, PROBE);
    assert!(
        after.contains("an image was left out by repair") && !after.contains("bm90IGFuIGltYWdl"),
        "{after}"
    );
    assert!(
        sent(&id, "PROBE-BEFORE").contains("bm90IGFuIGltYWdl"),
        "the original stays as it was"
    );
}

/// Returns the texts on the path from a line up to the first.
fn words_up_from(bytes: &[u8], end: &str) -> Vec<String> {
    let records = scanner::records(bytes, &scanner::is_claude);
    let lines: Vec<Value> = records
        .iter()
        .map(|record| serde_json::from_slice(record).unwrap())
        .collect();
    let mut words = Vec::new();
    let mut next = Some(end.to_owned());
    while let Some(line) = next.and_then(|id| lines.iter().find(|line| line["uuid"] == id)) {
        words.extend(words_of(&line["message"]["content"]));
        next = line["parentUuid"].as_str().map(str::to_owned);
    }
    words
}

#[test]
fn what_an_old_client_writes_after_a_torn_line_is_not_glued_to_it_once_it_is_repaired() {
    let Some(client) = ClaudeClient::old_or_skip() else {
        return;
    };
    let Some((id, bytes)) = capture("multi") else {
        return;
    };
    let torn = damage::apply(Damage::TornTail, &bytes, 0, &mut Rng::new(1));
    for is_repaired in [false, true] {
        let desk = desk(&client, &id, &torn);
        if is_repaired {
            assert_eq!(repair(&desk, &id, &[]), format!("claude:{id}"), "in place");
        }
        let sent = resume(&desk, &id, PROBE, true);
        assert!(!sent.is_empty());
        let log = disk::read(&desk.log(&id));
        assert!(log.starts_with(&torn) && log.len() > torn.len() + 1);
        assert_eq!(
            log[torn.len()] == b'\n',
            is_repaired,
            "{}",
            log[torn.len()..].escape_ascii()
        );
    }
}
