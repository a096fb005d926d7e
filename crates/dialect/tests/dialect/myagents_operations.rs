//! Logs of operations of MyAgents: the fold against a plain one that copies the state before every
//! batch, and what is handed on of damaged logs.

use boswell_dialect::Dialect as _;
use boswell_dialect::myagents::MyAgents;
use boswell_model::{ErrorKind, Lines, Result};
use boswell_testkit::make::myagents::{OperationsLog, sealed};
use boswell_testkit::rng::Rng;
use serde_json::{Value, json};

const KEY: &str = "sessions-v2/s.jsonl";

/// Returns the records that the dialect hands on of a log.
fn folded(log: &[u8]) -> Result<Vec<Value>> {
    let fold = MyAgents.powers().fold.unwrap();
    let document = fold.fold(KEY, &mut |sink| {
        let mut lines = Lines::new(0, 1);
        lines.push(log, sink);
        lines.finish(sink);
        Ok(())
    })?;
    let document: Value = serde_json::from_slice(&document).unwrap();
    Ok(document["messages"].as_array().unwrap().clone())
}

/// What operations leave, computed as plainly as possible.
#[derive(Debug, Clone, Default)]
struct Plain {
    messages: Vec<Value>,
    turns: Vec<Value>,
}

impl Plain {
    fn apply(&mut self, operation: &Value) -> Option<()> {
        let text = |key: &str| operation[key].as_str();
        let ids = |key: &str| operation[key].as_array().cloned();
        match text("kind")? {
            "message-create" => {
                let message = &operation["message"];
                let is_new = self.messages.iter().all(|it| it["id"] != message["id"]);
                is_new.then(|| self.messages.push(message.clone()))
            }
            "messages-remove" => {
                let ids = ids("messageIds")?;
                self.messages.retain(|it| !ids.contains(&it["id"]));
                self.turns
                    .retain(|it| !ids.contains(&it["rootUserMessageId"]));
                Some(())
            }
            "turn-update" => {
                let turn = &operation["turn"];
                match self.turns.iter_mut().find(|it| it["id"] == turn["id"]) {
                    Some(known) => *known = turn.clone(),
                    None => self.turns.push(turn.clone()),
                }
                Some(())
            }
            kind => {
                let id = &operation["messageId"];
                let message = self.messages.iter_mut().find(|it| it["id"] == *id)?;
                change(message, kind, operation)
            }
        }
    }
}

fn merge(into: &mut Value, details: &Value) -> Option<()> {
    let into = into.as_object_mut()?;
    for (key, value) in details.as_object()? {
        into.insert(key.clone(), value.clone());
    }
    Some(())
}

fn upsert(list: &mut Vec<Value>, item: &Value) {
    match list.iter_mut().find(|it| it["id"] == item["id"]) {
        Some(known) => *known = item.clone(),
        None => list.push(item.clone()),
    }
}

fn change(message: &mut Value, kind: &str, operation: &Value) -> Option<()> {
    match kind {
        "message-update" => {
            merge(message, &operation["details"])?;
            for key in operation["clear"].as_array().into_iter().flatten() {
                message.as_object_mut()?.shift_remove(key.as_str()?);
            }
            Some(())
        }
        "content-confirm" => {
            message["content"] = operation["content"].clone();
            Some(())
        }
        "block-upsert" => {
            if message["content"] == "" {
                message["content"] = json!([]);
            }
            upsert(message["content"].as_array_mut()?, &operation["block"]);
            Some(())
        }
        "blocks-remove" => {
            let ids = operation["blockIds"].as_array()?;
            let blocks = message["content"].as_array_mut()?;
            blocks.retain(|it| !ids.contains(&it["id"]));
            Some(())
        }
        "text-append" if operation.get("blockId").is_none() => {
            append(message.get_mut("content")?, operation)
        }
        _ => {
            let blocks = message["content"].as_array_mut()?;
            let block = blocks
                .iter_mut()
                .find(|it| it["id"] == operation["blockId"])?;
            change_block(block, kind, operation)
        }
    }
}

fn change_block(block: &mut Value, kind: &str, operation: &Value) -> Option<()> {
    let field = operation["field"].as_str().unwrap_or_default().to_owned();
    let on_block = matches!(field.as_str(), "text" | "thinking") || operation["target"] == "block";
    let target = match (on_block, operation.get("subagentToolId")) {
        (true, _) => block,
        (false, None) => block.get_mut("tool")?,
        (false, Some(id)) => {
            let calls = block.get_mut("tool")?.get_mut("subagentCalls")?;
            calls
                .as_array_mut()?
                .iter_mut()
                .find(|it| it["id"] == *id)?
        }
    };
    match kind {
        "block-update" => merge(target, &operation["details"]),
        "subagent-upsert" => {
            let tool = target.as_object_mut()?;
            let calls = tool.entry("subagentCalls").or_insert(json!([]));
            upsert(calls.as_array_mut()?, &operation["call"]);
            Some(())
        }
        "subagents-remove" => {
            let ids = operation["toolIds"].as_array()?;
            let calls = target.get_mut("subagentCalls")?.as_array_mut()?;
            calls.retain(|it| !ids.contains(&it["id"]));
            Some(())
        }
        _ => append(
            target.as_object_mut()?.entry(field).or_insert(json!("")),
            operation,
        ),
    }
}

fn append(field: &mut Value, operation: &Value) -> Option<()> {
    let text = field.as_str()?;
    let at = text.encode_utf16().count() as u64;
    let more = operation["text"].as_str()?;
    (operation["offset"] == at).then_some(())?;
    *field = json!(format!("{text}{more}"));
    Some(())
}

/// Makes operations that fit the state, and now and then one that does not.
struct Maker {
    rng: Rng,
    plain: Plain,
}

impl Maker {
    fn word(&mut self) -> String {
        self.rng
            .word(&["a", "", "🔑x", "\"q\"\n", "字", "\\u0041"])
            .to_owned()
    }

    fn message(&mut self) -> Value {
        let number = self.rng.below(6);
        json!(format!("m{number}"))
    }

    fn offset(&mut self, field: Option<&Value>) -> usize {
        let end = field.and_then(Value::as_str).unwrap_or_default();
        let wrong = usize::from(self.rng.below(40) == 0);
        end.encode_utf16().count() + wrong
    }

    fn create(&mut self, id: &Value) -> Value {
        let role = self.rng.word(&["user", "assistant"]).to_owned();
        let content = match self.rng.below(3) {
            0 => json!(self.word()),
            1 => json!(""),
            _ => json!([{"id": "p0", "type": "text", "text": self.word()}]),
        };
        json!({"kind": "message-create", "message": {
            "id": id, "role": role, "timestamp": "2030-01-01T00:00:00.000Z", "content": content,
            "odd": {"k": [1, 2.5]},
        }})
    }

    fn operation(&mut self) -> Value {
        let id = self.message();
        let known = self
            .plain
            .messages
            .iter()
            .find(|it| it["id"] == id)
            .cloned();
        let Some(known) = known.filter(|_| self.rng.below(25) > 0) else {
            return match self.rng.below(8) {
                0 => json!({"kind": "messages-remove", "messageIds": [id, "never"]}),
                1 => json!({"kind": "turn-update", "turn": {"id": id, "rootUserMessageId": id,
                    "startedAt": "t", "status": "running"}}),
                _ => self.create(&id),
            };
        };
        let block = json!(format!("p{}", self.rng.below(3)));
        let blocks = known["content"].as_array().cloned().unwrap_or_default();
        let at = blocks.iter().find(|it| it["id"] == block).cloned();
        match self.rng.below(12) {
            0 => json!({"kind": "messages-remove", "messageIds": [id]}),
            1 => json!({"kind": "message-update", "messageId": id,
                "details": {"turnId": "t", "durationMs": 7}, "clear": ["turnId"]}),
            2 => json!({"kind": "content-confirm", "messageId": id, "content": self.word()}),
            3 => json!({"kind": "blocks-remove", "messageId": id, "blockIds": [block]}),
            4 | 5 => self.upsert(&id, &block),
            6 if at.is_none() => {
                let offset = self.offset(known.get("content"));
                json!({"kind": "text-append", "messageId": id, "field": "text", "offset": offset,
                    "text": self.word()})
            }
            _ => match at {
                Some(at) => self.of_block(&id, &at),
                None => self.upsert(&id, &block),
            },
        }
    }

    fn upsert(&mut self, id: &Value, block: &Value) -> Value {
        let block = match self.rng.below(2) {
            0 => json!({"id": block, "type": "thinking", "thinking": self.word()}),
            _ => json!({"id": block, "type": "tool_use", "tool": {"id": "c", "name": "Task",
                "input": {}, "subagentCalls": [{"id": "n0", "name": "Read"}]}}),
        };
        json!({"kind": "block-upsert", "messageId": id, "block": block})
    }

    fn of_block(&mut self, id: &Value, at: &Value) -> Value {
        let (block, nested) = (&at["id"], format!("n{}", self.rng.below(2)));
        if at.get("tool").is_none() {
            let field = if at["type"] == "text" {
                "text"
            } else {
                "thinking"
            };
            let offset = self.offset(at.get(field));
            return json!({"kind": "text-append", "messageId": id, "blockId": block, "field": field,
                "offset": offset, "text": self.word()});
        }
        let call = at["tool"]["subagentCalls"].as_array();
        let call = call.and_then(|calls| calls.iter().find(|it| it["id"] == *nested));
        match (self.rng.below(5), call) {
            (0, _) => json!({"kind": "subagent-upsert", "messageId": id, "blockId": block,
                "call": {"id": nested, "name": "Grep", "input": {}}}),
            (1, _) => json!({"kind": "subagents-remove", "messageId": id, "blockId": block,
                "toolIds": [nested]}),
            (2, Some(_)) => json!({"kind": "block-update", "messageId": id, "blockId": block,
                "target": "tool", "subagentToolId": nested, "details": {"isLoading": false}}),
            (3, Some(call)) => {
                let offset = self.offset(call.clone().get("result"));
                json!({"kind": "text-append", "messageId": id, "blockId": block,
                    "subagentToolId": nested, "field": "result", "offset": offset,
                    "text": self.word()})
            }
            _ => {
                let offset = self.offset(at["tool"].get("inputJson"));
                json!({"kind": "text-append", "messageId": id, "blockId": block,
                    "field": "inputJson", "offset": offset, "text": self.word()})
            }
        }
    }
}

#[test]
fn the_fold_leaves_what_a_plain_fold_leaves() {
    let (mut broken, mut whole, mut operations) = (0, 0, 0);
    for seed in 0..400 {
        let mut maker = Maker {
            rng: Rng::new(seed),
            plain: Plain::default(),
        };
        let mut log = OperationsLog::new("s");
        let mut fault = None;
        for line in 2..30 {
            let before = maker.plain.clone();
            let (mut batch, mut failed) = (Vec::new(), None);
            for _ in 0..maker.rng.between(0, 6) {
                let operation = maker.operation();
                // Logs with an even seed are good from end to end.
                if seed % 2 == 0 && maker.plain.clone().apply(&operation).is_none() {
                    continue;
                }
                batch.push(operation);
                let applied = batch.last().and_then(|it| maker.plain.apply(it));
                if failed.is_none() && applied.is_none() {
                    failed = Some(batch.len() as u64);
                }
            }
            operations += batch.len();
            log = log.batch(batch);
            if let Some(number) = failed {
                maker.plain = before;
                fault = Some((line, number));
                break;
            }
        }
        // Nothing behind a bad batch counts, also if it would fit.
        let log = log.batch(Vec::new()).into_bytes();
        let found = folded(&log).unwrap();
        let (about, messages) = found.split_first().unwrap();
        assert_eq!(messages, maker.plain.messages, "seed {seed}");
        assert_eq!(about["turns"], json!(maker.plain.turns), "seed {seed}");
        let place = about["fault"]["line"].as_u64();
        let place = place.zip(about["fault"]["operation"].as_u64());
        assert_eq!(place, fault, "seed {seed}");
        if fault.is_some() {
            broken += 1;
        } else {
            whole += 1;
        }
    }
    assert!(
        broken > 50 && whole > 50 && operations > 5000,
        "{broken} {whole} {operations}"
    );
}

fn message(id: &str, text: &str) -> Value {
    json!({"kind": "message-create", "message": {"id": id, "role": "user",
        "timestamp": "2030-01-01T00:00:00.000Z", "content": text}})
}

#[test]
fn each_kind_of_damage_ends_the_conversation_at_its_place_or_refuses_the_file() {
    let good = || OperationsLog::new("s").batch(vec![message("a", "kept")]);
    let sealed_body = |body: Value| sealed(&body.to_string());
    let delta = |operations: Value| {
        sealed_body(
            json!({"id": "x", "mode": "delta", "fromRevision": 2, "revision": 2,
            "operations": operations}),
        )
    };
    let cases: [(&[u8], &str); 8] = [
        (b"\n", "not a batch"),
        (b"{\"batch\":{},\"checksum\":\"0\"}\n", "no checksum"),
        (&delta(json!("none")), "`operations`"),
        (&delta(json!([{"kind": "fly"}])), "unknown kind `fly`"),
        (&delta(json!([message("a", "again")])), "same id"),
        (
            &delta(json!([{"kind": "message-update", "messageId": "a", "details": {"hue": 1}}])),
            "member `hue`",
        ),
        (
            &sealed_body(
                json!({"id": "x", "mode": "delta", "fromRevision": 4, "revision": 4,
                "operations": []}),
            ),
            "revision does not follow",
        ),
        (&sealed("{\"id\":"), "not JSON"),
    ];
    for (line, why) in cases {
        let found = folded(&good().raw(line).batch(Vec::new()).into_bytes()).unwrap();
        let about = &found[0];
        assert_eq!(found.len(), 2, "{why}");
        assert_eq!(
            (&about["tail"], &about["fault"]["line"]),
            (&json!("invalid"), &json!(3))
        );
        let said = about["fault"]["why"].as_str().unwrap();
        assert!(said.contains(why), "{said}: {why}");
    }
    let torn = folded(&good().raw(b"{\"batch\":").into_bytes()).unwrap();
    assert_eq!((torn.len(), &torn[0]["tail"]), (2, &json!("incomplete")));
    for refused in [
        "",
        "{}\n",
        "{\"kind\":\"session-transcript\",\"version\":3}\n",
        "no\n",
    ] {
        let error = folded(refused.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{refused}");
    }
    let other = OperationsLog::new("other").into_bytes();
    assert_eq!(folded(&other).unwrap_err().kind(), ErrorKind::Damaged);
}

#[test]
fn a_line_of_more_than_8_mib_ends_the_conversation() {
    let long = "x".repeat(8 << 20);
    let log = OperationsLog::new("s")
        .batch(vec![message("a", "kept")])
        .batch(vec![message("b", &long)]);
    let found = folded(&log.into_bytes()).unwrap();
    assert_eq!((found.len(), &found[0]["tail"]), (2, &json!("invalid")));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time is what is tested")]
fn the_cost_of_a_fold_grows_with_the_log_and_not_with_its_square() {
    let cost = |batches: usize| {
        let start = json!({"kind": "block-upsert", "messageId": "a",
            "block": {"id": "p", "type": "text", "text": ""}});
        let log = OperationsLog::new("s").batch(vec![message("a", ""), start]);
        let log = (0..batches).fold(log, |log, at| {
            log.batch(vec![
                json!({"kind": "text-append", "messageId": "a", "blockId": "p",
                "field": "text", "offset": at * 20, "text": "twenty characters ok"}),
            ])
        });
        let log = log.into_bytes();
        let run = || {
            let begun = std::time::Instant::now();
            assert_eq!(folded(&log).unwrap().len(), 2);
            begun.elapsed().as_secs_f64()
        };
        // The fastest of three, because other programs run beside it.
        run().min(run()).min(run())
    };
    let (one, eight) = (cost(4_000), cost(32_000));
    // A fold that copies the growing text with each batch takes 64 times as long.
    assert!(eight < one * 24.0, "{one} s, then {eight} s");
}
