//! The layout of Qwen Code's folder.

use boswell_model::{Framing, Result};

use crate::{Discovered, FileInfo, Files, SessionLocation};

/// Returns the name of a project's folder: every other character of the path becomes a dash.
pub(super) fn project_key(path: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    path.encode_utf16()
        .map(|unit| char::from_u32(u32::from(unit)).map_or('-', plain))
        .collect()
}

/// Finds every session: of each project, archived ones included.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    for project in files
        .list("projects")?
        .into_iter()
        .filter(FileInfo::is_folder)
    {
        let chats = format!("{}/chats", project.key);
        in_folder(files, &chats, None, &mut found)?;
        let archive = format!("{chats}/archive");
        in_folder(files, &archive, Some("archived"), &mut found)?;
        subagents(files, &format!("{}/subagents", project.key), &mut found)?;
    }
    Ok(found)
}

fn in_folder(
    files: &dyn Files,
    folder: &str,
    hidden: Option<&'static str>,
    found: &mut Discovered,
) -> Result<()> {
    for info in files.list(folder)? {
        if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
            found.sessions.push(SessionLocation {
                hidden,
                ..SessionLocation::at(id, &info, Framing::Lines)
            });
        }
    }
    Ok(())
}

/// Logs of subagents: directly in the folder, or in one folder for each session.
fn subagents(files: &dyn Files, folder: &str, found: &mut Discovered) -> Result<()> {
    for info in files.list(folder)? {
        if info.is_folder() {
            let owner = info.name().to_owned();
            for log in files.list(&info.key)? {
                subagent(&log, Some(owner.clone()), found);
            }
        } else {
            subagent(&info, None, found);
        }
    }
    Ok(())
}

fn subagent(info: &FileInfo, owner: Option<String>, found: &mut Discovered) {
    if let (true, Some(id)) = (info.is_file(), info.stem(".jsonl")) {
        found.sessions.push(SessionLocation {
            hidden: Some("subagent"),
            owner,
            ..SessionLocation::at(id, info, Framing::Lines)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_key_has_one_dash_for_each_other_unit() {
        assert_eq!(project_key("/srv/demo"), "-srv-demo");
        assert_eq!(project_key("/a.b/项目"), "-a-b---");
    }
}
