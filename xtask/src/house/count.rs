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
        self.report_files(&mut out);
        self.report_functions(&mut out);
        self.report_surface(&mut out);
        out
    }

    fn report_files(&self, out: &mut String) {
        let (mut shipped, mut tests) = (Lines::default(), Lines::default());
        for (_, lines) in &self.files {
            let sum = if lines.is_test {
                &mut tests
            } else {
                &mut shipped
            };
            sum.all += lines.all;
            sum.comments += lines.comments;
            sum.docs += lines.docs;
        }
        let _ = writeln!(out, "files      {}", self.files.len());
        let _ = writeln!(
            out,
            "lines      {} shipped, {} in files of tests",
            shipped.all, tests.all
        );
        let _ = writeln!(
            out,
            "comments   {:.1} % of lines, docs {:.1} %",
            percent(shipped.comments, shipped.all),
            percent(shipped.docs, shipped.all)
        );
    }

    fn report_functions(&self, out: &mut String) {
        let (mut shipped, mut closures, mut with_closure, mut with_many) = (0, 0, 0, 0);
        for function in self.shipped() {
            shipped += 1;
            closures += function.closures;
            with_closure += usize::from(function.closures > 0);
            with_many += usize::from(function.closures > 3);
        }
        let _ = writeln!(
            out,
            "functions  {shipped} shipped, {} in tests",
            self.functions.len() - shipped
        );
        self.report_sizes(out, "lines", lines_of);
        self.report_sizes(out, "tokens", tokens_of);
        let _ = writeln!(
            out,
            "closures   {closures}; in {:.1} % of functions, more than three in {:.1} %",
            percent(with_closure, shipped),
            percent(with_many, shipped)
        );
    }

    fn report_sizes(&self, out: &mut String, name: &str, size: fn(&Function) -> usize) {
        let _ = writeln!(
            out,
            "{name:<10} median {}, p90 {}, p99 {}, max {}",
            self.percentile(0.5, size),
            self.percentile(0.9, size),
            self.percentile(0.99, size),
            self.percentile(1.0, size)
        );
    }

    fn report_surface(&self, out: &mut String) {
        let surface = &self.surface;
        let _ = writeln!(out, "Dialect    {} methods", surface.dialect_methods);
        let _ = writeln!(
            out,
            "root       {} names in boswell_store",
            surface.root_names
        );
        let _ = writeln!(
            out,
            "twice      {} public type names",
            surface.twice().len()
        );
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

pub(super) fn closures_of(function: &Function) -> usize {
    function.closures
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
