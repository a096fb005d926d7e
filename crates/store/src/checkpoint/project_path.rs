//! Paths below a project, and what exists at them, without following symbolic links.

use std::path::{Component, Path, PathBuf};

use super::snapshot::Skipped;
use crate::disk::{Disk, StatKind, read_full};

/// What exists at a path below a project.
pub(super) enum Found {
    Absent,
    File { bytes: Vec<u8>, mode: u32 },
    Skipped(Skipped),
}

/// Returns a path as it is recorded: relative to the project, with `/`. `None` if it leads outside
/// or is not Unicode.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let inside = if path.is_absolute() {
        path.strip_prefix(root).ok()?
    } else {
        path
    };
    let mut parts = Vec::new();
    for part in inside.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            // `a/../b` is not simplified: if `a` is a link, it means another place.
            _ => return None,
        }
    }
    let name = parts.join("/");
    below(root, &name).map(|_| name)
}

/// Returns the path for a recorded name, if the name is one that we would have recorded. It is
/// checked again, because sessions are untrusted.
pub(super) fn below(root: &Path, name: &str) -> Option<PathBuf> {
    let foreign = |c: char| c == '\0' || !cfg!(unix) && matches!(c, '\\' | ':');
    let fine = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(foreign);
    name.split('/').all(fine).then(|| {
        name.split('/')
            .fold(root.to_path_buf(), |path, part| path.join(part))
    })
}

/// Whether a name is inside git's own folder, where a file can be a command that runs later.
pub(super) fn is_git(name: &str) -> bool {
    name.split('/')
        .any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether any part of a name below the project is a symbolic link.
pub(super) fn crosses_link(disk: &dyn Disk, root: &Path, name: &str) -> std::io::Result<bool> {
    let mut path = root.to_path_buf();
    for part in name.split('/') {
        path.push(part);
        if disk.is_link(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads what exists at a name.
pub(super) fn read(disk: &dyn Disk, root: &Path, name: &str) -> Found {
    try_read(disk, root, name).unwrap_or(Found::Skipped(Skipped::Unreadable))
}

fn try_read(disk: &dyn Disk, root: &Path, name: &str) -> std::io::Result<Found> {
    if below(root, name).is_none() {
        return Ok(Found::Skipped(Skipped::Outside));
    }
    if crosses_link(disk, root, name)? {
        return Ok(Found::Skipped(Skipped::Link));
    }
    match disk.stat_below(root, name)?.map(|stat| stat.kind) {
        None => return Ok(Found::Absent),
        Some(StatKind::File) => {}
        Some(StatKind::Folder) => return Ok(Found::Skipped(Skipped::Folder)),
        Some(StatKind::Outside | StatKind::Other) => return Ok(Found::Skipped(Skipped::Other)),
    }
    let file = disk.open_below(root, name)?;
    let stat = file.stat()?;
    let mut bytes = vec![0; usize::try_from(stat.len).unwrap_or(usize::MAX)];
    let done = read_full(file.as_ref(), &mut bytes, 0)?;
    bytes.truncate(done);
    Ok(Found::File {
        bytes,
        mode: stat.mode & 0o777,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_project_are_accepted() {
        let root = Path::new("/project");
        assert_eq!(
            relative(root, Path::new("/project/src/a b.rs")).as_deref(),
            Some("src/a b.rs")
        );
        assert_eq!(relative(root, Path::new("./x")).as_deref(), Some("x"));
        for bad in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "",
            "/project",
            "/projects/x",
        ] {
            assert_eq!(relative(root, Path::new(bad)), None, "{bad}");
        }
        for bad in ["", "/etc", "a//b", "..", "a/../b", "./a", "a/", "a\0b"] {
            assert_eq!(below(root, bad), None, "{bad}");
        }
        assert!(is_git(".GIT/hooks/x") && is_git("sub/.git") && !is_git(".gitignore"));
    }
}
