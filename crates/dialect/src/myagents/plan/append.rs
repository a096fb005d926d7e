//! Appends rows: first compares with the existing rows, so that a retry writes nothing twice and
//! rows of another writer are not missed.

use boswell_model::json::{Object, scan_object};
use boswell_model::{
    Advice, EntryId, EntryKind, Error, ErrorKind, Instant, Result, Revision, Slot,
};

use crate::{Draft, Expected, Modified, Parent, Planned, Step, unsupported};

use super::super::encode::{Encoded, MessagePosition, encode};
use super::super::index_file::RowEdit;
use super::super::stats::Stats;
use super::super::{indent, preview, reminder, title};
use super::append_operations;
use super::input::Work;

/// The steps that write lines, over a torn row if they begin with it.
fn written(work: &Work<'_>, torn: Option<(u64, Vec<u8>)>, lines: Vec<u8>) -> Result<Vec<Step>> {
    let transcript = work.transcript()?;
    Ok(match torn {
        Some((at, old)) if lines.starts_with(&old) => vec![Step::Edit {
            key: transcript.key,
            at: Some(at),
            old,
            new: lines,
            modified: Modified::Now,
        }],
        _ => transcript.appended(&lines),
    })
}

/// Versions before the newest keep the number of rows of an open session in memory, and write their
/// own rows by it.
const APP_RUNS: &str = "MyAgents runs: if it has this session open, an older version of it may \
    write the new rows a second time; close the session there before it is used";

/// The encoded rows of an append.
pub(super) struct Rows {
    pub(super) rows: Vec<Encoded>,
}

pub(super) fn plan(
    mut work: Work<'_>,
    drafts: &[Draft],
    expect: Option<&Expected>,
) -> Result<Planned> {
    if work.is_operations() {
        return append_operations::plan(work, drafts, expect);
    }
    let indexed = work.index.row(work.id()).is_some();
    if !indexed && work.asked.location.key.is_none() {
        return Err(gone(&work));
    }
    work.settle()?;
    check_parents(&work, drafts)?;
    let known = already(&work, drafts, expect)?;
    work.already = known.count;
    let rows = encode_all(&mut work, drafts, known.count)?;
    if rows.rows.is_empty() {
        return work.finish("append", "nothing to add");
    }
    let mut lines = Vec::new();
    for it in &rows.rows {
        lines.extend_from_slice(&it.row);
        lines.push(b'\n');
        // The attachments are written before the row that names them.
        for (key, bytes) in &it.files {
            work.steps.push(Step::put(key, bytes.clone()));
        }
    }
    if work.asked.running_app.is_some() {
        work.remarks.push(APP_RUNS.into());
    }
    let steps = written(&work, known.torn, lines)?;
    work.steps.extend(steps);
    if let Some(row) = work.index.row(work.id()) {
        let row = told(&work, row, &rows)?;
        work.put_row(row);
    }
    let title = format!("append {} rows", rows.rows.len());
    work.finish("append", &title)
}

/// Returns the error for a session that was deleted.
fn gone(work: &Work<'_>) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("session {} does not exist any more", work.id()),
    )
    .because("it has neither a row nor a transcript, and what was deleted stays so")
    .advising(Advice::ListSessions {
        dialect: Some("myagents".to_owned()),
        hidden: false,
    })
}

/// The drafts that the transcript already contains.
#[derive(Default)]
struct Known {
    count: usize,
    /// Position and bytes of a torn row that may be the beginning of one of ours.
    torn: Option<(u64, Vec<u8>)>,
}

/// Finds how many drafts of a retry are already in the transcript. Other changes since the expected
/// state are a conflict.
fn already(work: &Work<'_>, drafts: &[Draft], expect: Option<&Expected>) -> Result<Known> {
    let log = work.view().log;
    match expect {
        Some(Expected::Revision(revision)) if !revision.fits(&work.revision()) => {
            since_revision(work, drafts, revision)
        }
        Some(Expected::Leaf(leaf)) => {
            let last = log.slots().next_back();
            let last = last.map_or_else(|| "the root".into(), |slot| log.label(slot));
            if last == *leaf {
                Ok(Known::default())
            } else {
                Err(stale(work, leaf, &last))
            }
        }
        _ => by_id(work, drafts),
    }
}

/// Finds how many of the drafts were appended since a revision. Any other new row is a conflict.
fn since_revision(work: &Work<'_>, drafts: &[Draft], revision: &Revision) -> Result<Known> {
    let log = work.view().log;
    let actual = work.revision();
    let stale = || stale(work, &revision.to_string(), &actual.to_string());
    let from = revision.end();
    if from >= log.bytes || work.is_document() || !revision.is_same_file(&actual) {
        return Err(stale());
    }
    let since: Vec<Slot> = log
        .entries()
        .filter(|(_, head)| head.at >= from)
        .map(|(slot, _)| slot)
        .collect();
    let begun = log
        .heads
        .iter()
        .any(|head| head.at < from && head.at + head.len > from);
    if begun || since.len() > drafts.len() {
        return Err(stale());
    }
    for (slot, draft) in since.iter().zip(drafts) {
        if !same(work, *slot, draft)? {
            return Err(stale());
        }
    }
    let last = since.last().and_then(|slot| log.head(*slot));
    let end = last.map_or(from, |head| head.at + head.len);
    Ok(Known {
        count: since.len(),
        torn: torn(work, end)?,
    })
}

pub(super) fn stale(work: &Work<'_>, expected: &str, actual: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("session {} is not where it was expected", work.id()),
    )
    .because(format!(
        "it is at {actual}, expected {}",
        expected.escape_debug()
    ))
    .advising(Advice::show(format!("myagents:{}", work.id())).then("append again"))
}

/// Returns the bytes after the last row that are not a row: the rest of an interrupted write.
fn torn(work: &Work<'_>, end: u64) -> Result<Option<(u64, Vec<u8>)>> {
    let Some(key) = &work.asked.location.key else {
        return Ok(None);
    };
    let len = usize::try_from(work.view().log.bytes.saturating_sub(end)).unwrap_or(usize::MAX);
    let rest = work.asked.files.read(key, end, len)?;
    let blank = rest.iter().take_while(|b| **b == b'\n').count();
    let left = rest.get(blank..).unwrap_or_default().to_vec();
    Ok((!left.is_empty()).then_some((end + blank as u64, left)))
}

/// Finds drafts that were written before, by the ids that the caller gave; for requests without an
/// expected state.
fn by_id(work: &Work<'_>, drafts: &[Draft]) -> Result<Known> {
    let mut count = 0;
    for (number, draft) in drafts.iter().enumerate() {
        let found = draft
            .id
            .as_ref()
            .map(EntryId::as_str)
            .filter(|id| !id.starts_with('#'))
            .and_then(|id| work.view().log.find(id));
        let Some(slot) = found else { continue };
        if count == number && same(work, slot, draft)? {
            count += 1;
            continue;
        }
        let id = draft.id.as_ref().map(EntryId::as_str).unwrap_or_default();
        return Err(work.id_is_taken(id));
    }
    Ok(Known { count, torn: None })
}

/// Whether a row has the content of a draft; members that the draft does not set may differ.
fn same(work: &Work<'_>, slot: Slot, draft: &Draft) -> Result<bool> {
    let view = work.view();
    let Some(head) = view.log.head(slot) else {
        return Ok(false);
    };
    let label = view.log.label(slot);
    let id = draft.id.as_ref().map(EntryId::as_str).unwrap_or(&label);
    let at = draft.at.or(head.instant()).unwrap_or_else(|| work.now());
    let place = MessagePosition {
        session: work.id(),
        id,
        at,
        name: &String::new,
    };
    Ok(encode(draft, place)?.row == indent::compact(&view.payload(slot)?))
}

/// Checks that drafts follow the last row: a list cannot contain an entry with another parent.
pub(super) fn check_parents(work: &Work<'_>, drafts: &[Draft]) -> Result<()> {
    let log = work.view().log;
    let mut last = log
        .slots()
        .next_back()
        .map(|slot| EntryId::from(log.label(slot).as_ref()));
    for draft in drafts {
        let fits = match &draft.parent {
            Parent::Tip => true,
            Parent::Root => last.is_none(),
            Parent::Entry(parent) => last.as_ref().is_none_or(|last| last == parent),
        };
        if !fits {
            return Err(unsupported(
                "myagents",
                "branch",
                Advice::from("its rows are a list").also(Advice::Rewind.or(Advice::Fork {
                    session: None,
                    at: None,
                })),
            ));
        }
        last.clone_from(&draft.id);
    }
    Ok(())
}

fn encode_all(work: &mut Work<'_>, drafts: &[Draft], already: usize) -> Result<Rows> {
    let log = work.view().log;
    let mut next = next_id(
        log.slots()
            .next_back()
            .map(|slot| log.label(slot))
            .as_deref(),
        log.heads.len() as u64,
    );
    let mut rows = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        let id = (draft.id.as_ref()).map_or_else(|| next.to_string(), ToString::to_string);
        work.entries.push(id.clone());
        if number < already {
            continue;
        }
        next = next_id(Some(&id), next + 1);
        let (id_source, at) = (work.asked.id_source, draft.at.unwrap_or_else(|| work.now()));
        rows.push(encode(
            draft,
            MessagePosition {
                session: work.id(),
                id: &id,
                at,
                name: &|| id_source.uuid_v4(),
            },
        )?);
    }
    Ok(Rows { rows })
}

/// Returns the id after that of the last row; the number of rows if that id is not a number.
fn next_id(last: Option<&str>, rows: u64) -> u64 {
    let number = last
        .filter(|id| id.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|id| id.parse::<u64>().ok());
    number.map_or(rows, |number| number.saturating_add(1))
}

/// Returns the index row after the new rows.
pub(super) fn told(work: &Work<'_>, mut row: RowEdit, rows: &Rows) -> Result<RowEdit> {
    let mut stats = Stats::stated(row.raw());
    let (mut active, mut prompts) = (false, Vec::new());
    let mut quiet = false;
    for encoded in &rows.rows {
        let mut members = Vec::new();
        if scan_object(&encoded.row, &mut members).is_err() {
            continue;
        }
        let said = Object::new(&encoded.row, &members);
        let mut one = Stats::default();
        one.count(&said);
        stats = stats.plus(one);
        if said.get("role").is_some_and(|role| role.is("user")) {
            let text = said.text("content").unwrap_or_default().into_owned();
            quiet = is_quiet(&text);
            prompts.push(text);
        }
        active |= !quiet;
    }
    stats.write(&mut row)?;
    if let Some(preview) = preview::last_visible(prompts.iter().rev().map(String::as_str)) {
        row.set("lastMessagePreview", preview)?;
    }
    if active {
        touch(&mut row, work.now())?;
    }
    name(work, &mut row, prompts.first())?;
    if !prompts.is_empty()
        && row
            .raw()
            .get("materializationState")
            .is_some_and(|state| state.is("prepared"))
    {
        row.remove("materializationState")?;
        row.remove("materializationSourceSessionId")?;
    }
    Ok(row)
}

/// Whether a prompt comes from the app itself, which does not count as activity.
fn is_quiet(text: &str) -> bool {
    reminder::leading(text).is_some_and(|found| {
        found.visible.is_empty() && matches!(found.kind, Some("HEARTBEAT" | "MEMORY_UPDATE"))
    })
}

/// Moves the time of last activity forward, never back. An invalid time is replaced.
pub(super) fn touch(row: &mut RowEdit, now: Instant) -> Result<()> {
    let stated = row
        .text("lastActiveAt")
        .and_then(|text| Instant::parse(&text).filter(|at| at.to_rfc3339() == text));
    if stated.is_none_or(|stated| stated <= now) {
        row.set("lastActiveAt", now.to_rfc3339())?;
    }
    Ok(())
}

/// Sets the title of an untitled session to its first prompt.
fn name(work: &Work<'_>, row: &mut RowEdit, first: Option<&String>) -> Result<()> {
    let placeholder = row
        .text("title")
        .is_none_or(|it| title::is_placeholder(&it, row.text("titleSource").as_deref()));
    if !placeholder {
        return Ok(());
    }
    let log = work.view().log;
    let earlier = log.slots().find(|slot| log.kind(*slot) == EntryKind::User);
    let earlier = match earlier {
        Some(slot) => work.view().with_object(slot, |row| {
            row.text("content").map(std::borrow::Cow::into_owned)
        })?,
        None => None,
    };
    let Some(said) = earlier.flatten().or_else(|| first.cloned()) else {
        return Ok(());
    };
    row.set("title", title::default_title(&said))
}
