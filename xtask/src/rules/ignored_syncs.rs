//! Acknowledged means durable: the error of a call that makes data durable is propagated, or the
//! comment directly above explains why it is not.

use crate::sources;

/// Folders with code that acknowledges: the index of `find` is derived and may be lost.
const ACKNOWLEDGING: [&str; 2] = ["crates/store/src", "crates/cli/src"];

/// Calls that make data durable.
const DURABLE: [&str; 9] = [
    ".sync()",
    "sync_folder(",
    "sync_parent(",
    "sync_above(",
    "sync_removal(",
    "make_folders(",
    "append_lines(",
    "durable::put(",
    "self.forget(",
];

/// Ways to ignore an error.
const PASSING_OVER: [&str; 6] = [
    "let _ =",
    ".ok()",
    "unwrap_or",
    "drop(",
    "is_ok()",
    "is_err()",
];

/// Returns the numbers of lines that ignore such an error without a reason.
fn unexplained(text: &str) -> Vec<usize> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let wrong = |number: &usize| {
        let line = lines[*number];
        let handed_on = line.ends_with(")?;") && !line.contains(".ok()");
        let explained = number
            .checked_sub(1)
            .is_some_and(|above| lines[above].starts_with("//"));
        !line.starts_with("//")
            && has(line, &DURABLE)
            && has(line, &PASSING_OVER)
            && !handed_on
            && !explained
    };
    (0..lines.len())
        .filter(wrong)
        .map(|number| number + 1)
        .collect()
}

#[test]
fn an_ignored_sync_error_has_its_reason_above_it() {
    let files: Vec<_> = sources::rust()
        .into_iter()
        .filter(|file| {
            !sources::is_test(file) && ACKNOWLEDGING.iter().any(|folder| file.starts_with(folder))
        })
        .collect();
    assert!(files.len() > 100, "the sources were not found");
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| {
            unexplained(&sources::text(file))
                .into_iter()
                .map(move |n| format!("{}:{n}", file.display()))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "no reason is given:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn an_ignored_sync_error_is_seen() {
    assert_eq!(unexplained("a\nlet _ = sync_parent(disk, there);"), [2]);
    assert_eq!(
        unexplained("durable::make_folders(disk, folder).ok()?;"),
        [1]
    );
    assert!(unexplained("make_folders(disk, path.parent().unwrap_or(path))?;").is_empty());
    assert!(unexplained("// It is derived.\nlet _ = file.sync();").is_empty());
    assert!(unexplained("file.sync().map_err(fault)?;\ndrop(file);").is_empty());
    assert!(unexplained("#[cfg(test)]\nlet _ = file.sync();").is_empty());
}
