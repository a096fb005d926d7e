//! `ARCHITECTURE.md` leads a newcomer to files: each path that it names exists, and each word that
//! it tells to search for occurs in the files of its row. A file that was moved or renamed without
//! its row would send readers nowhere.

use std::path::{Path, PathBuf};

use crate::workspace;

const PAGE: &str = "ARCHITECTURE.md";
/// Paths on the page leave out `crates/` and `src/` of these.
const CRATES: [&str; 8] = [
    "model", "dialect", "store", "find", "app", "screen", "cli", "testkit",
];
/// How few rows mean that the table was not found.
const FEWEST_ROWS: usize = 200;

/// The complete path of one that the page writes in short.
fn complete(short: &str) -> Option<PathBuf> {
    let (first, rest) = short.split_once('/')?;
    if CRATES.contains(&first) {
        return Some(Path::new("crates").join(first).join("src").join(rest));
    }
    ["crates", "docs", "xtask", "fuzz"]
        .contains(&first)
        .then(|| PathBuf::from(short))
}

/// The pieces between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The cells of a row of a table; none for other lines and for rulers.
fn cells(line: &str) -> Vec<&str> {
    let Some(row) = line.trim().strip_prefix('|') else {
        return Vec::new();
    };
    let row = row.trim_end_matches('|');
    if row.starts_with("---") {
        return Vec::new();
    }
    row.split(" | ").map(str::trim).collect()
}

/// What a line says about the folder that paths in the first column are below: a table of one crate
/// names it in its head, and a heading ends it.
fn table_folder(line: &str, cells: &[&str]) -> Option<Option<PathBuf>> {
    if line.starts_with('#') {
        return Some(None);
    }
    let head = cells.first()?;
    if !head.starts_with("file in `") && !head.starts_with("folder in `") {
        return None;
    }
    Some(quoted(head).next().map(PathBuf::from))
}

/// Whether a file holds the word as a whole: not as a part of a longer identifier.
fn holds(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|tail| tail.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// The text of a file, or of all Rust files directly in a folder; none if there is neither.
fn text_at(path: &Path) -> Option<String> {
    if path.is_file() {
        return std::fs::read_to_string(path).ok();
    }
    let mut texts = String::new();
    for entry in std::fs::read_dir(path).ok()? {
        let entry = entry
            .expect("a folder of the checkout can be listed")
            .path();
        if entry.extension().is_some_and(|ext| ext == "rs") {
            texts.push_str(&std::fs::read_to_string(entry).expect("a source file is text"));
        }
    }
    Some(texts)
}

#[test]
fn every_path_of_the_architecture_exists_and_holds_its_words() {
    let root = workspace::root();
    let page = std::fs::read_to_string(root.join(PAGE)).expect("the page is there");
    let (mut rows, mut wrong) = (0, Vec::new());
    let mut folder = None;
    for (number, line) in (1..).zip(page.lines()) {
        let cells = cells(line);
        if let Some(other) = table_folder(line, &cells) {
            folder = other;
            continue;
        }
        if let Some(folder) = &folder {
            let first = cells.first().into_iter().flat_map(|cell| quoted(cell));
            for path in first.map(|path| folder.join(path)) {
                if !root.join(&path).exists() {
                    wrong.push(format!("{PAGE}:{number}: there is no {}", path.display()));
                }
            }
            continue;
        }
        let mut texts = String::new();
        for path in cells.iter().flat_map(|cell| quoted(cell)) {
            let Some(full) = complete(path).filter(|_| !path.contains([' ', '*', '<'])) else {
                continue;
            };
            match text_at(&root.join(&full)) {
                Some(text) => texts.push_str(&text),
                None => wrong.push(format!("{PAGE}:{number}: there is no {}", full.display())),
            }
        }
        let [_, files, words] = cells.as_slice() else {
            continue;
        };
        if quoted(files).next().and_then(complete).is_none() {
            continue;
        }
        rows += 1;
        // The last column of some tables names more files instead of words.
        let words = quoted(words).filter(|word| complete(word).is_none());
        for word in words.filter(|word| !holds(&texts, word)) {
            wrong.push(format!("{PAGE}:{number}: `{word}` is not in {files}"));
        }
    }
    assert!(rows >= FEWEST_ROWS, "only {rows} rows of behaviours");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_word_is_found_as_a_whole_only() {
    assert!(holds("fn lead(&self)", "lead"));
    assert!(!holds("fn leader(&self)", "lead"));
    assert!(holds("leader, lead", "lead"));
}
