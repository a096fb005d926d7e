//! Transcripts of older clients, each with a property that readers often miss.

use serde_json::json;

use crate::files::FileList;
use crate::make::claude::{ClaudeSession, ClaudeShape};
use crate::phrase;

/// Fills a transcript as the client of the shape did; returns the title, if that client wrote one.
pub(crate) fn fill(
    session: &mut ClaudeSession,
    shape: ClaudeShape,
    folder: &str,
    side: &mut FileList,
) -> Option<String> {
    if shape == ClaudeShape::V2_1_17 {
        session.meta(
            "queue-operation",
            json!({"operation": "dequeue", "timestamp": session.clock.iso()}),
        );
    }
    let asked = phrase::asked(&mut session.rng);
    session.prompt(asked);
    session.parallel_calls(2);
    task(session, shape, folder, side);
    session.answer("done");
    session.turn();
    match shape {
        ClaudeShape::V1_0 => return Some(summarised(session, folder, side)),
        ClaudeShape::V2_1_17 => index(session, folder, side),
        ClaudeShape::V2_1_50 => progress(session),
        _ => {}
    }
    None
}

fn task(session: &mut ClaudeSession, shape: ClaudeShape, folder: &str, side: &mut FileList) {
    let input = json!({"description": "sub task", "prompt": "sub says hi", "subagent_type": "general-purpose"});
    let (call, block) = session.call("Task", input);
    let caller = session.response(&[block], "tool_use").remove(0);
    let (agent, path) = match shape {
        ClaudeShape::V2_0_76 => (session.rng.hex(7), folder.to_owned()),
        ClaudeShape::V2_1_17 => (
            format!("a{}", session.rng.hex(6)),
            format!("{folder}/{}/subagents", session.id),
        ),
        _ => (
            format!("a{}", session.rng.hex(16)),
            format!("{folder}/{}/subagents", session.id),
        ),
    };
    if shape == ClaudeShape::V1_0 {
        inline_sidechain(session);
    } else {
        let mut sub = session.subagent(&agent);
        sub.prompt("sub says hi");
        sub.answer("hi from the subagent");
        side.add(format!("{path}/agent-{agent}.jsonl"), sub.into_bytes())
            .mode = Some(0o600);
    }
    let content = json!([{"type": "text", "text": "hi from the subagent"}]);
    let mut more = json!({"content": content, "totalDurationMs": 74, "totalTokens": 10_792, "totalToolUseCount": 0});
    if shape != ClaudeShape::V1_0 {
        more["agentId"] = json!(agent);
    }
    session.result(&call, &caller, content, more);
}

fn inline_sidechain(session: &mut ClaudeSession) {
    let main = session.leaf.take();
    session.sidechain = true;
    session.prompt("sub says hi");
    session.answer("hi from the subagent");
    session.sidechain = false;
    session.leaf = main;
}

/// Compacts like 1.0, and writes the title where 1.0 did: here, and in the file of another session.
fn summarised(session: &mut ClaudeSession, folder: &str, side: &mut FileList) -> String {
    let title = "Looking at the build".to_owned();
    let leaf = session.leaf.clone();
    session.text_line(&json!({"type": "summary", "summary": title, "leafUuid": leaf}).to_string());
    let boundary = session.rng.uuid_v4();
    session.move_leaf(None);
    let body = json!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
    });
    let after =
        json!({"level": "info", "compactMetadata": {"trigger": "manual", "preTokens": 15_394}});
    session.chain_with(&boundary, json!({"logicalParentUuid": leaf}), body, after);
    let summary = json!({"role": "user", "content": "This session is being continued."});
    let body = json!({"type": "user", "message": summary, "isVisibleInTranscriptOnly": true, "isCompactSummary": true});
    session.chain(body, json!({}));
    session.turn();
    let stray = json!({"type": "summary", "summary": title, "leafUuid": session.leaf});
    side.add(
        format!("{folder}/{}.jsonl", session.rng.uuid_v4()),
        format!("{stray}\n"),
    )
    .mode = Some(0o600);
    title
}

/// Writes the index of 2.1.17, which is wrong even when new.
fn index(session: &mut ClaudeSession, folder: &str, side: &mut FileList) {
    let entry = json!({
        "sessionId": session.id, "fullPath": format!("/home/dev/.claude/{folder}/{}.jsonl", session.id),
        "fileMtime": session.clock.ms(), "firstPrompt": "No prompt", "messageCount": 3, "created": session.clock.iso(),
        "modified": session.clock.iso(), "gitBranch": "main", "projectPath": session.cwd, "isSidechain": false,
    });
    let mut deleted_session = entry.clone();
    deleted_session["sessionId"] = json!("00000000-0000-4000-8000-00000000dead");
    let index =
        json!({"version": 1, "entries": [entry, deleted_session], "originalPath": session.cwd});
    let text = serde_json::to_string_pretty(&index).expect("a value prints");
    side.add(format!("{folder}/sessions-index.json"), text);
}

fn progress(session: &mut ClaudeSession) {
    session.prompt("run it once more");
    let (call, block) = session.call("Bash", json!({"command": "make"}));
    session.response(&[block], "tool_use");
    let data = json!({"type": "bash_progress", "output": "compiling", "elapsedTimeSeconds": 2, "totalLines": 1});
    let body = json!({"type": "progress", "data": data, "toolUseID": "bash-progress-0", "parentToolUseID": call});
    let between = session.chain(body, json!({}));
    // The progress line is the parent of the result, so a reader that drops progress lines must
    // link across it.
    let more = json!({"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false});
    session.result(&call, &between, json!("ok"), more);
    session.answer("It builds.");
}
