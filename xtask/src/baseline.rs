//! `xtask baseline split|parse PATH…`: the minimum work of any reader, as a child process of the
//! bench.
//!
//! Reads files (folders recursively, in name order) and finds every newline. Nothing is copied or
//! stored, so that boswell's additional cost is that of understanding the bytes. `parse` also scans
//! every byte of every line as JSON.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use boswell_store::model::json::scan_object;

use crate::Outcome;

const BUFFER: usize = 1 << 20;

/// The counts of a split; printed so that the bench notices a baseline that read nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) longest: u64,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut seen = Split::default();
    match arguments
        .split_first()
        .map(|(verb, paths)| (verb.as_str(), paths))
    {
        Some(("split", paths)) => paths
            .iter()
            .try_for_each(|path| split(Path::new(path), &mut seen))?,
        Some(("parse", paths)) => paths
            .iter()
            .try_for_each(|path| parse(Path::new(path), &mut seen))?,
        _ => return Err("usage: xtask baseline split|parse PATH...".into()),
    }
    println!(
        "{} files, {} bytes, {} lines, longest {}",
        seen.files, seen.bytes, seen.lines, seen.longest
    );
    Ok(())
}

pub(crate) fn split(path: &Path, seen: &mut Split) -> Outcome {
    if path.is_dir() {
        let mut below: Vec<_> = std::fs::read_dir(path)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<_, _>>()?;
        below.sort();
        return below.iter().try_for_each(|path| split(path, seen));
    }
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    seen.files += 1;
    split_lines(BufReader::with_capacity(BUFFER, file), seen)
}

/// Reads a file line by line and scans each as one JSON object, strictly; invalid lines count as
/// read.
fn parse(path: &Path, seen: &mut Split) -> Outcome {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let (mut line, mut members) = (Vec::new(), Vec::new());
    seen.files += 1;
    while reader.read_until(b'\n', &mut line)? > 0 {
        seen.bytes += line.len() as u64;
        seen.lines += u64::from(scan_object(&line, &mut members).is_ok());
        seen.longest = seen.longest.max(line.len() as u64);
        line.clear();
    }
    Ok(())
}

fn split_lines(mut reader: impl BufRead, seen: &mut Split) -> Outcome {
    loop {
        let length = reader.skip_until(b'\n')? as u64;
        if length == 0 {
            return Ok(());
        }
        seen.bytes += length;
        seen.lines += 1;
        seen.longest = seen.longest.max(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_counts_a_last_line_without_newline() {
        let mut seen = Split::default();
        split_lines(&b"one\n\nthree3\nfour"[..], &mut seen).expect("memory can be read");
        assert_eq!(
            seen,
            Split {
                files: 0,
                bytes: 16,
                lines: 4,
                longest: 7
            }
        );
    }
}
