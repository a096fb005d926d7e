//! Collects the metadata of a session.

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Flags, Head, Interner, Said, SessionMeta, Symbol, Usage};

use crate::members::{text, time};

use super::event::data;

/// Adds the facts that an event states about the session.
pub(super) fn collect_meta(
    object: &Object<'_>,
    head: &Head,
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    meta.saw(head);
    let word = head.word.map_or("", |word| names.text(word)).to_owned();
    meta.count(&word);
    let data = data(object);
    match word.as_str() {
        "session.start" | "session.resume" => session(data, meta),
        "user.message" if !head.flags.has(Flags::SIDECHAIN) => {
            meta.saw_prompt(&text(data, "content").unwrap_or_default());
            (meta.turns, meta.messages) = (meta.turns + 1, meta.messages + 1);
        }
        "assistant.message" => answered(data, head, names, meta),
        "session.usage_record" | "assistant.usage" => spent(data, head, names, meta),
        "session.shutdown" => total(data, head, names, meta),
        "session.title_changed" => {
            meta.title = text(data, "title").or_else(|| meta.title.take());
        }
        "session.model_change" => {
            if let Some(model) = text(data, "newModel") {
                meta.saw_model(&model);
            }
        }
        _ => {}
    }
    if head.kind == EntryKind::Leaf {
        meta.status = None;
    }
}

fn session(data: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(data, "sessionId").or_else(|| meta.id.take());
    meta.agent_version = text(data, "copilotVersion").or_else(|| meta.agent_version.take());
    if let Some(time) = data.get("startTime").and_then(time) {
        meta.saw_time(time);
    }
    if let Some(model) = text(data, "selectedModel") {
        meta.saw_model(&model);
    }
    let context = data.get("context");
    let stated = |key: &str| context.and_then(|it| text(it, key));
    meta.project = stated("cwd").or_else(|| meta.project.take());
    meta.git_branch = stated("branch").or_else(|| meta.git_branch.take());
    meta.parent = text(data, "detachedFromSpawningParentSessionId").or_else(|| meta.parent.take());
}

fn answered(data: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    meta.messages += 1;
    let calls = data.get("toolRequests").into_iter();
    meta.tool_calls += calls.flat_map(|it| it.items()).count() as u64;
    if let Some(model) = text(data, "model") {
        meta.saw_model(&model);
    }
    // Older versions record only the output of each message, and the rest when they end.
    if let Some(usage) = message_usage(data) {
        let id = text(data, "messageId").and_then(|id| names.intern(&id));
        note(data, usage, (id, head), names, meta);
    }
}

/// Returns the tokens that a message itself states.
pub(super) fn message_usage(data: Raw<'_>) -> Option<Usage> {
    let output = data.get("outputTokens").and_then(|it| it.u64());
    output.map(|output| Usage {
        output: Some(output),
        ..Usage::default()
    })
}

fn spent(data: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let Some(usage) = usage(data) else { return };
    let stated = data.get("usage").unwrap_or(data);
    let id = text(stated, "apiCallId").and_then(|id| names.intern(&id));
    note(stated, usage, (id, head), names, meta);
}

fn note(
    stated: Raw<'_>,
    usage: Usage,
    (id, head): (Option<Symbol>, &Head),
    names: &mut Interner,
    meta: &mut SessionMeta,
) {
    let said = Said {
        at: head.instant(),
        model: text(stated, "model").and_then(|model| names.intern(&model)),
        ..Said::default()
    };
    meta.usage.note_said(id.or(head.id), usage, said);
    // The total at the end then adds only what is not counted yet.
    meta.usage.running.counted(usage, None);
}

/// Returns the tokens of one response. The input contains what came from the cache.
pub(super) fn usage(data: Raw<'_>) -> Option<Usage> {
    let stated = data.get("usage").unwrap_or(data);
    let mut usage = counts(stated)?;
    // What the program calls cost is a number of requests of the plan.
    usage.premium_requests = stated.get("cost").and_then(|it| it.f64());
    Some(usage)
}

fn counts(stated: Raw<'_>) -> Option<Usage> {
    let count = |key: &str| stated.get(key).and_then(|it| it.u64());
    let cached = count("cacheReadTokens");
    let usage = Usage {
        input: count("inputTokens").map(|n| n.saturating_sub(cached.unwrap_or(0))),
        output: count("outputTokens"),
        cache_read: cached,
        cache_write: count("cacheWriteTokens"),
        reasoning: count("reasoningTokens"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

/// The totals of a session, which go on when it is resumed.
fn total(data: Raw<'_>, head: &Head, names: &mut Interner, meta: &mut SessionMeta) {
    let stated = data.get("accountingSnapshot").unwrap_or(data);
    let metrics = stated.get("modelMetrics");
    let (mut sum, mut models) = (Usage::default(), Vec::new());
    for (model, metric) in metrics.into_iter().flat_map(|it| it.members()) {
        if let Some(usage) = metric.get("usage").and_then(counts) {
            sum.add(&usage);
            models.push(model.to_text().into_owned());
        }
    }
    let Some(added) = meta
        .usage
        .running
        .adds(sum, None)
        .filter(|_| !models.is_empty())
    else {
        return;
    };
    let said = Said {
        at: head.instant(),
        model: models.first().and_then(|model| names.intern(model)),
        ..Said::default()
    };
    meta.usage.note_said(head.id, added, said);
}
