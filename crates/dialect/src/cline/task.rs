//! Tasks in the storage of an editor: the messages that are sent, those that are shown, and rows in
//! a list.

use std::path::PathBuf;

use boswell_model::json::Raw;
use boswell_model::{Result, SessionMeta, Usage};

use crate::members::{text, time};
use crate::{Discovered, Environment, FileInfo, Files, SessionLocation, editors};

use super::FRAMING;

/// Name of the document with the messages that are sent.
pub(super) const LOG: &str = "api_conversation_history.json";
const LIMIT: u64 = 256 << 20;
const ITEM_LIMIT: u64 = 4 << 20;

/// Returns the storage of an extension in every editor.
pub(super) fn roots(env: &Environment, extension: &str) -> Vec<PathBuf> {
    let users = editors::user_folders(env).into_iter();
    users
        .map(|user| user.join("globalStorage").join(extension))
        .collect()
}

/// Finds every task.
pub(super) fn discover(files: &dyn Files, found: &mut Discovered) -> Result<()> {
    let listed = files
        .read_whole("state/taskHistory.json", LIMIT)?
        .unwrap_or_default();
    let rows = Raw::parse(listed.trim_ascii()).ok();
    for folder in files.list("tasks")?.into_iter().filter(FileInfo::is_folder) {
        let log = files.stat(&format!("{}/{LOG}", folder.key))?;
        let Some(log) = log.filter(FileInfo::is_file) else {
            continue;
        };
        let mut listed = rows.into_iter().flat_map(|it| it.items());
        let row = listed.find(|row| row.get("id").is_some_and(|it| it.is(folder.name())));
        // Roo Code keeps the row of a task with the task.
        let own = files.read_whole(&format!("{}/history_item.json", folder.key), ITEM_LIMIT)?;
        found.sessions.push(SessionLocation {
            row: own.or_else(|| row.map(|row| row.bytes().to_vec())),
            ..SessionLocation::at(folder.name(), &log, FRAMING)
        });
    }
    Ok(())
}

/// Returns the folder of a task; `None` for a session of newer versions.
pub(super) fn folder(location: &SessionLocation) -> Option<&str> {
    let (folder, name) = location.key.as_deref()?.rsplit_once('/')?;
    (name == LOG).then_some(folder)
}

/// Adds what the row of a task in the list states.
pub(super) fn history_item(row: Raw<'_>, meta: &mut SessionMeta) {
    meta.id = text(row, "id").or_else(|| meta.id.take());
    let folder = text(row, "cwdOnTaskInitialization")
        .or_else(|| text(row, "workspace"))
        .or_else(|| text(row, "cwd"));
    meta.project = folder.or_else(|| meta.project.take());
    meta.parent = text(row, "parentTaskId").or_else(|| meta.parent.take());
    if let Some(time) = row.get("ts").and_then(time) {
        meta.saw_time(time);
    }
    let count = |key: &str| row.get(key).and_then(|it| it.u64());
    let usage = Usage {
        input: count("tokensIn"),
        output: count("tokensOut"),
        cache_read: count("cacheReads"),
        cache_write: count("cacheWrites"),
        cost: row.get("totalCost").and_then(|it| it.f64()),
        ..Usage::default()
    };
    if !usage.is_unknown() {
        meta.stated.usage = usage;
    }
}

/// Adds what the other files of a task state: its row, and the times of what was shown.
pub(super) fn side_meta(files: &dyn Files, folder: &str, meta: &mut SessionMeta) -> Result<()> {
    let read = |name: &str| files.read_whole(&format!("{folder}/{name}"), LIMIT);
    let item = read("history_item.json")?.unwrap_or_default();
    if let Ok(row) = Raw::parse(item.trim_ascii()) {
        history_item(row, meta);
    }
    let shown = read("ui_messages.json")?.unwrap_or_default();
    if let Ok(shown) = Raw::parse(shown.trim_ascii()) {
        for message in shown.items() {
            if let Some(time) = message.get("ts").and_then(time) {
                meta.saw_time(time);
            }
        }
    }
    Ok(())
}
