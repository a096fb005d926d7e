//! The files that a call of a session reads or changes.

use std::path::PathBuf;

use boswell_dialect::Depth;
use boswell_model::json::Raw;
use boswell_model::{Part, Result, Slot};
use boswell_store::Session;

use super::file_edit::{file_edits, folder};
use super::plain_path::plain;
use crate::RequestContext;

/// How far before an entry its call is looked for: a result is behind it.
const BEFORE: u32 = 16;

/// Returns the files of the calls of an entry, else of the nearest entry before it that has some.
pub(super) fn entry_files(cx: &RequestContext, session: &str, entry: &str) -> Result<Vec<PathBuf>> {
    let found = cx.resolve(session)?;
    let session = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    let slot = session.find(entry)?;
    let slots = (slot.0.saturating_sub(BEFORE)..=slot.0).rev().map(Slot);
    for slot in slots {
        let files = files_of(&session, slot)?;
        if !files.is_empty() {
            return Ok(files);
        }
    }
    Ok(Vec::new())
}

fn files_of(session: &Session, slot: Slot) -> Result<Vec<PathBuf>> {
    let entry = session.entry(slot)?;
    let cwd = Raw::parse(&entry.bytes).ok().and_then(|raw| {
        let cwd = raw.get("cwd")?.text()?.into_owned();
        Some(cwd).filter(|cwd| !cwd.is_empty())
    });
    let cwd = cwd.or_else(|| session.meta().project.clone());
    let cwd = PathBuf::from(cwd.unwrap_or_default());
    let view = entry.view.unwrap_or_default();
    let mut files: Vec<PathBuf> = Vec::new();
    for part in &view.parts {
        let Part::Call { name, input, .. } = part else {
            continue;
        };
        let cwd = folder(input).map_or_else(|| cwd.clone(), |folder| cwd.join(folder));
        for edit in file_edits(name, input) {
            let file = plain(&cwd.join(&edit.path));
            if file.is_absolute() && !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}
