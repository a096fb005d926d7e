//! Forks a session: copies one branch of it, or all of it, into a new session.
//!
//! Records are copied byte for byte, after older versions were migrated. Records that are about the
//! source session only are not copied: labels (written again for the entries that are copied), its
//! status, and statements of its leaf.

use std::collections::HashMap;

use boswell_model::json::{Json, Raw, set_member};
use boswell_model::{Advice, EntryKind, Error, ErrorKind, Result, Slot, Tip};

use super::link_scheme::is_entry;
use super::migrate::{Migrated, migrated};
use super::{Flavour, Pi, encode, layout, session_id, side_files};
use crate::{
    Append, Body, Draft, EntryStamp, ForkScope, NewLog, NewSession, Plan, PlanInput, Planned,
    Precondition, Step,
};

/// A larger artifact is not copied.
const LARGEST_ARTIFACT: u64 = 256 << 20;

/// Makes a session from the branch that ends at `tip`, or from all branches.
pub(super) fn plan(pi: Pi, asked: &PlanInput<'_>, tip: Tip, new: &NewSession) -> Result<Planned> {
    let id = new
        .id
        .clone()
        .unwrap_or_else(|| session_id::session_id(pi.flavour(), asked.id_source).into());
    is_free(asked, id.as_str())?;
    let records = match new.copies {
        ForkScope::Branch => branch(pi, asked, tip)?,
        ForkScope::Everything => everything(asked)?,
    };
    let NewLog { key, bytes } = log(pi, asked, new, id.as_str(), records)?;
    let key = layout::resolve_key(asked.files, key)?;
    let mut plan = Plan::new("fork", format!("fork {} as {id}", asked.location.id))
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, bytes));
    if new.copies == ForkScope::Everything {
        plan = artifacts(asked, &key, plan)?;
    }
    Ok(Planned {
        plan,
        session: Some(id.to_string()),
        ..Planned::default()
    })
}

fn is_free(asked: &PlanInput<'_>, id: &str) -> Result<()> {
    if !layout::discover(asked.files)?
        .sessions
        .iter()
        .any(|location| location.id == id)
    {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("there is a session {id} already"),
    )
    .advising(Advice::append_or_other_id(id)))
}

/// Returns header and records of the new log.
fn log(
    pi: Pi,
    asked: &PlanInput<'_>,
    new: &NewSession,
    id: &str,
    records: Vec<Vec<u8>>,
) -> Result<NewLog> {
    let meta = asked.meta;
    let mut from = new.clone();
    if from.project.is_empty() {
        from.project = meta.project.clone().unwrap_or_default();
    }
    from.parent = from.parent.or_else(|| Some(asked.location.id.clone()));
    let heirs = matches!(pi.flavour(), Flavour::Omp | Flavour::Xcsh);
    if new.copies == ForkScope::Everything && heirs && from.title.is_none() {
        from.title.clone_from(&meta.title);
    }
    let born = if new.id.is_none() {
        session_id::born(id)
    } else {
        None
    };
    let now = born.unwrap_or_else(|| asked.id_source.now());
    let mut log = encode::new_log(pi, &from, id, now)?;
    let last = records.last().and_then(|record| id_of(record));
    for record in records {
        log.bytes.extend_from_slice(&record);
        log.bytes.push(b'\n');
    }
    if let Some(title) = new.title.as_ref().filter(|_| !heirs) {
        let settled = EntryStamp {
            id: &asked.id_source.hex16(),
            parent: last.as_deref(),
            at: now,
        };
        let title = Draft::new(Body::Title(title.clone()));
        encode::entry(pi, &title, settled, &mut log.bytes)?;
        log.bytes.push(b'\n');
    }
    Ok(log)
}

fn id_of(record: &[u8]) -> Option<String> {
    Some(Raw::trusted(record).get("id")?.text()?.into_owned())
}

/// Returns every entry in file order.
fn everything(asked: &PlanInput<'_>) -> Result<Vec<Vec<u8>>> {
    let view = &asked.view;
    let made = migrated(view, asked.id_source)?;
    let slots = view
        .log
        .entries()
        .filter(|(_, head)| is_entry(head))
        .map(|(slot, _)| slot);
    slots
        .map(|slot| made.record(view, slot))
        .filter(|record| !record.as_ref().is_ok_and(|r| is_status(r)))
        .collect()
}

fn artifacts(asked: &PlanInput<'_>, key: &str, mut plan: Plan) -> Result<Plan> {
    let folder = |key: &str| key.strip_suffix(".jsonl").unwrap_or(key).to_owned();
    let Some(old) = asked.location.key.as_deref().map(folder) else {
        return Ok(plan);
    };
    for file in side_files::side_files(asked.files, asked.location)? {
        let rest = file.key.strip_prefix(&old).unwrap_or_default();
        if let Some(bytes) = asked.files.read_whole(&file.key, LARGEST_ARTIFACT)? {
            plan = plan.step(Step::put(format!("{}{rest}", folder(key)), bytes));
        }
    }
    Ok(plan)
}

/// Returns the records of the branch that ends at `tip`, and new labels for entries that have one.
fn branch(pi: Pi, asked: &PlanInput<'_>, tip: Tip) -> Result<Vec<Vec<u8>>> {
    let view = &asked.view;
    let made: Migrated = migrated(view, asked.id_source)?;
    let path: Vec<Slot> = tip
        .slot()
        .map(|slot| view.tree.path(slot))
        .unwrap_or_default();
    let mut fork = Branch::default();
    for slot in path
        .iter()
        .filter(|slot| view.log.kind(**slot) != EntryKind::Header)
    {
        let record = made.record(view, *slot)?;
        let id = Raw::trusted(&record)
            .get("id")
            .and_then(|id| id.text())
            .unwrap_or_default()
            .into_owned();
        if view.log.kind(*slot) == EntryKind::Label || is_status(&record) || is_leaf(&record) {
            fork.left_behind.push(id);
        } else {
            fork.take(id, record)?;
        }
    }
    for (target, label) in asked.meta.labels_now() {
        // A label on an entry that is not copied would point to a missing entry.
        if fork.now.get(target).is_some_and(|now| now == target) {
            let id = asked.id_source.hex16();
            let draft = Draft::new(Body::Label {
                target: target.into(),
                label: Some(label.to_owned()),
            });
            let settled = EntryStamp {
                id: &id,
                parent: fork.last.as_deref(),
                at: asked.id_source.now(),
            };
            fork.records.push(pi.encoded(&draft, settled)?);
            fork.last = Some(id);
        }
    }
    Ok(fork.records)
}

#[derive(Default)]
struct Branch {
    records: Vec<Vec<u8>>,
    last: Option<String>,
    /// Entries since the last copied one that are not copied.
    left_behind: Vec<String>,
    /// For each entry of the branch its replacement: itself, or the next entry that was copied.
    now: HashMap<String, String>,
}

impl Branch {
    fn take(&mut self, id: String, mut record: Vec<u8>) -> Result<()> {
        if !self.left_behind.is_empty() {
            // Children of an entry that is not copied become children of that entry's parent.
            record = set(&record, "parentId", self.last.as_deref())?;
        }
        for left in self.left_behind.drain(..) {
            self.now.insert(left, id.clone());
        }
        self.now.insert(id.clone(), id.clone());
        let first_kept = Raw::trusted(&record)
            .get("firstKeptEntryId")
            .and_then(|kept| kept.text())
            .map(|kept| kept.into_owned());
        if let Some(moved) = first_kept
            .as_ref()
            .and_then(|kept| self.now.get(kept).filter(|now| *now != kept))
        {
            record = set(&record, "firstKeptEntryId", Some(moved))?;
        }
        self.last = Some(id);
        self.records.push(record);
        Ok(())
    }
}

fn set(record: &[u8], key: &str, value: Option<&str>) -> Result<Vec<u8>> {
    set_member(record, &[key], &Json::from(value).to_bytes()).map_err(|fault| {
        Error::new(
            ErrorKind::Damaged,
            "an entry of the branch is not a JSON object",
        )
        .because(fault.to_string())
    })
}

/// Whether a record states how its session ended.
fn is_status(record: &[u8]) -> bool {
    Raw::trusted(record)
        .get("customType")
        .is_some_and(|kind| kind.is("boswell.status"))
}

/// Whether a record only states the leaf.
fn is_leaf(record: &[u8]) -> bool {
    Raw::trusted(record)
        .get("customType")
        .is_some_and(|kind| kind.is("boswell.leaf"))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{
        asking, asking_with, assistant, entry, location, read, texts, user, v3,
    };
    use super::*;
    use crate::PlanEdits;
    use crate::{Dialect, EditRequest, MemoryFiles};

    fn tree() -> String {
        v3(&[
            user("1", "", "a"),
            assistant("2", "1", "b"),
            entry("label", "l", "2", r#""targetId":"1","label":"start""#),
            user("3", "l", "left"),
            entry("label", "m", "3", r#""targetId":"3","label":"gone""#),
            user("4", "2", "c"),
            assistant("5", "4", "d"),
        ])
    }

    fn fork(pi: Pi, text: &str, at: Option<&str>, new: NewSession) -> Result<Planned> {
        asking(pi, text, |asked| {
            let tip = match at {
                Some(label) => Tip::At(asked.view.log.find(label).unwrap()),
                None => pi.tip(&asked.view)?,
            };
            pi.plan(asked, &EditRequest::Fork { at: tip, new })
        })
    }

    fn made(planned: &Planned) -> (String, String) {
        match planned.plan.steps.first() {
            Some(Step::Put { key, bytes, .. }) => {
                (key.clone(), String::from_utf8(bytes.clone()).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_branched_session_is_the_path_with_the_labels_of_its_own_entries() {
        let (_, text) = made(&fork(Pi::PI, &tree(), None, NewSession::default()).unwrap());
        let read = read(Pi::PI, &text);
        let words: Vec<_> = read.log.slots().map(|slot| read.log.word(slot)).collect();
        assert_eq!(
            words,
            [
                "session", "message", "message", "message", "message", "label"
            ]
        );
        assert_eq!(texts(Pi::PI, &text, None), ["a", "b", "c", "d"]);
        assert_eq!(
            read.meta.labels_now().into_iter().collect::<Vec<_>>(),
            [("1", "start")]
        );
        assert_eq!(read.meta.parent.as_deref(), Some("S"));
    }

    #[test]
    fn everything_comes_along_when_asked_with_title_and_artifacts() {
        let text = tree().replacen(
            "\"cwd\"",
            "\"title\":\"T\",\"titleSource\":\"auto\",\"cwd\"",
            1,
        );
        let mut files = MemoryFiles::default();
        let base = location("S").key.unwrap();
        files.put(&base, text.as_str(), None);
        files.put(
            &format!("{}/1.bash.log", base.trim_end_matches(".jsonl")),
            "out",
            None,
        );
        let new = NewSession {
            copies: ForkScope::Everything,
            ..NewSession::default()
        };
        let planned = asking_with(Pi::XCSH, &text, &files, |asked| {
            Pi::XCSH.plan(
                asked,
                &EditRequest::Fork {
                    at: Tip::Root,
                    new: new.clone(),
                },
            )
        })
        .unwrap();
        let (key, now) = made(&planned);
        assert_eq!(
            now.lines().skip(1).collect::<Vec<_>>(),
            text.lines().skip(1).collect::<Vec<_>>()
        );
        assert_eq!(read(Pi::XCSH, &now).meta.title.as_deref(), Some("T"));
        let log = format!("{}/1.bash.log", key.trim_end_matches(".jsonl"));
        assert!(
            planned
                .plan
                .steps
                .iter()
                .any(|step| step.keys() == [log.as_str()]),
            "{}",
            planned.plan
        );
        assert_eq!(planned.session.unwrap().len(), 16, "an id as xcsh gives it");
    }

    #[test]
    fn a_fork_of_version_1_is_migrated_first() {
        let v1 = concat!(
            "{\"type\":\"session\",\"id\":\"S\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"cwd\":\"/p\"}\n",
            "{\"type\":\"message\",\"timestamp\":\"2025-01-01T00:00:01Z\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n",
            "{\"type\":\"message\",\"timestamp\":\"2025-01-01T00:00:01Z\",\"message\":{\"role\":\"hookMessage\",\"content\":\"b\"}}\n",
            "{\"type\":\"compaction\",\"timestamp\":\"2025-01-01T00:00:02Z\",\"summary\":\"sum\",\"firstKeptEntryIndex\":2}\n",
        );
        for copies in [ForkScope::Branch, ForkScope::Everything] {
            let (_, text) = made(
                &fork(
                    Pi::PI,
                    v1,
                    None,
                    NewSession {
                        copies,
                        ..NewSession::default()
                    },
                )
                .unwrap(),
            );
            assert_eq!(texts(Pi::PI, &text, None), ["sum", "b"], "{text}");
            assert!(
                !text.contains("hookMessage") && !text.contains("firstKeptEntryIndex"),
                "{text}"
            );
            assert_eq!(
                read(Pi::PI, &text)
                    .log
                    .heads
                    .iter()
                    .filter(|head| head.id.is_some())
                    .count(),
                3
            );
        }
    }

    #[test]
    fn a_fork_goes_to_another_project_and_an_id_is_given_once() {
        let new = NewSession {
            id: Some("mine".into()),
            ..NewSession::in_project("/srv/other")
        };
        let (key, text) = made(&fork(Pi::PI, &tree(), Some("2"), new.clone()).unwrap());
        assert!(
            key.starts_with("sessions/--srv-other--/") && key.ends_with("_mine.jsonl"),
            "{key}"
        );
        assert!(
            text.lines()
                .next()
                .unwrap()
                .contains("\"cwd\":\"/srv/other\"")
        );
        let taken = fork(
            Pi::PI,
            &tree(),
            None,
            NewSession {
                id: Some("S".into()),
                ..new
            },
        );
        assert_eq!(taken.unwrap_err().kind(), ErrorKind::Conflict);
    }
}
