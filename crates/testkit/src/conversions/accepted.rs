//! `verdicts/accepted.tsv`: what real programs have resumed.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a program resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Version of the program.
    pub version: String,
    /// Hash of the log that it was given, for the project of recorded cells.
    pub sha256: String,
}

/// The recorded cells, by source and target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptedTable {
    /// The cells.
    pub cells: BTreeMap<(String, String), Accepted>,
}

const HEADER: &str = "source\ttarget\tversion\tsha256";

impl AcceptedTable {
    /// Returns the path of the table.
    pub fn path() -> PathBuf {
        crate::claude_trials::folder().join("accepted.tsv")
    }

    /// Reads a table; `None` if a line does not have four columns.
    pub fn parse(text: &str) -> Option<AcceptedTable> {
        let mut table = AcceptedTable::default();
        for line in text
            .lines()
            .filter(|line| *line != HEADER && !line.is_empty())
        {
            let columns: Vec<&str> = line.split('\t').collect();
            let [source, target, version, sha256] = columns.as_slice() else {
                return None;
            };
            let accepted = Accepted {
                version: (*version).to_owned(),
                sha256: (*sha256).to_owned(),
            };
            let cell = ((*source).to_owned(), (*target).to_owned());
            table.cells.insert(cell, accepted);
        }
        Some(table)
    }

    /// Returns the table as text.
    pub fn text(&self) -> String {
        let line = |((source, target), it): (&(String, String), &Accepted)| {
            format!("{source}\t{target}\t{}\t{}\n", it.version, it.sha256)
        };
        let lines: String = self.cells.iter().map(line).collect();
        format!("{HEADER}\n{lines}")
    }
}
