//! The layout of a Gemini home: projects, their sessions, and the empty files that a resumed
//! session leaves.

use std::collections::{BTreeMap, BTreeSet};

use boswell_model::json::{Json, Raw};
use boswell_model::{Framing, Result};
use sha2::{Digest, Sha256};

use crate::members::text;
use crate::{Discovered, FileInfo, Files, SessionLocation};

/// The framing of a session that is one document.
pub(super) const DOCUMENT: Framing = Framing::Rows("messages");
/// Larger files are no index of projects.
const INDEX_LIMIT: u64 = 16 << 20;
/// The longest file that can be an empty one: it contains the injected context alone.
const STUB_LIMIT: u64 = 1 << 20;
/// How much of a file is read for its id.
const FIRST: usize = 512;

/// Returns how a session file is divided into records.
pub(super) fn framing(key: &str) -> Framing {
    match key.ends_with(".json") {
        true => DOCUMENT,
        false => Framing::Lines,
    }
}

/// Finds every session.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let projects = projects(files)?;
    for folder in files.list("tmp")?.into_iter().filter(FileInfo::is_folder) {
        let project = project_of(files, &folder, &projects)?;
        let chats = format!("{}/chats", folder.key);
        let mut sessions = Vec::new();
        for info in files.list(&chats)? {
            if info.is_folder() {
                subagents(files, &info, project.as_deref(), &mut found)?;
            } else if is_session(&info) {
                sessions.push(info);
            }
        }
        of_project(files, sessions, project.as_deref(), &mut found)?;
    }
    set_copies_aside(&mut found);
    Ok(found)
}

/// When the program gives a project a folder with a name, it copies the sessions and leaves those
/// in the folder with the hash: the older ones are no sessions of their own.
fn set_copies_aside(found: &mut Discovered) {
    let in_hash = |location: &SessionLocation| {
        let folder = location
            .key
            .as_deref()
            .and_then(|key| key.split('/').nth(1));
        folder.is_some_and(|it| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit()))
    };
    let moved: BTreeSet<String> = found
        .sessions
        .iter()
        .filter(|it| !in_hash(it))
        .map(|it| it.id.clone())
        .collect();
    for location in &mut found.sessions {
        if in_hash(location) && moved.contains(&location.id) {
            let name = location
                .key
                .as_deref()
                .and_then(|key| key.rsplit('/').next());
            let stem = name
                .and_then(|name| name.split('.').next())
                .unwrap_or_default();
            location.id = stem.to_owned();
            location.hidden = Some("copied");
        }
    }
}

fn is_session(info: &FileInfo) -> bool {
    info.is_file()
        && info.name().starts_with("session-")
        && (info.stem(".jsonl").is_some() || info.stem(".json").is_some())
}

/// Adds the main sessions of a project.
fn of_project(
    files: &dyn Files,
    sessions: Vec<FileInfo>,
    project: Option<&str>,
    found: &mut Discovered,
) -> Result<()> {
    let mut by_suffix: BTreeMap<String, Vec<FileInfo>> = BTreeMap::new();
    for info in sessions {
        by_suffix.entry(suffix(&info)).or_default().push(info);
    }
    for group in by_suffix.into_values() {
        let mut stubs = vec![false; group.len()];
        if group.len() > 1 {
            for (info, is_stub) in group.iter().zip(&mut stubs) {
                *is_stub = self::is_stub(files, info)?;
            }
        }
        let stub = group.iter().zip(&stubs).find(|(_, is_stub)| **is_stub);
        let stub = stub.map(|(info, _)| info.name().to_owned());
        for (info, is_stub) in group.iter().zip(stubs) {
            let id = id_of(files, info)?;
            let doomed = stub.as_deref().filter(|_| !is_stub);
            found.sessions.push(SessionLocation {
                row: row(project, doomed),
                hidden: is_stub.then_some("empty"),
                // The empty file has the id of the session beside it.
                ..SessionLocation::at(
                    if is_stub { stem(info) } else { id },
                    info,
                    framing(&info.key),
                )
            });
        }
    }
    Ok(())
}

fn subagents(
    files: &dyn Files,
    folder: &FileInfo,
    project: Option<&str>,
    found: &mut Discovered,
) -> Result<()> {
    for info in files.list(&folder.key)? {
        if !info.is_file() || info.stem(".jsonl").is_none() {
            continue;
        }
        found.sessions.push(SessionLocation {
            row: row(project, None),
            hidden: Some("subagent"),
            owner: Some(folder.name().to_owned()),
            ..SessionLocation::at(stem(&info), &info, framing(&info.key))
        });
    }
    Ok(())
}

/// What the listing knows of a session: its project, and the empty file that makes the program
/// delete it.
fn row(project: Option<&str>, doomed_by: Option<&str>) -> Option<Vec<u8>> {
    let row = Json::object()
        .with_some("project", project)
        .with_some("doomedBy", doomed_by);
    (project.is_some() || doomed_by.is_some()).then(|| row.to_bytes())
}

fn stem(info: &FileInfo) -> String {
    let stem = info.stem(".jsonl").or_else(|| info.stem(".json"));
    stem.unwrap_or(info.name()).to_owned()
}

/// Returns the end of a name that the program compares: the first eight characters of the id.
fn suffix(info: &FileInfo) -> String {
    let stem = stem(info);
    stem.rsplit('-').next().unwrap_or(&stem).to_owned()
}

/// Returns the id of a session: the file name contains only its beginning.
fn id_of(files: &dyn Files, info: &FileInfo) -> Result<String> {
    let first = files.read(&info.key, 0, FIRST)?;
    let stated = member_at_start(&first, "sessionId");
    let is_plain = |id: &String| super::dialect::is_plain_id(id);
    Ok(stated.filter(is_plain).unwrap_or_else(|| stem(info)))
}

/// Returns a string member near the beginning of a file, whose object may be cut off.
fn member_at_start(bytes: &[u8], key: &str) -> Option<String> {
    let key = format!("\"{key}\"");
    let at = memchr::memmem::find(bytes, key.as_bytes())? + key.len();
    let rest = bytes.get(at..)?.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start();
    let end = memchr::memchr(b'"', rest.get(1..)?)? + 2;
    let token = Raw::parse(rest.get(..end)?).ok()?;
    Some(token.text()?.into_owned())
}

/// Whether a file has no message but the injected context, as a resumed session leaves it.
fn is_stub(files: &dyn Files, info: &FileInfo) -> Result<bool> {
    if info.size > STUB_LIMIT || !info.key.ends_with(".jsonl") {
        return Ok(false);
    }
    let length = usize::try_from(info.size).unwrap_or(usize::MAX);
    let bytes = files.read(&info.key, 0, length)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut says = lines.filter(|line| !line.trim_ascii().is_empty());
    Ok(says.all(|line| {
        let mut members = Vec::new();
        let Ok(end) = boswell_model::json::scan_object(line, &mut members) else {
            return false;
        };
        let line = line.get(..end).unwrap_or(line);
        let object = boswell_model::json::Object::new(line, &members);
        is_silent(&object)
    }))
}

fn is_silent(record: &boswell_model::json::Object<'_>) -> bool {
    use super::message::{Message, contained};
    let is_injected = |message: &Message<'_>| message.is_injected();
    match contained(record) {
        Some(_) => Message::all(record).iter().all(is_injected),
        None => record.get("type").is_none() || is_injected(&Message(record.raw())),
    }
}

/// Returns the projects that the program knows: folder name and path.
fn projects(files: &dyn Files) -> Result<Vec<(String, String)>> {
    let bytes = files
        .settings("projects.json", INDEX_LIMIT)?
        .unwrap_or_default();
    let Ok(raw) = Raw::parse(bytes.trim_ascii()) else {
        return Ok(Vec::new());
    };
    let projects = raw.get("projects").into_iter();
    let members = projects.flat_map(|it| it.members());
    Ok(members
        .filter_map(|(path, name)| Some((name.text()?.into_owned(), path.to_text().into_owned())))
        .collect())
}

/// Returns the path of the project of a folder: what the folder itself says, else the index, else
/// a known path with that hash, as older versions named folders.
fn project_of(
    files: &dyn Files,
    folder: &FileInfo,
    projects: &[(String, String)],
) -> Result<Option<String>> {
    let own = files.read_whole(&format!("{}/.project_root", folder.key), 1 << 16);
    let own = own?.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    let own = own.filter(|path| !path.is_empty());
    let is_it = |(name, path): &&(String, String)| {
        name == folder.name() || (folder.name().len() == 64 && project_hash(path) == folder.name())
    };
    Ok(own.or_else(|| projects.iter().find(is_it).map(|(_, path)| path.clone())))
}

/// Returns the name of a project's folder, if the program knows the project.
pub(super) fn folder_for(files: &dyn Files, project: &str) -> Result<Option<String>> {
    let projects = projects(files)?;
    let known = projects.into_iter().find(|(_, path)| path == project);
    Ok(known
        .map(|(name, _)| name)
        .filter(|name| super::dialect::is_plain_id(name)))
}

/// Returns the hash that identifies a project.
pub(super) fn project_hash(path: &str) -> String {
    let hash = Sha256::digest(path.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns what the listing knew of a session.
pub(super) fn known(location: &SessionLocation, key: &str) -> Option<String> {
    let row = Raw::parse(location.row.as_deref()?).ok()?;
    text(row, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFiles;

    #[test]
    fn a_session_that_the_program_copied_is_listed_once() {
        let hash = project_hash("/p/app");
        let log = format!(
            "{{\"sessionId\":\"30cd11a7-b2d9-493e-a633-14b09adde14f\",\"projectHash\":\"{hash}\"}}\n"
        );
        let mut files = MemoryFiles::default();
        for folder in [hash.as_str(), "app"] {
            let key = format!("tmp/{folder}/chats/session-2026-11-17T12-21-30cd11a7.jsonl");
            files.put(&key, log.clone(), None);
        }
        let found = discover(&files).unwrap().sessions;
        let shown: Vec<_> = found.iter().filter(|it| it.hidden.is_none()).collect();
        assert_eq!((found.len(), shown.len()), (2, 1));
        assert!(
            shown[0]
                .key
                .as_deref()
                .is_some_and(|key| key.starts_with("tmp/app/"))
        );
        assert_ne!(found[0].id, found[1].id);
    }
}
