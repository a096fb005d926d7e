//! Migrates versions 1 and 2 to version 3, record by record: every other byte of the file stays.
//!
//! Version 1 has no ids and no parents, and its compactions count entries; version 2 calls custom
//! messages hook messages. Files of version 3 without any parent, which pi writes when it forks a
//! file of version 1, are repaired in the same way.

use std::collections::HashSet;

use boswell_model::json::{Json, Raw, SyntaxError, remove_member, set_member};
use boswell_model::{
    Advice, EntryKind, Error, ErrorDetails, ErrorKind, Log, Result, SessionView, Slot, SpanKind,
};

use super::compaction::kept_by_index;
use super::link_scheme::{Shape, header, is_entry};
use super::session_id::entry_id;
use super::{Pi, head::version_of};
use crate::{
    Depth, Dialect, ExpectedState, IdSource, Modified, Plan, PlanInput, Planned, Precondition,
    Reader, Step,
};

/// The version that is written.
const NEWEST: f64 = 3.0;

/// The records of a log, converted to version 3.
#[derive(Debug, Default)]
pub(super) struct Migrated {
    /// The new record of each slot; `None` if a record does not change.
    records: Vec<Option<Vec<u8>>>,
    ids: usize,
    indexes: usize,
    roles: usize,
}

impl Migrated {
    /// Returns a record of the log in version 3.
    pub(super) fn record(&self, view: &SessionView<'_>, slot: Slot) -> Result<Vec<u8>> {
        match self.records.get(slot.index()) {
            Some(Some(record)) => Ok(record.clone()),
            _ => Ok(view.payload(slot)?.into_owned()),
        }
    }

    fn put(&mut self, slot: Slot, record: Vec<u8>) {
        if let Some(place) = self.records.get_mut(slot.index()) {
            *place = Some(record);
        }
    }
}

/// Converts the records of an older version. A log of version 3 does not change.
pub(super) fn migrated(view: &SessionView<'_>, id_source: &dyn IdSource) -> Result<Migrated> {
    let version = match header(view.log) {
        Some(slot) => view.with_object(slot, version_of)?.flatten(),
        None => None,
    };
    let line = Shape::of(view.log) != Shape::Tree;
    let old = version.is_some_and(|version| version < NEWEST);
    let mut made = Migrated {
        records: vec![None; view.log.heads.len()],
        ..Migrated::default()
    };
    if !line && !old {
        return Ok(made);
    }
    let entries: Vec<Slot> = view
        .log
        .entries()
        .filter(|(_, head)| is_entry(head))
        .map(|(slot, _)| slot)
        .collect();
    let mut taken = HashSet::new();
    let mut ids = Vec::new();
    if line {
        ids.resize_with(entries.len(), || entry_id(&mut taken, id_source));
    }
    for (place, slot) in entries.iter().enumerate() {
        let mut record = view.payload(*slot)?.into_owned();
        if line {
            let above = place.checked_sub(1).and_then(|place| ids.get(place));
            record = set(&record, &["id"], ids.get(place).map(String::as_str))?;
            record = set(&record, &["parentId"], above.map(String::as_str))?;
            made.ids += 1;
        }
        if view.log.kind(*slot) == EntryKind::Compaction
            && Raw::trusted(&record).get("firstKeptEntryIndex").is_some()
        {
            let before = entries.get(..place).unwrap_or(&[]);
            record = with_first_kept(view, *slot, &record, (before, &ids))?;
            made.indexes += 1;
        }
        if old && is_hook_message(&record) {
            record = set(&record, &["message", "role"], Some("custom"))?;
            made.roles += 1;
        }
        made.put(*slot, record);
    }
    if let Some(slot) = header(view.log).filter(|_| old) {
        let record = set_member(&view.payload(slot)?, &["version"], b"3").map_err(broken)?;
        made.put(slot, record);
    }
    Ok(made)
}

/// Returns a compaction that names its first preserved entry by id instead of by the index among
/// the entries `before`. `ids` is empty if the entries of the log already have ids.
fn with_first_kept(
    view: &SessionView<'_>,
    slot: Slot,
    record: &[u8],
    (before, ids): (&[Slot], &[String]),
) -> Result<Vec<u8>> {
    let kept = view
        .with_object(slot, |entry| kept_by_index(view.log, before, entry))?
        .flatten();
    let record = remove_member(record, "firstKeptEntryIndex").map_err(broken)?;
    match kept.and_then(|kept| ids.get(kept)) {
        Some(id) => set(&record, &["firstKeptEntryId"], Some(id)),
        None => Ok(record),
    }
}

fn is_hook_message(record: &[u8]) -> bool {
    let role = Raw::trusted(record).at(&["message", "role"]);
    role.is_some_and(|role| role.is("hookMessage"))
}

/// Plans the migration of a session's file. Unreadable bytes stay where they are.
pub(super) fn plan(pi: Pi, asked: &PlanInput<'_>) -> Result<Planned> {
    let id = &asked.location.id;
    let view = &asked.view;
    if let Some(version) = asked
        .meta
        .format_version
        .filter(|version| *version > NEWEST as u64)
    {
        return Err(Error::new(
            ErrorKind::TooNew,
            format!("session {id} is of version {version}, newer than is known"),
        )
        .detailing(ErrorDetails::TooNew {
            version: version.to_string(),
        })
        .advising(Advice::Upgrade.or(Advice::ShowSession { session: None })));
    }
    let (Some(key), Some(_)) = (&asked.location.key, header(view.log)) else {
        return Err(Error::new(
            ErrorKind::Damaged,
            format!("session {id} has no header that states a version"),
        )
        .advising(Advice::check(id)));
    };
    let made = migrated(view, asked.id_source)?;
    if made.records.iter().all(Option::is_none) {
        return Ok(Planned {
            remarks: vec![format!("session {id} is of version 3 already").into()],
            ..Planned::default()
        });
    }
    let bytes = same_conversation(pi, asked, spliced(view, &made)?)?;
    let was = ExpectedState {
        len: Some(view.log.bytes),
        ..ExpectedState::default()
    };
    let plan = Plan::new("migrate", format!("migrate {id} to version 3"))
        .requiring(Precondition::NotLive { key: key.clone() })
        .requiring(Precondition::Unchanged {
            key: key.clone(),
            was,
        })
        // For xcsh the file's time is the time of last use, and a migration is not a use.
        .step(Step::Put {
            key: key.clone(),
            bytes,
            mode: None,
            modified: Modified::Kept,
        });
    Ok(Planned {
        plan,
        remarks: vec![remark(&made, view).into()],
        ..Planned::default()
    })
}

fn remark(made: &Migrated, view: &SessionView<'_>) -> String {
    let records = view.log.heads.len();
    let mut text = format!("{records} records before, {records} after");
    for (count, what) in [
        (made.ids, "ids and parents given"),
        (made.indexes, "counts resolved"),
        (made.roles, "roles renamed"),
    ] {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    }
    if !view.log.gaps.is_empty() {
        text += &format!(
            "; {} byte ranges that are not records stay as they are",
            view.log.gaps.len()
        );
    }
    text
}

/// Returns the file with its records replaced and every byte between them unchanged.
fn spliced(view: &SessionView<'_>, made: &Migrated) -> Result<Vec<u8>> {
    let old = view.payloads.payload(0, view.log.bytes)?;
    let mut out = Vec::with_capacity(old.len() + 64 * view.log.heads.len());
    let mut at = 0;
    for (head, record) in view.log.heads.iter().zip(&made.records) {
        let Some(record) = record else { continue };
        let (start, end) = (usize_of(head.at)?, usize_of(head.at + head.len)?);
        out.extend_from_slice(old.get(at..start).unwrap_or_default());
        out.extend_from_slice(record);
        at = end;
    }
    out.extend_from_slice(old.get(at..).unwrap_or_default());
    Ok(out)
}

/// Checks that the result has as many records and gaps as before, and the same context for a model.
fn same_conversation(pi: Pi, asked: &PlanInput<'_>, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let after = Reader::read(&pi, asked.location, &bytes, Depth::Facts);
    let now = after.view(&bytes);
    let (was, before) = (&asked.view, asked.view.log);
    let sent = |view: &SessionView<'_>| -> Result<Vec<u32>> {
        let context = pi.context(view, pi.tip(view)?)?;
        Ok(context.items.iter().map(|item| item.slot.0).collect())
    };
    let same = same_spans(before, &after.log)
        // For a file without parents, pi sent only the last entry, while we read it as a line.
        // After the migration it is the line for both.
        && (Shape::of(before) == Shape::Unlinked || sent(was)? == sent(&now)?)
        && Shape::of(&after.log) == Shape::Tree;
    if same || after.log.heads.iter().filter(|head| is_entry(head)).count() == 0 {
        return Ok(bytes);
    }
    Err(Error::new(
        ErrorKind::Internal,
        format!(
            "session {} would not be the same in version 3",
            asked.location.id
        ),
    )
    .advising(Advice::from("nothing was changed").also(Advice::ShowSession { session: None })))
}

/// Whether both logs have records of the same kinds and the same gaps, in the same order.
fn same_spans(before: &Log, after: &Log) -> bool {
    let kinds = |log: &Log| -> Vec<EntryKind> { log.heads.iter().map(|it| it.kind).collect() };
    let gaps = |log: &Log| -> Vec<(SpanKind, u64)> {
        log.gaps.iter().map(|gap| (gap.kind, gap.len)).collect()
    };
    kinds(before) == kinds(after) && gaps(before) == gaps(after)
}

fn set(record: &[u8], path: &[&str], value: Option<&str>) -> Result<Vec<u8>> {
    set_member(record, path, &Json::from(value).to_bytes()).map_err(broken)
}

fn broken(fault: SyntaxError) -> Error {
    Error::new(ErrorKind::Damaged, "a record is not a JSON object").because(fault.to_string())
}

fn usize_of(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        Error::new(
            ErrorKind::Unsupported,
            "the file is too long for this machine",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{HEADER, apply, asking, read, texts, user, v3};
    use super::*;
    use crate::EditRequest;
    use crate::PlanEdits;

    const V1: &str = "{\"type\":\"session\",\"id\":\"S\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"cwd\":\"/p\"}\n";

    fn said(text: &str) -> String {
        format!(
            "{{\"type\":\"message\",\"timestamp\":\"2025-01-01T00:00:01Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\",\"x\":1e400}}}}\n"
        )
    }

    fn compacted(index: &str) -> String {
        format!(
            "{{\"type\":\"compaction\",\"timestamp\":\"2025-01-01T00:00:02Z\",\"summary\":\"sum\",\"firstKeptEntryIndex\":{index},\"tokensBefore\":9}}\n"
        )
    }

    fn migrate(text: &str) -> Result<Planned> {
        asking(Pi::PI, text, |asked| {
            Pi::PI.plan(asked, &EditRequest::Migrate)
        })
    }

    fn after(text: &str) -> String {
        apply(text, &migrate(text).unwrap().plan)
    }

    #[test]
    fn entries_get_ids_and_hang_below_one_another() {
        let now = after(&format!("{V1}{}{}{}", said("a"), compacted("1"), said("b")));
        let read = read(Pi::PI, &now);
        assert_eq!(read.meta.format_version, Some(3));
        let ids: Vec<_> = read
            .log
            .slots()
            .skip(1)
            .map(|slot| read.log.label(slot).into_owned())
            .collect();
        assert!(ids.iter().all(|id| id.len() == 8), "{ids:?}");
        let parents: Vec<_> = read
            .log
            .slots()
            .skip(1)
            .map(|slot| read.tree.parent(slot).map(|slot| slot.0))
            .collect();
        assert_eq!(parents, [None, Some(1), Some(2)]);
        assert!(
            now.contains(&format!("\"firstKeptEntryId\":\"{}\"", ids[0]))
                && !now.contains("firstKeptEntryIndex")
        );
        assert!(now.contains("1e400"), "numbers stay as they were written");
        assert_eq!(texts(Pi::PI, &now, None), ["sum", "a", "b"]);
    }

    #[test]
    fn what_a_compaction_keeps_is_counted_with_the_header_and_with_damaged_lines() {
        let bad = "{\"type\":\"mess\n";
        for (lines, index, kept) in [
            (
                vec![said("a"), said("b"), said("c")],
                "2",
                vec!["sum", "b", "c", "d"],
            ),
            (
                vec![said("a"), bad.to_owned(), said("b"), said("c")],
                "3",
                vec!["sum", "b", "c", "d"],
            ),
            (
                vec![said("a"), bad.to_owned(), said("b"), said("c")],
                "2",
                vec!["sum", "b", "c", "d"],
            ),
            (vec![said("a"), said("b")], "0", vec!["sum", "d"]),
            (vec![said("a"), said("b")], "3", vec!["sum", "d"]),
            (vec![said("a"), said("b")], "99", vec!["sum", "d"]),
        ] {
            let text = format!("{V1}{}{}{}", lines.concat(), compacted(index), said("d"));
            let now = after(&text);
            assert_eq!(texts(Pi::PI, &now, None), kept, "{index}: {text}");
            assert_eq!(
                texts(Pi::PI, &text, None),
                kept,
                "and it was read like that before"
            );
            assert_eq!(
                now.matches(bad).count(),
                text.matches(bad).count(),
                "damaged lines stay"
            );
        }
    }

    #[test]
    fn version_2_renames_a_role_and_keeps_its_tree() {
        let hook = r#"{"type":"message","id":"h","parentId":"1","timestamp":"2025-01-01T00:00:00Z","message":{"role":"hookMessage","content":"x"}}"#;
        let text =
            v3(&[user("1", "", "a"), hook.to_owned()]).replace("\"version\":3", "\"version\":2");
        let now = after(&text);
        assert_eq!(
            now,
            text.replace("hookMessage", "custom")
                .replace("\"version\":2", "\"version\":3")
        );
    }

    #[test]
    fn version_3_stays_and_newer_or_headless_files_are_refused() {
        let planned = migrate(&v3(&[user("1", "", "a")])).unwrap();
        assert!(planned.plan.steps.is_empty() && planned.remarks[0].text.contains("already"));
        let kind = |text: &str| migrate(text).unwrap_err().kind();
        for version in ["4", "99"] {
            assert_eq!(
                kind(&HEADER.replace("\"version\":3", &format!("\"version\":{version}"))),
                ErrorKind::TooNew
            );
        }
        assert_eq!(kind(&said("a")), ErrorKind::Damaged);
        assert_eq!(kind("not json\n"), ErrorKind::Damaged);
    }

    #[test]
    fn a_file_of_version_3_without_parents_becomes_the_line_that_it_was() {
        let text = format!("{HEADER}\n{}{}", said("a"), said("b"));
        let now = after(&text);
        assert_eq!(texts(Pi::PI, &text, None), ["b"]);
        assert_eq!(texts(Pi::PI, &now, None), ["a", "b"]);
    }

    #[test]
    fn counted_in_is_counted_out_whatever_stands_between() {
        let text = format!(
            "{V1}\n\r\n{}\0\0\0\n{}{}{{\"torn",
            said("a"),
            said("b").trim_end(),
            said("c")
        );
        let planned = migrate(&text).unwrap();
        let now = apply(&text, &planned.plan);
        assert!(
            planned.remarks[0]
                .text
                .starts_with("4 records before, 4 after"),
            "{:?}",
            planned.remarks
        );
        assert_eq!(read(Pi::PI, &now).log.heads.len(), 4);
        assert!(
            now.contains("\0\0\0\n") && now.ends_with("{\"torn"),
            "{now}"
        );
    }
}
