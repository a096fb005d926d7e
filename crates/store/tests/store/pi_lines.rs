//! The rules of version 3 of pi's format, as pi and xcsh require them.

use serde_json::Value;

/// Parses the lines of a file, which must be complete records of version 3, header first.
pub(crate) fn pi_lines(bytes: &[u8]) -> Vec<Value> {
    assert_eq!(bytes.last(), Some(&b'\n'), "the last line is not ended");
    let text = std::str::from_utf8(bytes).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    assert_eq!(lines[0]["type"], "session");
    assert_eq!(lines[0]["version"], 3);
    assert!(
        is_text(&lines[0]["id"]) && is_text(&lines[0]["timestamp"]) && lines[0]["cwd"].is_string()
    );
    for line in &lines[1..] {
        assert!(
            is_text(&line["type"]) && is_text(&line["id"]) && is_text(&line["timestamp"]),
            "{line}"
        );
        assert!(
            line["parentId"].is_null() || is_text(&line["parentId"]),
            "{line}"
        );
        assert!(line.as_object().unwrap().contains_key("parentId"), "{line}");
        assert_ne!(line["type"], "session", "a second header");
        if line["message"]["role"] == "assistant" {
            assert!(
                line["message"]["usage"]["cost"]["total"].is_number(),
                "an answer without usage: {line}"
            );
        }
    }
    lines
}
