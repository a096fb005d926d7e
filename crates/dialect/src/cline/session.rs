//! Sessions of newer versions: a manifest, and a document with the messages.

use std::path::PathBuf;

use boswell_model::json::{Object, Raw};
use boswell_model::{Result, SessionMeta, Usage};

use crate::members::{text, time};
use crate::{Discovered, Environment, FileInfo, Files, Sample, SessionLocation};

use super::FRAMING;

const LIMIT: u64 = 256 << 20;
const ENDING: &str = ".messages.json";

/// Returns the folder of Cline's data.
pub(super) fn root(env: &Environment) -> Option<PathBuf> {
    let moved = env.path_var("CLINE_DIR").map(|root| root.join("data"));
    env.path_var("CLINE_DATA_DIR")
        .or(moved)
        .or_else(|| env.in_home(".cline/data"))
}

/// Finds the sessions, and those of their subagents in the same folder.
pub(super) fn discover(files: &dyn Files, found: &mut Discovered) -> Result<()> {
    for folder in files
        .list("sessions")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        for info in files.list(&folder.key)? {
            let Some(id) = info.stem(ENDING).filter(|_| info.is_file()) else {
                continue;
            };
            let is_main = id == folder.name();
            found.sessions.push(SessionLocation {
                hidden: (!is_main).then_some("subagent"),
                owner: (!is_main).then(|| folder.name().to_owned()),
                ..SessionLocation::at(id, &info, FRAMING)
            });
        }
    }
    Ok(())
}

/// Whether a file is such a document.
pub(super) fn is_document(sample: &Sample<'_>) -> bool {
    sample.records.first().is_some_and(|first| {
        let has = |key: &str| first.get(key).is_some();
        has("sessionId") && has("messages") && has("updated_at") && has("agent")
    })
}

/// Returns the prompt between its tags.
pub(super) fn unwrapped(text: &str) -> Option<&str> {
    let (_, rest) = text.trim().strip_prefix("<user_input")?.split_once('>')?;
    Some(rest.strip_suffix("</user_input>")?.trim_matches('\n'))
}

/// Returns the model and the tokens of a message. The input contains what came from the cache.
pub(super) fn spent(object: &Object<'_>) -> (Option<String>, Option<Usage>) {
    let info = object.get("modelInfo").and_then(|it| text(it, "id"));
    let model = info.or_else(|| text(object.raw(), "model"));
    let Some(stated) = object.get("metrics") else {
        return (model, None);
    };
    let count = |key: &str| stated.get(key).and_then(|it| it.u64());
    let cached = count("cacheReadTokens");
    let usage = Usage {
        input: count("inputTokens").map(|n| n.saturating_sub(cached.unwrap_or(0))),
        output: count("outputTokens"),
        cache_read: cached,
        cache_write: count("cacheWriteTokens"),
        cost: stated.get("cost").and_then(|it| it.f64()),
        ..Usage::default()
    };
    (model, (!usage.is_unknown()).then_some(usage))
}

/// Adds what the manifest states.
pub(super) fn side_meta(
    files: &dyn Files,
    location: &SessionLocation,
    meta: &mut SessionMeta,
) -> Result<()> {
    let stem = location
        .key
        .as_deref()
        .and_then(|key| key.strip_suffix(ENDING));
    let Some(stem) = stem else {
        return Ok(());
    };
    let bytes = files
        .read_whole(&format!("{stem}.json"), LIMIT)?
        .unwrap_or_default();
    let Ok(manifest) = Raw::parse(bytes.trim_ascii()) else {
        return Ok(());
    };
    meta.id = text(manifest, "session_id").or_else(|| meta.id.take());
    meta.project = text(manifest, "cwd").or_else(|| meta.project.take());
    let more = manifest.get("metadata");
    meta.title = more
        .and_then(|it| text(it, "title"))
        .or_else(|| meta.title.take());
    let forked = more
        .and_then(|it| it.get("fork"))
        .and_then(|it| text(it, "forkedFromSessionId"));
    meta.parent = forked.or_else(|| meta.parent.take());
    for key in ["started_at", "ended_at"] {
        if let Some(time) = manifest.get(key).and_then(time) {
            meta.saw_time(time);
        }
    }
    if let Some(model) = text(manifest, "model") {
        meta.saw_model(&model);
    }
    Ok(())
}
