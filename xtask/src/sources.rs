//! The files of the checkout, for rules and counts that read source text.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// Returns every tracked or new file that is not ignored, relative to the root; all files if git is
/// not available.
pub(crate) fn all() -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ])
    .current_dir(workspace::root());
    let listed = git.output().ok().filter(|output| output.status.success());
    let mut files = match listed {
        Some(output) => String::from_utf8_lossy(&output.stdout)
            .split_terminator('\0')
            .map(PathBuf::from)
            .collect(),
        None => {
            let mut files = Vec::new();
            walk(Path::new(""), &mut files);
            files
        }
    };
    // A file that was removed but not yet committed is still listed.
    files.retain(|file| workspace::root().join(file).is_file());
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(workspace::root().join(folder)) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let path = folder.join(&name);
        if name == "target" || name == ".git" {
            continue;
        }
        if workspace::root().join(&path).is_dir() {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}

pub(crate) fn rust() -> Vec<PathBuf> {
    all()
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[cfg(test)]
pub(crate) fn text(file: &Path) -> String {
    let bytes = std::fs::read(workspace::root().join(file)).expect("a readable file");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the shipped code of a file: no comments, no inline test module. Good enough for words,
/// not for syntax.
#[cfg(test)]
pub(crate) fn code(file: &Path) -> String {
    shipped_code(&text(file))
}

#[cfg(test)]
fn shipped_code(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let test_module = lines.windows(2).position(|pair| {
        pair[0].starts_with("#[cfg(test)]") && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    lines.truncate(test_module.unwrap_or(lines.len()));
    let code = lines
        .into_iter()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.collect::<Vec<_>>().join("\n")
}

/// Whether a file belongs to a crate's tests: `tests/…`, `src/**/tests.rs`, `src/**/tests/…`.
pub(crate) fn is_test(file: &Path) -> bool {
    file.file_stem().is_some_and(|stem| stem == "tests")
        || file.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn comments_and_test_modules_are_not_code() {
    let text =
        "use a; // std::fs\n//! doc\nfn b() {}\n#[cfg(test)]\nmod tests {\n use std::fs;\n}\n";
    assert_eq!(shipped_code(text), "use a; \n\nfn b() {}");
}
