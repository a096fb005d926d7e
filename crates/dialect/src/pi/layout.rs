//! The layout of session files below a root.

use boswell_model::{Framing, Result, Unseen, unseen};

use crate::{Discovered, FileInfo, Files, SessionLocation};

/// Maximum depth of artifact folders: a subagent's transcript, and one of its own subagents.
const DEEPEST: usize = 2;

/// Finds every session below a root: an agent's folder, or the folder of sessions itself.
pub(super) fn discover(files: &dyn Files) -> Result<Discovered> {
    let mut found = Discovered::default();
    let base = base(files)?;
    let listing = visible(files, base)?;
    if base.is_empty()
        && !listing
            .iter()
            .any(|info| is_log(info) || (info.is_folder() && info.name().starts_with('-')))
    {
        return Ok(found);
    }
    // Boswell's home before its first session: its journals are not logs.
    let is_journal =
        |info: &FileInfo| matches!(info.name(), "ops.jsonl" | "notes.jsonl" | "prompts.jsonl");
    let has_locks = listing
        .iter()
        .any(|info| info.is_folder() && info.name() == "locks");
    if base.is_empty() && has_locks && listing.iter().any(is_journal) {
        return Ok(found);
    }
    sessions(files, &listing, None, &mut found)?;
    for folder in listing
        .iter()
        .filter(|info| is_project(info, base, &listing))
    {
        sessions(
            files,
            &visible(files, &folder.key)?,
            Some(folder),
            &mut found,
        )?;
    }
    Ok(found)
}

fn is_project(info: &FileInfo, base: &str, listing: &[FileInfo]) -> bool {
    info.is_folder()
        && !is_artifacts(info, listing)
        && (!base.is_empty() || info.name().starts_with('-'))
}

/// Returns the keys of the project folders.
pub(super) fn projects(files: &dyn Files) -> Result<Vec<String>> {
    let base = base(files)?;
    let listing = visible(files, base)?;
    Ok(listing
        .iter()
        .filter(|info| is_project(info, base, &listing))
        .map(|info| info.key.clone())
        .collect())
}

/// Returns the session to which an artifact folder belongs, if its name is that of a log: a time
/// stamp and an id.
pub(super) fn artifacts_of(info: &FileInfo) -> Option<&str> {
    Some(id_of(info.name())).filter(|id| info.is_folder() && *id != info.name())
}

fn base(files: &dyn Files) -> Result<&'static str> {
    Ok(
        if files.stat("sessions")?.is_some_and(|info| info.is_folder()) {
            "sessions"
        } else {
            ""
        },
    )
}

/// Returns the key of a new log in this store. If the root itself is a folder of sessions, no
/// `sessions` folder may be created in it: that would hide the existing ones.
pub(super) fn resolve_key(files: &dyn Files, key: String) -> Result<String> {
    let alone = base(files)?.is_empty() && !discover(files)?.sessions.is_empty();
    Ok(match key.strip_prefix("sessions/") {
        Some(rest) if alone => rest.to_owned(),
        _ => key,
    })
}

/// Collects the logs of a listing, and the subagents' logs from the artifact folders next to them.
///
/// An artifact folder may outlive its log. In a project's folder every folder contains artifacts;
/// next to the projects only a folder with a log of the same name does.
fn sessions(
    files: &dyn Files,
    listing: &[FileInfo],
    project: Option<&FileInfo>,
    found: &mut Discovered,
) -> Result<()> {
    for info in listing {
        if is_log(info) {
            found
                .sessions
                .push(SessionLocation::at(id_of(stem(info)), info, Framing::Lines));
        } else if info.is_folder() && (project.is_some() || is_artifacts(info, listing)) {
            subagents(files, info, found)?;
        }
    }
    Ok(())
}

/// Collects the logs below an artifact folder.
pub(super) fn subagents(
    files: &dyn Files,
    artifacts: &FileInfo,
    found: &mut Discovered,
) -> Result<()> {
    let owner = id_of(artifacts.name()).to_owned();
    let mut open = vec![(artifacts.key.clone(), owner, 1)];
    while let Some((folder, owner, depth)) = open.pop() {
        for info in visible(files, &folder)? {
            // Names such as `0-Explore` repeat in every session, so the owner's id is the prefix.
            let id = format!("{owner}.{}", id_of(stem(&info)));
            if is_log(&info) {
                let mut location = SessionLocation::at(id, &info, Framing::Lines);
                location.hidden = Some("subagent");
                location.owner = Some(owner.clone());
                found.sessions.push(location);
            } else if info.is_folder() && depth < DEEPEST {
                open.push((info.key, id, depth + 1));
            }
        }
    }
    Ok(())
}

/// Returns the contents of a folder without dot files: the programs use such names for temporary
/// copies.
pub(super) fn visible(files: &dyn Files, folder: &str) -> Result<Vec<FileInfo>> {
    let mut listing = files.list(folder)?;
    listing.retain(|info| !info.name().starts_with('.'));
    Ok(listing)
}

pub(super) fn is_log(info: &FileInfo) -> bool {
    info.is_file() && info.stem(".jsonl").is_some()
}

fn stem(info: &FileInfo) -> &str {
    info.stem(".jsonl").unwrap_or(info.name())
}

fn is_artifacts(folder: &FileInfo, listing: &[FileInfo]) -> bool {
    listing
        .iter()
        .any(|info| is_log(info) && stem(info) == folder.name())
}

/// Returns the id in a file name: the part after the time stamp, else the whole name.
///
/// xcsh splits at the last underscore, which cuts ids that contain one. The time stamp contains
/// none, so a split at the first one is exact.
fn id_of(stem: &str) -> &str {
    match stem.split_once('_') {
        // One in sixty-four of oh-my-pi's own ids begins with `-`. Such an id could be parsed as an
        // option on a command line, so the session is listed under the whole name; it is still
        // found by the id in its header.
        Some((stamp, id)) if id.starts_with('-') && is_nanoid(id) && is_stamp(stamp) => stem,
        Some((stamp, id)) if !id.is_empty() && is_stamp(stamp) => id,
        _ => stem,
    }
}

/// Whether `id` has the form of oh-my-pi's ids before it changed to UUIDs.
fn is_nanoid(id: &str) -> bool {
    id.len() == 21
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether `text` is a time stamp: `2026-02-16T10-20-30-000Z`, also without the fraction.
fn is_stamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 19
        && bytes.get(10) == Some(&b'T')
        && bytes.iter().enumerate().all(|(at, b)| match at {
            4 | 7 | 13 | 16 => *b == b'-',
            10 => true,
            0..19 => b.is_ascii_digit(),
            _ => b.is_ascii_digit() || matches!(b, b'-' | b'Z'),
        })
}

/// Whether the programs accept `id` as an id: with a separator or the extension of a log they treat
/// it as a path.
pub(super) fn id_is_valid(id: &str) -> bool {
    let odd = |c: char| {
        c.is_whitespace()
            || unseen(c).is_some_and(|why| why != Unseen::Sign)
            || matches!(c, '/' | '\\' | ':')
    };
    !id.is_empty()
        && id.len() <= 255
        && !id.starts_with(['-', '.'])
        && !id.ends_with(".jsonl")
        && !id.contains(odd)
}

#[cfg(test)]
mod tests {
    use crate::MemoryFiles;

    use super::*;

    fn found(keys: &[&str]) -> Vec<(String, Option<&'static str>, Option<String>)> {
        let mut files = MemoryFiles::default();
        for key in keys {
            files.put(key, "x", None);
        }
        let mut all: Vec<_> = discover(&files)
            .unwrap()
            .sessions
            .into_iter()
            .map(|l| (l.id, l.hidden, l.owner))
            .collect();
        all.sort();
        all
    }

    fn ids(keys: &[&str]) -> Vec<String> {
        found(keys).into_iter().map(|(id, ..)| id).collect()
    }

    #[test]
    fn sessions_lie_in_folders_of_projects_or_beside_them() {
        let keys = [
            "sessions/--srv-pi--/2026-02-16T10-20-30-000Z_1470cb256c001234.jsonl",
            "sessions/--srv-pi--/.2026-02-16T10-20-30-000Z_x.jsonl.1.tmp",
            "sessions/--srv-pi--/.hidden.jsonl",
            "sessions/--srv-pi--/notes.txt",
            "sessions/-home/my-session.jsonl",
            "sessions/direct.jsonl",
            "auth.json",
            "history.jsonl",
        ];
        assert_eq!(ids(&keys), ["1470cb256c001234", "direct", "my-session"]);
    }

    #[test]
    fn journals_of_boswells_own_folder_are_no_sessions() {
        assert_eq!(
            ids(&["ops.jsonl", "notes.jsonl", "locks/a.lock"]),
            [] as [&str; 0]
        );
    }

    #[test]
    fn a_folder_of_sessions_is_accepted_as_a_root() {
        assert_eq!(
            ids(&["--p--/a.jsonl", "b.jsonl", "other/c.jsonl"]),
            ["a", "b"]
        );
        assert_eq!(ids(&["src/a.jsonl", "readme.md"]), [] as [&str; 0]);
        assert_eq!(ids(&[]), [] as [&str; 0]);
    }

    #[test]
    fn transcripts_of_subagents_belong_to_their_session() {
        let keys = [
            "sessions/-p/2026-02-16T10-20-30-000Z_abc.jsonl",
            "sessions/-p/2026-02-16T10-20-30-000Z_abc/0-Explore.jsonl",
            "sessions/-p/2026-02-16T10-20-30-000Z_abc/0-Explore/1-Deep.jsonl",
            "sessions/-p/2026-02-16T10-20-30-000Z_abc/0-Explore/1-Deep/2-Abyss.jsonl",
            "sessions/-p/2026-02-16T10-20-30-000Z_abc/1.bash.log",
            "sessions/-p/gone/0-Left.jsonl",
        ];
        let sub = |id: &str, owner: &str| (id.to_owned(), Some("subagent"), Some(owner.to_owned()));
        assert_eq!(
            found(&keys),
            [
                ("abc".to_owned(), None, None),
                sub("abc.0-Explore", "abc"),
                sub("abc.0-Explore.1-Deep", "abc.0-Explore"),
                sub("gone.0-Left", "gone"),
            ]
        );
    }

    #[test]
    fn ids_may_hold_underscores() {
        assert_eq!(
            id_of("2026-02-16T10-20-30-000Z_V1St_XR8_Z5jdHi6B-myT"),
            "V1St_XR8_Z5jdHi6B-myT"
        );
        assert_eq!(id_of("2025-12-01T10-00-00_pi-uuid-001"), "pi-uuid-001");
        assert_eq!(id_of("my_session"), "my_session");
        let dashed = "2026-02-16T10-20-30-000Z_-1StGXR8_Z5jdHi6B-myT";
        assert!(
            id_of(dashed) == dashed && id_is_valid(dashed),
            "a real id that begins with `-`"
        );
        assert_eq!(
            id_of("2026-02-16T10-20-30-000Z_--help"),
            "--help",
            "which is refused"
        );
        assert_eq!(
            id_of("2026-02-16T10-20-30-000Z_"),
            "2026-02-16T10-20-30-000Z_"
        );
    }

    #[test]
    fn ids_that_look_like_options_or_paths_are_refused() {
        for good in [
            "1470cb256c001234",
            "V1StGXR8_Z5jdHi6B-myT",
            "01a01fba-0000-7000-a150-000000000621",
        ] {
            assert!(id_is_valid(good), "{good}");
        }
        for bad in [
            "",
            "-r",
            "--help",
            "../x",
            "a/b",
            "a\\b",
            "x.jsonl",
            "a b",
            "a\n",
            ".",
            "C:x",
            "a\u{202e}b",
            "\u{61c}",
        ] {
            assert!(!id_is_valid(bad), "{bad:?}");
        }
    }
}
