//! Sessions of Mistral Vibe 3: a generation in chunks, and a journal.

use serde_json::{Value, json};

use super::made;
use crate::clock::{MORNING, iso};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::phrase;
use crate::rng::Rng;

/// What is said during the turn of a session.
struct Turn {
    call: String,
    asked: &'static str,
    thought: &'static str,
    answered: &'static str,
    listing: String,
}

/// Creates a session.
pub(super) fn session(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (rng.uuid_v4(), format!("call_{}", rng.hex(8)));
    let turn = Turn {
        call,
        asked: phrase::asked(rng),
        thought: phrase::thought(rng),
        answered: phrase::answered(rng),
        listing: phrase::listing(rng, 2),
    };
    let folder = format!("logs/session/unified/{id}");
    let chunks = [rng.hex(64), rng.hex(64)];
    let journal = journal(rng);
    let main = format!("{folder}/CURRENT");
    let mut files = FileList::new();
    files.add(&main, current(&id).to_string());
    add_generation(&mut files, &folder, &id, &chunks);
    let [first, second] = &chunks;
    files.add(
        format!("{folder}/chunks/{first}.json"),
        entries(&turn).to_string(),
    );
    files.add(
        format!("{folder}/chunks/{second}.json"),
        context(&turn).to_string(),
    );
    files.add(
        format!("{folder}/journal/0000000000000022.jsonl"),
        journal.into_bytes(),
    );
    files.add(format!("{folder}/meta.json"), meta(&id, cwd).to_string());
    Made {
        title: Some("A red build".to_owned()),
        ..made(&id, cwd, &main, files)
    }
}

/// Returns content that consists of a text.
fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Returns the entries that a user sees.
fn entries(turn: &Turn) -> Value {
    json!([
        {"type": "message", "id": "user-1", "role": "user", "content": text(turn.asked), "createdAt": MORNING},
        {"type": "reasoning", "id": "reasoning-1", "text": turn.thought, "summary": [], "createdAt": MORNING + 1000},
        {"type": "effect", "id": "effect-1", "title": "bash", "createdAt": MORNING + 2000,
            "detail": {"kind": "tool", "toolName": "file_system.bash", "input": {"command": "ls"}},
            "state": {"status": "completed", "outputText": "", "display": {"success": true}, "output": {"type": "success", "content": [], "structured_content": {"stdout": turn.listing}}}},
        {"type": "message", "id": "assistant-1", "role": "assistant", "content": text(turn.answered), "createdAt": MORNING + 3000},
    ])
}

/// Returns the messages that the model sees.
fn context(turn: &Turn) -> Value {
    json!([
        {"message": {"role": "user", "content": text(turn.asked)}, "source": "history"},
        {"message": {"role": "assistant", "content": [{"type": "tool_call", "id": turn.call, "name": "bash", "arguments": {"type": "json", "raw": "{\"command\": \"ls\"}", "value": {"command": "ls"}}}]}, "source": "history"},
        {"message": {"role": "tool", "content": text(&turn.listing), "name": "bash", "outcome": "success", "tool_call_id": turn.call}, "source": "history"},
        {"message": {"role": "assistant", "content": text(turn.answered)}, "source": "history"},
    ])
}

/// Returns the journal after the generation, with another prompt.
fn journal(rng: &mut Rng) -> JsonlLines {
    let mut journal = JsonlLines::new();
    journal.push(
        &json!({"sequence": 22, "type": "command_reserved", "payload": {"method": "turn/start"}}),
    );
    journal.push(&json!({"sequence": 23, "type": "projection_delta", "payload": {"delta": [
        {"op": "append_entry", "entry": {"type": "message", "id": "user-2", "role": "user", "content": text(phrase::asked(rng)), "createdAt": MORNING + 8000}},
        {"op": "set_envelope", "state": {}},
    ]}}));
    journal
}

/// Returns the document that names the current generation.
fn current(id: &str) -> Value {
    json!({"generation": "0000000000000021", "session_id": id, "snapshot_sequence": 21, "store_format": "mistral.vibe.unified-session-store/v1", "store_format_minor": 9})
}

/// Adds the documents of the generation, whose lists are in chunks.
fn add_generation(files: &mut FileList, folder: &str, id: &str, [first, second]: &[String; 2]) {
    let generation = format!("{folder}/generations/0000000000000021");
    let manifest = json!({
        "manifest_version": 1, "generation": "0000000000000021", "snapshot_sequence": 21, "session_id": id,
        "projection_state": {"path": "projection-state.json", "chunks": [first]},
        "checkpoint": {"path": "checkpoint.json", "chunks": [second]},
        "recovery_journal_segment": {"first_sequence": 22, "path": "journal/0000000000000022.jsonl"},
    });
    files.add(format!("{generation}/manifest.json"), manifest.to_string());
    let session = json!({"id": id, "createdAt": MORNING, "updatedAt": MORNING + 9000, "title": "A red build", "tokenUsage": {"inputTokens": 2400, "cachedInputTokens": 2000, "outputTokens": 60}});
    let projection = json!({"snapshot": {"session": session, "history": {"entries": []}}});
    files.add(
        format!("{generation}/projection-state.json"),
        projection.to_string(),
    );
    files.add(
        format!("{generation}/checkpoint.json"),
        json!({"context": {"messages": []}}).to_string(),
    );
}

/// Returns the metadata of the session.
fn meta(id: &str, cwd: &str) -> Value {
    json!({"session_id": id, "start_time": iso(MORNING), "environment": {"working_directory": cwd}, "config": {"model_name": "devstral"}})
}
