//! Rewinds a session: truncates the transcript before a prompt, and makes the engine forget the
//! same messages.

use boswell_model::{EntryKind, Error, ErrorKind, Remark, Result, Tip};

use crate::Planned;

use super::super::index_file::RowEdit;
use super::super::rewind_intent::{Engine, Intent};
use super::super::row::{PENDING, Row};
use super::input::{Work, set_or_remove};
use super::recover_rewind::{bound, finish};

/// How the engine drops the messages.
enum Engines {
    /// The engine continues after this message, which the app finds in the last row.
    After(String),
    /// The engine gets a new session; the row states this before the transcript is truncated.
    Replaced(Intent),
    /// The engine has no session yet.
    Unasked,
    /// An engine that cannot be rewound.
    Untold,
}

pub(super) fn plan(mut work: Work<'_>, tip: Tip) -> Result<Planned> {
    work.refuse_operations()?;
    work.row()?;
    work.refuse_malformed()?;
    work.settle()?;
    let mut row = work.row()?;
    let slot = match tip {
        Tip::At(slot) if work.view().log.kind(slot) == EntryKind::User => slot,
        _ => {
            return Err(Error::new(
                ErrorKind::Invalid,
                "only a prompt of the user can be rewound to",
            ));
        }
    };
    let (before, after) = (work.view().log.heads.len(), slot.index());
    let engines = engines(&work, &row, before, after)?;
    if let Engines::Replaced(intent) = &engines {
        // As in the app, the intent is in the row before the transcript is truncated, so that the
        // app or boswell can finish the rewind.
        row.set(PENDING, intent.to_json())?;
        work.put_row(row.clone());
        let announced = work.index.steps(work.asked.files, work.now())?;
        work.steps.extend(announced);
        work.index.is_written();
        finish(&mut row, intent)?;
    }
    work.remarks.extend(remark(&engines).map(Remark::from));
    let cut = work.transcript()?.cut(&work, slot)?;
    work.steps.extend(cut);
    work.stats(after)?.write(&mut row)?;
    set_or_remove(&mut row, "lastMessagePreview", work.preview(after)?)?;
    work.put_row(row);
    let title = format!("cut {} of {before} rows", before - after);
    work.finish("rewind", &title)
}

fn engines(work: &Work<'_>, row: &RowEdit, before: usize, after: usize) -> Result<Engines> {
    let engine = match Row(row.raw()).runtime().as_str() {
        "builtin" => Engine::Sdk,
        "codex" => Engine::Codex,
        _ => return Ok(Engines::Untold),
    };
    let Some(source) = bound(row, engine) else {
        return Ok(Engines::Unasked);
    };
    if engine == Engine::Sdk
        && let Some(uuid) = last_uuid(work, after)?
    {
        return Ok(Engines::After(uuid));
    }
    let replacement = (engine == Engine::Sdk).then(|| work.asked.id_source.uuid_v4());
    let (rows_before, rows_after) = (before as u64, after as u64);
    Ok(Engines::Replaced(Intent {
        engine,
        source: Some(source),
        replacement,
        rows_before,
        rows_after,
    }))
}

/// Returns the engine's id of the last remaining row, if that is an assistant message with one.
fn last_uuid(work: &Work<'_>, after: usize) -> Result<Option<String>> {
    let view = work.view();
    let Some(last) = view.log.slots().take(after).next_back() else {
        return Ok(None);
    };
    if view.log.kind(last) != EntryKind::Assistant {
        return Ok(None);
    }
    let uuid = view.with_object(last, |row| {
        row.text("sdkUuid").map(std::borrow::Cow::into_owned)
    })?;
    Ok(uuid.flatten().filter(|uuid| !uuid.is_empty()))
}

fn remark(engines: &Engines) -> Option<String> {
    match engines {
        Engines::After(uuid) => Some(format!("the engine continues after its message {uuid}")),
        Engines::Replaced(_) => {
            Some("the engine starts a new session: it remembers nothing of this one".to_owned())
        }
        Engines::Unasked => None,
        Engines::Untold => {
            Some("the engine is not notified, and may remember more than is shown".to_owned())
        }
    }
}
