//! `cargo xtask prose`: formats Markdown and Rust comments.
//!
//! A paragraph of Markdown has one sentence per line; a sentence wider than [`width::LIMIT`]
//! columns is broken at a clause. A Rust comment has the same limit. Formatting changes only where
//! lines end: the rendering of a page is compared before a change is made.

mod comments;
mod lines;
mod markdown;
mod paragraphs;
mod rendered;
mod scanner;
mod sentences;
#[cfg(test)]
mod tests;
mod width;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{Outcome, sources, workspace};

/// Files and folders that a program writes or that a test needs byte for byte.
const EXEMPT: [&str; 4] = [
    // Written by `cargo xtask soak faults`.
    "docs/soak/faults.md",
    // Written by the test `the_tour_runs_every_command_and_its_page_shows_what_they_answer`.
    "docs/tour.md",
    // Memory files of an agent, as `boswell demo` makes them.
    "crates/app/src/demo/home",
    // Files of a user, which no build may change.
    "crates/cli/tests/golden/home/tree",
];

/// A line with the wrong format.
#[derive(Debug)]
struct Breach {
    line: usize,
    why: String,
}

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments {
        [] => {
            let wrong = breaches()?;
            for line in &wrong {
                println!("{line}");
            }
            if wrong.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            println!(
                "prose: {} places; `cargo xtask prose --write` puts them right where it can",
                wrong.len()
            );
            Ok(ExitCode::FAILURE)
        }
        [option] if option == "--write" => {
            let changed = write()?;
            println!("prose: {changed} files changed");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("`cargo xtask prose` takes no argument other than `--write`".into()),
    }
}

/// How a kind of file is checked and formatted.
struct Form {
    extension: &'static str,
    format: fn(&str) -> String,
    breaches: fn(&str) -> Vec<Breach>,
}

const FORMS: [Form; 2] = [
    Form {
        extension: "md",
        format: markdown::format,
        breaches: markdown::breaches,
    },
    Form {
        extension: "rs",
        format: comments::format,
        breaches: comments::breaches,
    },
];

/// Returns every file with a format, relative to the root.
fn files() -> impl Iterator<Item = (PathBuf, &'static Form)> {
    let exempt = |file: &Path| EXEMPT.iter().any(|exempt| file.starts_with(exempt));
    sources::all()
        .into_iter()
        .filter(move |file| !exempt(file))
        .filter_map(|file| {
            let form = FORMS.iter().find(|form| {
                file.extension()
                    .is_some_and(|extension| extension == form.extension)
            })?;
            Some((file, form))
        })
}

fn read(file: &Path) -> Outcome<String> {
    std::fs::read_to_string(workspace::root().join(file))
        .map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Returns `file:line: why` for each place with the wrong format.
pub(crate) fn breaches() -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for (file, form) in files() {
        let mut wrong = (form.breaches)(&read(&file)?);
        wrong.sort_by_key(|breach| breach.line);
        found.extend(
            wrong
                .iter()
                .map(|breach| format!("{}:{}: {}", file.display(), breach.line, breach.why)),
        );
    }
    Ok(found)
}

/// Whether a generated page has the right format.
#[cfg(test)]
pub(crate) fn has_form(page: &str) -> bool {
    markdown::breaches(page).is_empty()
}

/// Formats every file, and returns how many changed.
fn write() -> Outcome<usize> {
    let mut changed = 0;
    for (file, form) in files() {
        let text = read(&file)?;
        let formatted = (form.format)(&text);
        if formatted != text {
            std::fs::write(workspace::root().join(&file), formatted)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            changed += 1;
        }
    }
    Ok(changed)
}
