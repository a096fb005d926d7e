//! The side files of a session, and the memory files of projects.

use boswell_model::json::Raw;
use boswell_model::{Result, SessionMeta};

use super::discover;
use crate::uuid::is_uuid;
use crate::{FileInfo, Files, MemoryFile, SessionLocation, SideFile, SideKind};

/// Title and archive files contain a few words; a larger file is not read.
const LIMIT: u64 = 1 << 20;

/// Adds facts from the small side files: a title, if the log states none, and the archive mark.
pub(super) fn collect_meta(
    files: &dyn Files,
    location: &SessionLocation,
    meta: &mut SessionMeta,
) -> Result<()> {
    let Some(folder) = folder(location) else {
        return Ok(());
    };
    if meta.title.is_none() {
        let title = member(files, &format!("{folder}/custom-title.json"), |raw| {
            raw.get("customTitle")?
                .text()
                .map(|title| title.into_owned())
        })?;
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            meta.title = Some(title);
            meta.title_source = Some("user".to_owned());
        }
    }
    let archived = member(files, &format!("{folder}/archived.json"), |raw| {
        raw.get("archived")?.bool()
    })?;
    if archived == Some(true) {
        meta.archived = true;
        meta.hidden = meta.hidden.or(Some("archived"));
    }
    Ok(())
}

fn member<T>(
    files: &dyn Files,
    key: &str,
    ask: impl Fn(Raw<'_>) -> Option<T>,
) -> Result<Option<T>> {
    let info = files.stat(key)?;
    if !info.is_some_and(|info| info.is_file() && info.size <= LIMIT) {
        return Ok(None);
    }
    let bytes = files.read_whole(key, LIMIT)?.unwrap_or_default();
    Ok(Raw::parse(&bytes).ok().and_then(ask))
}

/// Returns all side files of a session.
pub(super) fn list(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
    let Some(folder) = folder(location) else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    walk(files, &folder, &mut |info| {
        out.push(side_file(info, kind(&folder, info)))
    })?;
    if location.owner.is_none() && is_uuid(&location.id) {
        let backups = format!("file-history/{}", location.id);
        walk(files, &backups, &mut |info| {
            out.push(side_file(info, SideKind::Checkpoint))
        })?;
        walk(files, &format!("tasks/{}", location.id), &mut |info| {
            // The client's lock file of the list is not part of it.
            if info.name() != ".lock" {
                out.push(side_file(info, SideKind::Meta));
            }
        })?;
    }
    if let Some(info) = files
        .stat(&format!("{folder}.meta.json"))?
        .filter(FileInfo::is_file)
    {
        out.push(side_file(&info, SideKind::Meta));
    }
    Ok(out)
}

/// Returns the side folder: the key of the log without its extension.
fn folder(location: &SessionLocation) -> Option<String> {
    location
        .key
        .as_deref()?
        .strip_suffix(".jsonl")
        .map(str::to_owned)
}

fn side_file(info: &FileInfo, kind: SideKind) -> SideFile {
    SideFile {
        key: info.key.clone(),
        kind,
        size: info.size,
    }
}

fn kind(folder: &str, info: &FileInfo) -> SideKind {
    let below = info
        .key
        .strip_prefix(folder)
        .unwrap_or(&info.key)
        .trim_start_matches('/');
    match below.split('/').next() {
        Some("subagents") if info.name().ends_with(".jsonl") => SideKind::Subagent,
        Some("tool-results") => SideKind::ToolOutput,
        Some("images" | "attachments") => SideKind::Attachment,
        _ => SideKind::Meta,
    }
}

pub(super) fn walk(
    files: &dyn Files,
    folder: &str,
    found: &mut dyn FnMut(&FileInfo),
) -> Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for info in files.list(&folder)? {
            if info.is_folder() {
                folders.push(info.key);
            } else if info.is_file() {
                found(&info);
            }
        }
    }
    Ok(())
}

/// Returns the memory files of every project.
pub(super) fn memory(files: &dyn Files) -> Result<Vec<MemoryFile>> {
    let mut out = Vec::new();
    for project in discover::projects(files)? {
        let folder = if project.is_empty() {
            "memory".to_owned()
        } else {
            format!("{project}/memory")
        };
        let project_key = project.rsplit('/').next().unwrap_or(&project);
        walk(files, &folder, &mut |info| {
            if info.name().ends_with(".md") {
                let is_index = info.key == format!("{folder}/MEMORY.md");
                let (key, project_key) = (info.key.clone(), project_key.to_owned());
                out.push(MemoryFile {
                    key,
                    project_key,
                    is_index,
                    size: info.size,
                });
            }
        })?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use crate::MemoryFiles;

    use super::*;

    const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

    fn store() -> MemoryFiles {
        let mut files = MemoryFiles::default();
        for (key, bytes) in [
            (format!("projects/-w/{ID}.jsonl"), "{}\n"),
            (format!("projects/-w/{ID}/subagents/agent-a1.jsonl"), "{}\n"),
            (
                format!("projects/-w/{ID}/subagents/agent-a1.meta.json"),
                "{}",
            ),
            (format!("projects/-w/{ID}/tool-results/t1.txt"), "out"),
            (
                format!("projects/-w/{ID}/custom-title.json"),
                r#"{"customTitle":"Beside"}"#,
            ),
            (
                format!("projects/-w/{ID}/archived.json"),
                r#"{"archived":true,"by":"sdk"}"#,
            ),
            (format!("file-history/{ID}/0123456789abcdef@v1"), "old"),
            (format!("tasks/{ID}/1.json"), "{}"),
            (format!("tasks/{ID}/.lock"), ""),
            ("projects/-w/memory/MEMORY.md".to_owned(), "index"),
            ("projects/-w/memory/facts.md".to_owned(), "fact"),
            ("projects/-w/memory/pic.png".to_owned(), "x"),
        ] {
            files.put(&key, bytes, None);
        }
        files
    }

    fn location() -> SessionLocation {
        discover::discover(&store())
            .unwrap()
            .sessions
            .into_iter()
            .find(|s| s.id == ID)
            .unwrap()
    }

    #[test]
    fn side_files_are_listed_with_their_kinds() {
        let mut kinds: Vec<_> = list(&store(), &location())
            .unwrap()
            .iter()
            .map(|file| file.kind.word())
            .collect();
        kinds.sort_unstable();
        assert_eq!(
            kinds,
            [
                "checkpoint",
                "meta",
                "meta",
                "meta",
                "meta",
                "subagent",
                "tool_output"
            ]
        );
    }

    #[test]
    fn the_title_beside_the_log_counts_only_without_one_inside() {
        let mut meta = SessionMeta::default();
        collect_meta(&store(), &location(), &mut meta).unwrap();
        assert_eq!(meta.title.as_deref(), Some("Beside"));
        assert!(meta.archived);
        let mut meta = SessionMeta {
            title: Some("Inside".into()),
            ..SessionMeta::default()
        };
        collect_meta(&store(), &location(), &mut meta).unwrap();
        assert_eq!(meta.title.as_deref(), Some("Inside"));
    }

    #[test]
    fn memory_files_know_their_project_and_index() {
        let found = memory(&store()).unwrap();
        let seen: Vec<_> = found
            .iter()
            .map(|m| (m.key.as_str(), m.project_key.as_str(), m.is_index))
            .collect();
        assert_eq!(
            seen,
            [
                ("projects/-w/memory/MEMORY.md", "-w", true),
                ("projects/-w/memory/facts.md", "-w", false)
            ]
        );
    }
}
