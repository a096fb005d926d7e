//! Records everything about a folder that a write would change, to prove that reading never writes.
//!
//! Bytes, length, modification time, inode, mode and link target of every path, including the root
//! and its folders: a file that was created and removed again still changes its folder's time.
//! Access and change times are omitted, because reading may set them.

#![expect(
    clippy::disallowed_methods,
    reason = "what a running program removes meanwhile is no failure here"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sha256;

/// The kind of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A regular file, with the hash of its bytes.
    File(String),
    /// A folder.
    Folder,
    /// A symbolic link, with its target.
    Link(PathBuf),
    /// A pipe, socket or device.
    Other,
}

/// The recorded data of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Type and contents.
    pub kind: NodeKind,
    /// Length in bytes; 0 for folders, whose length depends on the file system.
    pub len: u64,
    /// Modification time in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Inode number; 0 if there is none.
    pub inode: u64,
    /// Permission bits; 0 if there are none.
    pub mode: u32,
}

/// Everything below one folder at one time.
#[derive(Clone, Debug)]
pub struct TreeSnapshot {
    meta: BTreeMap<PathBuf, Fact>,
    /// Change times (ctime), which no program can set back. They are not compared.
    changed: BTreeMap<PathBuf, i128>,
}

impl PartialEq for TreeSnapshot {
    fn eq(&self, other: &TreeSnapshot) -> bool {
        self.meta == other.meta
    }
}

impl Eq for TreeSnapshot {}

impl TreeSnapshot {
    /// Records everything below `root`, and `root` itself as the empty path.
    pub fn take(root: &Path) -> TreeSnapshot {
        let nothing = TreeSnapshot {
            meta: BTreeMap::new(),
            changed: BTreeMap::new(),
        };
        TreeSnapshot::take_after(root, &nothing)
    }

    /// As above, without reading files that did not change since an earlier snapshot by their
    /// change times: folders of programs take seconds to read.
    pub fn take_after(root: &Path, earlier: &TreeSnapshot) -> TreeSnapshot {
        let (mut meta, mut changed) = (BTreeMap::new(), BTreeMap::new());
        let mut waiting = vec![root.to_path_buf()];
        while let Some(path) = waiting.pop() {
            // A program that runs removes files of its own: what is gone is not in the snapshot.
            let below = path
                .strip_prefix(root)
                .expect("found below the root")
                .to_path_buf();
            let known = earlier.meta.get(&below).zip(earlier.changed.get(&below));
            let Some((fact, ctime)) = Fact::of(&path, known) else {
                assert!(path != root, "{} does not exist", root.display());
                continue;
            };
            if fact.kind == NodeKind::Folder {
                match fs::read_dir(&path) {
                    Err(error) if is_gone(&error) => continue,
                    inside => waiting.extend(
                        inside
                            .expect("folders can be listed")
                            .map(|entry| entry.expect("folders can be listed").path()),
                    ),
                }
            }
            changed.extend(ctime.map(|ctime| (below.clone(), ctime)));
            meta.insert(below, fact);
        }
        TreeSnapshot { meta, changed }
    }

    /// Returns the data of a path below the root.
    pub fn fact(&self, path: &Path) -> Option<&Fact> {
        self.meta.get(path)
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.meta.len()
    }

    /// Whether nothing was recorded, not even a root.
    pub fn is_empty(&self) -> bool {
        self.meta.is_empty()
    }

    /// Returns the differences to a later snapshot, one line each.
    pub fn diff(&self, later: &TreeSnapshot) -> Vec<String> {
        let mut said = Vec::new();
        for (path, before) in &self.meta {
            let name = shown(path);
            match later.meta.get(path) {
                None => said.push(format!("{name}: removed")),
                Some(after) => said.extend(
                    before
                        .changes(after)
                        .into_iter()
                        .map(|what| format!("{name}: {what}")),
                ),
            }
        }
        let new = later
            .meta
            .keys()
            .filter(|path| !self.meta.contains_key(*path));
        said.extend(new.map(|path| format!("{}: added", shown(path))));
        said
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        path.display().to_string()
    }
}

impl Fact {
    /// Returns what is there, and when it changed; `None` if nothing is.
    fn of(path: &Path, known: Option<(&Fact, &i128)>) -> Option<(Fact, Option<i128>)> {
        let about = match fs::symlink_metadata(path) {
            Err(error) if is_gone(&error) => return None,
            about => about.expect("metadata can be read"),
        };
        let (inode, mode, mtime_ns) = numbers(&about);
        let changed = changed(&about);
        let is_same = |fact: &Fact, before: i128| {
            let is_file = about.is_file() && matches!(fact.kind, NodeKind::File(_));
            let numbers = (fact.inode, fact.mode, fact.mtime_ns, fact.len);
            is_file && changed == Some(before) && numbers == (inode, mode, mtime_ns, about.len())
        };
        if let Some((fact, _)) = known.filter(|(fact, before)| is_same(fact, **before)) {
            return Some((fact.clone(), changed));
        }
        let kind = if about.is_file() {
            match fs::read(path) {
                Err(error) if is_gone(&error) => return None,
                bytes => NodeKind::File(sha256::hex(&bytes.expect("files can be read"))),
            }
        } else if about.is_dir() {
            NodeKind::Folder
        } else if about.is_symlink() {
            NodeKind::Link(fs::read_link(path).ok()?)
        } else {
            NodeKind::Other
        };
        let len = if about.is_dir() { 0 } else { about.len() };
        let fact = Fact {
            kind,
            len,
            mtime_ns,
            inode,
            mode,
        };
        Some((fact, changed))
    }

    fn changes(&self, after: &Fact) -> Vec<String> {
        let mut said = Vec::new();
        if self.kind != after.kind {
            said.push("content or kind changed".to_owned());
        }
        if self.len != after.len {
            said.push(format!("length {} became {}", self.len, after.len));
        }
        if self.mtime_ns != after.mtime_ns {
            said.push(format!("mtime {} became {}", self.mtime_ns, after.mtime_ns));
        }
        if self.inode != after.inode {
            said.push(format!("inode {} became {}", self.inode, after.inode));
        }
        if self.mode != after.mode {
            said.push(format!("mode {:o} became {:o}", self.mode, after.mode));
        }
        said
    }
}

#[cfg(unix)]
fn numbers(about: &fs::Metadata) -> (u64, u32, i128) {
    use std::os::unix::fs::MetadataExt;
    let mtime = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    (about.ino(), about.mode() & 0o7777, mtime)
}

/// Returns the change time in nanoseconds since 1970, if there is one.
#[cfg(unix)]
fn changed(about: &fs::Metadata) -> Option<i128> {
    use std::os::unix::fs::MetadataExt;
    Some(i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed(_about: &fs::Metadata) -> Option<i128> {
    None
}

#[cfg(not(unix))]
fn numbers(about: &fs::Metadata) -> (u64, u32, i128) {
    let since = about
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    (0, 0, since.map_or(0, |age| age.as_nanos() as i128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    fn folder(name: &str) -> PathBuf {
        let root = disk::scratch(name);
        disk::write(&root.join("a/one.jsonl"), b"one\n");
        disk::write(&root.join("two.json"), b"{}");
        root
    }

    #[test]
    fn an_untouched_folder_has_no_differences() {
        let root = folder("snapshot-same");
        let before = TreeSnapshot::take(&root);
        disk::read(&root.join("two.json"));
        disk::list(&root);
        assert_eq!(before.len(), 4);
        assert!(!before.is_empty());
        assert_eq!(
            before.diff(&TreeSnapshot::take(&root)),
            Vec::<String>::new()
        );
        disk::remove(&root);
    }

    #[test]
    fn a_touched_time_is_seen_although_the_bytes_are_the_same() {
        let root = folder("snapshot-touch");
        let before = TreeSnapshot::take(&root);
        disk::set_modified(&root.join("a/one.jsonl"), 1_000);
        let said = before.diff(&TreeSnapshot::take(&root));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("a/one.jsonl: mtime"), "{said:?}");
        disk::remove(&root);
    }

    #[test]
    fn added_removed_and_rewritten_files_are_seen() {
        let root = folder("snapshot-change");
        let before = TreeSnapshot::take(&root);
        disk::write(&root.join("new.lock"), b"");
        disk::write(&root.join("two.json"), b"[]");
        fs::remove_file(root.join("a/one.jsonl")).unwrap();
        let said = before.diff(&TreeSnapshot::take(&root)).join("\n");
        assert!(said.contains("new.lock: added"), "{said}");
        assert!(said.contains("two.json: content"), "{said}");
        assert!(said.contains("one.jsonl: removed"), "{said}");
        disk::remove(&root);
    }

    #[cfg(unix)]
    #[test]
    fn a_rewritten_file_is_read_again_although_its_time_was_set_back() {
        let root = folder("snapshot-after");
        disk::set_modified(&root.join("two.json"), 1_000);
        let before = TreeSnapshot::take(&root);
        assert_eq!(TreeSnapshot::take_after(&root, &before), before);
        // Times of the file system have ticks.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(root.join("two.json"), b"[]").unwrap();
        disk::set_modified(&root.join("two.json"), 1_000);
        let said = before.diff(&TreeSnapshot::take_after(&root, &before));
        assert_eq!(said, ["two.json: content or kind changed"]);
        disk::remove(&root);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_with_equal_bytes_is_seen_by_its_inode_and_a_mode_by_its_bits() {
        let root = folder("snapshot-inode");
        let before = TreeSnapshot::take(&root);
        disk::write(&root.join("copy"), b"{}");
        fs::rename(root.join("copy"), root.join("two.json")).unwrap();
        disk::set_mode(&root.join("a/one.jsonl"), 0o600);
        let said = before.diff(&TreeSnapshot::take(&root)).join("\n");
        assert!(said.contains("two.json: inode"), "{said}");
        assert!(said.contains("one.jsonl: mode"), "{said}");
        disk::remove(&root);
    }
}
