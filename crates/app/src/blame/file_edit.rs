//! What a tool call does to files, read from its arguments.
//!
//! Names of tools and members differ by agent, but not their meaning: a text before and after, a
//! whole text, a patch, blocks to search and replace, a command. What cannot be read for certain
//! does nothing here, so that nothing is claimed for it.

use boswell_model::ToolInput;
use boswell_model::json::{Raw, RawKind};

use super::{patch, shell};
use crate::tool_line::{changes_files, command_of};

/// Members that name a file.
const PATHS: [&str; 9] = [
    "file_path",
    "path",
    "filePath",
    "filename",
    "target_file",
    "TargetFile",
    "absolute_path",
    "file",
    "filepath",
];
/// Members with a text before and after an edit.
const EDITS: [(&str, &str); 11] = [
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldStr", "newStr"),
    ("TargetContent", "ReplacementContent"),
    ("before", "after"),
    ("search", "replace"),
    ("old_str_1", "new_str_1"),
    ("old", "new"),
];
/// Members with several edits, or with one as an object.
const LISTS: [&str; 5] = [
    "edits",
    "edit",
    "replacements",
    "ReplacementChunks",
    "str_replace_entries",
];
/// Members with the whole text of a file.
const TEXTS: [&str; 6] = [
    "content",
    "file_text",
    "contents",
    "fileText",
    "CodeContent",
    "file_content",
];
/// Members that say that every occurrence is replaced.
const ALL: [&str; 5] = [
    "replace_all",
    "replaceAll",
    "allow_multiple",
    "AllowMultiple",
    "all",
];
/// Members with a patch, or with blocks to search and replace.
const PATCHES: [&str; 8] = [
    "input",
    "patch",
    "patchText",
    "patch_text",
    "diff",
    "content",
    "command",
    "cmd",
];

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditKind {
    /// It gets this text.
    Write(String),
    /// Parts of it are replaced, one after the other.
    Edit(Vec<Replacement>),
    /// Lines of it are replaced.
    Patch(Vec<Hunk>),
    /// A text is added at its end.
    Append(String),
    /// A text is added behind a line, counted from 1; 0 is before the first.
    Insert(usize, String),
    /// It is removed.
    Remove,
    /// It gets another name.
    Rename(String),
    /// It is read as a whole.
    Read,
    /// Some of its lines are read.
    ReadPart,
}

/// A text that takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    /// Whether every occurrence is replaced; else there is one.
    pub(super) all: bool,
}

/// Lines that take the place of others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    /// A line before it, if the patch names one.
    pub(super) after: Option<String>,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// What happens to the file with this path, as the call names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileEdit {
    pub(super) path: String,
    pub(super) kind: EditKind,
}

impl FileEdit {
    pub(super) fn new(path: &str, kind: EditKind) -> FileEdit {
        FileEdit {
            path: path.to_owned(),
            kind,
        }
    }
}

/// Returns what a call does to files, in order.
pub(super) fn file_edits(tool: &str, input: &ToolInput) -> Vec<FileEdit> {
    let Some(raw) = input.json().filter(|raw| raw.kind() == RawKind::Object) else {
        return patch::file_edits(input.text());
    };
    if let Some(file_edits) = patched(&raw) {
        return file_edits;
    }
    let path = PATHS.iter().find_map(|key| text(&raw, key));
    let path = path.filter(|path| !path.is_empty());
    let Some(path) = path else {
        let command = command_of(input);
        return command.map(|it| shell::file_edits(&it)).unwrap_or_default();
    };
    let kind = kind(tool, &raw);
    kind.map(|kind| FileEdit::new(&path, kind))
        .into_iter()
        .collect()
}

/// The folder in which a call works, if it names one.
pub(super) fn folder(input: &ToolInput) -> Option<String> {
    let raw = input.json()?;
    let mut keys = [
        "workdir",
        "cwd",
        "working_directory",
        "directory",
        "dir_path",
    ]
    .iter();
    keys.find_map(|key| text(&raw, key))
        .filter(|it| !it.is_empty())
}

/// What a patch in one of the members does.
fn patched(raw: &Raw<'_>) -> Option<Vec<FileEdit>> {
    for key in PATCHES {
        let Some(value) = raw.get(key) else {
            continue;
        };
        let words = value.items().filter_map(|word| word.text());
        for text in value.text().into_iter().chain(words) {
            if let Some(start) = text.find(patch::BEGIN) {
                return Some(patch::file_edits(text.get(start..).unwrap_or_default()));
            }
        }
    }
    None
}

fn kind(tool: &str, raw: &Raw<'_>) -> Option<EditKind> {
    let command = text(raw, "command").unwrap_or_default();
    match command.as_str() {
        "view" | "undo_edit" | "delete" => return None,
        "insert" => return insertion(raw),
        "append" => return addition(raw),
        _ => {}
    }
    let edits = edits(raw);
    if !edits.is_empty() {
        return Some(EditKind::Edit(edits));
    }
    if let Some(insertion) = insertion(raw) {
        return Some(insertion);
    }
    let blocks = ["diff", "content", "blocks"].iter();
    let blocks = blocks.filter_map(|key| text(raw, key));
    let blocks: Vec<Replacement> = blocks.flat_map(|it| patch::blocks(&it)).collect();
    if !blocks.is_empty() {
        return Some(EditKind::Edit(blocks));
    }
    if let Some(hunks) = text(raw, "diff").map(|it| patch::unified(&it)) {
        return (!hunks.is_empty()).then_some(EditKind::Patch(hunks));
    }
    let is_writing = changes_files(tool) || tool.to_lowercase().contains("save");
    if !is_writing && !matches!(command.as_str(), "create" | "write") {
        return read(tool, raw);
    }
    if text(raw, "mode").is_some_and(|mode| mode == "append") {
        return addition(raw);
    }
    let written = TEXTS.iter().find_map(|key| text(raw, key));
    written.map(EditKind::Write)
}

/// Whether a call reads a file, from its first line to its last or a part of it.
fn read(tool: &str, raw: &Raw<'_>) -> Option<EditKind> {
    let tool = tool.to_lowercase();
    let is_reading = ["read", "view", "cat"].iter().any(|it| tool.contains(it));
    let parts = [
        "offset",
        "limit",
        "start_line",
        "end_line",
        "view_range",
        "line_offset",
        "n_lines",
        "pages",
    ];
    let is_set = |key: &&str| raw.get(key).is_some_and(|it| !it.is_null());
    is_reading.then(|| match parts.iter().any(is_set) {
        true => EditKind::ReadPart,
        false => EditKind::Read,
    })
}

fn addition(raw: &Raw<'_>) -> Option<EditKind> {
    let added = TEXTS.iter().chain(["new_str", "text"].iter());
    let added = added.clone().find_map(|key| text(raw, key));
    added.map(EditKind::Append)
}

fn insertion(raw: &Raw<'_>) -> Option<EditKind> {
    let line = ["insert_line", "insertLine", "insert_line_1"].iter();
    let line = line.clone().find_map(|key| raw.get(key)?.u64())?;
    let added = [
        "new_str",
        "insert_text",
        "text",
        "new_text",
        "new_str_1",
        "newStr",
    ]
    .iter();
    let added = added.clone().find_map(|key| text(raw, key))?;
    Some(EditKind::Insert(usize::try_from(line).ok()?, added))
}

/// Every edit of a call: its own members, or those of a list.
fn edits(raw: &Raw<'_>) -> Vec<Replacement> {
    let is_all = |raw: &Raw<'_>| {
        let is_set = |key: &&str| raw.get(key).and_then(|it| it.bool()) == Some(true);
        let expected = raw.get("expected_replacements").and_then(|it| it.u64());
        ALL.iter().any(is_set) || expected.is_some_and(|it| it > 1)
    };
    let one = |raw: &Raw<'_>, all: bool| {
        let (old, new) = EDITS.iter().find(|(old, _)| text(raw, old).is_some())?;
        Some(Replacement {
            old: text(raw, old)?,
            // An edit that removes may leave it out.
            new: text(raw, new).unwrap_or_default(),
            all: all || is_all(raw),
        })
    };
    let all = is_all(raw);
    if let Some(edit) = one(raw, all) {
        return vec![edit];
    }
    for key in LISTS {
        let Some(list) = raw.get(key) else {
            continue;
        };
        // Some models write the list as a text.
        let unquoted = list.text().unwrap_or_default();
        let list = match Raw::parse(unquoted.as_bytes()) {
            Ok(inner) if list.kind() == RawKind::String => inner,
            _ => list,
        };
        let edits: Vec<Replacement> = match list.kind() {
            RawKind::Object => one(&list, all).into_iter().collect(),
            _ => {
                let (mut edits, mut is_clear) = (Vec::new(), true);
                for item in list.items() {
                    match one(&item, all) {
                        Some(edit) => edits.push(edit),
                        None => is_clear = false,
                    }
                }
                if is_clear { edits } else { Vec::new() }
            }
        };
        if !edits.is_empty() {
            return edits;
        }
    }
    Vec::new()
}

fn text(raw: &Raw<'_>, key: &str) -> Option<String> {
    raw.get(key)?.text().map(|it| it.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, json: &str) -> Vec<FileEdit> {
        file_edits(tool, &ToolInput::from(json))
    }

    fn edit(old: &str, new: &str, all: bool) -> Replacement {
        Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            all,
        }
    }

    #[test]
    fn edits_of_many_agents_are_one_thing() {
        let expected = [FileEdit::new(
            "a",
            EditKind::Edit(vec![edit("x", "y", false)]),
        )];
        for (tool, json) in [
            (
                "Edit",
                r#"{"file_path":"a","old_string":"x","new_string":"y"}"#,
            ),
            ("edit", r#"{"path":"a","oldText":"x","newText":"y"}"#),
            (
                "edit",
                r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#,
            ),
            (
                "edit",
                r#"{"path":"a","edits":"[{\"oldText\":\"x\",\"newText\":\"y\"}]"}"#,
            ),
            (
                "edit",
                r#"{"filePath":"a","oldString":"x","newString":"y"}"#,
            ),
            (
                "StrReplaceFile",
                r#"{"path":"a","edit":{"old":"x","new":"y"}}"#,
            ),
            (
                "text_editor",
                r#"{"command":"str_replace","path":"a","old_str":"x","new_str":"y"}"#,
            ),
            (
                "replace_in_file",
                r#"{"path":"a","diff":"<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"}"#,
            ),
        ] {
            let mut found = of(tool, json);
            if let Some(EditKind::Edit(edits)) = found.first_mut().map(|it| &mut it.kind) {
                for edit in edits {
                    edit.old = edit.old.trim_end().to_owned();
                    edit.new = edit.new.trim_end().to_owned();
                }
            }
            assert_eq!(found, expected, "{json}");
        }
        let all = r#"{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}"#;
        assert_eq!(
            of("Edit", all)[0].kind,
            EditKind::Edit(vec![edit("x", "y", true)])
        );
    }

    #[test]
    fn whole_texts_insertions_and_reads_are_told_apart() {
        let kind = |tool: &str, json: &str| of(tool, json).pop().map(|it| it.kind);
        assert_eq!(
            kind("Write", r#"{"file_path":"a","content":"x\n"}"#),
            Some(EditKind::Write("x\n".to_owned()))
        );
        assert_eq!(
            kind(
                "text_editor",
                r#"{"command":"write","path":"a","file_text":"x"}"#
            ),
            Some(EditKind::Write("x".to_owned()))
        );
        assert_eq!(
            kind("WriteFile", r#"{"path":"a","content":"x","mode":"append"}"#),
            Some(EditKind::Append("x".to_owned()))
        );
        assert_eq!(
            kind(
                "x",
                r#"{"command":"insert","path":"a","insert_line":2,"new_str":"x"}"#
            ),
            Some(EditKind::Insert(2, "x".to_owned()))
        );
        assert_eq!(kind("Read", r#"{"file_path":"a"}"#), Some(EditKind::Read));
        assert_eq!(
            kind("Read", r#"{"file_path":"a","limit":5}"#),
            Some(EditKind::ReadPart)
        );
        assert_eq!(kind("Grep", r#"{"path":"a","pattern":"x"}"#), None);
    }
}
