//! Whether a file was written by Claude Code, or by a program that writes the same lines.

use boswell_model::json::{Kind, Object};

use super::{discover, head};
use crate::{Likeness, Sample};

/// How much the first records of a file look like lines of the client.
pub(super) fn recognises(sample: &Sample<'_>) -> Likeness {
    let stem = sample.name.strip_suffix(".jsonl").unwrap_or(sample.name);
    let is_named = discover::is_uuid(stem) || stem.starts_with("agent-");
    match sample.records.iter().map(likeness).max() {
        Some(Likeness::Likely) if is_named => Likeness::Certain,
        Some(likeness) => likeness,
        None => Likeness::No,
    }
}

/// Whether an object behind garbage is a line of its own.
pub(super) fn is_record(object: &Object<'_>) -> bool {
    let word = object.text("type").unwrap_or_default();
    let is_chain = head::is_chain_word(&word) && (object.get("uuid").is_some() || object.get("parentUuid").is_some());
    is_chain || is_meta(&word, object)
}

fn likeness(object: &Object<'_>) -> Likeness {
    // Qwen Code took over the envelope of the chain; its messages have parts, its lines say where they come from.
    if object.get("provenance").is_some() || object.get("systemPayload").is_some() {
        return Likeness::No;
    }
    let word = object.text("type").unwrap_or_default();
    if is_meta(&word, object) {
        return Likeness::Likely;
    }
    if !head::is_chain_word(&word) || object.get("uuid").is_none_or(|uuid| uuid.kind() != Kind::String) {
        return Likeness::No;
    }
    let is_message = matches!(word.as_ref(), "user" | "assistant");
    if is_message && object.get("message").and_then(|message| message.get("content")).is_none() {
        return Likeness::No;
    }
    match (object.get("parentUuid").is_some(), object.get("isSidechain").is_some(), object.get("sessionId").is_some()) {
        (true, true, _) => Likeness::Likely,
        (true, false, _) | (false, _, true) => Likeness::Maybe,
        _ => Likeness::No,
    }
}

/// A bookkeeping line with the member that goes with its type: the word alone could be anybody's.
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
