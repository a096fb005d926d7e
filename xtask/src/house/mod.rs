//! `cargo xtask house`: size and density of the code, and whether it stays within its limits.
//!
//! Every count is taken from the syntax tree (`syn`), not from text, so that formatting and
//! comments do not change it. The same command counts any other tree (`cargo xtask house PATH`),
//! which is how the reference values of docs/adr/0011 were taken from redb, ripgrep, object_store
//! and jj.

mod count;
mod functions;
mod limits;
mod surface;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{Outcome, sources, workspace};
use count::Counts;

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    match arguments {
        [] => {
            let counts = of_this_checkout()?;
            print!("{}", counts.report());
            let broken = limits::broken(&counts);
            for line in &broken {
                println!("house: {line}");
            }
            Ok(if broken.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        [folder] => {
            print!(
                "{}",
                Counts::of(Path::new(folder), &rust_below(Path::new(folder))?)?.report()
            );
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("`cargo xtask house` takes at most one folder".into()),
    }
}

/// Counts the crates and xtask; `fuzz` has only a few one-line targets.
fn of_this_checkout() -> Outcome<Counts> {
    let ours = |file: &PathBuf| file.starts_with("crates") || file.starts_with("xtask");
    let files: Vec<PathBuf> = sources::rust().into_iter().filter(ours).collect();
    Counts::of(&workspace::root(), &files)
}

/// Returns every Rust file below `folder`, relative to it.
fn rust_below(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        for entry in std::fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_stays_within_its_limits() {
        let broken = limits::broken(&of_this_checkout().unwrap());
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}
