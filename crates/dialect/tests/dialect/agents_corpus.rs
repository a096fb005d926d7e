//! Agents whose sessions are files, on real files: nothing is lost, and all metadata is pinned.
//!
//! The pinned rows are in `agents_corpus.txt`, written again with `BOSWELL_BLESS=1`.
#![expect(
    clippy::disallowed_methods,
    reason = "tests over real files read the variable that asks to pin their rows again"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boswell_dialect::{Dialect, Files, Sample, SessionLocation, by_name, recognise};
use boswell_model::json::{Object, Raw, Scanned, scan_object};
use boswell_model::{EntryKind, Framing, Part, View};
use boswell_testkit::{corpus, disk};
use serde_json::Value;

use crate::agents_support::{Read, load, load_below, read};

const PINNED: &str = include_str!("agents_corpus.txt");
const PLACE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/dialect/agents_corpus.txt"
);

/// Folders of the corpus, with the dialect that each file of them must be recognised as.
const CORPUS: &[(&str, &str)] = &[
    ("gemini", "gemini"),
    ("qwen", "qwen"),
    ("copilot-cli", "copilot"),
    ("kimi", "kimi"),
    ("kimi-code", "kimi"),
    ("kimi-cli", "kimi-cli"),
    ("vibe", "vibe"),
    ("droid", "droid"),
    ("roo", "cline"),
    ("cline", "cline"),
    ("cline-api", "cline"),
    ("aider", "aider"),
    ("antigravity", "antigravity"),
    ("auggie", "auggie"),
    ("grok", "grok"),
];

/// Files of those folders that are not sessions of the agent.
const OTHERS: &[&str] = &[
    // Recorded requests and answers of Gemini CLI's own tests.
    "gemini/gemini-cli-agent-resume-session.json",
    // A form that no version of Gemini CLI writes.
    "gemini/agent-sessions-schema_drift.json",
    // The output of a run of Droid, and a form of another program.
    "droid/agent-sessions-stream_json_large.jsonl",
    "droid/ctx-factory_ai_droid.jsonl",
    // A document under a name that no version of Cline uses, and tasks without their document.
    "cline-api/ctx-api-conversation-history.json",
    "cline/state/taskHistory.json",
    "roo/roo-fallback-task/claude_messages.json",
    "cline/cline-session.json",
];

/// Roots among the captures, each a home of its agent, or the folder of one.
const CAPTURES: &[(&str, &str, &str)] = &[
    ("gemini", "", "gemini"),
    ("qwen", "", "qwen"),
    ("copilot-cli", "", "copilot"),
    ("kimi-code", "", "kimi"),
    ("kimi-cli", "", "kimi-cli"),
    ("continue", "", "continue"),
    ("cline", "", "cline"),
    ("vibe", "logs/session/", "vibe"),
    ("aider", ".", "aider"),
];

fn framing_of(dialect: &dyn Dialect, name: &str, bytes: &[u8]) -> Framing {
    let is_document = scan_first_line(bytes).is_none() && Raw::parse(bytes.trim_ascii()).is_ok();
    let document = dialect.facts().document_framing.filter(|_| is_document);
    document.unwrap_or_else(|| dialect.framing(name))
}

fn scan_first_line(bytes: &[u8]) -> Option<usize> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    scan_object(line, &mut Vec::new()).ok()
}

/// Recognises a file as the store does: by its first lines, or as one document.
fn recognised(path: &Path, bytes: &[u8]) -> &'static dyn Dialect {
    let texts: Vec<&[u8]> = match scan_first_line(bytes) {
        Some(_) => bytes.split(|byte| *byte == b'\n').take(20).collect(),
        // A list of records: from the first one on.
        None => {
            let start = bytes.iter().position(|byte| *byte == b'{').unwrap_or(0);
            vec![bytes[start..].trim_ascii()]
        }
    };
    let mut scanned: Vec<(&[u8], Scanned)> = Vec::new();
    for text in texts {
        let mut record = Scanned::default();
        let end = scan_object(text, &mut Vec::new()).unwrap_or(0);
        let text = &text[..end];
        if record.scan(text).is_ok() {
            scanned.push((text, record));
        }
    }
    let pairs = scanned.iter();
    let records: Vec<Object<'_>> = pairs.map(|(text, it)| it.object(text)).collect();
    let parents = path.ancestors().skip(1);
    let folders: Vec<String> = parents
        .filter_map(|it| Some(it.file_name()?.to_str()?.to_owned()))
        .collect();
    recognise(&Sample {
        name: path.file_name().unwrap().to_str().unwrap(),
        folders: &folders,
        records: &records,
    })
}

/// Sessions of the corpus, which are single files, and of the captures, found by discovery.
fn sessions() -> Option<BTreeMap<String, Read>> {
    let corpus = corpus::require_or_skip(corpus::CORPUS)?;
    let captures = corpus::require_or_skip(corpus::CAPTURES)?;
    let mut found = BTreeMap::new();
    for (folder, name) in CORPUS {
        let files = load(&corpus.join(folder));
        let dialect = by_name(name).unwrap();
        for path in session_files(&corpus, folder) {
            let key = path.strip_prefix(corpus.join(folder)).unwrap();
            let key = key.to_str().unwrap();
            let info = files.stat(key).unwrap().unwrap();
            let bytes = disk::read(&path);
            let framing = framing_of(dialect, key, &bytes);
            let location = SessionLocation::at("by-path", &info, framing);
            found.insert(format!("{folder}/{key}"), read(dialect, &files, location));
        }
    }
    for (folder, prefix, name) in CAPTURES {
        let files = load_below(&captures.join(folder), prefix);
        let dialect = by_name(name).unwrap();
        for location in dialect.discover(&files).unwrap().sessions {
            let name = format!("captures/{folder}/{}", location.key.as_ref().unwrap());
            found.insert(name, read(dialect, &files, location));
        }
    }
    Some(found)
}

/// The files of a folder that are sessions.
fn session_files(corpus: &Path, folder: &str) -> Vec<PathBuf> {
    let mut files = corpus::files(&corpus.join(folder));
    files.retain(|path| {
        let name = path.strip_prefix(corpus).unwrap().to_str().unwrap();
        let is_side = SIDE.iter().any(|end| name.ends_with(end));
        // kimi-cli has a file of this name beside the log; Kimi Code has its log in it.
        let is_wire = folder == "kimi-cli" && name.ends_with("/wire.jsonl");
        !OTHERS.contains(&name) && !is_side && !is_wire
    });
    files
}

/// Files that belong to a session besides its log.
const SIDE: &[&str] = &[
    "state.json",
    "/meta.json",
    "/kimi.json",
    "/sessions.json",
    "/ui_messages.json",
    "/task_metadata.json",
    "/history_item.json",
    ".compaction.json",
    "/summary.json",
];

#[test]
fn every_file_of_a_file_based_agent_reads_as_pinned() {
    let Some(sessions) = sessions() else { return };
    let rows = sessions
        .iter()
        .map(|(name, it)| format!("{name}\t{}\n", it.row()));
    let rows: String = rows.collect();
    if std::env::var_os("BOSWELL_BLESS").is_some() {
        disk::write(Path::new(PLACE), rows.as_bytes());
        return;
    }
    for (row, pinned) in rows.lines().zip(PINNED.lines()) {
        assert_eq!(row, pinned);
    }
    assert_eq!(rows.lines().count(), PINNED.lines().count());
}

#[test]
fn every_file_of_a_file_based_agent_is_recognised() {
    let Some(corpus) = corpus::require_or_skip(corpus::CORPUS) else {
        return;
    };
    for (folder, name) in CORPUS {
        for path in session_files(&corpus, folder) {
            let dialect = recognised(&path, &disk::read(&path));
            assert_eq!(dialect.name(), *name, "{}", path.display());
        }
    }
    let ours: Vec<&str> = CORPUS.iter().map(|(_, name)| *name).collect();
    for path in corpus::files(&corpus) {
        let name = path.strip_prefix(&corpus).unwrap().to_str().unwrap();
        let folder = name.split('/').next().unwrap();
        let is_other = !CORPUS.iter().any(|(own, _)| *own == folder) || OTHERS.contains(&name);
        if is_other && !MISFILED.contains(&name) {
            let dialect = recognised(&path, &disk::read(&path)).name();
            assert!(!ours.contains(&dialect), "{name} is claimed by {dialect}");
        }
    }
}

/// Files in the folder of another agent: of Qwen Code, and of Droid.
const MISFILED: &[&str] = &[
    "claude-code/getspecstory-session-system-only.jsonl",
    "pi/agent-sessions-session-store-small.jsonl",
];

#[test]
fn no_string_of_a_message_is_missing_from_what_is_shown() {
    let Some(sessions) = sessions() else { return };
    let mut missing = Vec::new();
    for (name, it) in &sessions {
        for slot in it.session.log.slots() {
            let kind = it.session.log.kind(slot);
            let payload = it.view().payload(slot).unwrap();
            let mut scanned = Scanned::default();
            scanned.scan(&payload).unwrap();
            let view = it.dialect.view(&scanned.object(&payload));
            let value: Value = serde_json::from_slice(&payload).unwrap();
            let shown = shown(&view);
            let is_message = kind.is_conversation() || kind == EntryKind::System;
            let mut texts = Vec::new();
            strings(&value, &mut texts);
            for text in texts.into_iter().filter(|_| is_message) {
                // Cline puts prompts between tags.
                let inner = text.trim().strip_suffix("</user_input>");
                let inner = inner.and_then(|it| Some(it.split_once('>')?.1));
                // Antigravity puts settings after them.
                let asked = text.trim().strip_prefix("<USER_REQUEST>");
                let asked = asked.and_then(|it| Some(it.split_once("</USER_REQUEST>")?.0));
                let text = inner.or(asked).unwrap_or(text).trim();
                let is_shown = match value.get("markdown") {
                    Some(_) => text.lines().all(|line| shown.contains(unmarked(line))),
                    None => shown.contains(text),
                };
                if !is_shown {
                    let label = it.session.log.label(slot);
                    missing.push(format!(
                        "{name} {label}: {}",
                        &text.chars().take(80).collect::<String>()
                    ));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A line of Aider's Markdown without its mark; empty if it is a tag around thoughts.
fn unmarked(line: &str) -> &str {
    let marks = ["#### ", "> "];
    let bare = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let line = bare.unwrap_or(line).trim();
    let is_tag = line.starts_with("<thinking-content-") || line.starts_with("</thinking-content-");
    if is_tag { "" } else { line }
}

/// Everything that a view shows, as one text.
fn shown(view: &View) -> String {
    let mut out = String::new();
    let mut add = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    for part in &view.parts {
        match part {
            Part::Text(text) | Part::Thinking { text, .. } => add(text),
            Part::Result { text, .. } => {
                add(text);
                add_json(text, &mut add);
            }
            Part::Call { name, input, .. } => {
                add(name);
                add(input.text());
                add_json(input.text(), &mut add);
            }
            Part::Other { json, .. } => add_json(json, &mut add),
            Part::Media { source, mime } => match source {
                boswell_model::MediaSource::Inline(data) => {
                    add(&format!(
                        "data:{};base64,{data}",
                        mime.as_deref().unwrap_or_default()
                    ));
                }
                boswell_model::MediaSource::Reference(place) => add(place),
            },
            other => add(&format!("{other:?}")),
        }
    }
    add(view.remark.as_deref().unwrap_or_default());
    add(view.model.as_deref().unwrap_or_default());
    add(view.tool.as_deref().unwrap_or_default());
    out
}

fn add_json(json: &str, add: &mut impl FnMut(&str)) {
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(json) {
        all_strings(&value, &mut texts);
    }
    texts.iter().for_each(|text| add(text));
}

fn all_strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| all_strings(item, into)),
        Value::Object(members) => members.values().for_each(|it| all_strings(it, into)),
        _ => {}
    }
}

/// Members that are no text of the conversation: ids, times, types, and what the list shows.
const BOOKKEEPING: &[&str] = &[
    "id",
    "uuid",
    "parentUuid",
    "parentId",
    "sessionId",
    "timestamp",
    "type",
    "subtype",
    "cwd",
    "version",
    "gitBranch",
    "role",
    "projectHash",
    "startTime",
    "lastUpdated",
    "kind",
    "status",
    "mimeType",
    "displayName",
    "callId",
    "messageId",
    "interactionId",
    "turnId",
    "toolCallId",
    "originatingMessageId",
    "apiCallId",
    "intentionSummary",
    "toolTitle",
    "transformedContent",
    "delivery",
    "parentAgentTaskId",
    "parentToolCallId",
    "toolTelemetry",
    "reasoningOpaque",
    "encryptedContent",
    "provenance",
    "thoughtSignature",
    "executionStatus",
    "model",
    "agentMode",
    "subject",
    "metadata",
    "reasoningId",
    "tool_use_id",
    "agentId",
    "serviceTier",
    "phase",
    "tool",
    "ts",
    "success",
    "infoType",
    "errorType",
    "providerCallId",
    "serviceRequestId",
    "stack",
    "clientRequestId",
    "requestId",
    "stepUuid",
    "origin",
    "display",
    "reasoningKey",
    "tool_call_id",
    "encrypted",
    "turnStep",
    "message_id",
    "provider",
    "created_at",
    "source",
    "truncated_fields",
    "synthetic_reason",
    "model_id",
    "request_id",
    "finishedAt",
    "$role",
    "generationStatus",
    "inputEntryId",
    "relatedEntryId",
    "approvalSource",
    "approvalType",
    "decision",
    "outcome",
    "_meta",
];

/// Strings of a record that a person could read, except what the screen takes from elsewhere: a
/// description of a tool is the same in every call of it.
fn strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => {
            let is_call = members.contains_key("args") && members.contains_key("status");
            // Continue names each output of a tool alike.
            let is_output = members.contains_key("content") && members.contains_key("description");
            let shown = members.iter().filter(|(key, _)| {
                let is_described = is_call && *key == "description"
                    || is_output && matches!(key.as_str(), "name" | "description");
                !BOOKKEEPING.contains(&key.as_str()) && !is_described
            });
            shown.for_each(|(_, value)| strings(value, into));
        }
        _ => {}
    }
}
