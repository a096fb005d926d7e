//! Rebuilds the index from the transcripts.

use boswell_model::json::Json;
use boswell_model::{Instant, Remark, Result, SessionView};

use crate::{Depth, Files, IdSource, Plan, Planned, Reader, SessionLocation};

use super::super::dialect::MyAgents;
use super::super::index_file::{IndexFile, RowEdit};
use super::super::stats::Stats;
use super::super::{layout, title, v2};
use super::input::{preview_of, set_or_remove};

/// A larger transcript is not read: its sums stay as in the index.
const LONGEST: u64 = 1 << 30;

fn counted(view: &SessionView<'_>) -> Result<Stats> {
    let mut stats = Stats::default();
    for slot in view.log.slots() {
        view.with_object(slot, |row| stats.count(row))?;
    }
    Ok(stats)
}

/// Plans a new index. Rows keep members that only the index has; sums and previews are computed
/// again; transcripts without a row get one.
pub(super) fn plan(files: &dyn Files, id_source: &dyn IdSource) -> Result<Planned> {
    let mut index = IndexFile::load(files)?;
    let mut remarks = Vec::new();
    for location in layout::discover(files)?.sessions {
        let Some(key) = location.key.clone() else {
            continue;
        };
        // The app derives the sums of a log of operations itself, with its next write.
        if v2::session_of(&key).is_some() || location.size > LONGEST {
            continue;
        }
        let bytes = files.read_whole(&key, LONGEST)?.unwrap_or_default();
        let read = Reader::read(&MyAgents, &location, &bytes, Depth::Facts);
        let view = read.view(&bytes);
        let mut row = match index.row(&location.id) {
            Some(row) => row,
            None => {
                remarks.push(Remark::new(format!(
                    "session {} had no row; the folder of its project is not known",
                    location.id
                )));
                born(&location, &read.meta, id_source.now())
            }
        };
        let stats = counted(&view)?;
        if stats != Stats::stated(row.raw()) || row.raw().get("stats").is_none() {
            stats.write(&mut row)?;
        }
        let preview = preview_of(&view, view.log.heads.len())?;
        if preview != row.text("lastMessagePreview") {
            set_or_remove(&mut row, "lastMessagePreview", preview)?;
        }
        index.put(&location.id, row);
    }
    let mut plan = Plan::new("index", "rebuild MyAgents' index from its transcripts");
    plan.steps = index.steps(files, id_source.now())?;
    Ok(Planned {
        plan,
        remarks,
        ..Planned::default()
    })
}

fn born(location: &SessionLocation, meta: &boswell_model::SessionMeta, now: Instant) -> RowEdit {
    let created = meta.created.or(location.modified).unwrap_or(now);
    let active = meta
        .last_active
        .or(location.modified)
        .unwrap_or(now)
        .max(created);
    let said = meta.first_prompt.as_deref().unwrap_or_default();
    RowEdit::of(
        &Json::object()
            .with("id", &location.id)
            .with("agentDir", "")
            .with("title", title::default_title(said))
            .with("createdAt", created.to_rfc3339())
            .with("lastActiveAt", active.to_rfc3339()),
    )
}
