//! Counts records in a simple way, with another parser and without boswell's reader.
//!
//! Each line is parsed from its start as long as it is JSON; objects count, other values do not. A
//! file that is one JSON value over several lines, or one array, is a document: an object is one
//! record, and an array has one record per object.

use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

/// The result of a simple scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Number of objects, including a header.
    pub(crate) records: usize,
    /// Whether one of them is a header, if the dialect has one.
    pub(crate) header: bool,
}

pub(crate) fn scan(dialect: &str, bytes: &[u8]) -> Scan {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut found = Scan {
        records: 0,
        header: false,
    };
    let mut add = |object: &[u8]| {
        found.records += 1;
        found.header |= is_header(dialect, object);
    };
    if let Some(document) = document(bytes) {
        match document {
            Value::Object(members) => match members.get(list_of(dialect)) {
                Some(Value::Array(items)) => items
                    .iter()
                    .filter(|item| item.is_object())
                    .for_each(|item| add(item.to_string().as_bytes())),
                _ => add(bytes),
            },
            Value::Array(items) => items
                .iter()
                .filter(|item| item.is_object())
                .for_each(|item| add(item.to_string().as_bytes())),
            _ => {}
        }
        return found;
    }
    bytes
        .split(|byte| *byte == b'\n')
        .for_each(|line| values(line, &mut add));
    found
}

/// The member of a document whose items are its records; empty if the document is one record.
fn list_of(dialect: &str) -> &'static str {
    match dialect {
        "gemini" | "cline" | "hermes" | "zed" => "messages",
        "continue" | "kiro" => "history",
        _ => "",
    }
}

/// Parses a value that needs more than one line, or an array, which no line of a log is.
fn document(bytes: &[u8]) -> Option<Value> {
    let text = bytes.trim_ascii();
    let is_one = text.starts_with(b"[") || text.contains(&b'\n');
    is_one.then(|| serde_json::from_slice(text).ok()).flatten()
}

/// Passes on the objects at the beginning of a line, up to the first bytes that are not JSON. NULs
/// before them are skipped.
fn values(line: &[u8], add: &mut dyn FnMut(&[u8])) {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches(['\0', ' ', '\t', '\r']);
    let objects = Deserializer::from_str(text)
        .into_iter::<&RawValue>()
        .map_while(Result::ok);
    objects
        .filter(|value| value.get().starts_with('{'))
        .for_each(|object| add(object.get().as_bytes()));
}

/// Whether an object is the record at the top of a file that describes the session; some dialects
/// have none.
fn is_header(dialect: &str, object: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(object) else {
        return false;
    };
    match dialect {
        "pi" | "omp" | "xcsh" | "boswell" => value["type"] == "session",
        "oas" => value["type"] == "session_header",
        "droid" => value["type"] == "session_start",
        "goose" => value["working_dir"].is_string(),
        "copilot" => value["type"] == "session.start",
        "kimi" => value["type"] == "metadata",
        "gemini" => {
            value["sessionId"].is_string()
                && value["type"].is_null()
                && !value["messages"].is_array()
        }
        "codex" => {
            value["type"] == "session_meta"
                || value["type"].is_null()
                    && value["record_type"].is_null()
                    && value["id"].is_string()
        }
        _ => false,
    }
}

#[test]
fn the_reference_counts_objects_glued_or_alone_and_nothing_else() {
    let count = |bytes: &[u8]| scan("unknown", bytes).records;
    assert_eq!(
        count(b"{\"a\":1}\n\n[1]\n7\n{\"b\":{}}{\"c\":2} {\"d\":3}\nnope\n\0\0{\"e\":\"\\ud83d\"}\n{\"torn\":"),
        5
    );
    assert_eq!(count(b"{\n \"a\": {\"b\": 1}\n}\n"), 1);
    assert_eq!(count(b"[\n {\"a\": 1},\n 2,\n {\"b\": 1}\n]"), 2);
    assert_eq!(count(b"{\"a\":\"\xff\"}"), 1);
    assert!(scan("pi", b"{\"type\":\"session\"}\n{}").header);
    assert!(!scan("claude", b"{\"type\":\"session\"}\n{}").header);
}
