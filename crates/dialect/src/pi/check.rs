//! Finds damage that is specific to this family.
//!
//! Abandoned branches are not damage here: every entry stays reachable through the tree.
//!
//! These are `bad_header`, `newer_version` and `missing_id`; `repair/` repairs them.

use boswell_model::json::RawKind;
use boswell_model::{EntryKind, Head, Problem, ProblemKind, Result, SessionView, Slot};

use super::compaction::{array_index, lost_lines};
use super::head::version_of;
use super::link_scheme::{Shape, header, is_entry};

/// The newest version of the format whose meaning is known.
const NEWEST: f64 = 3.0;

/// Adds the problems of a session.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    bad_header(view, problems)?;
    newer_version(view, problems)?;
    missing_ids(view, problems);
    shifted_indexes(view, problems)
}

fn newer_version(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    let Some(slot) = header(view.log) else {
        return Ok(());
    };
    let version = view.with_object(slot, version_of)?.flatten();
    if let Some(version) = version.filter(|version| *version >= NEWEST + 1.0 && version.is_finite())
    {
        let version = version as u64;
        let detail = format!(
            "the file is of version {version}, known is {NEWEST}; what it adds is kept and not understood"
        );
        problems.push(Problem::of_file(ProblemKind::NewerVersion, detail));
    }
    Ok(())
}

fn bad_header(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    // The title slot, and title changes copied before the header, may precede the header.
    let Some((slot, first)) = view.log.entries().find(|(_, h)| h.kind != EntryKind::Title) else {
        return Ok(());
    };
    let detail = if first.kind != EntryKind::Header {
        match header(view.log) {
            Some(_) => {
                "the header is not the first record; the agent would take the file for no session"
            }
            None => {
                "no header describes the session; the agent would replace the file by an empty session"
            }
        }
    } else if view.with_object(slot, |h| {
        h.get("id").is_some_and(|id| id.kind() == RawKind::String)
    })? == Some(true)
    {
        return Ok(());
    } else {
        "the header has no id; the agent would replace the file by an empty session"
    };
    problems.push(Problem::at_line(
        ProblemKind::BadHeader,
        u64::from(first.line),
        detail,
    ));
    Ok(())
}

fn missing_ids(view: &SessionView<'_>, problems: &mut Vec<Problem>) {
    if Shape::of(view.log) == Shape::Line {
        return;
    }
    let without = |h: &Head| is_entry(h) && h.id.is_none();
    let count = view.log.heads.iter().filter(|h| without(h)).count();
    if let Some((slot, head)) = view.log.entries().find(|(_, h)| without(h)) {
        let detail = match count {
            1 => "an entry has no id, so nothing can follow it".to_owned(),
            n => format!("{n} entries have no id, so nothing can follow them"),
        };
        problems.push(at(ProblemKind::MissingId, slot, head, detail));
    }
}

/// Reports compactions of version 1 whose index is shifted. The index counts entries, so a damaged
/// line before the first preserved entry changes which entries the agent preserves.
fn shifted_indexes(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    let lost = lost_lines(view.log);
    if lost.is_empty() || Shape::of(view.log) != Shape::Line {
        return Ok(());
    }
    for (slot, head) in view
        .log
        .entries()
        .filter(|(_, h)| h.kind == EntryKind::Compaction)
    {
        let index = view.with_object(slot, array_index)?.flatten();
        let shift = index.map_or(0, |index| {
            lost.iter()
                .filter(|line| **line <= index as u64 + 1)
                .count()
        });
        if shift > 0 {
            let detail = format!(
                "{shift} damaged lines are before the first entry that this compaction keeps; here they count, and the agent keeps from a later entry"
            );
            problems.push(at(ProblemKind::NotJson, slot, head, detail));
        }
    }
    Ok(())
}

fn at(kind: ProblemKind, slot: Slot, head: &Head, detail: impl Into<String>) -> Problem {
    Problem {
        kind,
        line: Some(u64::from(head.line)),
        slot: Some(slot),
        advice: None,
        detail: detail.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{Bytes, HEADER, read, user, v3};
    use super::*;

    fn problems(text: &str) -> Vec<(&'static str, Option<u64>)> {
        let read = read(Pi::PI, text);
        let mut problems = Vec::new();
        check(&read.view(&Bytes(text)), &mut problems).unwrap();
        problems.iter().map(|p| (p.kind.word(), p.line)).collect()
    }

    #[test]
    fn a_sound_session_has_none_and_branches_are_sound() {
        assert_eq!(
            problems(&v3(&[
                user("1", "", "a"),
                user("2", "1", "b"),
                user("3", "1", "c")
            ])),
            []
        );
        assert_eq!(
            problems(&format!(
                "{{\"type\":\"title\",\"v\":1,\"title\":\"x\"}}\n{HEADER}\n"
            )),
            []
        );
        assert_eq!(problems(""), []);
    }

    #[test]
    fn a_header_that_is_missing_torn_late_or_nameless_is_told() {
        assert_eq!(problems(&user("1", "", "a")), [("bad_header", Some(1))]);
        assert_eq!(
            problems(&format!("{{\"type\":\"sess\n{}", user("1", "", "a"))),
            [("bad_header", Some(2))]
        );
        assert_eq!(
            problems(&format!("{}\n{HEADER}", user("1", "", "a"))),
            [("bad_header", Some(1))]
        );
        assert_eq!(
            problems(&HEADER.replace("\"S\"", "7")),
            [("bad_header", Some(1))]
        );
    }

    #[test]
    fn newer_versions_are_read_and_told() {
        for version in ["4", "99"] {
            let text = v3(&[user("1", "", "a")])
                .replace("\"version\":3", &format!("\"version\":{version}"));
            assert_eq!(problems(&text), [("newer_version", None)]);
        }
    }

    #[test]
    fn entries_without_id_are_told_once_but_not_in_version_1() {
        let nameless =
            r#"{"type":"message","parentId":null,"message":{"role":"user","content":"a"}}"#;
        let text = format!("{HEADER}\n{nameless}\n{nameless}\n");
        assert_eq!(problems(&text), [("missing_id", Some(2))]);
        assert_eq!(problems(&text.replace("\"version\":3,", "")), []);
    }

    #[test]
    fn a_count_that_a_damaged_line_shifts_is_told() {
        let text = concat!(
            "{\"type\":\"session\",\"id\":\"S\"}\n{\"type\":\"custom\"}\nbroken\n{\"type\":\"custom\"}\n",
            "{\"type\":\"compaction\",\"summary\":\"s\",\"firstKeptEntryIndex\":3}\n"
        );
        assert_eq!(problems(text), [("not_json", Some(5))]);
        assert_eq!(problems(&text.replace("Index\":3", "Index\":1")), []);
    }
}
