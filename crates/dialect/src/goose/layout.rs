//! Where sessions are, and which rows they consist of.

use std::collections::HashSet;
use std::path::PathBuf;

use boswell_model::{Framing, Result};

use crate::members::text;
use crate::row_listing::{RowListing, row_of};
use crate::{Discovered, Environment, Files, RowLayout, RowTable, SessionLocation, StampRule};

const FOLDER: &str = "sessions";
const DATABASE: &str = "sessions/sessions.db";

const SESSIONS: RowTable = RowTable {
    json: &[
        "extension_data",
        "recipe_json",
        "user_recipe_values_json",
        "model_config_json",
    ],
    stamp: StampRule::NewestRow(&["updated_at", "archived_at"]),
    ..RowTable::new("sessions", "id")
};

const USAGE_ROWS: RowTable = RowTable {
    order: &["id"],
    ..RowTable::new("usage_ledger", "session_id")
};

const MESSAGES: RowTable = RowTable {
    order: &["created_timestamp", "id"],
    json: &["content_json", "metadata_json", "tokens"],
    stamp: StampRule::NewestRow(&["metadata_json"]),
    ..RowTable::new("messages", "session_id")
};

/// The rows of a session. The ledger comes before the messages: what it counts is not counted
/// again.
pub(super) const LAYOUT: RowLayout = RowLayout::of(&[SESSIONS, USAGE_ROWS, MESSAGES]);

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &SESSIONS,
    updated: "updated_at",
    parent: Some("parent_session_id"),
    archived: Some("archived_at"),
    omitted: &["extension_data", "recipe_json", "user_recipe_values_json"],
};

/// The names of counts, which differ between a row and JSON.
pub(super) struct UsageNames {
    pub(super) input: &'static str,
    pub(super) output: &'static str,
    pub(super) cache_read: &'static str,
    pub(super) cache_write: &'static str,
    pub(super) cost: &'static str,
}

/// Columns of the ledger.
pub(super) const COLUMNS: UsageNames = UsageNames {
    input: "input_tokens",
    output: "output_tokens",
    cache_read: "cache_read_tokens",
    cache_write: "cache_write_tokens",
    cost: "cost",
};

/// Members of a message's usage.
pub(super) const MEMBERS: UsageNames = UsageNames {
    input: "inputTokens",
    output: "outputTokens",
    cache_read: "cacheReadTokens",
    cache_write: "cacheWriteTokens",
    cost: "cost",
};

/// Columns of a session with the sums of all its calls.
pub(super) const ACCUMULATED: UsageNames = UsageNames {
    input: "accumulated_input_tokens",
    output: "accumulated_output_tokens",
    cache_read: "accumulated_cache_read_tokens",
    cache_write: "accumulated_cache_write_tokens",
    cost: "accumulated_cost",
};

pub(super) fn roots(env: &Environment) -> Vec<PathBuf> {
    if let Some(root) = env.path_var("GOOSE_PATH_ROOT") {
        return vec![root.join("data")];
    }
    let mut roots = Vec::new();
    match env.path_var("XDG_DATA_HOME") {
        Some(data) => roots.push(data.join("goose")),
        None => roots.extend(env.in_home(".local/share/goose")),
    }
    // Older builds of the desktop app on macOS, and Windows.
    roots.extend(env.in_home("Library/Application Support/Block.goose"));
    roots.extend(
        env.path_var("APPDATA")
            .map(|data| data.join("Block/goose/data")),
    );
    roots
}

/// Finds the sessions of the database, and files that were not taken into it.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    LISTING.add(files, DATABASE, &mut found);
    for location in &mut found.sessions {
        let kind = row_of(location).and_then(|row| text(row, "session_type"));
        match kind.as_deref() {
            Some("sub_agent") => location.hidden = Some("subagent"),
            Some("hidden") => location.hidden = Some("hidden"),
            // A parent of another session is where it was forked.
            _ if location.hidden == Some("subagent") => {
                (location.hidden, location.owner) = (None, None);
            }
            _ => {}
        }
    }
    let known: HashSet<String> = found.sessions.iter().map(|it| it.id.clone()).collect();
    for info in files.list(FOLDER)? {
        if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl"))
            && !known.contains(id)
        {
            let id = id.to_owned();
            let location = SessionLocation::of_file(id, info, Framing::Lines);
            found.sessions.push(location);
        }
    }
    Ok(found)
}
