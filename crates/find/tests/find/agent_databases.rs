//! Agents that keep sessions in databases, on real ones: nothing is lost, all metadata is pinned,
//! reading leaves no trace, and a listing does not cost more for longer sessions.
//!
//! The pinned rows are in `agent_databases.txt`, written again with `BOSWELL_BLESS=1`.
#![expect(
    clippy::disallowed_methods,
    reason = "tests plant databases, look for traces, and read the variable that pins rows again"
)]

mod scale;
mod search;
mod trace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Depth, by_name};
use boswell_find::SqliteDatabases;
use boswell_model::{Part, Usage, View};
use boswell_store::backend::OpenDatabase;
use boswell_store::{Session, Store};
use boswell_testkit::corpus;
use rusqlite::Connection;
use serde_json::Value;

use crate::shown_text::uncovered;

const PINNED: &str = include_str!("agent_databases.txt");
const PLACE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/find/agent_databases.txt"
);

/// Real databases and folders: the variable with their folder, where they are in it, the dialect,
/// and where the agent has them below its root.
const REAL: &[(&str, &str, &str, &str)] = &[
    (
        corpus::CAPTURES,
        "opencode/opencode.db",
        "opencode",
        "opencode.db",
    ),
    (
        corpus::CORPUS,
        "opencode/deja-vu-opencode.sql",
        "opencode",
        "opencode.db",
    ),
    (corpus::CORPUS, "opencode/json-era", "opencode", "storage"),
    (corpus::CORPUS, "kilo/ctx-kilo.db", "kilo", "kilo.db"),
    (
        corpus::CAPTURES,
        "goose/sessions.db",
        "goose",
        "sessions/sessions.db",
    ),
    (
        corpus::CORPUS,
        "goose/sessions-v14.db",
        "goose",
        "sessions/sessions.db",
    ),
    (
        corpus::CORPUS,
        "goose/sessions-v15.db",
        "goose",
        "sessions/sessions.db",
    ),
    (
        corpus::CORPUS,
        "goose/deja-vu-goose.sql",
        "goose",
        "sessions/sessions.db",
    ),
    (
        corpus::CORPUS,
        "goose/deja-vu-20250724-1.jsonl",
        "goose",
        "sessions/20250724_1.jsonl",
    ),
    (corpus::CORPUS, "crush/ctx-crush.db", "crush", "crush.db"),
    (
        corpus::CORPUS,
        "hermes/deja-vu-hermes.sql",
        "hermes",
        "profiles/architect/state.db",
    ),
    (
        corpus::CORPUS,
        "hermes/agent-sessions-large.json",
        "hermes",
        "sessions/session_large.json",
    ),
    (
        corpus::CORPUS,
        "hermes/agent-sessions-schema_drift.json",
        "hermes",
        "sessions/session_drift.json",
    ),
    (
        corpus::CORPUS,
        "cursor/agent-sessions-large.jsonl",
        "cursor",
        "projects/p/agent-transcripts/large/large.jsonl",
    ),
    (
        corpus::CORPUS,
        "cursor/agent-sessions-schema_drift.jsonl",
        "cursor",
        "projects/p/agent-transcripts/drift/drift.jsonl",
    ),
    (
        corpus::CORPUS,
        "cursor/ctx-cursor-native-session-1.jsonl",
        "cursor",
        "projects/p/agent-transcripts/native/native.jsonl",
    ),
    (
        corpus::CORPUS,
        "zed/ctx-threads.db",
        "zed",
        "threads/threads.db",
    ),
    (
        corpus::CORPUS,
        "zed/deja-vu-zed.sql",
        "zed",
        "threads/threads.db",
    ),
    (
        corpus::CORPUS,
        "kiro/ctx-data.sqlite3",
        "kiro",
        "data.sqlite3",
    ),
];

/// A store of an agent in a folder of its own.
pub(crate) struct Lab {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Lab {
    /// Creates an empty store.
    pub(crate) fn empty(dialect: &str) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let copies = folder.path().join("copies");
        let databases: Arc<dyn OpenDatabase> = Arc::new(SqliteDatabases::new(copies));
        let root = folder.path().join("root");
        std::fs::create_dir_all(&root).unwrap();
        let store = Store::in_folder(by_name(dialect).unwrap(), root).with_databases(&databases);
        Lab { folder, store }
    }

    pub(crate) fn path(&self, key: &str) -> PathBuf {
        let path = self.folder.path().join("root").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Creates a store with a copy of real files.
    fn with(from: &Path, dialect: &str, key: &str) -> Lab {
        let lab = Lab::empty(dialect);
        let to = lab.path(key);
        if from.is_dir() {
            for file in corpus::files(from) {
                let to = to.join(file.strip_prefix(from).unwrap());
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::copy(file, to).unwrap();
            }
        } else if from.extension().is_some_and(|it| it == "sql") {
            let sql = std::fs::read_to_string(from).unwrap();
            Connection::open(to).unwrap().execute_batch(&sql).unwrap();
        } else {
            std::fs::write(to, std::fs::read(from).unwrap()).unwrap();
        }
        lab
    }

    pub(crate) fn sessions(&self) -> Vec<Session> {
        let listing = self.store.list().unwrap();
        assert!(listing.unlisted.is_empty(), "{:?}", listing.unlisted);
        let mut sessions = listing.sessions;
        sessions.sort_by(|a, b| a.id.cmp(&b.id));
        let read = |location| self.store.read(location, Depth::Pairs).unwrap();
        sessions.iter().map(read).collect()
    }
}

fn real() -> Option<Vec<(&'static str, &'static str, Lab)>> {
    let mut labs = Vec::new();
    for (variable, from, dialect, key) in REAL {
        let folder = corpus::require_or_skip(variable)?;
        labs.push((*from, *key, Lab::with(&folder.join(from), dialect, key)));
    }
    Some(labs)
}

/// One line: what a list shows, and the size of the context.
fn row(session: &Session) -> String {
    let meta = session.meta();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let short = |text: String| text.chars().take(40).collect::<String>().replace('\n', " ");
    let count = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
    let spent = |usage: Usage| {
        format!(
            "{}+{} out {} thought {} cost {}",
            count(usage.input),
            count(usage.cache_read),
            count(usage.output),
            count(usage.reasoning),
            usage
                .cost
                .map_or("-".to_owned(), |cost| format!("{cost:.5}"))
        )
    };
    let context = session.context(session.tip().unwrap()).unwrap();
    format!(
        "{} {} records {} gaps | in {} version {} hidden {} parent {} | {} messages {} turns {} \
         calls | tokens {} stated {} | models {} | {} sent | title {} | {}",
        session.dialect().name(),
        session.log().heads.len(),
        session.log().gaps.len(),
        text(&meta.project),
        text(&meta.agent_version),
        meta.hidden.or(session.location().hidden).unwrap_or("-"),
        text(&meta.parent),
        meta.messages,
        meta.turns,
        meta.tool_calls,
        spent(meta.usage.total()),
        spent(meta.stated.usage),
        meta.models.join("+"),
        context.items.len(),
        short(text(&meta.title)),
        short(text(&meta.first_prompt)),
    )
}

#[test]
fn every_database_of_an_agent_reads_as_pinned() {
    let Some(labs) = real() else { return };
    let mut rows = String::new();
    for (from, _, lab) in &labs {
        let sessions = lab.sessions();
        assert!(!sessions.is_empty(), "{from} has no session");
        for session in sessions {
            rows += &format!("{from}\t{}\t{}\n", session.id(), row(&session));
        }
    }
    if std::env::var_os("BOSWELL_BLESS").is_some() {
        std::fs::write(PLACE, rows).unwrap();
        return;
    }
    for (row, pinned) in rows.lines().zip(PINNED.lines()) {
        assert_eq!(row, pinned);
    }
    assert_eq!(rows.lines().count(), PINNED.lines().count());
}

#[test]
fn no_record_of_a_database_is_lost_and_no_word_of_it_is_missing_from_search() {
    let Some(labs) = real() else { return };
    let mut missing = Vec::new();
    for (from, _, lab) in &labs {
        for session in lab.sessions() {
            missing.extend(uncovered(&session).iter().map(|it| format!("{from}: {it}")));
            for slot in session.log().slots() {
                let entry = session.entry(slot).unwrap();
                let kind = session.log().kind(slot);
                let (Some(view), true) = (&entry.view, kind.is_conversation()) else {
                    continue;
                };
                let record: Value = serde_json::from_slice(&entry.bytes).unwrap();
                let (mut texts, shown) = (Vec::new(), shown(view));
                strings(&record, &mut texts);
                let lost = texts
                    .into_iter()
                    .filter(|text| !shown.contains(text.trim()));
                missing.extend(lost.map(|text| format!("{from} {}: {text}", session.id())));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Members that are no text of the conversation: ids, names of types, and what lists show.
const BOOKKEEPING: &[&str] = &[
    "id",
    "session_id",
    "message_id",
    "role",
    "type",
    "$table",
    "parentID",
    "mode",
    "agent",
    "path",
    "modelID",
    "providerID",
    "model",
    "provider",
    "finish",
    "callID",
    "status",
    "metadata",
    "title",
    "snapshot",
    "reason",
    "version",
    "messageID",
    "sessionID",
    "timestamp",
    "resultType",
    "requestedModel",
    "costSource",
    "toolCallId",
    "tool_call_id",
    "mime_type",
    "finish_reason",
    "tool_use_id",
    "tool_name",
    "variant",
    "summary",
    "name",
    "source",
    "tokens",
    "_meta",
    "workspaceId",
    "requestId",
    "branchId",
    "response_item_id",
    "call_id",
    "reasoning",
    "codex_reasoning_items",
    "data_type",
    "time",
    "client_metadata",
    "annotations",
    "message_id",
    "raw_input",
    "uri",
];

/// Collects the strings of a record that a person could read.
fn strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !BOOKKEEPING.contains(&key.as_str()))
            .for_each(|(_, value)| strings(value, into)),
        _ => {}
    }
}

/// Everything that a view shows, as one text.
fn shown(view: &View) -> String {
    let mut texts = Vec::new();
    for part in &view.parts {
        match part {
            Part::Text(text) | Part::Thinking { text, .. } | Part::Result { text, .. } => {
                texts.push(text.clone());
            }
            Part::Call { name, input, .. } => {
                texts.push(name.clone());
                texts.push(input.text().to_owned());
                let value: Value = serde_json::from_str(input.text()).unwrap_or_default();
                every_string(&value, &mut texts);
            }
            Part::Other { json, .. } => {
                every_string(&serde_json::from_str(json).unwrap_or_default(), &mut texts);
            }
            other => texts.push(format!("{other:?}")),
        }
    }
    texts.join("\n")
}

fn every_string(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| every_string(item, into)),
        Value::Object(members) => members.values().for_each(|it| every_string(it, into)),
        _ => {}
    }
}

/// opencode and Goose keep sums of a session beside the numbers of each answer.
#[test]
fn tokens_and_cost_are_the_sums_that_the_agent_keeps_itself() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let mut compared = 0;
    for (_, from, dialect, key) in REAL.iter().filter(|it| it.0 == corpus::CAPTURES) {
        for session in Lab::with(&captures.join(from), dialect, key).sessions() {
            let (own, stated) = (session.meta().usage.total(), session.meta().stated.usage);
            let counts = |it: &Usage| [it.input, it.output, it.cache_read];
            // Goose did not see the call that wrote the session of another program.
            assert_eq!(counts(&own), counts(&stated), "{from} {}", session.id());
            let [own, stated] = [own.cost, stated.cost].map(|it| it.unwrap_or_default());
            assert!((own - stated).abs() < 1e-9, "{from}: {own} {stated}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}

/// What the programs sent after resuming the captured sessions: the words of each message, in
/// order, without what they add when they start.
#[test]
fn the_context_of_captured_sessions_is_the_conversation_in_order() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let expected: BTreeMap<&str, &[&str]> = BTreeMap::from([
        (
            "ses_e1c193964ffeXrW4bjFWR6Sh2g",
            &[
                "user \"TOOL 请运行一个命令\"",
                "assistant bash {\"command\":\"echo 你好-from-tool\"}",
                "tool 你好-from-tool\n",
                "assistant 完成了。工具输出：你好 ✅ (fake model)",
                "user \"PING 继续\"",
            ][..],
        ),
        (
            "20261116_1",
            &[
                "user TOOL 请运行一个命令",
                "user <turn-context>",
                "assistant shell {\"command\":\"echo 你好-from-tool\"}",
                "tool 你好-from-tool",
                "assistant 完成了。工具输出：你好 ✅ (fake model)",
                "user PING 继续",
                "user <turn-context>",
            ][..],
        ),
    ]);
    let mut compared = 0;
    for (_, from, dialect, key) in REAL.iter().filter(|it| it.0 == corpus::CAPTURES) {
        for session in Lab::with(&captures.join(from), dialect, key).sessions() {
            let Some(expected) = expected.get(session.id().as_str()) else {
                continue;
            };
            let context = session.context(session.tip().unwrap()).unwrap();
            let said: Vec<String> = context
                .items
                .iter()
                .map(|item| {
                    let message = session.render(item).unwrap().message;
                    let parts = message.content.iter().filter_map(|part| {
                        let part: Value = serde_json::from_slice(&part.to_bytes()).unwrap();
                        // Reasoning is sent in a member of its own, which a test with the real
                        // program compares.
                        if part["type"] == "thinking" {
                            return None;
                        }
                        let text = ["text", "content", "name"].map(|key| part[key].as_str());
                        let text = text.into_iter().flatten().next().unwrap_or_default();
                        Some(match part["input"].is_object() {
                            true => format!("{text} {}", part["input"]),
                            false => text.to_owned(),
                        })
                    });
                    format!("{} {}", message.role, parts.collect::<Vec<_>>().join(" "))
                })
                .collect();
            for (said, expected) in said.iter().zip(*expected) {
                assert!(said.starts_with(expected), "{said:?} {expected:?}");
            }
            assert_eq!(
                said.len(),
                expected.len() + 1,
                "and the last answer: {said:?}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, expected.len());
}
