//! The side files of a log: the artifact folder with the same name.

use boswell_model::Result;

use crate::{FileInfo, Files, SessionLocation, SideFile, SideKind};

use super::layout::{is_log, visible};

/// Maximum depth of folders below the artifact folder.
const DEEPEST: usize = 3;

/// Lists the artifact folder of a session. Blobs are not included: all sessions share them, in
/// another folder.
pub(super) fn side_files(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
    let Some(artifacts) = location
        .key
        .as_deref()
        .and_then(|key| key.strip_suffix(".jsonl"))
    else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut open = vec![(artifacts.to_owned(), 1)];
    while let Some((folder, depth)) = open.pop() {
        for info in visible(files, &folder)? {
            if info.is_file() {
                let below = info
                    .key
                    .get(artifacts.len()..)
                    .unwrap_or_default()
                    .trim_start_matches('/');
                found.push(SideFile {
                    kind: kind_of(&info, below),
                    size: info.size,
                    key: info.key,
                });
            } else if info.is_folder() && depth < DEEPEST {
                open.push((info.key, depth + 1));
            }
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

fn kind_of(info: &FileInfo, below: &str) -> SideKind {
    let name = info.name();
    if is_log(info) {
        return SideKind::Subagent;
    }
    // Folders in which an import stores the side files of other agents' logs.
    match below.split_once('/').map(|(folder, _)| folder) {
        Some("tool-results") => return SideKind::ToolOutput,
        Some("file-history") => return SideKind::Checkpoint,
        Some("meta") => return SideKind::Meta,
        _ => {}
    }
    if name.starts_with("handoff-") {
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

    use super::super::fixture::location;
    use super::*;

    #[test]
    fn artifacts_are_listed_by_what_they_are() {
        let mut files = MemoryFiles::default();
        let base = "sessions/--p--/2026-01-01T00-00-00-000Z_S";
        let imported = [
            "tool-results/t1.txt",
            "file-history/0123@v1",
            "meta/tasks/1.json",
        ];
        let own = [
            "1.bash.log",
            "0-Explore.md",
            "0-Explore.jsonl",
            "handoff-1.md",
            "x.png",
            ".tmp",
        ];
        for name in own.into_iter().chain(imported) {
            files.put(&format!("{base}/{name}"), "abc", None);
        }
        files.put(&format!("{base}.jsonl"), "", None);
        let found = side_files(&files, &location("S")).unwrap();
        let kinds: Vec<_> = found
            .iter()
            .map(|f| (f.key.rsplit('/').next().unwrap(), f.kind.word()))
            .collect();
        assert_eq!(
            kinds,
            [
                ("0-Explore.jsonl", "subagent"),
                ("0-Explore.md", "tool_output"),
                ("1.bash.log", "tool_output"),
                ("0123@v1", "checkpoint"),
                ("handoff-1.md", "meta"),
                ("1.json", "meta"),
                ("t1.txt", "tool_output"),
                ("x.png", "attachment"),
            ]
        );
        assert_eq!(found[0].size, 3);
        assert!(
            side_files(
                &files,
                &SessionLocation {
                    key: None,
                    ..location("S")
                }
            )
            .unwrap()
            .is_empty()
        );
    }
}
