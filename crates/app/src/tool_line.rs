//! A tool call in a few words: what it worked on, and how many lines it changed.

use std::borrow::Cow;

use boswell_model::json::Raw;
use boswell_model::{Part, ToolInput};

/// Members of arguments that say what a call works on, the most telling first.
const SUBJECTS: [&str; 12] = [
    "file_path",
    "notebook_path",
    "path",
    "filename",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
];

/// Members that contain a text before and after an edit, by the names that agents use.
const EDITS: [(&str, &str); 3] = [
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
];

/// Members that contain the whole text of a file.
const TEXTS: [&str; 2] = ["content", "file_text"];

/// The words of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolLine {
    /// What the call works on: a file, a command, a pattern. Its arguments, if none is known.
    pub subject: String,
    /// Lines that it adds and removes, if it changes a file.
    pub changed: Option<(usize, usize)>,
}

impl ToolLine {
    /// The words of a part, if it is a call.
    pub fn of_part(part: &Part) -> Option<ToolLine> {
        match part {
            Part::Call { input, .. } => Some(ToolLine::of(input)),
            _ => None,
        }
    }

    /// The words of a call with these arguments.
    pub fn of(input: &ToolInput) -> ToolLine {
        let Some(raw) = input.json() else {
            return ToolLine::of_patch(input.text());
        };
        let text = |key: &str| raw.get(key).and_then(|it| it.text());
        if let Some(patch) = text("input").filter(|it| it.starts_with("*** Begin Patch")) {
            return ToolLine::of_patch(&patch);
        }
        let subject = SUBJECTS.iter().find_map(|key| text(key));
        let is_file = SUBJECTS.iter().take(4).any(|key| text(key).is_some());
        ToolLine {
            changed: is_file.then(|| changed(&raw)).flatten(),
            subject: subject.map_or_else(|| input.text().to_owned(), |it| it.into_owned()),
        }
    }

    /// The words of a patch, as Codex writes it; of other text its first line.
    fn of_patch(text: &str) -> ToolLine {
        let files: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("*** "))
            .filter_map(|line| line.split_once(" File: "))
            .map(|(_, path)| path)
            .collect();
        if files.is_empty() {
            return ToolLine {
                subject: text.to_owned(),
                changed: None,
            };
        }
        let starting = |sign: char| text.lines().filter(|line| line.starts_with(sign)).count();
        ToolLine {
            subject: files.join(", "),
            changed: Some((starting('+'), starting('-'))),
        }
    }
}

fn text<'a>(raw: &Raw<'a>, key: &str) -> Option<Cow<'a, str>> {
    raw.get(key).and_then(|it| it.text())
}

/// Lines that a call adds and removes, if it changes a file.
fn changed(arguments: &Raw<'_>) -> Option<(usize, usize)> {
    let written = || TEXTS.iter().find_map(|key| text(arguments, key));
    edit(arguments)
        .or_else(|| edits(arguments))
        .or_else(|| written().map(|it| (it.lines().count(), 0)))
}

/// Lines that one edit adds and removes.
fn edit(raw: &Raw<'_>) -> Option<(usize, usize)> {
    EDITS.iter().find_map(|(old, new)| {
        let (old, new) = (text(raw, old)?, text(raw, new)?);
        Some(difference(&old, &new))
    })
}

/// Lines that all edits of a list add and remove.
fn edits(arguments: &Raw<'_>) -> Option<(usize, usize)> {
    let list = arguments.get("edits")?;
    let mut edits = list.items().filter_map(|it| edit(&it));
    let first = edits.next()?;
    Some(edits.fold(first, |(plus, minus), (more, less)| {
        (plus + more, minus + less)
    }))
}

/// How many lines are new and gone between what both texts begin and end with.
fn difference(old: &str, new: &str) -> (usize, usize) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let alike = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[alike.min(old.len())..], &new[alike.min(new.len())..]);
    let ends = old.iter().rev().zip(new.iter().rev());
    let ends = ends.take_while(|(a, b)| a == b).count();
    (new.len() - ends, old.len() - ends)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::Json;

    use super::*;

    fn line(json: &str) -> ToolLine {
        ToolLine::of(&ToolInput::from(Json::Raw(json.as_bytes().to_vec())))
    }

    fn said(subject: &str, changed: Option<(usize, usize)>) -> ToolLine {
        let subject = subject.to_owned();
        ToolLine { subject, changed }
    }

    #[test]
    fn an_edit_says_its_file_and_its_lines() {
        let edit = r#"{"file_path":"src/a.rs","old_string":"a\nb\nc","new_string":"a\nx\ny\nc"}"#;
        assert_eq!(line(edit), said("src/a.rs", Some((2, 1))));
        let two = r#"{"path":"b","edits":[{"oldText":"1","newText":"2"},{"oldText":"","newText":"3\n4"}]}"#;
        assert_eq!(line(two), said("b", Some((3, 1))));
        let write = r#"{"file_path":"c","content":"1\n2\n"}"#;
        assert_eq!(line(write), said("c", Some((2, 0))));
        let patch =
            r#"{"input":"*** Begin Patch\n*** Update File: d\n@@\n-1\n+2\n+3\n*** End Patch"}"#;
        assert_eq!(line(patch), said("d", Some((2, 1))));
    }

    #[test]
    fn other_calls_say_what_they_work_on() {
        assert_eq!(
            line(r#"{"command":"cargo test","timeout":5}"#),
            said("cargo test", None)
        );
        assert_eq!(line(r#"{"odd":1}"#), said(r#"{"odd":1}"#, None));
        assert_eq!(line(r#"{"path":"x","pattern":"y"}"#), said("x", None));
    }
}
