//! Logs of operations, as newer versions of MyAgents write them: a header, then batches.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A log of operations while it is written.
#[derive(Debug, Clone)]
pub struct OperationsLog {
    bytes: Vec<u8>,
    revision: usize,
    batches: usize,
}

impl OperationsLog {
    /// Begins the log of a session.
    pub fn new(session: &str) -> OperationsLog {
        let header = json!({
            "kind": "session-transcript", "version": 2, "sessionId": session,
            "generation": "gen-made", "baseRevision": 0, "baseline": false,
        });
        OperationsLog {
            bytes: format!("{header}\n").into_bytes(),
            revision: 0,
            batches: 0,
        }
    }

    /// Adds a batch of operations.
    #[must_use]
    pub fn batch(mut self, operations: Vec<Value>) -> OperationsLog {
        let from = self.revision + 1;
        self.revision += operations.len().max(1);
        self.batches += 1;
        let body = json!({
            "id": format!("b{}", self.batches), "mode": "delta", "fromRevision": from,
            "revision": self.revision, "operations": operations,
        });
        self.bytes.extend(sealed(&body.to_string()));
        self
    }

    /// Adds bytes as they are.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> OperationsLog {
        self.bytes.extend(bytes);
        self
    }

    /// Returns the bytes of the log.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns the line of a batch with this body.
pub fn sealed(body: &str) -> Vec<u8> {
    let mut sum = String::new();
    for byte in Sha256::digest(body.as_bytes()) {
        let _ = write!(sum, "{byte:02x}");
    }
    format!("{{\"batch\":{body},\"checksum\":\"{sum}\"}}\n").into_bytes()
}

/// Returns the operations that make a message of the older format.
pub fn create(row: &Value) -> Vec<Value> {
    let id = &row["id"];
    let mut message = row.clone();
    message["transcriptState"] = json!("streaming");
    let content = row["content"].as_str().unwrap_or_default();
    let blocks: Option<Vec<Value>> = serde_json::from_str(content).ok();
    let Some(blocks) = blocks else {
        // The first half is created and the rest appended, as a streamed text is.
        let half = content.chars().count() / 2;
        let (first, rest): (String, String) = (
            content.chars().take(half).collect(),
            content.chars().skip(half).collect(),
        );
        message["content"] = json!(first);
        let offset = first.encode_utf16().count();
        return vec![
            json!({"kind": "message-create", "message": message}),
            json!({"kind": "text-append", "messageId": id, "field": "text", "offset": offset, "text": rest}),
            json!({"kind": "message-update", "messageId": id, "details": {"transcriptState": "complete"}}),
        ];
    };
    message["content"] = json!([]);
    let mut operations = vec![json!({"kind": "message-create", "message": message})];
    for (number, mut block) in blocks.into_iter().enumerate() {
        block["id"] = json!(format!("block-{number}"));
        operations.push(json!({"kind": "block-upsert", "messageId": id, "block": block}));
    }
    operations.push(
        json!({"kind": "message-update", "messageId": id, "details": {"transcriptState": "complete"}}),
    );
    operations
}
