//! A tool call in a few words: what it worked on, which command it ran, and how many lines it
//! changed.

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
        if let Some(patch) = patch_of(input) {
            return ToolLine::of_patch(&patch);
        }
        let Some(raw) = input.json() else {
            return ToolLine::of_patch(input.text());
        };
        let text = |key: &str| raw.get(key).and_then(|it| it.text());
        let subject = SUBJECTS.iter().find_map(|key| text(key));
        let is_file = SUBJECTS.iter().take(4).any(|key| text(key).is_some());
        ToolLine {
            changed: is_file.then(|| changed(&raw)).flatten(),
            subject: subject.map_or_else(|| input.text().to_owned(), |it| it.into_owned()),
        }
    }

    /// The words of a patch, as Codex writes it; of other text its first line.
    fn of_patch(text: &str) -> ToolLine {
        let files: Vec<&str> = text.lines().filter_map(patched_file).collect();
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

/// What a patch begins with, as Codex writes it.
const PATCH: &str = "*** Begin Patch";

/// The patch in the arguments of a call: as free text, as a member, or as an argument of a command.
fn patch_of(input: &ToolInput) -> Option<Cow<'_, str>> {
    let is_patch = |text: &Cow<'_, str>| text.starts_with(PATCH);
    let Some(raw) = input.json() else {
        return Some(Cow::Borrowed(input.text())).filter(is_patch);
    };
    let own = text(&raw, "input").filter(is_patch);
    own.or_else(|| {
        let words = raw.get("command")?;
        words.items().filter_map(|word| word.text()).find(is_patch)
    })
}

/// The file that a line of a patch begins.
fn patched_file(line: &str) -> Option<&str> {
    let (_, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
    Some(path.trim())
}

/// Whether a tool changes files. Names differ by agent; all of them contain these words.
pub(crate) fn changes_files(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    ["edit", "write", "patch", "create", "replace"]
        .iter()
        .any(|word| tool.contains(word))
}

/// The files that a call changes, each with the lines that it adds and removes, if they are known.
/// `touched` are the paths that its dialect finds in it.
pub(crate) fn changed_files(
    tool: &str,
    input: &ToolInput,
    touched: Vec<String>,
) -> Vec<(String, Option<(usize, usize)>)> {
    if let Some(patch) = patch_of(input) {
        return patched_files(&patch);
    }
    if !changes_files(tool) {
        return Vec::new();
    }
    let changed = ToolLine::of(input).changed;
    // Lines of several files cannot be told apart here.
    let changed = changed.filter(|_| touched.len() == 1);
    touched.into_iter().map(|path| (path, changed)).collect()
}

/// The files of a patch, each with the lines that it adds and removes.
fn patched_files(patch: &str) -> Vec<(String, Option<(usize, usize)>)> {
    let mut files: Vec<(String, Option<(usize, usize)>)> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = patched_file(line) {
            files.push((path.to_owned(), Some((0, 0))));
        } else if let Some((_, Some((added, removed)))) = files.last_mut() {
            *added += usize::from(line.starts_with('+'));
            *removed += usize::from(line.starts_with('-'));
        }
    }
    files
}

/// The command line that a call runs, if it runs one.
pub(crate) fn command_of(input: &ToolInput) -> Option<String> {
    let raw = input.json()?;
    let value = raw.get("command").or_else(|| raw.get("cmd"))?;
    if let Some(command) = value.text() {
        return Some(command.into_owned());
    }
    let words: Vec<String> = value
        .items()
        .filter_map(|word| Some(word.text()?.into_owned()))
        .collect();
    match words.as_slice() {
        [] => None,
        // A shell and its script: the script is the command.
        [shell, option, script] if option.starts_with('-') && shell.ends_with("sh") => {
            Some(script.clone())
        }
        words => Some(words.join(" ")),
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
    fn a_patch_says_the_lines_of_each_file() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n+3\n*** Add File: b\n+4\n*** End Patch";
        let files = [
            ("a".to_owned(), Some((2, 1))),
            ("b".to_owned(), Some((1, 0))),
        ];
        for input in [
            ToolInput::from(Json::object().with("input", patch)),
            ToolInput::from(Json::object().with(
                "command",
                Json::Array(vec!["apply_patch".into(), patch.into()]),
            )),
        ] {
            assert_eq!(changed_files("shell", &input, Vec::new()), files);
        }
        let read = ToolInput::from(Json::object().with("path", "a"));
        assert!(changed_files("read", &read, vec!["a".to_owned()]).is_empty());
    }

    #[test]
    fn the_script_of_a_shell_is_the_command() {
        let command =
            |json: &str| command_of(&ToolInput::from(Json::Raw(json.as_bytes().to_vec())));
        assert_eq!(
            command(r#"{"command":["bash","-lc","cargo test"]}"#).as_deref(),
            Some("cargo test")
        );
        assert_eq!(
            command(r#"{"command":["ls","-l"]}"#).as_deref(),
            Some("ls -l")
        );
        assert_eq!(command(r#"{"cmd":"make"}"#).as_deref(), Some("make"));
        assert_eq!(command(r#"{"path":"a"}"#), None);
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
