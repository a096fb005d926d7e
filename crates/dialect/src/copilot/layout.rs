//! The layout of Copilot CLI's folder.

use boswell_model::json::Json;
use boswell_model::{Framing, Result, SessionMeta};

use crate::uuid::is_uuid;
use crate::{Discovered, FileInfo, Files, SessionLocation, SideFile, SideKind};

const SESSIONS: &str = "session-state";
/// Name of the log in the folder of a session.
pub(super) const LOG: &str = "events.jsonl";
/// Name of the file with the title in the folder of a session.
pub(super) const WORKSPACE: &str = "workspace.yaml";
pub(super) const WORKSPACE_LIMIT: u64 = 1 << 20;

/// Finds every session: a folder with a log, or in older versions a file.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for info in files.list(SESSIONS)? {
        if info.is_folder() {
            let log = files.stat(&format!("{}/{LOG}", info.key))?;
            if let Some(log) = log.filter(FileInfo::is_file) {
                let location = SessionLocation::at(info.name(), &log, Framing::Lines);
                found.sessions.push(location);
            }
        } else if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
            let location = SessionLocation::at(id, &info, Framing::Lines);
            found.sessions.push(location);
        }
    }
    found.sessions.retain(|location| is_usable_id(&location.id));
    Ok(found)
}

/// Whether an id may be listed.
pub(super) fn is_usable_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    is_uuid(id) || (!id.is_empty() && !id.starts_with('-') && id.bytes().all(plain))
}

/// Returns the folder of a session; `None` if the session is a file.
pub(super) fn folder(location: &SessionLocation) -> Option<&str> {
    location
        .key
        .as_deref()?
        .strip_suffix(LOG)?
        .strip_suffix('/')
}

/// Returns the other files of a session.
pub(super) fn side_files(files: &dyn Files, location: &SessionLocation) -> Result<Vec<SideFile>> {
    let mut found = Vec::new();
    let Some(folder) = folder(location) else {
        return Ok(found);
    };
    let mut open = vec![(folder.to_owned(), SideKind::Meta)];
    while let Some((folder, kind)) = open.pop() {
        for info in files.list(&folder)? {
            let kind = match info.name() {
                "files" | "research" => SideKind::Attachment,
                "checkpoints" => SideKind::Meta,
                "rewind-file-snapshots" => SideKind::Checkpoint,
                _ => kind,
            };
            if info.is_folder() {
                open.push((info.key, kind));
            } else if info.is_file() && Some(&info.key) != location.key.as_ref() {
                let (key, size) = (info.key, info.size);
                found.push(SideFile { key, kind, size });
            }
        }
    }
    Ok(found)
}

/// Adds what `workspace.yaml` states: the title, and the folder.
pub(super) fn side_meta(
    files: &dyn Files,
    location: &SessionLocation,
    meta: &mut SessionMeta,
) -> Result<()> {
    let Some(folder) = folder(location) else {
        return Ok(());
    };
    let bytes = files.read_whole(&format!("{folder}/{WORKSPACE}"), WORKSPACE_LIMIT)?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let stated = |key: &str| member(&text, key);
    if let Some(name) = stated("name") {
        let by_user = stated("user_named").as_deref() == Some("true");
        // The program names a session after its first prompt, until somebody does.
        if by_user || meta.title.is_none() {
            let source = if by_user { "user" } else { "auto" };
            (meta.title, meta.title_source) = (Some(name), Some(source.to_owned()));
        }
    }
    meta.project = meta.project.take().or_else(|| stated("cwd"));
    meta.git_branch = meta.git_branch.take().or_else(|| stated("branch"));
    Ok(())
}

/// Returns a member of a flat YAML document: plain, or in quotes.
fn member(text: &str, key: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(key));
    let value = lines
        .filter_map(|rest| rest.strip_prefix(':'))
        .next()?
        .trim();
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = match (quoted('"'), quoted('\'')) {
        (Some(_), _) => boswell_model::json::Raw::parse(value.as_bytes())
            .ok()?
            .text()?
            .into_owned(),
        (_, Some(inner)) => inner.replace("''", "'"),
        _ => value.to_owned(),
    };
    (!value.is_empty() && value != "null").then_some(value)
}

/// Returns the document with a title that the user gave; its other lines stay.
pub(super) fn titled(yaml: &str, title: &str) -> String {
    let (mut text, mut is_replaced) = (String::new(), false);
    for line in yaml.lines() {
        // A long value goes on in indented lines.
        is_replaced = line.starts_with("name:")
            || line.starts_with("user_named:")
            || (is_replaced && line.starts_with(' '));
        if is_replaced {
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    // A string of JSON is one of YAML too.
    let quoted = Json::from(title).to_bytes();
    text.push_str(&format!(
        "name: {}\nuser_named: true\n",
        String::from_utf8_lossy(&quoted)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_replaces_the_one_before_and_nothing_else() {
        let yaml = "id: 1\nname: >-\n  old\nuser_named: false\ncwd: /a\n";
        let now = titled(yaml, "a: \"b\" #c");
        assert_eq!(member(&now, "name").as_deref(), Some("a: \"b\" #c"));
        assert_eq!(member(&now, "user_named").as_deref(), Some("true"));
        assert!(now.starts_with("id: 1\ncwd: /a\n"), "{now}");
    }

    #[test]
    fn members_of_the_workspace_are_plain_or_in_quotes() {
        let yaml = "id: 1\nname: TOOL 请\ncwd: \"/a\\tb\"\nbranch: 'it''s'\nrepository: null\n";
        for (key, expected) in [
            ("name", Some("TOOL 请")),
            ("cwd", Some("/a\tb")),
            ("branch", Some("it's")),
            ("repository", None),
            ("nam", None),
        ] {
            assert_eq!(member(yaml, key).as_deref(), expected, "{key}");
        }
    }
}
