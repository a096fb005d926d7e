//! The clinvoker store: one JSON document per session, and an index that must not be trusted.
//!
//! Paths are below `~/.clinvk`. A document contains no messages: it refers to the session of
//! another agent.

use serde_json::{Map, Value, json};

use crate::clock::{MORNING, rfc3339};
use crate::files::{Batch, FileList, Made};
use crate::phrase;
use crate::rng::Rng;

/// How correct the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClinvokerIndexState {
    /// It has a row per document.
    Right,
    /// There is none.
    Missing,
    /// One document is missing, and another has an old time: a process wrote the index without
    /// loading it first.
    Stale,
    /// It is not JSON.
    Corrupt,
    /// It names documents that do not exist.
    DeletedSessions,
    /// It has a version that clinvoker does not know.
    OtherVersion,
    /// Its map is `null`.
    NullMap,
}

impl ClinvokerIndexState {
    /// Every state.
    pub const ALL: &'static [ClinvokerIndexState] = &[
        ClinvokerIndexState::Right,
        ClinvokerIndexState::Missing,
        ClinvokerIndexState::Stale,
        ClinvokerIndexState::Corrupt,
        ClinvokerIndexState::DeletedSessions,
        ClinvokerIndexState::OtherVersion,
        ClinvokerIndexState::NullMap,
    ];
}

/// The properties of a document.
#[derive(Clone, Debug, Default)]
pub struct ClinvokerSpec<'a> {
    /// Id: 32 or 16 hex digits.
    pub id: &'a str,
    /// `claude`, `codex` or `gemini`.
    pub backend: &'a str,
    /// The backend's session; empty if it never started.
    pub backend_session: &'a str,
    /// The folder given on the command line; usually empty.
    pub working_dir: &'a str,
    /// `active`, `completed`, `error`, `paused`, or empty.
    pub status: &'a str,
    /// The session that it was forked from; empty if none.
    pub parent: &'a str,
    /// Whether both times are Go's zero.
    pub zero_times: bool,
    /// The seed.
    pub seed: u64,
}

/// Prints JSON like Go: `<`, `>`, `&` and the two line separators are escaped.
fn go(text: &str) -> Vec<u8> {
    let escapes = [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];
    escapes
        .iter()
        .fold(text.to_owned(), |text, &(raw, escaped)| {
            text.replace(raw, escaped)
        })
        .into_bytes()
}

/// The zero time of Go, which clinvoker writes where it has none.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// When a session was made and when it was last used.
fn times(spec: &ClinvokerSpec<'_>, rng: &mut Rng) -> (String, String) {
    let ms = MORNING + 60_000 * (rng.below(40_000) as i64);
    let zone = *rng.pick(&[9, 0, -5, 2]);
    if spec.zero_times {
        return (NO_TIME.to_owned(), NO_TIME.to_owned());
    }
    let mut time = |ms: i64| rfc3339(ms, rng.below(1_000_000) as u32, zone);
    (time(ms), time(ms + 90_000))
}

/// Returns one document as a value; empty members are omitted, as clinvoker does.
pub fn document(spec: &ClinvokerSpec<'_>) -> Value {
    let mut rng = Rng::for_part(spec.seed, spec.id);
    let (created, used) = times(spec, &mut rng);
    let mut document = json!({
        "id": spec.id, "backend": spec.backend, "created_at": created, "last_used": used, "working_dir": spec.working_dir,
    });
    let turns = rng.below(4);
    let title = if rng.id_source(0.5) {
        phrase::title(&mut rng)
    } else {
        ""
    };
    let error = if spec.status == "error" {
        "backend execution failed"
    } else {
        ""
    };
    for (key, text) in [
        ("backend_session_id", spec.backend_session),
        ("model", "sonnet"),
        ("initial_prompt", phrase::asked(&mut rng)),
        ("status", spec.status),
    ] {
        put(&mut document, key, text);
    }
    if turns > 0 {
        document["turn_count"] = json!(turns);
    }
    document["token_usage"] = json!({"input_tokens": 1200 * turns, "output_tokens": 300 * turns});
    if rng.id_source(0.5) {
        document["tags"] = json!(["api", "夜间"]);
    }
    for (key, text) in [
        ("title", title),
        ("parent_id", spec.parent),
        ("error_message", error),
    ] {
        put(&mut document, key, text);
    }
    document
}

fn put(document: &mut Value, key: &str, text: &str) {
    if !text.is_empty() {
        document[key] = json!(text);
    }
}

/// Returns the row of a document: capitalised keys, empty strings written, tags `null` if there are
/// none.
pub fn row(document: &Value) -> Value {
    let text = |key: &str| document[key].as_str().unwrap_or_default();
    json!({
        "ID": text("id"), "Backend": text("backend"), "Status": text("status"), "LastUsed": text("last_used"),
        "Model": text("model"), "WorkDir": text("working_dir"), "Title": text("title"), "Tags": document["tags"],
        "CreatedAt": text("created_at"),
    })
}

/// Prints an index of these documents: compact, sorted by id as Go sorts maps.
pub fn index(version: u32, documents: &[Value]) -> Vec<u8> {
    let mut rows: Vec<Value> = documents.iter().map(row).collect();
    rows.sort_by(|a, b| a["ID"].as_str().cmp(&b["ID"].as_str()));
    let keyed = rows
        .into_iter()
        .map(|row| (row["ID"].as_str().unwrap_or_default().to_owned(), row));
    go(
        &json!({"version": version, "index": Value::Object(keyed.collect::<Map<_, _>>())})
            .to_string(),
    )
}

/// Returns the file of a document: two spaces, mode 0600, no newline at the end.
pub fn made(document: &Value) -> Made {
    let text = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    let main = format!("sessions/{}.json", text("id"));
    let mut files = FileList::new();
    let pretty = serde_json::to_string_pretty(document).expect("a value prints");
    files.add(main.clone(), go(&pretty)).mode = Some(0o600);
    let title = document["title"].as_str().map(str::to_owned);
    Made {
        id: text("id"),
        project: text("working_dir"),
        title,
        main,
        files,
    }
}

/// Returns a store with every status, both lengths of id, a fork, zero times, and an index in this
/// state.
pub fn store(state: ClinvokerIndexState, seed: u64) -> Batch {
    let mut rng = Rng::for_part(seed, "clinvoker");
    let ids: Vec<String> = [32, 32, 16, 32, 32]
        .into_iter()
        .map(|n| rng.hex(n))
        .collect();
    let backends = ["claude", "codex", "gemini", "claude", "claude"];
    let statuses = ["completed", "error", "active", "paused", ""];
    let sessions: Vec<String> = (0..5).map(|_| rng.uuid_v4()).collect();
    let mut documents = Vec::new();
    for at in 0..5 {
        documents.push(document(&ClinvokerSpec {
            id: &ids[at],
            backend: backends[at],
            backend_session: if at == 3 { "" } else { &sessions[at] },
            working_dir: if at == 1 { "/home/dev/proj/demo" } else { "" },
            status: statuses[at],
            parent: if at == 3 { &ids[0] } else { "" },
            zero_times: at == 4,
            seed,
        }));
    }
    finish(state, &documents)
}

/// Combines documents and an index in this state.
pub fn finish(state: ClinvokerIndexState, documents: &[Value]) -> Batch {
    let mut batch = Batch {
        shared: FileList::new(),
        sessions: documents.iter().map(made).collect(),
    };
    let bytes = match state {
        ClinvokerIndexState::Missing => None,
        ClinvokerIndexState::Right => Some(index(1, documents)),
        ClinvokerIndexState::OtherVersion => Some(index(2, documents)),
        ClinvokerIndexState::Corrupt => Some(b"{\"version\":1,\"index\":{\"a1b2".to_vec()),
        ClinvokerIndexState::NullMap => Some(b"{\"version\":1,\"index\":null}".to_vec()),
        ClinvokerIndexState::Stale => {
            let mut known = documents[1..].to_vec();
            known[0]["last_used"] = json!("2020-01-01T00:00:00Z");
            Some(index(1, &known))
        }
        ClinvokerIndexState::DeletedSessions => {
            let mut deleted_session = documents[0].clone();
            deleted_session["id"] = json!("dead00000000000000000000000beef0");
            Some(index(1, &[documents, &[deleted_session]].concat()))
        }
    };
    if let Some(bytes) = bytes {
        batch.shared.add("sessions/index.json", bytes).mode = Some(0o600);
    }
    // Temporary files of a crash are never removed, and must never be read.
    batch
        .shared
        .add("sessions/.tmp-123456", "{\"id\":\"half")
        .mode = Some(0o600);
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(batch: &Batch) -> Vec<String> {
        let index: Value =
            serde_json::from_slice(batch.shared.get("sessions/index.json").unwrap()).unwrap();
        index["index"]
            .as_object()
            .map(|map| map.keys().cloned().collect())
            .unwrap_or_default()
    }

    #[test]
    fn a_right_index_has_the_documents_and_capitalised_keys() {
        let batch = store(ClinvokerIndexState::Right, 1);
        let mut ids: Vec<String> = batch.sessions.iter().map(|made| made.id.clone()).collect();
        ids.sort();
        assert_eq!(keys(&batch), ids);
        let text =
            String::from_utf8(batch.shared.get("sessions/index.json").unwrap().to_vec()).unwrap();
        assert!(text.contains("\"Tags\":null"), "{text}");
        assert!(text.contains("\"LastUsed\":\"0001-01-01T00:00:00Z\""));
    }

    #[test]
    fn wrong_indexes_are_wrong_in_their_own_way() {
        let ids = |state| keys(&store(state, 1)).len();
        assert_eq!(ids(ClinvokerIndexState::Stale), 4);
        assert_eq!(ids(ClinvokerIndexState::DeletedSessions), 6);
        assert_eq!(ids(ClinvokerIndexState::NullMap), 0);
        assert!(
            store(ClinvokerIndexState::Missing, 1)
                .shared
                .get("sessions/index.json")
                .is_none()
        );
        let corrupt = store(ClinvokerIndexState::Corrupt, 1);
        assert!(
            serde_json::from_slice::<Value>(corrupt.shared.get("sessions/index.json").unwrap())
                .is_err()
        );
    }

    #[test]
    fn documents_leave_out_what_is_empty_and_cover_both_id_lengths() {
        let batch = store(ClinvokerIndexState::Right, 2);
        let parsed: Vec<Value> = batch
            .sessions
            .iter()
            .map(|m| serde_json::from_slice(m.bytes()).unwrap())
            .collect();
        assert!(
            parsed
                .iter()
                .all(|d| d.get("metadata").is_none() && d["working_dir"].is_string())
        );
        assert!(parsed[3].get("backend_session_id").is_none());
        assert_eq!(parsed[3]["parent_id"], parsed[0]["id"]);
        assert_eq!(parsed[2]["id"].as_str().unwrap().len(), 16);
        assert_eq!(parsed[1]["error_message"], "backend execution failed");
        assert!(parsed[4].get("status").is_none());
    }

    #[test]
    fn go_escapes_what_browsers_misread() {
        assert_eq!(go("a<b>&\u{2028}"), b"a\\u003cb\\u003e\\u0026\\u2028");
    }
}
