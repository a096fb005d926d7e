//! Lists a folder with the metadata of its files, with as few system calls as possible.
//!
//! Lists and searches read the metadata of every file of every store each time, and that is most of
//! their cost.

#![cfg_attr(
    not(target_os = "linux"),
    expect(
        clippy::disallowed_methods,
        reason = "part of the one place that touches the file system"
    )
)]

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use super::StatKind;
use super::below::{self, For};
use super::{NOTHING, Stat};

/// Returns the names in a folder with their metadata. Names that are not UTF-8 are left out.
pub(super) fn list(path: &Path) -> io::Result<Vec<(String, Stat)>> {
    let behind =
        |path: &Path| std::fs::metadata(path).map_or(NOTHING, |meta| super::real::stat(&meta));
    let folder = below::open(path, "", For::Listing)?;
    names(folder, path, &|_| true, &behind)
}

/// As [`list`], for names that fit in a folder below `root`; a symbolic link out of `root` is
/// refused.
pub(super) fn list_below(
    root: &Path,
    below: &str,
    fits: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<(String, Stat)>> {
    let (folder, path) = (below::open(root, below, For::Listing)?, root.join(below));
    names(folder, &path, fits, &|path| below::behind_link(root, path))
}

/// Lists an open folder; `behind` returns the metadata of what a symbolic link leads to.
#[cfg(target_os = "linux")]
fn names(
    folder: File,
    path: &Path,
    fits: &dyn Fn(&str) -> bool,
    behind: &dyn Fn(&Path) -> Stat,
) -> io::Result<Vec<(String, Stat)>> {
    use rustix::fs::{AtFlags, FileType, RawDir, statat};
    /// No file system has names that long.
    const ROOM: usize = 1 << 15;

    let mut room = Vec::with_capacity(ROOM);
    let mut entries = RawDir::new(&folder, room.spare_capacity_mut());
    let mut found = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        if matches!(name, "." | "..") || !fits(name) {
            continue;
        }
        // Relative to the open folder, which saves the path lookup; only a link needs the whole
        // path.
        let stat = match statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(seen) if FileType::from_raw_mode(seen.st_mode) != FileType::Symlink => stat(&seen),
            _ => behind(&path.join(name)),
        };
        found.push((name.to_owned(), stat));
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
fn stat(seen: &rustix::fs::Stat) -> Stat {
    use rustix::fs::FileType;
    let kind = match FileType::from_raw_mode(seen.st_mode) {
        FileType::RegularFile => StatKind::File,
        FileType::Directory => StatKind::Folder,
        _ => StatKind::Other,
    };
    // The widths of these numbers differ between processors.
    let number = |number: i128| u64::try_from(number).unwrap_or(0);
    let nanos = |seconds: i128, nanos: i128| seconds * 1_000_000_000 + nanos;
    Stat {
        kind,
        len: number(seen.st_size.into()),
        modified: nanos(seen.st_mtime.into(), seen.st_mtime_nsec.into()),
        changed: nanos(seen.st_ctime.into(), seen.st_ctime_nsec.into()),
        identity: (number(seen.st_dev.into()), number(seen.st_ino.into())),
        mode: seen.st_mode & 0o7777,
        links: number(seen.st_nlink.into()),
    }
}

/// Lists a folder; `behind` returns the metadata of what a symbolic link leads to. The folder was
/// opened only to check that it may be listed; its names are read by path.
#[cfg(not(target_os = "linux"))]
fn names(
    _folder: File,
    path: &Path,
    fits: &dyn Fn(&str) -> bool,
    behind: &dyn Fn(&Path) -> Stat,
) -> io::Result<Vec<(String, Stat)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !fits(&name) {
            continue;
        }
        // Only a link needs the whole path; all else is read relative to the open folder.
        let stat = match entry.metadata() {
            Ok(meta) if !meta.file_type().is_symlink() => super::real::stat(&meta),
            _ => behind(&entry.path()),
        };
        found.push((name, stat));
    }
    Ok(found)
}

#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, reason = "files are made to be listed")]
mod tests {
    use super::super::{Disk, RealDisk};
    use super::*;

    #[test]
    fn a_listing_says_of_every_name_what_a_look_at_its_path_says() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("会话.jsonl"), "x".repeat(3000)).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("会话.jsonl"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        let old = std::time::UNIX_EPOCH - std::time::Duration::from_millis(1_500);
        let file = std::fs::File::create(at("before 1970")).unwrap();
        file.set_modified(old).unwrap();
        for number in 0..3000 {
            std::fs::write(at(&format!("{number:0>200}")), "").unwrap();
        }
        let mut listed = list(folder.path()).unwrap();
        listed.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(listed.len(), 3005);
        for (name, stat) in &listed {
            match RealDisk.stat(&at(name)).unwrap() {
                Some(seen) => assert_eq!(*stat, seen, "{name}"),
                None => assert_eq!((name.as_str(), *stat), ("dangling", NOTHING)),
            }
        }
        let fitting = list_below(folder.path(), "", &|name| name.starts_with('l')).unwrap();
        let link = listed.iter().find(|(name, _)| name == "link");
        assert_eq!(fitting.first(), link);
        assert_eq!(fitting.len(), 1);
        assert_eq!(
            list(&at("nowhere")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(
            list(&at("link")).unwrap_err().kind(),
            io::ErrorKind::NotADirectory
        );
    }
}
