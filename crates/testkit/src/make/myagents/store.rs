//! MyAgents stores in each state that the program leaves, also after a crash.

use serde_json::{Value, json};

use crate::files::Batch;
use crate::jsonl;
use crate::make::myagents::{Era, MyAgentsSpec, OperationsLog, create, index, session};

/// The state of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MyAgentsShape {
    /// Generation 1: its own ids, besides those of the SDK.
    E1,
    /// Generation 2: unified ids.
    E2,
    /// Generation 3: everything that the newest version writes.
    E3,
    /// Generation 4: transcripts are logs of operations.
    E4,
    /// One session is still a whole `.json` file.
    LegacyJson,
    /// One session has both files; the `.jsonl` counts.
    BothPresent,
    /// One session has an empty `.jsonl` next to its `.json`.
    EmptyWithLegacy,
    /// The index begins with a byte order mark.
    BomIndex,
    /// The index is truncated inside its first object.
    IndexTruncated,
    /// The index contains `null` among its rows.
    IndexWithNull,
    /// The index is truncated inside its last row.
    IndexCutInRow,
    /// There is no index.
    IndexMissing,
    /// The index is corrupt, and there is a newer, valid `.tmp`.
    TmpNewer,
    /// The intent of a rewind is recorded, and nothing was truncated yet.
    IntentBefore,
    /// The intent of a rewind is recorded, and the transcript is already truncated.
    IntentAfter,
    /// A row that is hidden until its first turn.
    Prepared,
    /// Ids of tabs and of scheduled tasks.
    OddIds,
    /// A transcript without a row, and a row without a transcript.
    Unmatched,
    /// A transcript with a broken row in the middle and a torn one at the end.
    TornTranscript,
}

impl MyAgentsShape {
    /// Every shape.
    pub const ALL: &'static [MyAgentsShape] = &[
        MyAgentsShape::E1,
        MyAgentsShape::E2,
        MyAgentsShape::E3,
        MyAgentsShape::E4,
        MyAgentsShape::LegacyJson,
        MyAgentsShape::BothPresent,
        MyAgentsShape::EmptyWithLegacy,
        MyAgentsShape::BomIndex,
        MyAgentsShape::IndexTruncated,
        MyAgentsShape::IndexWithNull,
        MyAgentsShape::IndexCutInRow,
        MyAgentsShape::IndexMissing,
        MyAgentsShape::TmpNewer,
        MyAgentsShape::IntentBefore,
        MyAgentsShape::IntentAfter,
        MyAgentsShape::Prepared,
        MyAgentsShape::OddIds,
        MyAgentsShape::Unmatched,
        MyAgentsShape::TornTranscript,
    ];

    fn era(self) -> Era {
        match self {
            MyAgentsShape::E1 => Era::E1,
            MyAgentsShape::E2 | MyAgentsShape::LegacyJson | MyAgentsShape::BothPresent => Era::E2,
            _ => Era::E3,
        }
    }
}

/// Returns a store of three sessions in this state.
pub fn store(shape: MyAgentsShape, seed: u64) -> Batch {
    let mut batch = Batch::default();
    let mut rows = Vec::new();
    let ids: [Option<&str>; 3] = match shape {
        MyAgentsShape::OddIds => [
            Some("pending-tab-7"),
            Some("cron-standalone-0d9f3a52-7a52-4c4e-9d0b-0b9f1b1c2d3e"),
            Some("cron-im-1"),
        ],
        _ => [None; 3],
    };
    for (number, id) in ids.into_iter().enumerate() {
        let seed = seed.wrapping_mul(31).wrapping_add(number as u64);
        let sdk = (shape == MyAgentsShape::E1 && number == 0)
            .then_some("5d2c1f6e-3333-4b1e-8f8e-111111111111");
        let agent_dir = [
            "/home/dev/proj/demo",
            "/home/dev/proj/演示",
            "C:\\Users\\dev\\demo",
        ][number];
        let (made, row) = session(&MyAgentsSpec {
            era: shape.era(),
            id,
            sdk,
            agent_dir,
            turns: 3 + number,
            seed,
        });
        batch.sessions.push(made);
        rows.push(row);
    }
    state(shape, &mut batch, &mut rows);
    batch
}

fn state(shape: MyAgentsShape, batch: &mut Batch, rows: &mut Vec<Value>) {
    match shape {
        MyAgentsShape::LegacyJson | MyAgentsShape::BothPresent | MyAgentsShape::EmptyWithLegacy => {
            legacy(shape, batch)
        }
        MyAgentsShape::E4 => operations(batch, rows),
        MyAgentsShape::IntentBefore | MyAgentsShape::IntentAfter => {
            intent(shape, batch, &mut rows[0])
        }
        MyAgentsShape::Prepared => {
            rows[0]["materializationState"] = json!("prepared");
            rows[0]["materializationSourceSessionId"] = json!("pending-tab-1");
            rows[0]["title"] = json!("New Chat");
            batch.sessions[0]
                .files
                .list
                .retain(|file| !file.path.ends_with(".jsonl"));
        }
        MyAgentsShape::Unmatched => {
            rows.remove(0);
            batch.sessions[2].files.list.clear();
        }
        MyAgentsShape::TornTranscript => tear(batch),
        _ => {}
    }
    let newest = batch
        .sessions
        .iter()
        .filter_map(|made| made.files.list.last()?.modified)
        .max()
        .unwrap_or(0);
    if let Some(bytes) = index_of(shape, rows) {
        batch.shared.add("sessions.json", bytes).modified = Some(newest + 1_000);
    }
    if shape == MyAgentsShape::TmpNewer {
        batch.shared.add("sessions.json.tmp", index(rows)).modified = Some(newest + 2_000);
    }
}

/// The index with the damage of `shape`; nothing where it is missing.
fn index_of(shape: MyAgentsShape, rows: &[Value]) -> Option<Vec<u8>> {
    let whole = index(rows);
    let text = String::from_utf8_lossy(&whole);
    match shape {
        MyAgentsShape::IndexMissing => None,
        MyAgentsShape::BomIndex => Some(format!("\u{feff}{text}").into_bytes()),
        MyAgentsShape::IndexTruncated => Some(b"{\"truncated\"".to_vec()),
        MyAgentsShape::IndexWithNull => {
            let mut rows = rows.to_vec();
            rows.insert(1, Value::Null);
            Some(index(&rows))
        }
        MyAgentsShape::IndexCutInRow | MyAgentsShape::TmpNewer => {
            let cut = text.rfind("\"agentDir\"").unwrap_or(text.len() / 2);
            Some(text.as_bytes()[..cut].to_vec())
        }
        _ => Some(whole),
    }
}

fn transcript(batch: &mut Batch, at: usize) -> &mut Vec<u8> {
    let made = &mut batch.sessions[at];
    let main = made.main.clone();
    let spec = made
        .files
        .list
        .iter_mut()
        .find(|file| file.path == main)
        .expect("each session has its transcript");
    &mut spec.bytes
}

fn legacy(shape: MyAgentsShape, batch: &mut Batch) {
    let rows = jsonl::parse(transcript(batch, 0));
    let whole = json!({"messages": rows, "version": 1}).to_string();
    let made = &mut batch.sessions[0];
    let path = format!("sessions/{}.json", made.id);
    made.files.add(path.clone(), whole);
    match shape {
        MyAgentsShape::LegacyJson => {
            made.files
                .list
                .retain(|file| !file.path.ends_with(".jsonl"));
            made.main = path;
        }
        MyAgentsShape::EmptyWithLegacy => transcript(batch, 0).clear(),
        _ => {}
    }
}

/// Makes logs of operations of all transcripts.
fn operations(batch: &mut Batch, rows: &mut [Value]) {
    for (number, row) in rows.iter_mut().enumerate() {
        let messages = jsonl::parse(transcript(batch, number));
        let made = &mut batch.sessions[number];
        let log = messages
            .iter()
            .enumerate()
            .map(|(at, message)| {
                let mut message = message.clone();
                // Ids are unique in this format.
                message["id"] = json!(format!("m{at}"));
                message
            })
            .fold(OperationsLog::new(&made.id), |log, message| {
                log.batch(create(&message))
            });
        made.files
            .list
            .retain(|file| !file.path.ends_with(".jsonl"));
        made.main = format!("sessions-v2/{}.jsonl", made.id);
        made.files.add(made.main.clone(), log.into_bytes());
        row["transcriptFormat"] = json!(2);
    }
}

fn intent(shape: MyAgentsShape, batch: &mut Batch, row: &mut Value) {
    let rows = jsonl::lines(transcript(batch, 0)).len();
    row["pendingConversationMutation"] = json!({
        "schemaVersion": 1, "kind": "builtin-rewind", "sourceSdkSessionId": row["sdkSessionId"],
        "replacementSdkSessionId": "44444444-4444-4444-8444-444444444444", "sourceMessageCount": rows,
        "targetMessageCount": 2,
    });
    if shape == MyAgentsShape::IntentAfter {
        let bytes = transcript(batch, 0);
        let end: usize = jsonl::lines(bytes)[..2]
            .iter()
            .map(|line| line.len() + 1)
            .sum();
        bytes.truncate(end);
    }
}

fn tear(batch: &mut Batch) {
    let bytes = transcript(batch, 0);
    let first = jsonl::lines(bytes)[0].len() + 1;
    bytes.splice(first..first, b"{\"broken\"\n".iter().copied());
    bytes.truncate(bytes.len() - 20);
}
