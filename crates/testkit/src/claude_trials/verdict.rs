//! What a client did with a file, in one short line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::disk;

/// What a client did when it resumed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientOutcome {
    /// It sent these records, by tag, in this order.
    Sent(Vec<u32>),
    /// It found no conversation in the file.
    Refused,
    /// It ended with another error, or not in time.
    Failed,
}

impl ClientOutcome {
    /// Returns the text of the outcome: `1-5,7`, `-` for nothing, `refused`, `failed`.
    pub fn text(&self) -> String {
        match self {
            ClientOutcome::Sent(tags) => compact(tags),
            ClientOutcome::Refused => "refused".to_owned(),
            ClientOutcome::Failed => "failed".to_owned(),
        }
    }

    /// Parses what [`ClientOutcome::text`] returns.
    pub fn parse(text: &str) -> Option<ClientOutcome> {
        match text {
            "refused" => Some(ClientOutcome::Refused),
            "failed" => Some(ClientOutcome::Failed),
            tags => expand(tags).map(ClientOutcome::Sent),
        }
    }
}

/// The outcomes of one file, by version.
pub type Verdict = BTreeMap<String, ClientOutcome>;

/// Verdicts by the hash of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictTable {
    /// The outcomes of each file.
    pub files: BTreeMap<String, Verdict>,
}

impl VerdictTable {
    /// Parses lines of `HASH VERSION=OUTCOME …`; lines that begin with `#` are notes.
    pub fn parse(text: &str) -> Option<VerdictTable> {
        let mut table = VerdictTable::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (hash, rest) = line.split_once(' ')?;
            let verdict = table.files.entry(hash.to_owned()).or_default();
            for part in rest.split(' ') {
                let (version, outcome) = part.split_once('=')?;
                verdict.insert(version.to_owned(), ClientOutcome::parse(outcome)?);
            }
        }
        Some(table)
    }

    /// Returns the text of the table, sorted by hash.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (hash, verdict) in &self.files {
            out.push_str(hash);
            for (version, outcome) in verdict {
                out.push_str(&format!(" {version}={}", outcome.text()));
            }
            out.push('\n');
        }
        out
    }
}

/// The verdicts of one soak.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The seed of its trials.
    pub seed: u64,
    /// The number of its trials.
    pub count: usize,
    /// The verdicts.
    pub table: VerdictTable,
}

/// Returns the folder with all verdicts.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("verdicts")
}

/// Returns the recorded soaks over origins of a kind: `made` or `captured`.
pub fn recorded(kind: &str) -> Vec<Recorded> {
    let head = format!("claude-{kind}-");
    let mut found = Vec::new();
    for path in disk::list(&folder()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some(seed) = name.strip_prefix(&head).and_then(|seed| seed.parse().ok()) else {
            continue;
        };
        let text = String::from_utf8(disk::read(&path)).expect("verdicts are text");
        let count = text.split_ascii_whitespace().nth(1);
        found.push(Recorded {
            seed,
            count: count
                .and_then(|it| it.parse().ok())
                .expect("a number of trials"),
            table: VerdictTable::parse(&text).expect("a table of verdicts"),
        });
    }
    found
}

/// Returns numbers as ranges: `1-5,7`; `-` if there are none.
pub fn compact(tags: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for tag in tags {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*tag) => *last = *tag,
            _ => ranges.push((*tag, *tag)),
        }
    }
    if ranges.is_empty() {
        return "-".to_owned();
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Parses what [`compact`] returns.
pub fn expand(text: &str) -> Option<Vec<u32>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let mut tags = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        tags.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(tags)
}
