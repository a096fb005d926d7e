//! Fills files of version 3.

use serde_json::json;

use crate::jsonl;
use crate::make::pi::{PiFlavour, PiSession, PiShape, title_slot};

/// Adds the entries of the shape, after the header.
pub(crate) fn fill(session: &mut PiSession, shape: PiShape) {
    match shape {
        PiShape::EveryEntry => every_entry(session),
        PiShape::Branched => branched(session),
        PiShape::TwoCompactions => two_compactions(session),
        PiShape::Labels => labels(session),
        PiShape::Images => images(session),
        PiShape::Traps => traps(session),
        PiShape::Cycle => cycle(session),
        PiShape::SelfParent => {
            let (_, answer) = session.turn();
            let own = session.fresh_id();
            session.move_leaf(Some(&own));
            let message = session.user_message("I am my own parent");
            session.entry_with_id(&own, "message", json!({"message": message}));
            session.move_leaf(Some(&answer));
            session.turn();
        }
        PiShape::ForwardParents => forward_parents(session),
        PiShape::TwoRoots => {
            session.turn();
            session.move_leaf(None);
            session.turn();
        }
        PiShape::DuplicateIds => duplicate_ids(session),
        PiShape::Orphan => {
            session.turn();
            session.move_leaf(Some("ffffffff"));
            session.turn();
        }
        _ => {
            session.turn();
            session.tool_turn(3);
            session.turn();
        }
    }
}

/// Writes a newer oh-my-pi file, with the title line before the header.
pub(crate) fn title_slotted(session: &mut PiSession, title: Option<&str>) {
    let slot = title_slot(
        title.unwrap_or_default(),
        Some("user"),
        &session.clock.iso(),
    );
    session.text(&slot);
    session.header(
        Some(3),
        json!({"additionalDirectories": ["/home/dev/shared"], "previousSessionFiles": []}),
    );
    session.turn();
    session.entry(
        "title_change",
        json!({"title": title, "previousTitle": "", "source": "user", "trigger": "rename"}),
    );
    session.turn();
}

fn every_entry(session: &mut PiSession) {
    let (asked, _) = session.turn();
    session.tool_turn(2);
    session.entry(
        "custom",
        json!({"customType": "boswell-test", "data": {"count": 42}, "unknownKey": [null, true]}),
    );
    session.entry(
        "custom_message",
        json!({"customType": "skill", "content": "注入的内容", "display": true, "attribution": "agent"}),
    );
    session.entry("label", json!({"targetId": asked, "label": "checkpoint"}));
    session.entry(
        "branch_summary",
        json!({"fromId": asked, "summary": "what was tried", "details": {"readFiles": []}}),
    );
    let leaf = session.leaf.clone();
    session.move_leaf(leaf.as_deref());
    session.entry("session_info", json!({"name": "named in an entry"}));
    if session.flavour != PiFlavour::Pi {
        more_entries(session, &asked);
    }
    session.message(json!({"role": "developer", "content": "stay brief", "timestamp": 1}));
    session.message(json!({
        "role": "bashExecution", "command": "cargo test", "output": "ok\n", "exitCode": 0, "cancelled": false,
        "truncated": false, "excludeFromContext": true, "timestamp": 1,
    }));
    session.message(json!({
        "role": "pythonExecution", "code": "1+1", "output": "2", "cancelled": false, "truncated": false, "timestamp": 1,
    }));
    session.message(
        json!({"role": "fileMention", "files": [{"path": "a.txt", "content": "a\nb", "lineCount": 2}], "timestamp": 1}),
    );
    session.compaction(&asked, "everything so far");
    session.turn();
}

fn more_entries(session: &mut PiSession, asked: &str) {
    session.entry(
        "context_change",
        json!({"contextName": "prod", "tenant": "acme-corp", "namespace": "production"}),
    );
    session.entry("service_tier_change", json!({"serviceTier": null}));
    session.entry("ttsr_injection", json!({"injectedRules": ["no-unwrap"]}));
    session.entry(
        "mcp_tool_selection",
        json!({"selectedToolNames": ["search", "读取"]}),
    );
    session.entry(
        "session_init",
        json!({"systemPrompt": "You review.", "task": "review", "tools": ["read"]}),
    );
    session.entry("mode_change", json!({"mode": "plan", "data": {"step": 1}}));
    if session.flavour == PiFlavour::Omp {
        let usage = session.usage();
        let model = json!({
            "purpose": "title", "api": "anthropic-messages", "provider": "anthropic", "model": "claude-haiku-4-5",
            "usage": usage, "stopReason": "stop",
        });
        session.entry("model_usage", model);
        session.entry("title_change", json!({"title": "新标题", "source": "auto"}));
        session.entry("archive", json!({"targetId": asked, "archived": true}));
        session.entry("reset_boundary", json!({}));
        session.entry(
            "credential_pin",
            json!({"provider": "anthropic", "hash": "0123456789abcdef"}),
        );
    }
}

fn branched(session: &mut PiSession) {
    let (_, fork) = session.turn();
    let abandoned = session.tool_turn(1);
    session.move_leaf(Some(&fork));
    session.entry(
        "branch_summary",
        json!({"fromId": fork, "summary": "the first attempt read the wrong file"}),
    );
    session.turn();
    // The last line decides the leaf: it is on the abandoned branch again.
    session.move_leaf(abandoned.last().map(String::as_str));
    session.turn();
}

fn two_compactions(session: &mut PiSession) {
    session.turn();
    let (kept_first, _) = session.turn();
    session.turn();
    session.compaction(&kept_first, "first summary");
    session.turn();
    // The second compaction preserves entries from before the first one, which a reader that starts
    // at the first would lose.
    let kept = session.ids[session.ids.len() - 5].clone();
    session.turn();
    session.compaction(&kept, "second summary");
    session.turn();
}

fn labels(session: &mut PiSession) {
    let (first, answer) = session.turn();
    session.entry("label", json!({"targetId": first, "label": "start"}));
    let (second, _) = session.turn();
    session.entry("label", json!({"targetId": second, "label": "检查点"}));
    session.entry("label", json!({"targetId": first}));
    session.move_leaf(Some(&answer));
    session.turn();
    session.entry(
        "label",
        json!({"targetId": second, "label": "renamed from another branch"}),
    );
}

fn images(session: &mut PiSession) {
    for bytes in [12, 765, 768, 4_000] {
        let block = session.image_block(bytes);
        let content = json!([{"type": "text", "text": "look at this"}, block]);
        session.message(json!({"role": "user", "content": content, "timestamp": 1}));
        session.assistant("I see a chart.");
    }
}

fn traps(session: &mut PiSession) {
    let (_, parent) = session.turn();
    let lines = [
        r#"{"type":"custom","customType":"numbers","data":[0.000005,5e-7,1e+21,-0,9007199254740993,1.0],"id":"7ra90001","parentId":"PARENT","timestamp":"2026-10-05T08:00:00Z"}"#,
        r#"{"type":"message","id":"7ra90002","parentId":"7ra90001","timestamp":"2026-10-05T08:00:01.000Z","message":{"role":"user","content":"lone \ud83d surrogate","timestamp":1}}"#,
        r#"{"type":"message","id":"7ra90003","parentId":"7ra90002","timestamp":"2026-10-05T08:00:02.000Z","message":{"role":"user","role":"user","content":"first","content":"last wins","timestamp":1}}"#,
        "{\"type\":\"message\",\"id\":\"7ra90004\",\"parentId\":\"7ra90003\",\"timestamp\":\"2026-10-05T08:00:03.000Z\",\"message\":{\"role\":\"user\",\"content\":\"one\u{2028}line\u{85}only\",\"timestamp\":1}}",
        r#"{ "type" : "message", "__proto__": {"x":1}, "id" : "7ra90005", "parentId" : "7ra90004", "timestamp" : "2026-10-05T08:00:04.000Z", "message" : {"role":"user","content":"spaces between tokens","timestamp":1} }"#,
    ];
    for line in lines {
        session.text(&line.replace("PARENT", &parent));
    }
    session.move_leaf(Some("7ra90005"));
    session.turn();
}

fn cycle(session: &mut PiSession) {
    let (_, answer) = session.turn();
    let (a, b) = (session.fresh_id(), session.fresh_id());
    for (own, parent, text) in [
        (&a, &b, "my parent comes next"),
        (&b, &a, "my parent came before"),
    ] {
        session.move_leaf(Some(parent));
        let message = session.user_message(text);
        session.entry_with_id(own, "message", json!({"message": message}));
    }
    session.move_leaf(Some(&answer));
    session.turn();
}

fn forward_parents(session: &mut PiSession) {
    let (_, root) = session.turn();
    let ids: Vec<String> = (0..4).map(|_| session.fresh_id()).collect();
    for place in (0..ids.len()).rev() {
        session.move_leaf(Some(if place == 0 { &root } else { &ids[place - 1] }));
        let message = session.user_message("written before my parent");
        session.entry_with_id(&ids[place], "message", json!({"message": message}));
    }
    session.move_leaf(Some(&ids[3]));
    session.turn();
}

fn duplicate_ids(session: &mut PiSession) {
    let (asked, answer) = session.turn();
    let message = session.user_message("the same id, another text");
    session.entry_with_id(&asked, "message", json!({"message": message}));
    session.move_leaf(Some(&answer));
    session.turn();
    let bytes = session.clone().into_bytes();
    if let Some(last) = jsonl::lines(&bytes).last() {
        session.text(&String::from_utf8_lossy(last));
    }
}
