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
    // What a report says of the machine.
    if line.starts_with("system  ") {
        return "system  …".to_owned();
    }
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

/// Returns a line as two runs printed it, with `…` for what differs between runs, machines or days:
/// ids, ages and sizes. Columns that a path shifts stand two blanks apart.
pub(super) fn common(line: &str, other: &str, shifted: bool) -> String {
    let words = |line: &str| -> Vec<String> { pieces(line).map(str::to_owned).collect() };
    let (line, other) = (words(line), words(other));
    let mut text = String::new();
    for (place, word) in line.iter().enumerate() {
        let next = line.get(place + 2).map_or("", String::as_str);
        let next = next.trim_end_matches([',', ';', ')']);
        let is_number = word
            .trim_start_matches('(')
            .starts_with(|c: char| c.is_ascii_digit());
        let is_size = is_number && matches!(next, "B" | "kB" | "MB" | "GB");
        let is_age = is_number && next == "ago" || line.len() > 4 && place == 2 && word == "now";
        let other = other.get(place).map_or("", String::as_str);
        match word {
            blank if blank.trim().is_empty() => {
                let is_wide = shifted && place > 0 && blank.len() > 2;
                text.push_str(if is_wide { "  " } else { blank });
            }
            word if is_size || is_age => {
                text.push_str(if word.starts_with('(') { "(…" } else { "…" });
            }
            word if is_new_id(word) => text.push('…'),
            word if word == other => text.push_str(word),
            word => text.push_str(&masked(word, other)),
        }
    }
    text
}

/// The short id of a new session begins with its time, which two runs share.
fn is_new_id(word: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    word.len() == 8 && word.starts_with("01") && word.bytes().all(is_hex) && word != "019a2f00"
}

/// Words and the blanks between them, in turn.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim_end();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_blank = first == ' ';
        let end = rest.find(|c: char| (c == ' ') != is_blank);
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(piece)
    })
}

/// The beginning that both words share up to a colon: the dialect of a ref.
fn masked(word: &str, other: &str) -> String {
    let shared = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    let shared = word.get(..shared.count()).unwrap_or_default();
    let kept = shared.rfind(':').map_or("", |at| &shared[..=at]);
    format!("{kept}…")
}
