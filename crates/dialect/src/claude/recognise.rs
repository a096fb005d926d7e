//! Recognises files of Claude Code, and of programs that write the same lines.

use boswell_model::json::{Object, Raw, RawKind};

use super::head;
use crate::uuid::is_uuid;
use crate::{Match, Sample};

/// Rates how much the first records of a file look like lines of the client.
pub(super) fn recognises(sample: &Sample<'_>) -> Match {
    let stem = sample.name.strip_suffix(".jsonl").unwrap_or(sample.name);
    let is_named = is_uuid(stem) || stem.starts_with("agent-");
    // One such line decides for the whole file, because its bookkeeping lines look like ours.
    if sample.records.iter().any(is_qwen) {
        return Match::No;
    }
    match sample.records.iter().map(likeness).max() {
        Some(Match::Likely) if is_named => Match::Certain,
        Some(likeness) => likeness,
        None => Match::No,
    }
}

/// Whether an object that follows garbage on its line is a record of the client.
pub(super) fn is_record(object: &Object<'_>) -> bool {
    let word = object.text("type").unwrap_or_default();
    let is_chain = head::is_chain_word(&word)
        && (object.get("uuid").is_some() || object.get("parentUuid").is_some());
    is_chain || is_meta(&word, object)
}

fn likeness(object: &Object<'_>) -> Match {
    // Qwen Code uses the same envelope for the chain; only its lines have these members.
    if object.get("provenance").is_some() || object.get("systemPayload").is_some() {
        return Match::No;
    }
    let word = object.text("type").unwrap_or_default();
    if is_meta(&word, object) {
        return Match::Likely;
    }
    if !head::is_chain_word(&word)
        || object
            .get("uuid")
            .is_none_or(|uuid| uuid.kind() != RawKind::String)
    {
        return Match::No;
    }
    let is_message = matches!(word.as_ref(), "user" | "assistant");
    if is_message
        && object
            .get("message")
            .and_then(|message| message.get("content"))
            .is_none()
    {
        return Match::No;
    }
    match (
        object.get("parentUuid").is_some(),
        object.get("isSidechain").is_some(),
        object.get("sessionId").is_some(),
    ) {
        (true, true, _) => Match::Likely,
        (true, false, _) | (false, _, true) => Match::Maybe,
        _ => Match::No,
    }
}

/// Whether Qwen Code wrote the line. It uses the same envelope for the chain, but its messages have
/// Gemini's `parts` instead of `content`, and a tool result is a line of its own type instead of a
/// block in a `user` line.
fn is_qwen(object: &Object<'_>) -> bool {
    let has_parts =
        |message: Raw<'_>| message.get("parts").is_some() && message.get("content").is_none();
    let is_result = object.text("type").is_some_and(|it| it == "tool_result");
    object.get("uuid").is_some()
        && object
            .get("message")
            .is_some_and(|message| is_result || has_parts(message))
}

/// Whether the object is a bookkeeping line with the member that belongs to its type; the type word
/// alone could come from another program.
fn is_meta(word: &str, object: &Object<'_>) -> bool {
    let has = |key: &str| object.get(key).is_some();
    match word {
        "last-prompt" | "summary" => has("leafUuid"),
        "custom-title" => has("customTitle"),
        "ai-title" => has("aiTitle"),
        "agent-name" => has("agentName"),
        "tag" => has("tag") && has("sessionId"),
        "file-history-snapshot" => has("snapshot") && has("messageId"),
        "file-history-delta" => has("snapshotMessageId"),
        "mode" => has("mode") && has("sessionId"),
        "permission-mode" => has("permissionMode"),
        "queue-operation" => has("operation") && has("sessionId"),
        "started" | "result" | "agent_metadata" => false,
        _ => head::is_known_meta(word) && has("sessionId"),
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn of(lines: &[&str]) -> Match {
        let scanned: Vec<_> = lines
            .iter()
            .map(|line| {
                let mut members = Vec::new();
                scan_object(line.as_bytes(), &mut members).unwrap();
                (line.as_bytes(), members)
            })
            .collect();
        let records: Vec<_> = scanned
            .iter()
            .map(|(line, members)| Object::new(line, members))
            .collect();
        recognises(&Sample {
            name: "x.jsonl",
            folders: &[],
            records: &records,
        })
    }

    #[test]
    fn one_line_of_qwen_code_decides_for_the_whole_file() {
        let system = r#"{"uuid":"s","parentUuid":"a","sessionId":"x","type":"system","subtype":"ui_telemetry"}"#;
        let prompt = r#"{"uuid":"u","parentUuid":null,"sessionId":"x","type":"user","message":{"role":"user","content":"hi"}}"#;
        let parts = r#"{"uuid":"a","parentUuid":null,"sessionId":"x","type":"assistant","message":{"role":"model","parts":[]}}"#;
        let result = r#"{"uuid":"t","parentUuid":"u","sessionId":"x","type":"tool_result","message":{"role":"tool","content":[]}}"#;
        assert!(of(&[system]) > Match::No && of(&[prompt]) > Match::No);
        assert_eq!(of(&[parts, system]), Match::No);
        assert_eq!(of(&[prompt, result]), Match::No);
    }
}
