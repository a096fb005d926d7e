//! Builds and splits JSON Lines: one compact object per line, split at `\n` only.

use serde_json::Value;

/// A log under construction.
#[derive(Clone, Debug, Default)]
pub struct JsonlLines {
    bytes: Vec<u8>,
    count: usize,
}

impl JsonlLines {
    /// Creates an empty log.
    pub fn new() -> JsonlLines {
        JsonlLines::default()
    }

    /// Adds a value as one line.
    pub fn push(&mut self, value: &Value) {
        self.push_text(&value.to_string());
    }

    /// Adds a line as text, for content that `Value` cannot represent.
    pub fn push_text(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        self.count += 1;
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no line yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the log.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Splits at newlines; bytes after the last newline are a line too, unless empty.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts
}

/// Parses every line; panics at the first that is not JSON, and names it.
pub fn parse(bytes: &[u8]) -> Vec<Value> {
    let one = |(number, line): (usize, &&[u8])| -> Value {
        serde_json::from_slice(line).unwrap_or_else(|error| unparsable(number + 1, line, &error))
    };
    lines(bytes).iter().enumerate().map(one).collect()
}

#[expect(
    clippy::panic,
    reason = "a generator that writes broken lines is a broken generator"
)]
fn unparsable(number: usize, line: &[u8], error: &serde_json::Error) -> Value {
    let shown = String::from_utf8_lossy(&line[..line.len().min(200)]);
    panic!("line {number} is not JSON: {error}: {shown}")
}

/// Appends text as a JSON string, including quotes, to `out`.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        start = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            other => out.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_pushed_comes_back() {
        let mut log = JsonlLines::new();
        assert!(log.is_empty());
        log.push(&json!({"z": 1, "a": "会话\u{2028}end"}));
        log.push_text("{}");
        assert_eq!(log.len(), 2);
        let bytes = log.into_bytes();
        assert!(bytes.starts_with(b"{\"z\":1"), "key order is kept");
        assert_eq!(
            parse(&bytes),
            [json!({"z": 1, "a": "会话\u{2028}end"}), json!({})]
        );
    }

    #[test]
    fn a_last_line_without_newline_counts() {
        assert_eq!(lines(b"a\n\nb").len(), 3);
        assert_eq!(lines(b"a\n\nb\n").len(), 3);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn strings_are_escaped_as_serde_reads_them() {
        let text = "tab\t quote\" back\\ bell\u{7} 会话 \u{2028}\r\n";
        let mut out = Vec::new();
        push_string(&mut out, text);
        assert_eq!(serde_json::from_slice::<String>(&out).expect("valid"), text);
    }
}
