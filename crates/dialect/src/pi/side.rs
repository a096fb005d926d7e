//! Files beside a log: the artifact folder that bears its name.

use boswell_model::Result;

use crate::{FileInfo, Files, Located, SideFile, SideKind};

use super::layout::{is_log, visible};

/// Levels of folders that are looked into below the artifact folder.
const DEEPEST: usize = 3;

/// Lists what an artifact folder holds. Blobs are shared by all sessions and lie elsewhere, so they are not among them.
pub(super) fn side_files(files: &dyn Files, located: &Located) -> Result<Vec<SideFile>> {
    let Some(folder) = located.key.as_deref().and_then(|key| key.strip_suffix(".jsonl")) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 1)];
    while let Some((folder, depth)) = open.pop() {
        for info in visible(files, &folder)? {
            if info.is_file() {
                found.push(SideFile { kind: kind_of(&info), size: info.size, key: info.key });
            } else if info.is_folder() && depth < DEEPEST {
                open.push((info.key, depth + 1));
            }
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

fn kind_of(info: &FileInfo) -> SideKind {
    let name = info.name();
    if is_log(info) {
        SideKind::Subagent
    } else if name.starts_with("handoff-") {
        SideKind::Meta
    } else if name.ends_with(".log") || name.ends_with(".md") {
        SideKind::ToolOutput
    } else {
        SideKind::Attachment
    }
}

#[cfg(test)]
mod tests {
    use crate::MemoryFiles;

    use super::super::fixture::located;
    use super::*;

    #[test]
    fn artifacts_are_listed_by_what_they_are() {
        let mut files = MemoryFiles::default();
        let base = "sessions/--p--/2026-01-01T00-00-00-000Z_S";
        for name in ["1.bash.log", "0-Explore.md", "0-Explore.jsonl", "handoff-1.md", "x.png", ".tmp"] {
            files.put(&format!("{base}/{name}"), "abc", None);
        }
        files.put(&format!("{base}.jsonl"), "", None);
        let found = side_files(&files, &located("S")).unwrap();
        let kinds: Vec<_> = found.iter().map(|f| (f.key.rsplit('/').next().unwrap(), f.kind.word())).collect();
        assert_eq!(
            kinds,
            [
                ("0-Explore.jsonl", "subagent"),
                ("0-Explore.md", "tool_output"),
                ("1.bash.log", "tool_output"),
                ("handoff-1.md", "meta"),
                ("x.png", "attachment"),
            ]
        );
        assert_eq!(found[0].size, 3);
        assert!(side_files(&files, &Located { key: None, ..located("S") }).unwrap().is_empty());
    }
}
