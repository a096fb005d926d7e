//! Fills transcripts of the newest client.

use serde_json::{Value, json};

use crate::base64;
use crate::files::FileList;
use crate::make::claude::{ClaudeSession, ClaudeShape, backup_name};
use crate::phrase;

/// Fills a transcript according to its shape; returns the title, if it has one.
pub(crate) fn fill(
    session: &mut ClaudeSession,
    shape: ClaudeShape,
    folder: &str,
    side: &mut FileList,
) -> Option<String> {
    if shape == ClaudeShape::Traps {
        let hook = json!({"type": "hook_success", "hookName": "SessionStart", "hookEvent": "SessionStart", "exitCode": 0});
        session.attachment(hook, None);
    }
    if shape == ClaudeShape::OddMetadata {
        before_the_chain(session);
    }
    session.meta("mode", json!({"mode": "normal"}));
    let first = phrase::asked(&mut session.rng);
    let asked = session.prompt(first);
    session.announce();
    session.answer("Let me look.");
    match shape {
        ClaudeShape::ToolUse => tool_use(session),
        ClaudeShape::Branched => branched(session, &asked),
        ClaudeShape::Compacted => compacted(session),
        ClaudeShape::ExplicitLeaf => return explicit_leaf(session),
        ClaudeShape::Checkpointed => checkpointed(session, side),
        ClaudeShape::Subagents => subagents(session, folder, side),
        ClaudeShape::BigOutput => big_output(session, folder, side),
        ClaudeShape::OddMetadata => odd_metadata(session),
        ClaudeShape::Interrupted => return interrupted(session),
        ClaudeShape::Traps => traps(session),
        ClaudeShape::Titled => {
            session.turn();
            return Some(titled(session, folder, side, first));
        }
        _ => {
            session.turn();
            session.turn();
        }
    }
    session.close(first);
    None
}

fn tool_use(session: &mut ClaudeSession) {
    let image = base64::encode(&phrase::image(&mut session.rng, 900));
    let source = json!({"type": "base64", "media_type": "image/png", "data": image});
    session.prompt_blocks(
        json!([{"type": "text", "text": "看看这张图"}, {"type": "image", "source": source}]),
    );
    session.parallel_calls(3);
    session.answer("All three pass.");
    session.turn();
}

fn branched(session: &mut ClaudeSession, first: &str) {
    let (asked, fork) = session.turn();
    session.parallel_calls(1);
    session.answer("That was the wrong file.");
    session.move_leaf(Some(&fork));
    session.turn();
    session.move_leaf(Some(&asked));
    session.answer("A second answer to the same prompt.");
    session.move_leaf(Some(first));
    session.answer("The answer again, from the start.");
    session.turn();
}

fn compacted(session: &mut ClaudeSession) {
    session.turn();
    session.parallel_calls(2);
    let (_, preserved) = session.turn();
    let summary = session.rng.uuid_v4();
    let before = json!({"logicalParentUuid": session.leaf});
    let segment = json!({"headUuid": preserved, "anchorUuid": summary, "tailUuid": preserved});
    let messages = json!({"anchorUuid": summary, "uuids": [preserved], "allUuids": [preserved]});
    session.move_leaf(None);
    let boundary = session.rng.uuid_v4();
    let body = json!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
    });
    let after = json!({"level": "info", "compactMetadata": {
        "trigger": "manual", "preTokens": 4294, "durationMs": 76, "preservedSegment": segment,
        "preservedMessages": messages, "postTokens": 496, "cumulativeDroppedTokens": 3798,
    }});
    session.chain_with(&boundary, before, body, after);
    let text = "This session is being continued. 摘要：构建已修复。";
    let body = json!({
        "type": "user", "message": {"role": "user", "content": text}, "isVisibleInTranscriptOnly": true,
        "isCompactSummary": true,
    });
    session.chain_with(&summary, json!({}), body, json!({}));
    let said =
        |content: &str| json!({"type": "user", "message": {"role": "user", "content": content}});
    session.chain(
        said("Caveat: local commands follow."),
        json!({"isMeta": true}),
    );
    session.chain(said("<command-name>/compact</command-name>"), json!({}));
    session.chain(
        said("<local-command-stdout>Compacted</local-command-stdout>"),
        json!({}),
    );
    session.turn();
}

fn explicit_leaf(session: &mut ClaudeSession) -> Option<String> {
    let (_, fork) = session.turn();
    session.turn();
    let wanted = session.leaf.clone();
    session.move_leaf(Some(&fork));
    session.turn();
    session.meta("last-prompt", json!({"leafUuid": wanted, "explicit": true}));
    None
}

fn titled(session: &mut ClaudeSession, folder: &str, side: &mut FileList, first: &str) -> String {
    let title = phrase::title(&mut session.rng).to_owned();
    session.meta("ai-title", json!({"aiTitle": "A title by the model"}));
    session.meta("custom-title", json!({"customTitle": "An earlier title"}));
    session.meta("custom-title", json!({"customTitle": title}));
    session.meta("agent-name", json!({"agentName": title}));
    for tag in ["exp", "", "release"] {
        session.meta("tag", json!({"tag": tag}));
    }
    side.add(
        format!("{folder}/{}/custom-title.json", session.id),
        json!({"customTitle": title}).to_string(),
    );
    session.close(first);
    title
}

fn checkpointed(session: &mut ClaudeSession, side: &mut FileList) {
    let path = format!("{}/src/lib.rs", session.cwd);
    let history = format!("file-history/{}", session.id);
    let mut tracked = json!({});
    for version in 1..=2u32 {
        let asked = phrase::asked(&mut session.rng);
        let asked = session.prompt(asked);
        snapshot(session, &asked, &tracked);
        let edit = json!({"file_path": path, "old_string": format!("v{}", version - 1), "new_string": format!("v{version}")});
        let (id, block) = session.call("Edit", edit);
        let caller = session.response(&[block], "tool_use").remove(0);
        let name = backup_name(&path, version);
        let backup = json!({
            "backupFileName": name, "version": version, "backupTime": session.clock.iso(),
            "realParentDir": format!("{}/src", session.cwd),
        });
        let delta = json!({
            "type": "file-history-delta", "messageId": caller, "snapshotMessageId": asked, "trackingPath": "src/lib.rs",
            "backup": backup, "timestamp": session.clock.iso(),
        });
        session.text_line(&delta.to_string());
        side.add(format!("{history}/{name}"), format!("v{}\n", version - 1));
        tracked["src/lib.rs"] = backup;
        session.result(
            &id,
            &caller,
            json!("The file was updated."),
            json!({"filePath": path, "oldString": "v"}),
        );
        session.answer("Edited.");
    }
    // A file that did not exist before: restoring means deleting it.
    tracked["src/new.rs"] =
        json!({"backupFileName": null, "version": 1, "backupTime": session.clock.iso()});
    let asked = session.prompt("and now?");
    snapshot(session, &asked, &tracked);
    session.answer("Nothing more.");
}

/// The line that says which copies restore the files as they were when `asked` was sent.
fn snapshot(session: &mut ClaudeSession, asked: &str, tracked: &Value) {
    let stamp = session.clock.iso();
    let snapshot = json!({"messageId": asked, "trackedFileBackups": tracked, "timestamp": stamp});
    let line = json!({"type": "file-history-snapshot", "messageId": asked, "snapshot": snapshot, "isSnapshotUpdate": false});
    session.text_line(&line.to_string());
}

/// A subagent of the subagent `sub`: the call that starts it, and its transcript.
fn nested_subagent(sub: &mut ClaudeSession, id: &str) -> (String, ClaudeSession) {
    let prompt = json!({"description": "inner", "prompt": "看看里面", "subagent_type": "Explore"});
    let (call, block) = sub.call("Agent", prompt);
    let caller = sub.response(&[block], "tool_use").remove(0);
    let mut nested = sub.subagent(id);
    nested.prompt("看看里面");
    nested.answer("里面什么都没有。");
    let content = json!([{"type": "text", "text": "里面什么都没有。"}]);
    sub.result(&call, &caller, content, json!({}));
    (call, nested)
}

fn subagents(session: &mut ClaudeSession, folder: &str, side: &mut FileList) {
    let outer = format!("a{}", session.rng.hex(16));
    let inner = format!("a{}", session.rng.hex(16));
    let prompt = json!({"description": "outer", "prompt": "look around", "subagent_type": "general-purpose"});
    let (outer_call, block) = session.call("Agent", prompt);
    let caller = session.response(&[block], "tool_use").remove(0);
    let mut sub = session.subagent(&outer);
    sub.prompt("look around");
    let (inner_call, nested) = nested_subagent(&mut sub, &inner);
    sub.answer("sub result");
    let content = json!([{"type": "text", "text": "sub result"}]);
    let more = json!({"status": "completed", "prompt": "look around", "agentId": outer, "content": content, "totalTokens": 2844});
    session.result(&outer_call, &caller, content, more);
    session.answer("The subagent found nothing.");
    let outer_meta = about_subagent("general-purpose", &outer_call, 1);
    let mut inner_meta = about_subagent("Explore", &inner_call, 2);
    inner_meta["parentAgentId"] = json!(outer);
    let below = format!("{folder}/{}/subagents", session.id);
    for (agent, log, meta) in [(&outer, sub, outer_meta), (&inner, nested, inner_meta)] {
        side.add(format!("{below}/agent-{agent}.jsonl"), log.into_bytes())
            .mode = Some(0o600);
        side.add(format!("{below}/agent-{agent}.meta.json"), meta.to_string());
    }
}

fn about_subagent(kind: &str, call: &str, depth: u32) -> Value {
    json!({"agentType": kind, "isBuiltIn": true, "description": "d", "toolUseId": call, "spawnDepth": depth, "finished": true})
}

fn big_output(session: &mut ClaudeSession, folder: &str, side: &mut FileList) {
    let (id, block) = session.call("Bash", json!({"command": "seq 1 60000"}));
    let caller = session.response(&[block], "tool_use").remove(0);
    let whole: String = (1..=60_000).map(|n| format!("{n}\n")).collect();
    let below = format!(
        "{folder}/{}/tool-results/{}.txt",
        session.id,
        session.rng.base36(9)
    );
    let path = format!("/home/dev/.claude/{below}");
    let preview = format!(
        "<persisted-output>\nFull output saved to: {path}\n\n{}\n</persisted-output>",
        &whole[..2_000]
    );
    let more = json!({
        "stdout": whole[..30_000], "stderr": "", "interrupted": false, "isImage": false,
        "persistedOutputPath": path, "persistedOutputSize": whole.len(),
    });
    session.result(&id, &caller, json!(preview), more);
    side.add(below, whole);
    session.answer("The last number is 60000.");
}

fn interrupted(session: &mut ClaudeSession) -> Option<String> {
    session.prompt("and this?");
    let message = json!({
        "id": session.rng.uuid_v4(), "model": "<synthetic>", "role": "assistant", "stop_reason": "stop_sequence",
        "type": "message", "usage": {"input_tokens": 0, "output_tokens": 0},
        "content": [{"type": "text", "text": "API Error: 529 overloaded"}],
    });
    let body = json!({"type": "assistant", "message": message, "isApiErrorMessage": true, "error": "overloaded"});
    session.chain(body, json!({}));
    session.prompt("again");
    let (_, block) = session.call("Bash", json!({"command": "sleep 600"}));
    session.response(&[block], "tool_use");
    None
}

fn traps(session: &mut ClaudeSession) {
    session.prompt("one\u{2028}line\u{85}only, with \u{7}bell");
    session.answer("</script> \u{1b}[31mred\u{1b}[0m");
    let uuid = "not-a-uuid-but-an-id";
    let parent: Value = json!(session.leaf);
    let tail = format!(
        r#""sessionId":"{}","timestamp":"2026-10-05T08:00:01.000Z""#,
        session.id
    );
    session.text_line(&format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"lone \ud83d surrogate"}},"uuid":"{uuid}",{tail}}}"#
    ));
    session.text_line(&format!(
        r#"{{"parentUuid":"{uuid}","isSidechain":false,"type":"assistant","type":"assistant","message":{{"role":"assistant","content":"first","content":"last wins"}},"uuid":"doubled-keys","cost":[0.000005,5e-7,1e+21,1.0],{tail}}}"#
    ));
    session.move_leaf(Some("doubled-keys"));
    session.turn();
}

fn before_the_chain(session: &mut ClaudeSession) {
    let link =
        json!({"prNumber": 7, "prUrl": "https://example.com/pull/7", "prRepository": "dev/demo"});
    session.meta("pr-link", link);
    let queued = json!({"operation": "enqueue", "timestamp": session.clock.iso(), "content": "why is the build red?"});
    session.meta("queue-operation", queued);
    session.meta(
        "queue-operation",
        json!({"operation": "dequeue", "timestamp": session.clock.iso()}),
    );
}

fn odd_metadata(session: &mut ClaudeSession) {
    let tree = json!({"originalCwd": session.cwd, "worktreePath": format!("{}-wt", session.cwd), "worktreeBranch": "wt"});
    session.meta("worktree-state", json!({"worktreeSession": tree}));
    session.turn();
    session.meta("worktree-state", json!({"worktreeSession": null}));
    session.meta("relocated", json!({"relocatedCwd": session.cwd}));
    session.meta("tools-used", json!({"tools": ["Bash", "Read"]}));
    session.meta(
        "from-the-future",
        json!({"nested": {"deep": [1, 2, {"x": null}]}}),
    );
    session.chain(
        json!({"type": "system", "subtype": "turn_duration", "durationMs": 1147}),
        json!({"isMeta": false}),
    );
    session.turn();
}
