//! One MyAgents session: its transcript, its attachment, its row in the index.

use serde_json::{Value, json};

use crate::clock::{MORNING, ManualClock};
use crate::files::{FileList, Made};
use crate::jsonl::JsonlLines;
use crate::make::merge;
use crate::phrase;
use crate::rng::Rng;

/// The generation of the program that wrote the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 0.1.4 to 0.1.10: its own ids besides those of the SDK.
    E1,
    /// 0.1.11 to about 0.2.13: one id for both.
    E2,
    /// 0.2.14 and later: origins, runtimes, configuration snapshots, intents.
    E3,
}

/// The properties of a session.
#[derive(Clone, Debug)]
pub struct MyAgentsSpec<'a> {
    /// The generation.
    pub era: Era,
    /// Id; `None` for a random one as in the generation.
    pub id: Option<&'a str>,
    /// The SDK's session, if it differs from the id.
    pub sdk: Option<&'a str>,
    /// The project folder.
    pub agent_dir: &'a str,
    /// Number of exchanges.
    pub turns: usize,
    /// The seed.
    pub seed: u64,
}

/// Prints an index like the program: two spaces, no newline at the end.
pub fn index(rows: &[Value]) -> Vec<u8> {
    serde_json::to_vec_pretty(rows).expect("values print")
}

/// Returns one session and its index row; the transcript is at `sessions/<id>.jsonl`.
pub fn session(spec: &MyAgentsSpec<'_>) -> (Made, Value) {
    let mut rng = Rng::for_part(spec.seed, "myagents");
    let mut clock = ManualClock::at(MORNING + 60_000 * (rng.below(40_000) as i64));
    let id = match (spec.id, spec.era) {
        (Some(id), _) => id.to_owned(),
        (None, Era::E1) => format!("session-{}-{}", clock.ms(), rng.base36(6)),
        (None, _) => rng.uuid_v4(),
    };
    let created = clock.iso();
    let title = phrase::title(&mut rng).to_owned();
    let mut files = FileList::new();
    let mut totals = [0usize; 2];
    let transcript = transcript(spec, &id, &mut rng, &mut clock, &mut files, &mut totals);
    let row = meta(spec, &id, &title, &created, &clock, totals);
    let main = format!("sessions/{id}.jsonl");
    files.add(main.clone(), transcript).modified = Some(clock.ms());
    (
        Made {
            id,
            project: spec.agent_dir.to_owned(),
            title: Some(title),
            main,
            files,
        },
        row,
    )
}

fn meta(
    spec: &MyAgentsSpec<'_>,
    id: &str,
    title: &str,
    created: &str,
    clock: &ManualClock,
    totals: [usize; 2],
) -> Value {
    let mut row = json!({
        "id": id, "agentDir": spec.agent_dir, "title": title, "createdAt": created, "lastActiveAt": clock.iso(),
    });
    if let Some(sdk) = spec.sdk {
        row["sdkSessionId"] = json!(sdk);
    } else if spec.era != Era::E1 {
        row["sdkSessionId"] = json!(id);
        row["unifiedSession"] = json!(true);
    }
    row["stats"] = json!({"messageCount": spec.turns, "totalInputTokens": totals[0], "totalOutputTokens": totals[1]});
    if spec.era == Era::E3 {
        merge(
            &mut row,
            json!({
                "origin": {"kind": "desktop", "surface": "chat"}, "lastMessagePreview": "the last thing that was asked",
                "titleSource": "auto", "titleGenAttempts": 1, "runtime": "builtin", "model": "claude-sonnet-4-5",
                "permissionMode": "default", "reasoningEffort": "default", "mcpEnabledServers": [],
                "configSnapshotAt": created, "unknownFutureKey": {"kept": true},
                "lastContextUsage": {"contextTokens": 20, "contextWindow": 1000, "usedPercent": 2, "source": "builtin"},
            }),
        );
    }
    row
}

fn transcript(
    spec: &MyAgentsSpec<'_>,
    id: &str,
    rng: &mut Rng,
    clock: &mut ManualClock,
    files: &mut FileList,
    totals: &mut [usize; 2],
) -> Vec<u8> {
    let mut lines = JsonlLines::new();
    for turn in 0..spec.turns {
        let mut asked = json!({
            "id": (2 * turn).to_string(), "role": "user", "content": phrase::asked(rng), "timestamp": clock.tick(30_000),
        });
        if turn == 1 {
            asked["attachments"] = attachments(id, rng, files);
        }
        if turn == 2 && spec.era != Era::E1 {
            asked["metadata"] =
                json!({"source": "telegram_private", "sourceId": "42", "senderName": "小王"});
        }
        lines.push(&asked);
        lines.push(&answer(spec.era, turn, rng, clock, totals));
    }
    lines.into_bytes()
}

fn answer(
    era: Era,
    turn: usize,
    rng: &mut Rng,
    clock: &mut ManualClock,
    totals: &mut [usize; 2],
) -> Value {
    let content = if turn.is_multiple_of(2) {
        phrase::answered(rng).to_owned()
    } else {
        blocks(rng).to_string()
    };
    let (input, output) = (rng.between(10, 900), rng.between(10, 900));
    totals[0] += input;
    totals[1] += output;
    let mut answer = json!({
        "id": (2 * turn + 1).to_string(), "role": "assistant", "content": content, "timestamp": clock.tick(9_000),
    });
    if era != Era::E1 {
        answer["sdkUuid"] = json!(rng.uuid_v4());
    }
    answer["usage"] =
        json!({"inputTokens": input, "outputTokens": output, "model": "claude-sonnet-4-5"});
    if turn % 2 == 1 || era == Era::E3 {
        answer["toolCount"] = json!(turn % 2);
        answer["durationMs"] = json!(rng.between(900, 90_000));
    }
    answer
}

fn blocks(rng: &mut Rng) -> Value {
    let call = format!("toolu_{}", rng.base36(24));
    let tool = json!({
        "id": call, "name": "Bash", "input": {"command": "ls"}, "streamIndex": 1, "inputJson": "{\"command\":\"ls\"}",
        "result": phrase::listing(rng, 4), "isLoading": false, "isError": false,
    });
    json!([
        {"type": "thinking", "thinking": phrase::thought(rng), "thinkingDurationMs": 1200, "isComplete": true},
        {"type": "tool_use", "tool": tool},
        {"type": "text", "text": phrase::answered(rng)},
    ])
}

/// Adds one picture to the files; gives how a prompt names it.
fn attachments(id: &str, rng: &mut Rng, files: &mut FileList) -> Value {
    let name = rng.uuid_v4();
    let path = format!("{id}/{name}.png");
    files.add(format!("attachments/{path}"), phrase::image(rng, 300));
    json!([{"id": name, "name": "截图.png", "mimeType": "image/png", "path": path}])
}

/// The prompts and answers of a Claude transcript as MyAgents writes them.
fn rows_of(claude: &Made) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for line in crate::jsonl::parse(claude.bytes()) {
        let content = &line["message"]["content"];
        let skipped = line["isSidechain"] == true
            || line["isMeta"] == true
            || line["isCompactSummary"] == true;
        match (line["type"].as_str(), content.as_str(), content[0]["text"].as_str()) {
            _ if skipped => {}
            (Some("user"), Some(text), _) => rows.push(
                json!({"id": rows.len().to_string(), "role": "user", "content": text, "timestamp": line["timestamp"]}),
            ),
            (Some("assistant"), _, Some(text)) => rows.push(json!({
                "id": rows.len().to_string(), "role": "assistant", "content": text, "timestamp": line["timestamp"],
                "sdkUuid": line["uuid"], "usage": {"inputTokens": 10, "outputTokens": 20},
            })),
            _ => {}
        }
    }
    rows
}

/// Returns the MyAgents side of a conversation whose other side is a Claude transcript: same texts,
/// the SDK's uuids.
///
/// With `id` the session has its own id and refers to the transcript, as in the first generation;
/// without, it shares the id.
pub fn mirror_of(claude: &Made, id: Option<&str>) -> (Made, Value) {
    let era = if id.is_some() { Era::E1 } else { Era::E2 };
    let own = id.unwrap_or(&claude.id);
    let rows = rows_of(claude);
    let turns = rows.iter().filter(|row| row["role"] == "user").count();
    let last = rows
        .last()
        .map_or(json!(null), |row| row["timestamp"].clone());
    let spec = MyAgentsSpec {
        era,
        id: Some(own),
        sdk: id.map(|_| claude.id.as_str()),
        agent_dir: &claude.project,
        turns,
        seed: 0,
    };
    let mut meta = meta(
        &spec,
        own,
        "Shared with the SDK",
        &iso_of(&rows),
        &ManualClock::at(MORNING),
        [10 * turns, 20 * turns],
    );
    meta["lastActiveAt"] = last;
    let mut lines = JsonlLines::new();
    rows.iter().for_each(|row| lines.push(row));
    let main = format!("sessions/{own}.jsonl");
    let mut files = FileList::new();
    files.add(main.clone(), lines.into_bytes()).modified = claude.files.list[0].modified;
    let title = Some("Shared with the SDK".to_owned());
    (
        Made {
            id: own.to_owned(),
            project: claude.project.clone(),
            title,
            main,
            files,
        },
        meta,
    )
}

fn iso_of(rows: &[Value]) -> String {
    rows.first()
        .and_then(|row| row["timestamp"].as_str())
        .unwrap_or_default()
        .to_owned()
}
