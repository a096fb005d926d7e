//! The counts of `cargo xtask house` over a tree, and their output.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::functions::{self, Function};
use super::surface::Surface;
use crate::{Outcome, sources};

/// The counts of one tree.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) functions: Vec<Function>,
    pub(super) files: Vec<(PathBuf, Lines)>,
    pub(super) surface: Surface,
}

/// The lines of a file by kind.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Lines {
    pub(super) all: usize,
    /// Lines that contain only a `//` comment (without docs and trailing comments).
    pub(super) comments: usize,
    pub(super) docs: usize,
    pub(super) is_test: bool,
}

impl Counts {
    pub(super) fn of(root: &Path, files: &[PathBuf]) -> Outcome<Counts> {
        let mut counts = Counts::default();
        for file in files {
            let text = std::fs::read_to_string(root.join(file))?;
            let syntax =
                syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            let is_test = sources::is_test(file);
            counts
                .functions
                .extend(functions::of(file, &syntax, is_test));
            counts.files.push((file.clone(), Lines::of(&text, is_test)));
            if !is_test {
                counts.surface.add(file, &syntax);
            }
        }
        Ok(counts)
    }

    /// Iterates over shipped functions: all except tests.
    pub(super) fn shipped(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| !function.is_test)
    }

    /// Returns the value that `share` (0 to 1) of the shipped functions do not exceed.
    pub(super) fn percentile(&self, share: f64, size: impl Fn(&Function) -> usize) -> usize {
        let mut sizes: Vec<usize> = self.shipped().map(size).collect();
        sizes.sort_unstable();
        let last = sizes.len().saturating_sub(1);
        sizes
            .get((last as f64 * share).round() as usize)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn report(&self) -> String {
        let mut out = String::new();
        let shipped = self.shipped().count().max(1);
        let closures: usize = self.shipped().map(|function| function.closures).sum();
        let with_closure = self
            .shipped()
            .filter(|function| function.closures > 0)
            .count();
        let with_many = self
            .shipped()
            .filter(|function| function.closures > 3)
            .count();
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let total = |pick: fn(&Lines) -> usize, tests: bool| -> usize {
            self.files
                .iter()
                .filter(|(_, lines)| lines.is_test == tests)
                .map(|(_, lines)| pick(lines))
                .sum()
        };
        let (lines, test_lines) = (
            total(|lines| lines.all, false),
            total(|lines| lines.all, true),
        );
        let _ = writeln!(out, "files      {}", self.files.len());
        let _ = writeln!(
            out,
            "lines      {lines} shipped, {test_lines} in files of tests"
        );
        let _ = writeln!(
            out,
            "comments   {:.1} % of lines, docs {:.1} %",
            share(total(|lines| lines.comments, false), lines),
            share(total(|lines| lines.docs, false), lines)
        );
        let _ = writeln!(
            out,
            "functions  {shipped} shipped, {} in tests",
            self.functions.len() - shipped
        );
        for (name, size) in [
            ("lines", lines_of as fn(&Function) -> usize),
            ("tokens", tokens_of),
        ] {
            let at = |share: f64| self.percentile(share, size);
            let row = (at(0.5), at(0.9), at(0.99), at(1.0));
            let _ = writeln!(
                out,
                "{name:<10} median {}, p90 {}, p99 {}, max {}",
                row.0, row.1, row.2, row.3
            );
        }
        let _ = writeln!(
            out,
            "closures   {closures}; in {:.1} % of functions, more than three in {:.1} %",
            share(with_closure, shipped),
            share(with_many, shipped)
        );
        let _ = writeln!(out, "Dialect    {} methods", self.surface.dialect_methods);
        let _ = writeln!(
            out,
            "root       {} names in boswell_store",
            self.surface.root_names
        );
        let _ = writeln!(
            out,
            "twice      {} public type names",
            self.surface.twice().len()
        );
        out
    }
}

pub(super) fn lines_of(function: &Function) -> usize {
    function.lines
}

pub(super) fn tokens_of(function: &Function) -> usize {
    function.tokens
}

impl Lines {
    fn of(text: &str, is_test: bool) -> Lines {
        let mut lines = Lines {
            is_test,
            ..Lines::default()
        };
        for line in text.lines().map(str::trim_start) {
            lines.all += 1;
            if line.starts_with("///") || line.starts_with("//!") {
                lines.docs += 1;
            } else if line.starts_with("//") {
                lines.comments += 1;
            }
        }
        lines
    }
}
