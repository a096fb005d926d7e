//! Vectors of the format, and the fold against a plain one that copies every state.

use boswell_model::Lines;
use boswell_model::json::{Raw, RawKind};

use super::*;

const VECTORS: &str = include_str!("vectors.json");

/// Folds the bytes of a file.
fn folded(session: Option<&str>, bytes: &[u8]) -> Result<Folded, super::fold::Fault> {
    let done = fold(session, &mut |sink| {
        let mut lines = Lines::new(0, 1);
        lines.push(bytes, sink);
        lines.finish(sink);
        Ok(())
    });
    done.unwrap()
}

/// Returns a value with sorted keys and decoded strings, for comparison.
fn canonical(value: Raw<'_>) -> String {
    match value.kind() {
        RawKind::Object => {
            let mut all: Vec<String> = value
                .members()
                .map(|(key, value)| format!("{:?}:{}", key.to_text(), canonical(value)))
                .collect();
            all.sort();
            format!("{{{}}}", all.join(","))
        }
        RawKind::Array => {
            let all: Vec<String> = value.items().map(canonical).collect();
            format!("[{}]", all.join(","))
        }
        RawKind::String => format!("{:?}", value.text().unwrap()),
        RawKind::Number => value.f64().unwrap().to_string(),
        _ => String::from_utf8_lossy(value.bytes()).into_owned(),
    }
}

/// What the fold left, in the form of the vectors.
fn result(folded: &Folded) -> [String; 6] {
    let mut messages = Vec::new();
    folded
        .state
        .each_message(&mut |line| messages.push(canonical(Raw::parse(line).unwrap())));
    let turns: Vec<String> = folded.state.turns().map(canonical).collect();
    [
        format!("[{}]", messages.join(",")),
        format!("[{}]", turns.join(",")),
        folded.revision.to_string(),
        format!("{:?}", folded.last_batch.as_deref()),
        folded.valid_bytes.to_string(),
        folded.tail.word().to_owned(),
    ]
}

fn wanted(expected: Raw<'_>) -> [String; 6] {
    let get = |key: &str| expected.get(key).unwrap();
    [
        canonical(get("messages")),
        canonical(get("turns")),
        canonical(get("revision")),
        format!("{:?}", get("lastBatchId").text().as_deref()),
        canonical(get("validBytes")),
        get("tail").text().unwrap().into_owned(),
    ]
}

#[test]
fn every_wire_vector_folds_as_it_says() {
    let vectors = Raw::parse(VECTORS.trim().as_bytes()).unwrap();
    let mut count = 0;
    for case in vectors.get("cases").unwrap().items() {
        let name = case.get("name").unwrap().text().unwrap().into_owned();
        let wire = case.get("wire").unwrap().string().unwrap().to_wtf8();
        let found = folded(Some("vector-session"), &wire);
        match case.get("expected") {
            Some(expected) => assert_eq!(result(&found.unwrap()), wanted(expected), "{name}"),
            None => assert!(found.is_err(), "{name}"),
        }
        count += 1;
    }
    assert_eq!(count, 58);
}

#[test]
fn every_format_vector_is_decided_as_it_says() {
    let vectors = Raw::parse(VECTORS.trim().as_bytes()).unwrap();
    let mut count = 0;
    for case in vectors.get("formats").unwrap().items() {
        let there = |key: &str| case.get(key).and_then(|it| it.bool()) == Some(true);
        let files = TranscriptFiles {
            legacy: there("legacyFile"),
            operations: there("v2File"),
        };
        let row = case.get("row").filter(|row| !row.is_null());
        let word = match TranscriptFormat::of(row, files) {
            TranscriptFormat::Unindexed => "unindexed",
            TranscriptFormat::Legacy => "legacy",
            TranscriptFormat::Operations => "v2",
            TranscriptFormat::Conflict => "conflict",
            TranscriptFormat::Unsupported => "unsupported",
        };
        assert!(
            case.get("expected").unwrap().is(word),
            "{}: {word}",
            canonical(case)
        );
        count += 1;
    }
    assert_eq!(count, 32);
}
