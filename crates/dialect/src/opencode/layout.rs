//! Where sessions are, and which rows they consist of.

use std::collections::HashSet;
use std::path::PathBuf;

use boswell_model::Result;

use crate::row_listing::RowListing;
use crate::{
    Discovered, Environment, Files, RowChildren, RowFolder, RowFolders, RowLayout, RowTable,
    StampRule,
};

/// The folder with a JSON file for each row, before version 1.2.
pub(super) const STORAGE: &str = "storage";
/// The member of a message that lists its parts.
pub(super) const PARTS: &str = "$parts";

const SESSION: RowTable = RowTable {
    json: &[
        "data",
        "revert",
        "permission",
        "model",
        "metadata",
        "summary_diffs",
    ],
    // The time grows with most changes, and the sequence of events with all.
    stamp: StampRule::NewestRow(&["time_updated"]),
    ..RowTable::new("session", "id")
};

const PART: RowTable = RowTable {
    order: &["id"],
    json: &["data"],
    stamp: StampRule::OtherTables,
    ..RowTable::new("part", "session_id")
};

const MESSAGE: RowTable = RowTable {
    order: &["time_created", "id"],
    json: &["data"],
    stamp: StampRule::NewestRow(&["time_updated"]),
    children: Some(&RowChildren {
        table: PART,
        owner: "message_id",
        id: "id",
        member: PARTS,
    }),
    ..RowTable::new("message", "session_id")
};

/// Messages of the next generation, which 1.18 does not write yet.
const SESSION_MESSAGE: RowTable = RowTable {
    order: &["time_created", "id"],
    json: &["data"],
    stamp: StampRule::NewestRow(&["time_updated"]),
    ..RowTable::new("session_message", "session_id")
};

const INPUT: RowTable = RowTable {
    order: &["admitted_seq"],
    json: &["prompt"],
    ..RowTable::new("session_input", "session_id")
};

const TODO: RowTable = RowTable {
    order: &["position"],
    stamp: StampRule::EveryRow(Some("time_updated")),
    ..RowTable::new("todo", "session_id")
};

/// Every change of a session adds an event, so its number alone shows that something changed.
const SEQUENCE: RowTable = RowTable {
    stamp: StampRule::NewestRow(&["seq"]),
    ..RowTable::new("event_sequence", "aggregate_id")
};

/// The newest part, for databases without events. Its order is that of the keys, for which the
/// index of the column is enough.
const NEWEST_PART: RowTable = RowTable {
    stamp: StampRule::NewestRow(&["time_updated"]),
    ..RowTable::new("part", "session_id")
};

const FOLDERS: RowFolders = RowFolders {
    folder: STORAGE,
    tables: &[
        RowFolder {
            name: "session",
            owner: "project_id",
        },
        RowFolder {
            name: "message",
            owner: "session_id",
        },
        RowFolder {
            name: "part",
            owner: "message_id",
        },
    ],
};

/// The rows of a session.
pub(super) const LAYOUT: RowLayout = RowLayout {
    watched: &[SEQUENCE, NEWEST_PART],
    folders: Some(FOLDERS),
    ..RowLayout::of(&[SESSION, MESSAGE, SESSION_MESSAGE, INPUT, TODO])
};

const LISTING: RowListing = RowListing {
    layout: &LAYOUT,
    table: &SESSION,
    updated: "time_updated",
    parent: Some("parent_id"),
    archived: Some("time_archived"),
    omitted: &["summary_diffs", "permission"],
};

/// The data folder is the same on every platform.
pub(super) fn roots(env: &Environment, folder: &str, variable: Option<&str>) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    // The variable names a database; one without a folder is in the data folder.
    let stated = variable.and_then(|name| env.var(name));
    if let Some(stated) = stated.filter(|it| it.contains(['/', '\\'])) {
        roots.extend(env.cwd.join(stated).parent().map(PathBuf::from));
    }
    match env.path_var("XDG_DATA_HOME") {
        Some(data) => roots.push(data.join(folder)),
        None => roots.extend(env.in_home(".local/share").map(|data| data.join(folder))),
    }
    roots
}

/// Finds the sessions of every database, and those that were never moved into one.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for info in files.list("")? {
        // Other channels of the program have databases of their own.
        if info.is_file() && info.stem(".db").is_some() {
            LISTING.add(files, &info.key, &mut found);
        }
    }
    let known: HashSet<String> = found.sessions.iter().map(|it| it.id.clone()).collect();
    let mut older = Discovered::default();
    if files.stat(STORAGE)?.is_some_and(|info| info.is_folder()) {
        LISTING.add(files, STORAGE, &mut older);
    }
    older.sessions.retain(|it| !known.contains(&it.id));
    for location in &mut older.sessions {
        let row = location.row.as_deref().and_then(super::record::stated);
        let Some(row) = row else { continue };
        location.modified = row.updated.or(location.modified);
        if row.parent.is_some() {
            (location.owner, location.hidden) = (row.parent, Some("subagent"));
        }
    }
    found.sessions.extend(older.sessions);
    found.unlisted.extend(older.unlisted);
    // The same session in two databases of one folder: the newest counts.
    found
        .sessions
        .sort_by(|a, b| (&a.id, b.modified).cmp(&(&b.id, a.modified)));
    found.sessions.dedup_by(|b, a| a.id == b.id);
    Ok(found)
}
