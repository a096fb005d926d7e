//! Sessions of OpenHands: a file for each event.

use serde_json::{Value, json};

use super::made;
use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::phrase;
use crate::rng::Rng;

/// Creates a session with a condensation.
pub(super) fn session(rng: &mut Rng, cwd: &str) -> Made {
    let (id, call) = (rng.hex(32), format!("toolu_{}", rng.hex(8)));
    let mut clock = ManualClock::at(MORNING);
    let ids: Vec<String> = (0..7).map(|_| rng.uuid_v4()).collect();
    let events = [
        system_prompt(),
        message(("user", "user"), phrase::asked(rng)),
        action(&call, phrase::thought(rng)),
        observation(&call, &ids[2], &phrase::listing(rng, 2)),
        message(("agent", "assistant"), phrase::answered(rng)),
        condensation(&ids[1]),
        message(("user", "user"), phrase::asked(rng)),
    ];
    let folder = format!("conversations/{id}");
    let mut files = FileList::new();
    let main = format!("{folder}/base_state.json");
    files.add(&main, state(&id, cwd).to_string());
    for (nth, (kind, source, mut event)) in events.into_iter().enumerate() {
        event["id"] = json!(ids[nth]);
        event["timestamp"] = json!(clock.tick(1_000));
        event["source"] = json!(source);
        event["kind"] = json!(kind);
        let bytes = serde_json::to_vec_pretty(&event).unwrap_or_default();
        files.add(
            format!("{folder}/events/event-{nth:05}-{}.json", ids[nth]),
            bytes,
        );
    }
    made(&id, cwd, &main, files)
}

/// The kind of an event, its source, and its own members.
type Event = (&'static str, &'static str, Value);

/// Returns content that consists of a text.
fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Returns the event with the instructions of the agent.
fn system_prompt() -> Event {
    let more = json!({"system_prompt": {"type": "text", "text": "You are an agent."}, "tools": []});
    ("SystemPromptEvent", "agent", more)
}

/// Returns a message of a source in a role.
fn message((source, role): (&'static str, &str), words: &str) -> Event {
    let more = json!({"llm_message": {"role": role, "content": text(words)}});
    ("MessageEvent", source, more)
}

/// Returns a call of the terminal.
fn action(call: &str, thought: &str) -> Event {
    let arguments = "{\"command\":\"ls\"}";
    let more = json!({
        "thought": text("I look."), "reasoning_content": thought, "thinking_blocks": [],
        "action": {"kind": "TerminalAction", "command": "ls"}, "tool_name": "terminal", "tool_call_id": call,
        "tool_call": {"id": call, "name": "terminal", "arguments": arguments}, "llm_response_id": "r1",
    });
    ("ActionEvent", "agent", more)
}

/// Returns the result of a call.
fn observation(call: &str, action: &str, listing: &str) -> Event {
    let more = json!({
        "observation": {"kind": "TerminalObservation", "content": text(listing), "exit_code": 0},
        "action_id": action, "tool_name": "terminal", "tool_call_id": call,
    });
    ("ObservationEvent", "environment", more)
}

/// Returns a condensation that forgets an event.
fn condensation(forgotten: &str) -> Event {
    let more = json!({"forgotten_event_ids": [forgotten], "summary": "So far: a test was red.", "summary_offset": 1, "llm_response_id": "r2"});
    ("Condensation", "environment", more)
}

/// Returns the state of a conversation.
fn state(id: &str, cwd: &str) -> Value {
    json!({
        "id": id, "workspace": {"kind": "LocalWorkspace", "working_dir": cwd}, "agent": {"llm": {"model": "claude-sonnet-4"}},
        "stats": {"usage_to_metrics": {"agent": {"accumulated_cost": 0.01, "accumulated_token_usage": {"prompt_tokens": 1200, "completion_tokens": 30, "cache_read_tokens": 1000}}}},
    })
}
