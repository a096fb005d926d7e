//! Commands and lines of answers as the page shows them.

use std::path::Path;

/// A word of a command as a shell needs it.
pub(super) fn quoted(word: &str) -> String {
    if word.contains([' ', '\'', '#']) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// Returns a line without the folder of the demo, which differs between runs.
pub(super) fn settled(line: &str, root: &Path) -> String {
    let root = root.to_str().unwrap();
    let dashed: String = root
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    line.replace(root, "~/demo")
        .replace(&dashed, "-home-me-demo")
}

/// Returns a row of `list` in the same way, without its age, and with the truncated project
/// normalised.
pub(super) fn row(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.get(3) == Some(&"ago") {
        words.remove(3);
    }
    if words.first() != Some(&"ID") && words.len() > 4 {
        words[2] = "…";
        words[4] = if words[4].ends_with("shop") {
            "~/demo/projects/shop"
        } else {
            "~/demo/projects/blog"
        };
    }
    let (columns, name) = words.split_at(words.len().min(5));
    format!("{}  {}", columns.join("  "), name.join(" "))
}
