//! Checks a memory for dead links, duplicates, lost topics and an index that is too long.
//!
//! The words are `dead_link`, `long_index`, `missing_file`, `repeated` and `unreferenced`;
//! `orphaned` is found by the application's `memory/check.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::{INDEX, LOADED_LINES, Memory};

/// Something that makes a memory worse than it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryProblem {
    /// A link leads to a page that is not there.
    DeadLink {
        /// The page with the link.
        from: String,
        /// Line of the link, from 1.
        line: usize,
        /// The page that is missing.
        to: String,
    },
    /// The index is longer than what is sent with the context.
    LongIndex {
        /// How many lines it has.
        lines: usize,
        /// Sections that could be pages of their own, and the line that each begins on.
        sections: Vec<(String, usize)>,
    },
    /// A fact names a file of the project that is not there.
    MissingFile {
        /// The page with the fact.
        page: String,
        /// Line of the fact, from 1.
        line: usize,
        /// The file.
        path: String,
    },
    /// A fact is in several places.
    Repeated {
        /// Text of the fact where it occurs first.
        text: String,
        /// Page and line, from 1, of each.
        places: Vec<(String, usize)>,
    },
    /// No page leads to this topic, so no agent will find it.
    Unreferenced {
        /// The topic.
        page: String,
    },
}

impl std::fmt::Display for MemoryProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemoryProblem::DeadLink { from, line, to } => {
                write!(f, "{from}:{line}: links to `{to}`, which is not there")
            }
            MemoryProblem::LongIndex { lines, sections } => {
                write!(
                    f,
                    "{INDEX} has {lines} lines, of which {LOADED_LINES} are loaded: move facts to pages of their own"
                )?;
                let named: Vec<String> = sections
                    .iter()
                    .map(|(title, line)| format!("`{title}` (line {line})"))
                    .collect();
                if named.is_empty() {
                    Ok(())
                } else {
                    write!(f, ", such as {}", named.join(", "))
                }
            }
            MemoryProblem::MissingFile { page, line, path } => {
                write!(
                    f,
                    "{page}:{line}: names the file `{path}`, which is not there"
                )
            }
            MemoryProblem::Repeated { text, places } => {
                let places: Vec<String> = places
                    .iter()
                    .map(|(page, line)| format!("{page}:{line}"))
                    .collect();
                write!(f, "{}: the same fact: {text}", places.join(", "))
            }
            MemoryProblem::Unreferenced { page } => write!(f, "{page}: no page links to it"),
        }
    }
}

/// Finds dead links, an index that is too long, duplicate facts, and topics that no page links to.
pub fn check(memory: &Memory) -> Vec<MemoryProblem> {
    let mut problems = dead_links(memory);
    if memory.lines > LOADED_LINES {
        problems.push(MemoryProblem::LongIndex {
            lines: memory.lines,
            sections: sections(memory),
        });
    }
    problems.extend(repeated(memory));
    problems.extend(unreferenced(memory));
    problems
}

impl MemoryProblem {
    /// Returns the word for the problem in output.
    pub fn word(&self) -> &'static str {
        match self {
            MemoryProblem::DeadLink { .. } => "dead_link",
            MemoryProblem::LongIndex { .. } => "long_index",
            MemoryProblem::MissingFile { .. } => "missing_file",
            MemoryProblem::Repeated { .. } => "repeated",
            MemoryProblem::Unreferenced { .. } => "unreferenced",
        }
    }
}

/// Looks for facts that name files which are not there; `exists` is asked about each.
pub fn missing_files(memory: &Memory, exists: &dyn Fn(&str) -> bool) -> Vec<MemoryProblem> {
    let mut problems = Vec::new();
    for page in &memory.pages {
        for (path, line) in page
            .named_files()
            .into_iter()
            .filter(|(path, _)| !exists(path))
        {
            problems.push(MemoryProblem::MissingFile {
                page: page.name.clone(),
                line,
                path,
            });
        }
    }
    problems
}

/// Returns the longest sections of the index, first those beyond the lines that are sent.
fn sections(memory: &Memory) -> Vec<(String, usize)> {
    let index = memory.pages.first().map_or("", |page| page.text.as_str());
    let headings = index
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("## "));
    let titles =
        headings.map(|(number, line)| (line.trim_start_matches('#').trim().to_owned(), number + 1));
    let (unseen, seen): (Vec<_>, Vec<_>) = titles.partition(|(_, line)| *line > LOADED_LINES);
    unseen
        .into_iter()
        .chain(seen.into_iter().rev())
        .take(3)
        .collect()
}

fn dead_links(memory: &Memory) -> Vec<MemoryProblem> {
    let names: BTreeSet<&str> = memory.pages.iter().map(|page| page.name.as_str()).collect();
    let mut problems = Vec::new();
    for page in &memory.pages {
        for link in page
            .links()
            .into_iter()
            .filter(|link| !names.contains(link.to.as_str()))
        {
            problems.push(MemoryProblem::DeadLink {
                from: page.name.clone(),
                line: link.line,
                to: link.to,
            });
        }
    }
    problems
}

fn unreferenced(memory: &Memory) -> Vec<MemoryProblem> {
    // A page that only leads to itself is as lost as one that nothing leads to.
    let linked: BTreeSet<String> = memory
        .pages
        .iter()
        .flat_map(|page| {
            page.links()
                .into_iter()
                .filter(|link| link.to != page.name)
                .map(|link| link.to)
        })
        .collect();
    let topics = memory
        .pages
        .iter()
        .filter(|page| page.name != INDEX && !linked.contains(&page.name));
    topics
        .map(|page| MemoryProblem::Unreferenced {
            page: page.name.clone(),
        })
        .collect()
}

fn repeated(memory: &Memory) -> Vec<MemoryProblem> {
    let mut meta: BTreeMap<String, (String, Vec<(String, usize)>)> = BTreeMap::new();
    for page in &memory.pages {
        let body = front_matter(&page.text);
        for (number, line) in page.text.lines().enumerate().skip(body) {
            if let Some(fact) = fact(line) {
                let (_, places) = meta
                    .entry(fact)
                    .or_insert_with(|| (line.trim().to_owned(), Vec::new()));
                places.push((page.name.clone(), number + 1));
            }
        }
    }
    let twice = meta.into_values().filter(|(_, places)| places.len() > 1);
    twice
        .map(|(text, places)| MemoryProblem::Repeated { text, places })
        .collect()
}

/// How many lines the block of settings at the top of a page takes: those are not facts.
fn front_matter(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next() != Some("---") {
        return 0;
    }
    lines
        .position(|line| line == "---")
        .map_or(0, |end| end + 2)
}

/// Normalises a line for comparison: no bullet, case, spacing or final punctuation. Returns `None`
/// for headings and short lines.
fn fact(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(['#', '`', '|', '<']) {
        return None;
    }
    let bare = without_bullet(line);
    let words: Vec<String> = bare.split_whitespace().map(str::to_lowercase).collect();
    let fact = words.join(" ");
    let fact = fact.trim_end_matches(['.', ',', ';', '!', '。', '，', '；', '！']);
    (fact.len() >= 8).then(|| fact.to_owned())
}

/// A line without the mark of a list: `-`, `*`, `1.`, `- [x]`. A number without a dot
/// is part of the fact.
fn without_bullet(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '+', '>', ' ']);
    let bare = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| bare.strip_prefix(mark))
        .unwrap_or(bare);
    let unnumbered = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = unnumbered.len() < bare.len()
        && (unnumbered.starts_with(". ") || unnumbered.starts_with(") "));
    if is_number {
        unnumbered.get(2..).unwrap_or("")
    } else {
        bare
    }
}
