//! What the versions send differently, each rule alone.
//!
//! Recorded runs of the real clients prove the rules on many files (`claude_verdicts`).

use super::super::client::{Client, reading};
use super::super::fixture::{
    Bytes, assistant, base, call, file, line, read_bytes, result, text, user,
};
use crate::Reading;

/// Returns the records that 2.1.50, 2.1.150 and 2.1.325 send, by their ids.
fn sent(lines: &[String]) -> [String; 3] {
    let bytes = file(lines);
    let read = read_bytes(&bytes);
    let payloads = Bytes(&bytes);
    let view = read.view(&payloads);
    Client::ALL.map(|client| match reading(&view, client).unwrap() {
        Reading::Sent(slots) => {
            let labels = slots.iter().map(|slot| read.log.label(*slot).into_owned());
            labels.collect::<Vec<_>>().join(" ")
        }
        Reading::Refused => "refused".to_owned(),
        Reading::Failed => "failed".to_owned(),
    })
}

#[test]
fn a_result_counts_behind_the_answer_with_its_call() {
    let mut lines = base();
    // The result of the first call follows the answer behind the results.
    lines.retain(|line| !line.contains("\"uuid\":\"r1\""));
    lines.insert(7, result("r1", "a4", 9, "t1"));
    let [oldest, middle, newest] = sent(&lines);
    assert!(!oldest.contains("r1") && !middle.contains("r1"));
    assert!(newest.contains("r1"), "{newest}");
}

#[test]
fn the_oldest_version_repeats_a_call() {
    let lines = [
        user("u1", None, 1, "ONE"),
        assistant("a1", "u1", 2, "m1", &call("t1")),
        result("r1", "a1", 3, "t1"),
        assistant("a2", "r1", 4, "m1", &call("t1")),
        result("r2", "a2", 5, "t2"),
        assistant("a3", "r2", 6, "m2", &text("done")),
    ];
    let [oldest, middle, newest] = sent(&lines);
    let has = |sent: &str| sent.split(' ').any(|it| it == "a2");
    assert!(has(&oldest), "{oldest}");
    assert!(!has(&middle) && !has(&newest), "{middle}, {newest}");
}

#[test]
fn without_ids_and_parents_there_is_no_end_of_a_branch() {
    let nameless = |line: String| {
        let (_, rest) = line.split_once("\"isSidechain\"").unwrap();
        let (before, rest) = rest.split_once("\"uuid\":\"").unwrap();
        let (_, rest) = rest.split_once("\",").unwrap();
        format!("{{\"isSidechain\"{before}{rest}")
    };
    let lines: Vec<String> = base().into_iter().map(nameless).collect();
    let [oldest, middle, newest] = sent(&lines);
    assert_eq!(middle, "refused");
    assert!(!oldest.is_empty() && !newest.is_empty() && newest != "refused");
}

/// A compaction behind the base session that keeps a message, and what follows it.
fn compacted(kept: &str, summary: &str) -> Vec<String> {
    let mut lines = base();
    let boundary = format!(
        r#""subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{{"trigger":"manual","preTokens":9,"preservedMessages":{{"anchorUuid":"k1","uuids":["{kept}"]}}}}"#
    );
    lines.push(line("system", "b1", None, 20, &boundary));
    lines.push(line("user", "k1", Some("b1"), 21, summary));
    lines.push(user("u4", Some("k1"), 22, "FOUR"));
    lines.push(assistant("a6", "u4", 23, "m9", &text("four done")));
    lines
}

#[test]
fn a_compaction_whose_summary_is_skipped_keeps_nothing() {
    let summary = r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
    assert_eq!(sent(&compacted("a5", summary))[2], "k1 a5 u4 a6");
    let broken = r#""isCompactSummary":true,"message":null"#;
    assert_eq!(sent(&compacted("a5", broken))[2], "u4 a6");
}

#[test]
fn a_kept_message_without_content_fails_where_it_is_not_skipped() {
    let summary = r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
    let mut lines = compacted("a5", summary);
    let kept = lines.iter_mut().find(|it| it.contains("\"uuid\":\"a5\""));
    let kept = kept.unwrap();
    let (before, _) = kept.split_once("\"content\":").unwrap();
    *kept = format!("{before}\"content\":null}}}}");
    let [_, middle, newest] = sent(&lines);
    assert_eq!(
        (middle.as_str(), newest.as_str()),
        ("failed", "k1 u4 a6"),
        "the newest version keeps nothing then"
    );
}

#[test]
fn the_oldest_version_sorts_words_among_times_as_its_runtime_does() {
    // A word behind falling times hides what is newer; behind rising ones it does not.
    let lines = |first: usize, second: usize| {
        let mut lines = vec![
            user("u1", None, first, "ONE"),
            user("u2", Some("u1"), second, "TWO"),
            user("u3", Some("u2"), 5, "THREE"),
            user("u4", Some("u3"), 7, "FOUR"),
        ];
        let word = lines.get_mut(2).unwrap();
        *word = word.replace("2026-01-01T00:00:05.000Z", "yesterday");
        lines
    };
    assert_eq!(sent(&lines(1, 2))[0], "u1 u2 u3 u4");
    assert_eq!(sent(&lines(2, 1))[0], "u1");
}
