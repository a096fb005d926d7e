//! Versions of the format before and after 3.

use serde_json::json;

use crate::make::pi::PiSession;
use crate::phrase;

/// Writes a file of version 1: no version, no ids, compactions that refer by index.
pub(crate) fn v1(session: &mut PiSession) {
    session.header(
        None,
        json!({"provider": "anthropic", "modelId": "claude-sonnet-4-5", "thinkingLevel": "off"}),
    );
    for number in 0..6 {
        let asked = phrase::asked(&mut session.rng);
        let asked = session.user_message(asked);
        session.bare_entry("message", json!({"message": asked}));
        if number == 1 {
            session.bare_entry("thinking_level_change", json!({"thinkingLevel": "minimal"}));
            session.bare_entry(
                "model_change",
                json!({"provider": "anthropic", "modelId": "claude-opus-4-5"}),
            );
        }
        let text = phrase::answered(&mut session.rng);
        let answer = session.assistant_message(json!([{"type": "text", "text": text}]), "stop");
        session.bare_entry("message", json!({"message": answer}));
        // Index 0 is the header; the preserved part begins with the last prompt.
        if number == 3 {
            let kept = session.len() - 2;
            let fields = json!({"summary": "# Context Checkpoint", "firstKeptEntryIndex": kept, "tokensBefore": 175_004});
            session.bare_entry("compaction", fields);
        }
    }
    let run = json!({
        "role": "bashExecution", "command": "ls", "output": "AGENTS.md\n", "exitCode": 0, "cancelled": false,
        "truncated": false, "timestamp": session.clock.ms(),
    });
    session.bare_entry("message", json!({"message": run}));
    let mut aborted = session.assistant_message(json!([]), "aborted");
    aborted["errorMessage"] = json!("Request was aborted.");
    session.bare_entry("message", json!({"message": aborted}));
}

/// Writes a file of version 2, in which messages of extensions have the role `hookMessage`.
pub(crate) fn v2(session: &mut PiSession) {
    session.header(Some(2), json!({}));
    session.turn();
    let hook = json!({
        "role": "hookMessage", "customType": "lint", "content": "two warnings", "display": true,
        "timestamp": session.clock.ms(),
    });
    session.message(hook);
    session.turn();
}

/// Writes a file of an unknown version, with unknown entry types.
pub(crate) fn newer(session: &mut PiSession, version: u32) {
    session.header(Some(version), json!({"futureField": {"nested": [1, 2, 3]}}));
    session.turn();
    session.entry(
        "tool_execution_started",
        json!({"toolCallId": "toolu_1", "toolName": "bash"}),
    );
    session.entry(
        "tool_execution_settled",
        json!({"toolCallId": "toolu_1", "outcome": "ok"}),
    );
    if version > 4 {
        session.entry(
            "hologram",
            json!({"depth": 3, "message": {"role": "oracle", "content": "?"}}),
        );
        session.entry(
            "message",
            json!({"message": {"role": "oracle", "content": [{"type": "smell", "data": "rose"}]}}),
        );
    }
    session.turn();
}
