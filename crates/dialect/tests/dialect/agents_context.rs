//! The context of file-based agents, compared with what their programs recorded of their requests.

use boswell_dialect::{Files, MemoryFiles, SessionLocation, by_name};
use boswell_model::Framing;
use boswell_testkit::{corpus, disk};
use serde_json::Value;

use crate::agents_support::read;

/// Kimi Code records how many messages each request had.
#[test]
fn the_context_of_kimi_has_as_many_messages_as_the_program_sent() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let folder = captures.join("kimi-code/sessions");
    let mut asked = 0;
    for path in corpus::files(&folder) {
        if !path.ends_with("wire.jsonl") {
            continue;
        }
        let bytes = disk::read(&path);
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (at, line) in lines.iter().enumerate() {
            let record: Value = serde_json::from_slice(line).unwrap();
            if record["type"] != "llm.request" {
                continue;
            }
            let mut files = MemoryFiles::default();
            files.put("wire.jsonl", lines[..at].concat(), None);
            let info = files.stat("wire.jsonl").unwrap().unwrap();
            let location = SessionLocation::at("x", &info, Framing::Lines);
            let messages = read(by_name("kimi").unwrap(), &files, location).messages();
            assert_eq!(json_count(&record), messages.len(), "line {}", at + 1);
            asked += 1;
        }
    }
    assert_eq!(asked, 3);
}

fn json_count(record: &Value) -> usize {
    record["messageCount"].as_u64().unwrap() as usize
}

/// When Gemini CLI resumes a session, it writes the messages that it sends into the log: what
/// boswell computes from the lines before must be the same.
#[test]
fn the_context_of_gemini_is_what_the_program_sent() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    for name in [
        "tmp/demo/chats/session-2026-11-16T10-42-c2ed89ee.jsonl",
        "foreign-accepted.jsonl",
    ] {
        let bytes = disk::read(&captures.join("gemini").join(name));
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let resumed = lines
            .iter()
            .rposition(|line| line.starts_with(br#"{"$set":{"messages""#))
            .unwrap();
        let sent: Value = serde_json::from_slice(lines[resumed]).unwrap();
        let sent = sent["$set"]["messages"].as_array().unwrap().iter().skip(1);
        let sent: Vec<(&str, &Value)> = sent
            .map(|it| match it["type"].as_str() {
                Some("user") => ("user", &it["content"]),
                _ => ("model", &it["content"]),
            })
            .collect();
        let before = lines[..resumed].concat();
        let mut files = MemoryFiles::default();
        files.put("x.jsonl", before, None);
        let dialect = by_name("gemini").unwrap();
        let info = files.stat("x.jsonl").unwrap().unwrap();
        let location = SessionLocation::at("x", &info, Framing::Lines);
        let messages = read(dialect, &files, location).messages();
        let computed: Vec<(String, Value)> = messages
            .into_iter()
            .map(|it| {
                let parts = it.content.iter().map(|part| part.to_string());
                let parts = parts.map(|part| serde_json::from_str(&part).unwrap());
                (it.role, Value::Array(parts.collect()))
            })
            .collect();
        assert_eq!(computed.len(), sent.len(), "{name}");
        for ((role, content), (sent_role, sent)) in computed.iter().zip(sent) {
            assert_eq!((role.as_str(), content), (sent_role, sent), "{name}");
        }
    }
}
