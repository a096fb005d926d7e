//! The log of the shim: the calls of one run, in order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCall {
    /// Number of the call, from 1.
    pub number: usize,
    /// Kind of the call: `create`, `open`, `write`, `fsync`, …; the same word for all variants of a
    /// call.
    pub name: String,
    /// `ok`, `failed` (without a fault), or the fault that was injected.
    pub result: String,
    /// The file.
    pub path: PathBuf,
    /// Target of a rename or link.
    pub second: Option<PathBuf>,
}

impl LoggedCall {
    /// Whether the system executed it, or half of it.
    pub fn went_through(&self) -> bool {
        matches!(self.result.as_str(), "ok" | "half")
    }

    /// Whether a fault was injected.
    pub fn was_struck(&self) -> bool {
        !matches!(self.result.as_str(), "ok" | "failed")
    }
}

/// The calls of one run.
#[derive(Debug, Clone, Default)]
pub struct CallLog {
    /// The calls in the order of their numbers.
    pub calls: Vec<LoggedCall>,
}

impl CallLog {
    /// Reads the log of the shim; a missing file is a run without such calls.
    pub fn read(path: &Path) -> CallLog {
        let bytes = std::fs::read(path).unwrap_or_default();
        CallLog::parse(&String::from_utf8_lossy(&bytes))
    }

    pub(super) fn parse(text: &str) -> CallLog {
        let mut calls: Vec<LoggedCall> = text.lines().filter_map(call).collect();
        // A call is logged when it returns; threads may return in another order.
        calls.sort_by_key(|call| call.number);
        CallLog { calls }
    }

    /// Returns the first call with an injected fault.
    pub fn struck(&self) -> Option<&LoggedCall> {
        self.calls.iter().find(|call| call.was_struck())
    }

    /// Returns what a crash of the machine after this run could revert: unsynced content, and names
    /// changed in unsynced folders. `matters` selects the paths.
    pub fn undurable(&self, matters: impl Fn(&Path) -> bool) -> Vec<String> {
        let mut dirty = Dirty::default();
        self.calls
            .iter()
            .filter(|call| call.went_through())
            .for_each(|call| dirty.take(call));
        let contents = dirty.contents.into_iter().filter(|path| matters(path));
        let contents =
            contents.map(|path| format!("{} was written and not synced", path.display()));
        let names = dirty.names.into_iter().filter(|path| matters(path));
        let names = names.map(|path| {
            format!(
                "the name {} was changed, and its folder not synced",
                path.display()
            )
        });
        contents.chain(names).collect()
    }
}

fn call(line: &str) -> Option<LoggedCall> {
    let mut parts = line.split('\t');
    let number = parts.next()?.parse().ok()?;
    let (name, result) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let path = PathBuf::from(parts.next()?);
    Some(LoggedCall {
        number,
        name,
        result,
        path,
        second: parts.next().map(PathBuf::from),
    })
}

/// Data that was written and not synced.
#[derive(Default)]
struct Dirty {
    contents: BTreeSet<PathBuf>,
    names: BTreeSet<PathBuf>,
}

impl Dirty {
    fn take(&mut self, call: &LoggedCall) {
        let path = &call.path;
        match call.name.as_str() {
            "write" | "truncate" | "fallocate" | "copy_file_range" | "sendfile" => {
                self.contents.insert(path.clone());
            }
            "create" | "mkdir" | "symlink" => self.add(path),
            "fsync" => {
                self.contents.remove(path);
                self.names.retain(|name| name.parent() != Some(path));
            }
            "rename" => self.rename(path, call.second.as_deref().unwrap_or(path)),
            "link" => self.add(call.second.as_deref().unwrap_or(path)),
            "unlink" => self.remove(path),
            "rmdir" => {
                self.names.retain(|name| name.parent() != Some(path));
                self.remove(path);
            }
            _ => {}
        }
    }

    fn add(&mut self, path: &Path) {
        self.names.insert(path.to_owned());
    }

    fn remove(&mut self, path: &Path) {
        self.contents.remove(path);
        // A file that was created and removed again was never promised.
        if !self.names.remove(path) {
            self.add(path);
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        // The file at the new name is replaced, including its unsynced data.
        self.contents.remove(to);
        let fresh = self.names.remove(from);
        for set in [&mut self.contents, &mut self.names] {
            let below: Vec<PathBuf> = set
                .iter()
                .filter(|path| path.starts_with(from))
                .cloned()
                .collect();
            for path in below {
                set.remove(&path);
                set.extend(
                    path.strip_prefix(from)
                        .map(|rest| to.components().chain(rest.components()).collect()),
                );
            }
        }
        self.add(to);
        // The removal of the old name is covered by the sync of the new one's folder, if that is
        // the same.
        if !fresh && from.parent() != to.parent() {
            self.add(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undurable(lines: &[&str]) -> Vec<String> {
        let text: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| format!("{}\t{}", at + 1, line.replace(' ', "\t")))
            .collect();
        CallLog::parse(&text.join("\n")).undurable(|_| true)
    }

    #[test]
    fn a_file_is_durable_once_it_and_its_folder_are_synced() {
        assert_eq!(
            undurable(&[
                "create ok /r/a",
                "write ok /r/a",
                "fsync ok /r/a",
                "fsync ok /r"
            ]),
            [] as [&str; 0]
        );
        assert_eq!(
            undurable(&[
                "create ok /r/a",
                "write ok /r/a",
                "fsync EIO /r/a",
                "fsync ok /r"
            ])
            .len(),
            1
        );
        assert_eq!(
            undurable(&["create ok /r/a", "write ok /r/a", "fsync ok /r/a"]).len(),
            1
        );
        assert_eq!(
            undurable(&["write ok /r/a", "fsync ok /r/a", "write ok /r/a"]).len(),
            1
        );
    }

    #[test]
    fn a_replaced_file_needs_the_sync_of_the_temporary_one_and_of_the_folder() {
        let put = [
            "create ok /r/t",
            "write ok /r/t",
            "fsync ok /r/t",
            "rename ok /r/t /r/a",
            "fsync ok /r",
        ];
        assert_eq!(undurable(&put), [] as [&str; 0]);
        assert_eq!(
            undurable(&put[..4]),
            ["the name /r/a was changed, and its folder not synced"]
        );
        let unsynced = [
            "create ok /r/t",
            "write ok /r/t",
            "rename ok /r/t /r/a",
            "fsync ok /r",
        ];
        assert_eq!(undurable(&unsynced), ["/r/a was written and not synced"]);
    }

    #[test]
    fn what_is_made_and_removed_again_was_never_promised() {
        assert_eq!(
            undurable(&["create ok /r/t", "write ok /r/t", "unlink ok /r/t"]),
            [] as [&str; 0]
        );
        assert_eq!(undurable(&["unlink ok /r/a"]).len(), 1);
        assert_eq!(undurable(&["unlink failed /r/a"]), [] as [&str; 0]);
    }
}
