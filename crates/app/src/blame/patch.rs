//! Patches in the text of calls: those of Codex, unified diffs, and blocks to search and replace.

use super::file_edit::{EditKind, FileEdit, Hunk, Replacement};

/// What a patch of Codex begins with.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Returns what a patch of Codex does; nothing for another text.
pub(super) fn file_edits(text: &str) -> Vec<FileEdit> {
    let mut lines = text.lines();
    if !lines.by_ref().any(|line| line.trim_end() == BEGIN) {
        return Vec::new();
    }
    let mut file_edits: Vec<FileEdit> = Vec::new();
    let mut section: Option<Section> = None;
    for line in lines {
        if line.trim_end() == END {
            break;
        }
        if let Some(next) = Section::begun(line) {
            file_edits.extend(
                section
                    .replace(next)
                    .map(Section::file_edits)
                    .unwrap_or_default(),
            );
        } else if let Some(section) = &mut section {
            section.add(line);
        }
    }
    file_edits.extend(section.map(Section::file_edits).unwrap_or_default());
    file_edits
}

/// The part of a patch that is about one file.
#[derive(Debug)]
enum Section {
    Add(String, String),
    Update(String, Option<String>, Vec<Hunk>),
    Delete(String),
}

impl Section {
    fn begun(line: &str) -> Option<Section> {
        let line = line.trim_end();
        let path = |marker: &str| line.strip_prefix(marker).map(|it| it.trim().to_owned());
        path("*** Add File: ")
            .map(|path| Section::Add(path, String::new()))
            .or_else(|| {
                path("*** Update File: ").map(|path| Section::Update(path, None, Vec::new()))
            })
            .or_else(|| path("*** Delete File: ").map(Section::Delete))
    }

    fn add(&mut self, line: &str) {
        match self {
            Section::Add(_, text) => {
                if let Some(line) = line.strip_prefix('+') {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            Section::Update(_, to, hunks) => {
                if let Some(path) = line.strip_prefix("*** Move to: ") {
                    *to = Some(path.trim().to_owned());
                } else if line.trim_end() != "*** End of File" {
                    add_line(hunks, line);
                }
            }
            Section::Delete(_) => {}
        }
    }

    fn file_edits(self) -> Vec<FileEdit> {
        match self {
            Section::Add(path, text) => vec![FileEdit::new(&path, EditKind::Write(text))],
            Section::Delete(path) => vec![FileEdit::new(&path, EditKind::Remove)],
            Section::Update(path, to, hunks) => {
                let mut file_edits = Vec::new();
                if !hunks.is_empty() {
                    file_edits.push(FileEdit::new(&path, EditKind::Patch(hunks)));
                }
                file_edits.extend(to.map(|to| FileEdit::new(&path, EditKind::Rename(to))));
                file_edits
            }
        }
    }
}

/// Returns the hunks of a unified diff of one file.
pub(super) fn unified(text: &str) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let lines = text.lines().skip_while(|line| !line.starts_with("@@"));
    for line in lines {
        let is_note = line.starts_with('\\');
        if !is_note {
            let is_start = line.starts_with("@@ -");
            add_line(&mut hunks, if is_start { "@@" } else { line });
        }
    }
    hunks
}

/// Adds a line of a patch to its hunks.
fn add_line(hunks: &mut Vec<Hunk>, line: &str) {
    if let Some(context) = line.strip_prefix("@@") {
        let context = context.trim_start_matches(' ').trim_end_matches("@@");
        let after = Some(context.to_owned()).filter(|it| !it.trim().is_empty());
        match hunks.last_mut() {
            // Several lines may lead to a hunk; the last one is the nearest.
            Some(open) if open.old.is_empty() && open.new.is_empty() => {
                open.after = after.or_else(|| open.after.take());
            }
            _ => hunks.push(Hunk {
                after,
                ..Hunk::default()
            }),
        }
        return;
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else {
        return;
    };
    let (sign, rest) = match line.chars().next() {
        Some(sign @ ('+' | '-' | ' ')) => (sign, line.get(1..).unwrap_or_default()),
        // An empty line whose space an editor removed.
        _ => (' ', line),
    };
    if sign != '+' {
        hunk.old.push(rest.to_owned());
    }
    if sign != '-' {
        hunk.new.push(rest.to_owned());
    }
}

/// Returns the blocks to search and replace in a text.
pub(super) fn blocks(text: &str) -> Vec<Replacement> {
    let is_sign = |line: &str, sign: &str, word: &str| {
        let rest = line.trim_end().trim_start_matches(sign);
        line.starts_with(&sign.repeat(5)) && rest.trim().trim_end_matches('>') == word
    };
    let begins = |line: &str| is_sign(line, "<", "SEARCH") || is_sign(line, "-", "SEARCH");
    let ends = |line: &str| is_sign(line, ">", "REPLACE") || is_sign(line, "+", "REPLACE");
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while lines.by_ref().any(begins) {
        let (mut old, mut new) = (String::new(), String::new());
        let (mut is_new, mut is_closed) = (false, false);
        for line in lines.by_ref() {
            if ends(line) {
                is_closed = true;
                break;
            }
            if !is_new && is_sign(line, "=", "") {
                is_new = true;
            } else if !is_new && line == "-------" {
                // Lines before it say where the text is.
                old.clear();
            } else {
                let side = if is_new { &mut new } else { &mut old };
                side.push_str(line);
                side.push('\n');
            }
        }
        if is_new && is_closed {
            let all = false;
            blocks.push(Replacement { old, new, all });
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_adds_updates_moves_and_deletes() {
        let patch = "*** Begin Patch\n*** Add File: n\n+one\n+\n*** Update File: a\n*** Move to: b\n\
                     @@ fn x() {\n ctx\n-old\n+new\n*** Delete File: d\n*** End Patch\n";
        let hunk = Hunk {
            after: Some("fn x() {".to_owned()),
            old: vec!["ctx".to_owned(), "old".to_owned()],
            new: vec!["ctx".to_owned(), "new".to_owned()],
        };
        assert_eq!(
            file_edits(patch),
            [
                FileEdit::new("n", EditKind::Write("one\n\n".to_owned())),
                FileEdit::new("a", EditKind::Patch(vec![hunk])),
                FileEdit::new("a", EditKind::Rename("b".to_owned())),
                FileEdit::new("d", EditKind::Remove),
            ]
        );
        assert!(file_edits("no patch").is_empty());
    }

    #[test]
    fn a_unified_diff_is_hunks() {
        let hunks =
            unified("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn y\n a\n-b\n+c\n@@ -9 +9 @@\n-d\n");
        assert_eq!(hunks.len(), 2);
        assert_eq!(hunks[0].new, ["a", "c"]);
        assert_eq!((hunks[1].old.len(), hunks[1].new.len()), (1, 0));
    }

    #[test]
    fn blocks_are_found_with_the_marks_of_several_agents() {
        for text in [
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
            "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
            "<<<<<<< SEARCH\n:start_line:3\n-------\na\n=======\nb\n>>>>>>> REPLACE",
        ] {
            let found = blocks(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(
                (found[0].old.as_str(), found[0].new.as_str()),
                ("a\n", "b\n")
            );
        }
        assert!(blocks("<<<<<<< SEARCH\na\n=======\nb\n").is_empty());
    }
}
