//! The layout of Kimi Code's folder.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Raw};
use boswell_model::{Framing, Result};
use sha2::{Digest, Sha256};

use crate::members::text;
use crate::{Discovered, FileInfo, Files, SessionLocation};

const INDEX_LIMIT: u64 = 64 << 20;
const LOG: &str = "wire.jsonl";

/// Finds every session, and the logs of their subagents.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let folders = work_folders(files)?;
    for workspace in files
        .list("sessions")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        for session in files
            .list(&workspace.key)?
            .into_iter()
            .filter(FileInfo::is_folder)
        {
            let place = folders.get(session.name());
            let project = place.or_else(|| folders.get(workspace.name()));
            of_session(files, &session, project.map(String::as_str), &mut found)?;
        }
    }
    Ok(found)
}

fn of_session(
    files: &dyn Files,
    session: &FileInfo,
    project: Option<&str>,
    found: &mut Discovered,
) -> Result<()> {
    let row = project.map(|project| Json::object().with("cwd", project).to_bytes());
    for agent in files.list(&format!("{}/agents", session.key))? {
        let log = files.stat(&format!("{}/{LOG}", agent.key))?;
        let Some(log) = log.filter(FileInfo::is_file) else {
            continue;
        };
        let id = session.name();
        found.sessions.push(match agent.name() {
            "main" => SessionLocation {
                row: row.clone(),
                ..SessionLocation::at(id, &log, Framing::Lines)
            },
            other => SessionLocation {
                row: row.clone(),
                hidden: Some("subagent"),
                owner: Some(id.to_owned()),
                ..SessionLocation::at(format!("{id}-{other}"), &log, Framing::Lines)
            },
        });
    }
    Ok(())
}

/// Returns the project folders by session and by workspace.
fn work_folders(files: &dyn Files) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let bytes = files
        .read_whole("workspaces.json", INDEX_LIMIT)?
        .unwrap_or_default();
    if let Ok(raw) = Raw::parse(bytes.trim_ascii()) {
        for (name, workspace) in raw
            .get("workspaces")
            .into_iter()
            .flat_map(|it| it.members())
        {
            if let Some(root) = text(workspace, "root") {
                found.insert(name.to_text().into_owned(), root);
            }
        }
    }
    let bytes = files
        .read_whole("session_index.jsonl", INDEX_LIMIT)?
        .unwrap_or_default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(row) = Raw::parse(line.trim_ascii()) else {
            continue;
        };
        if let (Some(id), Some(folder)) = (text(row, "sessionId"), text(row, "workDir")) {
            found.insert(id, folder);
        }
    }
    Ok(found)
}

/// Returns the folder of a session, which contains its `state.json`.
pub(super) fn folder(location: &SessionLocation) -> Option<&str> {
    let (folder, _) = location.key.as_deref()?.split_once("/agents/")?;
    Some(folder)
}

/// Returns the project that the listing knew.
pub(super) fn project(location: &SessionLocation) -> Option<String> {
    text(Raw::parse(location.row.as_deref()?).ok()?, "cwd")
}

/// Returns the name of the folder with the sessions of a project.
pub(super) fn workspace_of(project: &str) -> String {
    let path = project.replace('\\', "/");
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let mut slug = String::new();
    for letter in last.chars() {
        match letter {
            'a'..='z' | '0'..='9' | '.' | '_' | '-' => slug.push(letter),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(40);
    let hash = Sha256::digest(path.as_bytes());
    let hash: String = hash.iter().take(6).map(|it| format!("{it:02x}")).collect();
    format!("wd_{slug}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_have_the_folders_that_the_program_gave_them() {
        assert_eq!(workspace_of("/srv/demo"), "wd_demo_926574b4279e");
        assert_eq!(workspace_of("/srv/demo/"), "wd_demo_926574b4279e");
        assert!(workspace_of("/a/My App 项目").starts_with("wd_my-app-_"));
    }
}
