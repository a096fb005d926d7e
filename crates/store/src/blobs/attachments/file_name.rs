//! Makes file names of attachments that are safe on every system.

use std::collections::BTreeSet;

use boswell_model::{Unseen, unseen, without_hostile};

use super::Attachment;
use super::kind::{extension, usual_extension};

const LONGEST: usize = 120;
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns a safe name for each attachment, unique regardless of case.
pub(crate) fn safe_names(attachments: &[Attachment]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::with_capacity(attachments.len());
    for attachment in attachments {
        let name = safe(&attachment.name, &attachment.mime);
        let mut unique = name.clone();
        let mut number = 1_usize;
        while !taken.insert(unique.to_lowercase()) {
            number += 1;
            let (stem, ext) = split(&name);
            unique = format!("{stem}-{number}{ext}");
        }
        names.push(unique);
    }
    names
}

/// Returns the last component of a name, without characters that a file system, shell or terminal
/// could interpret.
fn safe(name: &str, mime: &str) -> String {
    let last = name
        .rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or("");
    // Invisible characters and those that change the text direction make `gpj.exe` look like a
    // picture.
    let seen = without_hostile(last, |c, out| out.extend(is_special(c).then_some('_')));
    let plain: String = seen
        .chars()
        .map(|c| if is_special(c) { '_' } else { c })
        .collect();
    let mut name = plain
        .trim_matches([' ', '.'])
        .trim_start_matches('-')
        .to_owned();
    if name.is_empty() {
        "attachment".clone_into(&mut name);
    }
    let first = name
        .split('.')
        .next()
        .unwrap_or("")
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .to_lowercase();
    if DEVICES.contains(&first.as_str()) {
        name.insert(0, '_');
    }
    if let (None, Some(ext)) = (extension(&name), usual_extension(mime)) {
        name = format!("{name}.{ext}");
    }
    shortened(&name)
}

fn is_special(c: char) -> bool {
    unseen(c) == Some(Unseen::Control) || matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let (stem, ext) = split(name);
    let ext = if ext.len() <= 20 { ext } else { "" };
    let mut room = LONGEST - ext.len();
    while !stem.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{ext}", stem.get(..room).unwrap_or(stem))
}

fn split(name: &str) -> (&str, &str) {
    match name.rfind('.').filter(|at| *at > 0) {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use boswell_model::Instant;

    use super::*;
    use crate::blobs::BlobId;

    fn names(given: &[&str], mime: &str) -> Vec<String> {
        let attachment = |name: &&str| Attachment {
            name: (*name).to_owned(),
            mime: mime.to_owned(),
            blob: BlobId::of(b""),
            len: 0,
            at: Instant::from_millis(0),
        };
        safe_names(&given.iter().map(attachment).collect::<Vec<_>>())
    }

    #[test]
    fn hostile_names_become_harmless() {
        for (given, safe) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\a.txt", "a.txt"),
            ("-rf", "rf"),
            (".bashrc", "bashrc"),
            ("..", "attachment"),
            ("", "attachment"),
            ("a\0b\n.txt", "a_b_.txt"),
            ("CON.txt", "_CON.txt"),
            ("com1", "_com1"),
            ("photo\u{202E}gpj.exe", "photogpj.exe"),
            ("photo\u{61C}\u{2028}.exe", "photo_.exe"),
            ("👩\u{200D}💻.png", "👩\u{200D}💻.png"),
            ("图片.png", "图片.png"),
        ] {
            assert_eq!(names(&[given], "application/x-unknown"), [safe], "{given}");
        }
        let long = names(&[&format!("{}.png", "长".repeat(200))], "image/png");
        assert!(long[0].len() <= LONGEST && long[0].ends_with("长.png"));
    }

    #[test]
    fn names_are_told_apart_and_get_a_missing_extension() {
        assert_eq!(
            names(&["a.png", "x/A.png", "a"], "image/png"),
            ["a.png", "A-2.png", "a-3.png"]
        );
    }
}
