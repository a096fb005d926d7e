//! Collects the metadata of a session.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Log, Said, SessionMeta};

use crate::google_parts::said_text;
use crate::members::{list, text, time};

use super::message::{self, Message};
use super::record;

/// Adds the facts that a record states about the session.
pub(super) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.saw(head);
    meta.count(head.word.map_or("", |word| names.text(word)));
    if let Some(set) = object.get("$set") {
        session(set, meta);
    }
    if object.get("sessionId").is_some() {
        session(object.raw(), meta);
    }
    let is_message = head.id.is_some() || head.kind.is_conversation();
    if message::contained(object).is_some() || is_message {
        for message in Message::all(object) {
            said(message, names, meta);
        }
    }
}

/// Reads facts about the session: from its first line, a `$set`, or the members of a document.
pub(super) fn session(facts: Raw<'_>, meta: &mut SessionMeta) {
    // The program refers to a session by the last id that it stated.
    meta.id = text(facts, "sessionId").or_else(|| meta.id.take());
    for key in ["startTime", "lastUpdated"] {
        if let Some(time) = facts.get(key).and_then(time) {
            meta.saw_time(time);
        }
    }
    if let Some(summary) = text(facts, "summary") {
        (meta.title, meta.title_source) = (Some(summary), Some("auto".to_owned()));
    }
    if meta.project.is_none() {
        let first = list(facts, "directories").and_then(|list| list.items().next());
        meta.project = first.and_then(|it| it.text()).map(Into::into);
    }
    if facts.get("kind").is_some_and(|kind| kind.is("subagent")) {
        meta.hidden = Some("subagent");
    }
    if let Some(hash) = text(facts, "projectHash") {
        meta.metadata.insert("projectHash".to_owned(), hash);
    }
}

fn said(message: Message<'_>, names: &mut Interner, meta: &mut SessionMeta) {
    let at = message.0.get("timestamp").and_then(time);
    if let Some(at) = at {
        meta.saw_time(at);
    }
    if message.kind() == EntryKind::User {
        let said = said_text(message.content());
        match message.is_injected() {
            true => meta.project = meta.project.take().or_else(|| workspace(&said)),
            false => meta.saw_prompt(&said),
        }
    }
    let model = text(message.0, "model");
    if let Some(model) = &model {
        meta.saw_model(model);
    }
    if let Some(usage) = message.usage() {
        let id = text(message.0, "id").and_then(|id| names.intern(&id));
        let said = Said {
            at,
            model: model.and_then(|model| names.intern(&model)),
            ..Said::default()
        };
        meta.usage.note_said(id, usage, said);
    }
}

/// Returns the first folder of the workspace that the injected context names.
fn workspace(context: &str) -> Option<String> {
    let (_, rest) = context.split_once("**Workspace Directories:**")?;
    let line = rest.lines().map(str::trim).find(|line| !line.is_empty())?;
    line.strip_prefix("- ").map(|it| it.trim().to_owned())
}

/// Decides what only the whole log shows: which records were replaced, which of them repeat
/// others, and how many messages there are.
pub(super) fn settle(log: &mut Log, meta: Option<&mut SessionMeta>) {
    let replayed = record::replayed(log, usize::MAX);
    let answered = answered(log);
    for slot in replayed.superseded.iter().chain(&replayed.repeating) {
        if let Some(head) = log.heads.get_mut(slot.index()) {
            head.kind = EntryKind::Meta;
            head.flags.set(Flags::HIDDEN);
        }
    }
    for slot in &replayed.telling {
        if let Some(head) = log.heads.get_mut(slot.index()) {
            head.kind = EntryKind::Compaction;
            head.flags.set(Flags::CUT);
            head.flags.clear(Flags::HIDDEN);
        }
    }
    let names = &log.names;
    for head in &mut log.heads {
        let is_shown = |call: &str| answered.iter().any(|known| known == call);
        if head.kind == EntryKind::ToolResult
            && let Some(calls) = head.group.map(|group| names.text(group))
        {
            head.flags
                .set_if(calls.split('\n').all(is_shown), Flags::HIDDEN);
        }
    }
    if let Some(meta) = meta {
        count(log, meta);
    }
}

/// Returns the calls whose results are recorded in the message that made them.
fn answered(log: &Log) -> Vec<String> {
    let models = log.heads.iter().filter(|head| head.id.is_some());
    let groups = models
        .filter(|head| head.kind == EntryKind::Assistant)
        .filter_map(|head| head.group);
    let lines = groups.flat_map(|group| log.names.text(group).split('\n'));
    let mut calls: Vec<String> = lines
        .filter_map(|line| line.strip_prefix(['+', '*']))
        .map(str::to_owned)
        .collect();
    calls.sort_unstable();
    calls.dedup();
    calls
}

/// Counts messages, turns and calls: each once, however often it was written.
fn count(log: &Log, meta: &mut SessionMeta) {
    (meta.messages, meta.turns, meta.tool_calls) = (0, 0, 0);
    let mut known = std::collections::HashSet::new();
    for (slot, head) in log.entries() {
        if record::is_snapshot(log, slot) {
            for (kind, id) in record::listed(log, head) {
                let is_new = id.is_empty() || known.insert(id.to_owned());
                meta.turns += u64::from(is_new && kind == 'u');
                meta.messages += u64::from(is_new && matches!(kind, 'u' | 'm'));
            }
            continue;
        }
        let is_new = head
            .id
            .is_none_or(|id| known.insert(log.names.text(id).to_owned()));
        let hidden = head.flags.has(Flags::HIDDEN);
        let word = log.word(slot);
        let is_prompt = word == "user" && !hidden && head.kind != EntryKind::ToolResult;
        let is_answer = head.kind == EntryKind::Assistant || head.kind == EntryKind::Meta;
        let is_model = is_answer && head.id.is_some() && word != "user";
        meta.turns += u64::from(is_new && is_prompt);
        meta.messages += u64::from(is_new && (is_prompt || is_model));
        if head.kind == EntryKind::Assistant {
            let calls = head.group.map(|group| log.names.text(group));
            meta.tool_calls += calls.map_or(0, |calls| calls.split('\n').count() as u64);
        }
    }
}
