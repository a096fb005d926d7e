//! One file of a memory, its name, and the links in it.

use boswell_model::{Error, ErrorKind, Result};

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// File name of the page.
    pub name: String,
    /// Text of the page; bytes that are not UTF-8 are shown as U+FFFD.
    pub text: String,
    /// Length of the file in bytes.
    pub bytes: usize,
}

/// A link from one page to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The file name of the page that it leads to.
    pub to: String,
    /// Line of the link, from 1.
    pub line: usize,
}

impl Page {
    /// A page of this name and content.
    pub fn new(name: String, bytes: &[u8]) -> Self {
        Page {
            name,
            text: String::from_utf8_lossy(bytes).into_owned(),
            bytes: bytes.len(),
        }
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// The links to other pages: `[text](page.md)` and `[[page]]`. Links to elsewhere
    /// and code are left out.
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        let mut fenced = false;
        for (number, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                links.extend(targets(line).into_iter().map(|to| Link {
                    to,
                    line: number + 1,
                }));
            }
        }
        links
    }
}

impl Page {
    /// Files that facts on the page name: paths between backticks, with a folder and an ending,
    /// and the line of each.
    pub fn named_files(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.filter_map(named_file).map(|path| (path, number + 1)));
        }
        found
    }
}

/// The path that a text between backticks is, without the number of a line behind it.
fn named_file(text: &str) -> Option<String> {
    let path = text.trim().split(':').next()?;
    let odd = |c: char| c.is_whitespace() || "*?<>{}$|\"'()=,;@~\\".contains(c);
    let (folder, name) = path.rsplit_once('/')?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_file = !folder.is_empty() && !stem.is_empty() && (1..=6).contains(&ending.len());
    let plain = !path.contains(odd)
        && !text.contains("://")
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    (is_file && plain && !path.split('/').any(|part| part == "..")).then(|| path.to_owned())
}

fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Every second part is between backticks.
    for text in line.split('`').step_by(2) {
        let round = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', ' ']).next());
        found.extend(round.filter_map(page_of));
        let double = text
            .split("[[")
            .skip(1)
            .filter_map(|rest| rest.split_once("]]"));
        found.extend(double.filter_map(|(inner, _)| {
            let name = inner.split(['|', '#']).next().unwrap_or(inner).trim();
            page_of(name).or_else(|| page_of(&format!("{name}.md")))
        }));
    }
    found
}

/// Returns the page that a target names, if it is in the same folder.
fn page_of(target: &str) -> Option<String> {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    let name = target
        .split('#')
        .next()?
        .strip_prefix("./")
        .unwrap_or(target.split('#').next()?);
    checked_name(name).is_ok().then(|| name.to_owned())
}

/// Fails unless a name stays in its folder on every system and cannot be taken for an option of a
/// program.
pub fn checked_name(name: &str) -> Result<()> {
    let fault = if name.is_empty() || name.len() > 200 {
        "it must have 1 to 200 bytes"
    } else if name.starts_with(['-', '.']) {
        "it starts with `-` or `.`"
    } else if name.contains(['/', '\\', ':'])
        || name.contains("..")
        || name.chars().any(char::is_control)
    {
        "it holds `/`, `\\`, `:`, `..` or a control character"
    } else if !name.ends_with(".md") {
        "it does not end in `.md`"
    } else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "`{}` is not a valid name for a memory page",
            name.escape_debug()
        ),
    )
    .because(fault)
    .advising("use a name like `build-commands.md`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_pages_are_found_and_others_are_not() {
        let text = "- [Build](build.md) and [[tests]], [[notes.md#top|Notes]]\n\
                    [site](https://example.org/x.md) `[code](code.md)` [up](../up.md)\n\
                    ```\n[fenced](fenced.md)\n```\n[again](./build.md#part \"title\")";
        let page = Page::new("MEMORY.md".to_owned(), text.as_bytes());
        let links: Vec<(String, usize)> = page
            .links()
            .into_iter()
            .map(|link| (link.to, link.line))
            .collect();
        let expected = [
            ("build.md", 1),
            ("tests.md", 1),
            ("notes.md", 1),
            ("build.md", 6),
        ];
        assert_eq!(links, expected.map(|(to, line)| (to.to_owned(), line)));
    }
}
