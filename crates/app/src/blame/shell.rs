//! What a command line does to files, where that is certain: renames, removals, texts that stand in
//! the command (here-documents).
//!
//! A command that anything else could change the meaning of does nothing here: variables, globs,
//! substitutions, pipes into other programs.

use super::file_edit::{EditKind, FileEdit};

/// Characters that make a word mean something else than itself.
const SPECIAL: [char; 10] = ['$', '`', '*', '?', '[', '{', '(', '~', '!', '#'];

/// Returns what a command does to files, in order. Paths are relative to its folder.
pub(super) fn file_edits(command: &str) -> Vec<FileEdit> {
    let mut file_edits = Vec::new();
    let mut folder = String::new();
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        if let Some((path, is_added, end, is_literal)) = here_document(line) {
            let mut text = String::new();
            let mut is_closed = false;
            for line in lines.by_ref() {
                if line == end {
                    is_closed = true;
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let is_certain = is_literal || !text.contains(['$', '`', '\\']);
            if is_closed && is_certain {
                let kind = if is_added {
                    EditKind::Append(text)
                } else {
                    EditKind::Write(text)
                };
                file_edits.push(FileEdit::new(&below(&folder, &path), kind));
            }
            continue;
        }
        if line.contains("<<") {
            // A document for another program: what follows is not a command.
            break;
        }
        for part in line.split("&&").flat_map(|it| it.split(';')) {
            let Some(words) = words(part) else {
                continue;
            };
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["cd", to] => folder = below(&folder, to),
                words => file_edits.extend(command_edits(&folder, words)),
            }
        }
    }
    file_edits
}

fn command_edits(folder: &str, words: &[&str]) -> Vec<FileEdit> {
    let words = match words {
        ["git", rest @ ..] => rest,
        words => words,
    };
    let plain = |words: &[&str]| -> Vec<String> {
        let words = words.iter().filter(|word| !word.starts_with('-'));
        words.map(|word| below(folder, word)).collect()
    };
    match words {
        ["mv", rest @ ..] => match plain(rest).as_slice() {
            [from, to] => vec![FileEdit::new(from, EditKind::Rename(to.clone()))],
            _ => Vec::new(),
        },
        ["rm", rest @ ..] if !rest.contains(&"--cached") => {
            let remove = |path: &String| FileEdit::new(path, EditKind::Remove);
            plain(rest).iter().map(remove).collect()
        }
        ["cat", path] if !path.starts_with('-') => {
            vec![FileEdit::new(&below(folder, path), EditKind::Read)]
        }
        ["head" | "tail", .., path] | ["sed", "-n", _, path] if !path.starts_with('-') => {
            vec![FileEdit::new(&below(folder, path), EditKind::ReadPart)]
        }
        _ => Vec::new(),
    }
}

/// The file that a here-document is written to, whether it is added at the end, the line that ends
/// it, and whether its text is taken literally.
fn here_document(line: &str) -> Option<(String, bool, String, bool)> {
    let (command, end) = line.split_once("<<")?;
    let (command, end) = match end.split_once('>') {
        // `cat <<EOF > file`
        Some((end, to)) if !command.contains('>') => (format!("{command}>{to}"), end),
        _ => (command.to_owned(), end),
    };
    let end = end.trim();
    let bare = end.trim_matches(['\'', '"']);
    let is_word =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '_');
    if !is_word(bare) {
        return None;
    }
    let words = words(
        &command
            .replace(">>", " >> ")
            .replace('>', " > ")
            .replace(" >  > ", " >> "),
    )?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (path, is_added) = match words.as_slice() {
        ["cat", ">", path] | ["tee", path] => (path, false),
        ["cat", ">>", path] | ["tee", "-a", path] => (path, true),
        _ => return None,
    };
    Some((path.to_string(), is_added, bare.to_owned(), bare != end))
}

/// The words of a command; `None` if they may mean something else than themselves.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in command.trim().chars() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            (Some('"'), '$' | '`' | '\\') | (None, '\\' | '|' | '&') => return None,
            (Some(_), it) => word.get_or_insert_default().push(it),
            (None, '\'' | '"') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            (None, it) if it.is_whitespace() => words.extend(word.take()),
            (None, it) if SPECIAL.contains(&it) => return None,
            (None, it) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

fn below(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    format!("{}/{path}", folder.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_and_removals_are_read() {
        let rename = |from: &str, to: &str| FileEdit::new(from, EditKind::Rename(to.to_owned()));
        assert_eq!(file_edits("git mv a.rs b.rs"), [rename("a.rs", "b.rs")]);
        assert_eq!(
            file_edits("cd src && mv -f 'a b.rs' c.rs"),
            [rename("src/a b.rs", "src/c.rs")]
        );
        assert_eq!(file_edits("rm -f x y").len(), 2);
        for part in ["sed -n '5,9p' a.rs", "head -n 5 a.rs", "tail a.rs"] {
            let read = FileEdit::new("a.rs", EditKind::ReadPart);
            assert_eq!(file_edits(part), [read], "{part}");
        }
        for unsure in [
            "mv $A b",
            "mv *.rs dir",
            "echo mv a b",
            "mv a b c",
            "git rm --cached x",
        ] {
            assert_eq!(file_edits(unsure), [], "{unsure}");
        }
    }

    #[test]
    fn a_here_document_is_written() {
        let write = |text: &str| [FileEdit::new("a.txt", EditKind::Write(text.to_owned()))];
        assert_eq!(
            file_edits("cat > a.txt <<'EOF'\none $X\nEOF\n"),
            write("one $X\n")
        );
        assert_eq!(file_edits("cat <<EOF > a.txt\none\nEOF"), write("one\n"));
        assert_eq!(
            file_edits("cat >> a.txt << EOF\none\nEOF"),
            [FileEdit::new("a.txt", EditKind::Append("one\n".to_owned()))]
        );
        for unsure in [
            "cat > a.txt <<EOF\none $X\nEOF",
            "cat > a.txt <<'EOF'\none",
            "python - <<'EOF'\nmv a b\nEOF",
        ] {
            assert_eq!(file_edits(unsure), [], "{unsure}");
        }
    }
}
