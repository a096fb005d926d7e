//! The corpus of real files: folders named by the environment, absent on most machines.
#![expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so their folders come from the environment"
)]

use std::path::{Path, PathBuf};

use crate::disk;

/// The variable with the folder of real session files.
pub const CORPUS: &str = "BOSWELL_CORPUS";
/// The variable with the folder of files that real clients wrote with a scripted model.
pub const CAPTURES: &str = "BOSWELL_CAPTURES";

/// Returns the folder of real session files, if one is set.
pub fn corpus_dir() -> Option<PathBuf> {
    named(CORPUS)
}

/// Returns the folder of captures, if one is set.
pub fn captures_dir() -> Option<PathBuf> {
    named(CAPTURES)
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// Returns the folder that `variable` names, or prints that tests are skipped; if `CI` is `true`, a
/// missing folder is a failure.
pub fn require_or_skip(variable: &str) -> Option<PathBuf> {
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    decide(variable, named(variable), ci)
}

#[expect(
    clippy::panic,
    clippy::print_stderr,
    reason = "a skipped group says so loudly and fails under CI"
)]
fn decide(variable: &str, found: Option<PathBuf>, ci: bool) -> Option<PathBuf> {
    match found {
        Some(path) if path.is_dir() => Some(path),
        Some(path) => panic!("{variable} names {}, which is not a folder", path.display()),
        None if ci => panic!("{variable} is not set: this group may not be skipped under CI"),
        None => {
            eprintln!("SKIPPED: {variable} is not set, so the tests over real files did not run");
            None
        }
    }
}

/// Returns every file below `dir`, sorted; links to folders are not followed.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![dir.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for path in disk::list(&folder) {
            if path.is_symlink() || !path.is_dir() {
                found.push(path);
            } else {
                waiting.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Extensions of real files with other content: notes, database dumps, tables, settings, compressed
/// logs.
const OTHER_TEXT: [&str; 5] = [".md", ".sql", ".tsv", ".yaml", ".zstd"];

/// Returns why a file contains neither lines of JSON nor one JSON document, decided by its first
/// bytes, else by its extension.
///
/// A file of unknown form counts as lines, so that a damaged log is never skipped.
pub fn not_lines(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"SQLite format 3\0") {
        return Some("an SQLite database");
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    OTHER_TEXT.into_iter().find(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_at_any_depth_in_order() {
        let root = disk::scratch("corpus-files");
        for name in ["b.jsonl", "a/z.jsonl", "a/b/c.jsonl"] {
            disk::write(&root.join(name), b"x");
        }
        let names: Vec<_> = files(&root)
            .iter()
            .map(|p| p.strip_prefix(&root).unwrap().to_path_buf())
            .collect();
        assert_eq!(
            names,
            ["a/b/c.jsonl", "a/z.jsonl", "b.jsonl"].map(PathBuf::from)
        );
        disk::remove(&root);
    }

    #[test]
    fn databases_and_notes_are_not_lines_and_damaged_logs_are() {
        let log = Path::new("a/log.jsonl");
        assert_eq!(
            not_lines(log, b"SQLite format 3\0..."),
            Some("an SQLite database")
        );
        assert_eq!(
            not_lines(Path::new("a/b.chat.history.md"), b"# notes"),
            Some(".md")
        );
        for damaged in [b"" as &[u8], b"\0\0\0", b"not JSON", b"{\"a\":1}{\"b\""] {
            assert_eq!(not_lines(log, damaged), None);
        }
        assert_eq!(not_lines(Path::new("CURRENT"), b"{}"), None);
    }

    #[test]
    fn a_missing_folder_is_skipped_at_home() {
        assert_eq!(decide("X", None, false), None);
    }

    #[test]
    #[should_panic(expected = "may not be skipped")]
    fn a_missing_folder_fails_under_ci() {
        decide("X", None, true);
    }

    #[test]
    #[should_panic(expected = "not a folder")]
    fn a_wrong_folder_fails_everywhere() {
        decide("X", Some(PathBuf::from("no/such/folder")), false);
    }
}
