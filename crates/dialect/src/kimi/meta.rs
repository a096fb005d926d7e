//! Collects the metadata of a session, from its log and its `state.json`.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Log, Said, SessionMeta};

use crate::content_blocks::{parts, said_text};
use crate::members::{text, time};
use crate::message_map::Beginning;

use super::{record, view};

/// Adds the facts that a record states about the session.
pub(super) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.saw(head);
    let word = head.word.map_or("", |word| names.text(word)).to_owned();
    meta.count(&word);
    match word.as_str() {
        "context.append_message"
            if head.kind == EntryKind::User && !head.flags.has(Flags::HIDDEN) =>
        {
            let content = object.get("message").and_then(|it| it.get("content"));
            meta.saw_prompt(&said_text(&parts(content)));
        }
        "context.append_loop_event" => {
            let event = object.get("event").and_then(|it| it.get("type"));
            meta.tool_calls += u64::from(event.is_some_and(|it| it.is("tool.call")));
        }
        "usage.record" => spent(object, head, names, meta),
        "config.update" | "profile.bind" => settings(object, meta),
        "llm.request" => {
            if let Some(model) = text(object.raw(), "model") {
                meta.saw_model(&model);
            }
        }
        _ => {}
    }
}

fn settings(object: &Object<'_>, meta: &mut SessionMeta) {
    let stated = text(object.raw(), "cwd").or_else(|| {
        let disclosed = object.get("environmentDisclosure");
        disclosed.and_then(|it| text(it, "cwd"))
    });
    meta.project = meta.project.take().or(stated);
}

fn spent(object: &Object<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let Some(usage) = object.get("usage").and_then(view::usage) else {
        return;
    };
    let model = text(object.raw(), "model");
    if meta.models.is_empty()
        && let Some(model) = &model
    {
        meta.saw_model(model);
    }
    let said = Said {
        at: head.instant(),
        model: model.and_then(|model| names.intern(&model)),
        ..Said::default()
    };
    meta.usage.note_said(None, usage, said);
}

/// Counts messages: the parts of one step are one message.
pub(super) fn count(log: &Log, meta: &mut SessionMeta) {
    (meta.messages, meta.turns) = (0, 0);
    for (slot, head) in log.entries() {
        let is_said = matches!(head.kind, EntryKind::User | EntryKind::Assistant);
        if !is_said || head.flags.has(Flags::HIDDEN) {
            continue;
        }
        let beginning = record::beginning(log, slot);
        meta.messages += u64::from(beginning != Beginning::Nothing);
        meta.turns += u64::from(beginning == Beginning::Turn);
    }
}

/// Adds what `state.json` says.
pub(super) fn state(state: Raw<'_>, meta: &mut SessionMeta) {
    if let Some(title) = text(state, "title") {
        let by_user = state.get("isCustomTitle").and_then(|it| it.bool()) == Some(true);
        let source = if by_user { "user" } else { "auto" };
        (meta.title, meta.title_source) = (Some(title), Some(source.to_owned()));
    }
    meta.id = text(state, "id").or_else(|| meta.id.take());
    let folder = text(state, "cwd").or_else(|| text(state, "workDir"));
    meta.project = folder.or_else(|| meta.project.take());
    meta.parent = text(state, "forkedFrom").or_else(|| meta.parent.take());
    meta.archived |= state.get("archived").and_then(|it| it.bool()) == Some(true);
    for key in ["createdAt", "updatedAt"] {
        if let Some(time) = state.get(key).and_then(time) {
            meta.saw_time(time);
        }
    }
}
