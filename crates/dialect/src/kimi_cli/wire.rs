//! `wire.jsonl`: what the screen showed, with times and tokens that the context lacks.

use boswell_model::json::Raw;
use boswell_model::{Interner, Said, SessionMeta, Usage};

use crate::members::{text, time};

/// Adds what the lines state about the session.
pub(super) fn collect(bytes: &[u8], meta: &mut SessionMeta) {
    let mut names = Interner::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(raw) = Raw::parse(line.trim_ascii()) else {
            continue;
        };
        let at = raw.get("timestamp").and_then(time);
        if let Some(at) = at {
            meta.saw_time(at);
        }
        let Some(payload) = raw.at(&["message", "payload"]) else {
            continue;
        };
        let Some(usage) = payload.get("token_usage").and_then(usage) else {
            continue;
        };
        let said = Said {
            at,
            ..Said::default()
        };
        // Symbols of another table would name other messages of the log: the usage has no name, and
        // a repeated line of one message is known by its id here.
        let id = text(payload, "message_id");
        let is_new = id.is_none_or(|id| {
            let is_new = names.find(&id).is_none();
            names.intern(&id);
            is_new
        });
        if is_new {
            meta.usage.note_said(None, usage, said);
        }
    }
}

fn usage(stated: Raw<'_>) -> Option<Usage> {
    let count = |key: &str| stated.get(key).and_then(|it| it.u64());
    let usage = Usage {
        input: count("input_other"),
        output: count("output"),
        cache_read: count("input_cache_read"),
        cache_write: count("input_cache_creation"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}
