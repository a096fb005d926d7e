//! How the entries of a file are linked to parents, which depends on its version.
//!
//! Entries of version 1 follow one another, those of versions 2 and 3 name their parents. Reading
//! never migrates: old versions are shown as they would be after `migrate.rs`.

use boswell_model::{EntryKind, Flags, Head, Log, SessionView, Slot, Tip};

use super::head::FIRST_VERSION;

/// How the entries of a file are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each entry names its parent.
    Tree,
    /// Version 1: each entry follows the one before it, regardless of ids.
    Line,
    /// A version with parents, but no entry has a parent field. pi writes such files when it forks
    /// one of version 1, and other tools do too. We read them as a line; pi itself finds only the
    /// last entry.
    Unlinked,
}

impl Shape {
    pub(super) fn of(log: &Log) -> Self {
        let mut entries = log.heads.iter().filter(|h| is_entry(h));
        match header(log).and_then(|slot| log.head(slot)) {
            Some(header) if header.flags.has(FIRST_VERSION) => Shape::Line,
            _ if entries.any(|h| h.flags.has(Flags::LINKED)) => Shape::Tree,
            Some(_) => Shape::Unlinked,
            // The header is missing, and with it the version: entries without parents are of
            // version 1.
            None => Shape::Line,
        }
    }
}

/// Returns the header.
pub(super) fn header(log: &Log) -> Option<Slot> {
    log.entries()
        .find(|(_, h)| h.kind == EntryKind::Header)
        .map(|(slot, _)| slot)
}

/// Whether the record is an entry: every record is, except headers and the title slot.
pub(super) fn is_entry(head: &Head) -> bool {
    head.flags.has(Flags::CHAIN)
}

/// Returns the parent of every entry.
pub(super) fn link(log: &Log) -> Vec<Option<Slot>> {
    if Shape::of(log) == Shape::Tree {
        // Duplicate lines are normal (a rename and a concurrent append). As in pi's map of entries,
        // the last entry with an id is the parent.
        let by_id = log.by_id();
        return log
            .heads
            .iter()
            .map(|head| head.parent.and_then(|parent| by_id.last(parent)))
            .collect();
    }
    let mut before = None;
    let mut up = Vec::with_capacity(log.heads.len());
    for (slot, head) in log.entries() {
        up.push(if is_entry(head) {
            before.replace(slot)
        } else {
            None
        });
    }
    up
}

/// Returns the tip: the last entry of the file, regardless of its type and branch.
pub(super) fn tip(view: &SessionView<'_>) -> Tip {
    view.log
        .entries()
        .rev()
        .find(|(_, h)| is_entry(h))
        .map_or(Tip::Root, |(slot, _)| Tip::At(slot))
}

/// Returns the entries that the agent uses at a tip, from the root.
pub(super) fn agent_path(view: &SessionView<'_>, tip: Tip) -> Vec<Slot> {
    let Some(slot) = tip
        .slot()
        .filter(|s| view.log.head(*s).is_some_and(is_entry))
    else {
        return Vec::new();
    };
    if Shape::of(view.log) == Shape::Unlinked {
        vec![slot]
    } else {
        view.tree.path(slot)
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Slot;

    use crate::Dialect;

    use super::super::Pi;
    use super::super::fixture::{Bytes, HEADER, assistant, entry, read, texts, user, v3};
    use super::*;

    fn path(text: &str) -> Vec<u32> {
        let read = read(Pi::PI, text);
        let bytes = Bytes(text);
        let view = read.view(&bytes);
        let tip = Pi::PI.tip(&view).unwrap();
        Pi::PI
            .branch(&view, tip)
            .unwrap()
            .into_iter()
            .map(|s| s.0)
            .collect()
    }

    #[test]
    fn the_tip_is_the_last_entry_whatever_it_is() {
        let text = v3(&[
            user("1", "", "a"),
            assistant("2", "1", "b"),
            user("3", "2", "c"),
            entry("custom", "4", "2", r#""customType":"boswell.leaf""#),
        ]);
        let read = read(Pi::PI, &text);
        let bytes = Bytes(&text);
        let view = read.view(&bytes);
        let tip = Pi::PI.tip(&view).unwrap();
        assert_eq!(tip, Tip::At(Slot(4)));
        assert_eq!(
            Pi::PI.leaf(&view, tip),
            Some(Slot(2)),
            "a custom entry below an answer moves the leaf there"
        );
        assert_eq!(path(&text), [1, 2, 4]);
    }

    #[test]
    fn a_file_with_nothing_but_a_header_stands_at_the_root() {
        for text in [
            String::new(),
            HEADER.to_owned(),
            format!("{{\"type\":\"title\",\"v\":1}}\n{HEADER}\n"),
        ] {
            let read = read(Pi::PI, &text);
            assert_eq!(Pi::PI.tip(&read.view(&Bytes(&text))).unwrap(), Tip::Root);
        }
    }

    #[test]
    fn entries_of_version_1_follow_one_another() {
        let text = concat!(
            r#"{"type":"session","id":"S","timestamp":"2025-01-01T00:00:00Z","cwd":"/p"}"#,
            "\n",
            r#"{"type":"message","timestamp":"2025-01-01T00:00:01Z","message":{"role":"user","content":"a"}}"#,
            "\n\n",
            r#"{"type":"model_change","timestamp":"2025-01-01T00:00:02Z","provider":"p","modelId":"m"}"#,
            "\n",
            r#"{"type":"message","id":"odd","parentId":"odd","message":{"role":"user","content":"b"}}"#,
        );
        assert_eq!(path(text), [1, 2, 3]);
        assert_eq!(texts(Pi::PI, text, None), ["a", "b"]);
    }

    #[test]
    fn a_file_without_header_still_reads() {
        let tree = [user("1", "", "a"), user("2", "1", "b"), user("3", "1", "c")].join("\n");
        assert_eq!(path(&tree), [0, 2]);
        let line = r#"{"type":"message","message":{"role":"user","content":"a"}}"#;
        assert_eq!(path(&[line, line, line].join("\n")), [0, 1, 2]);
    }

    #[test]
    fn entries_without_parent_fields_show_as_a_line_but_pi_sees_the_last_one() {
        let text = format!(
            "{HEADER}\n{}\n{}\n",
            r#"{"type":"message","message":{"role":"user","content":"a"}}"#,
            r#"{"type":"message","message":{"role":"user","content":"b"}}"#
        );
        assert_eq!(path(&text), [1, 2]);
        assert_eq!(texts(Pi::PI, &text, None), ["b"]);
    }

    #[test]
    fn of_lines_that_stand_there_twice_the_last_is_the_parent() {
        let text = v3(&[
            user("1", "", "a"),
            user("2", "1", "b"),
            user("1", "", "a"),
            user("3", "1", "c"),
        ]);
        assert_eq!(path(&text), [3, 4]);
    }

    #[test]
    fn orphans_forward_parents_and_two_roots() {
        assert_eq!(
            path(&v3(&[user("1", "", "a"), user("2", "gone", "b")])),
            [2]
        );
        assert_eq!(
            path(&v3(&[
                user("2", "3", "b"),
                user("3", "", "a"),
                user("4", "2", "c")
            ])),
            [2, 1, 3]
        );
        assert_eq!(
            path(&v3(&[
                user("1", "", "a"),
                user("2", "", "b"),
                user("3", "2", "c")
            ])),
            [2, 3]
        );
    }

    #[test]
    fn circles_and_self_parents_end() {
        assert_eq!(
            path(&v3(&[user("a", "b", "x"), user("b", "a", "y")])),
            [1, 2]
        );
        assert_eq!(path(&v3(&[user("a", "a", "x")])), [1]);
        assert_eq!(
            texts(
                Pi::PI,
                &v3(&[user("a", "b", "x"), user("b", "a", "y")]),
                None
            ),
            ["x", "y"]
        );
    }
}
