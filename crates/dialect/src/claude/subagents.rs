//! Finds the tool call that started each subagent.

use std::collections::HashMap;

use boswell_model::json::{Object, Raw};
use boswell_model::{EntryKind, Framing, Result, SessionView};

use super::pairing::results_of;
use crate::uuid::is_uuid;
use crate::{FileInfo, Files, SessionLocation, Subagent};

const LIMIT: u64 = 1 << 20;

/// Returns the subagents of a session, including nested ones, each with the call that started it if
/// that is recorded.
///
/// Current versions write a side file of the subagent's log that names the call; older ones name
/// the subagent in the result.
pub(super) fn of(
    files: &dyn Files,
    location: &SessionLocation,
    view: &SessionView<'_>,
) -> Result<Vec<Subagent>> {
    let Some(stem) = location
        .key
        .as_deref()
        .and_then(|key| key.strip_suffix(".jsonl"))
    else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut folders = vec![format!("{stem}/subagents")];
    while let Some(folder) = folders.pop() {
        for info in files.list(&folder)? {
            if info.is_folder() {
                folders.push(info.key);
            } else if let Some(id) = agent_id(&info) {
                found.push((id.to_owned(), subagent(files, &info)?));
            }
        }
    }
    // Version 2.0 stored them next to the sessions.
    let project = stem.rsplit_once('/').map_or("", |(project, _)| project);
    let mut beside = files.list_named(project, &|name| name.starts_with("agent-"))?;
    beside.retain(|info| agent_id(info).is_some());
    // The results are the whole log, so they are read only if a subagent is named nowhere else.
    let is_unnamed = |(_, it): &(String, Subagent)| it.call.is_none();
    if beside.is_empty() && !found.iter().any(is_unnamed) {
        return Ok(in_order(found));
    }
    let mut calls: HashMap<String, String> = HashMap::new();
    for (slot, head) in view.log.entries() {
        if head.kind == EntryKind::ToolResult {
            calls.extend(view.with_object(slot, told)?.flatten());
        }
    }
    for info in beside {
        if let Some(id) = agent_id(&info).filter(|id| calls.contains_key(*id)) {
            found.push((id.to_owned(), subagent(files, &info)?));
        }
    }
    for (id, it) in &mut found {
        it.call = it.call.take().or_else(|| calls.get(id).cloned());
    }
    Ok(in_order(found))
}

fn in_order(found: Vec<(String, Subagent)>) -> Vec<Subagent> {
    let mut found: Vec<Subagent> = found.into_iter().map(|(_, it)| it).collect();
    found.sort_by(|a, b| a.location.key.cmp(&b.location.key));
    found
}

fn agent_id(info: &FileInfo) -> Option<&str> {
    info.stem(".jsonl")
        .filter(|_| info.is_file())?
        .strip_prefix("agent-")
        .filter(|id| !id.is_empty())
}

/// Returns the subagent that a result comes from, and the id of the call.
fn told(object: &Object<'_>) -> Option<(String, String)> {
    let agent = object
        .get("toolUseResult")?
        .get("agentId")?
        .text()?
        .into_owned();
    Some((agent, results_of(object).into_iter().next()?))
}

/// Returns a subagent, with the call that its side file names.
fn subagent(files: &dyn Files, info: &FileInfo) -> Result<Subagent> {
    let side_files = info
        .key
        .strip_suffix(".jsonl")
        .map(|stem| format!("{stem}.meta.json"))
        .unwrap_or_default();
    let small = files
        .stat(&side_files)?
        .is_some_and(|meta| meta.is_file() && meta.size <= LIMIT);
    let bytes = if small {
        files.read_whole(&side_files, LIMIT)?.unwrap_or_default()
    } else {
        Vec::new()
    };
    let meta = Raw::parse(&bytes).ok();
    let text = |key: &str| {
        meta.and_then(|meta| meta.get(key)?.text())
            .map(|text| text.into_owned())
    };
    let stem = info.stem(".jsonl").unwrap_or_default();
    Ok(Subagent {
        location: SessionLocation {
            hidden: Some("subagent"),
            ..SessionLocation::at(stem, info, Framing::Lines)
        },
        call: text("toolUseId"),
        task: text("description"),
    })
}

/// Returns the key of the file that contains the full output of a long result. Only the file's name
/// is used: the folder may have moved.
pub(super) fn full_output_key(location: &SessionLocation, object: &Object<'_>) -> Option<String> {
    let path = object
        .get("toolUseResult")?
        .get("persistedOutputPath")?
        .text()?;
    let name = path
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty() && !name.starts_with('.'))?;
    let owner = location.key.as_deref()?.strip_suffix(".jsonl")?;
    // A subagent stores its outputs in the folder of its parent session.
    let owner = owner
        .split("/subagents/")
        .next()
        .filter(|folder| is_uuid(folder.rsplit('/').next().unwrap_or("")))?;
    Some(format!("{owner}/tool-results/{name}"))
}
