//! Differences between the former and the current state of files, for display.

use std::fmt::Write;
use std::path::Path;

use boswell_model::Error;

use super::project_path::{self, Found};
use super::{Captured, Checkpoints, Skipped, State};
use crate::blobs::BlobId;

/// How a file differs from its former state.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileDiff {
    /// The file is unchanged.
    Unchanged,
    /// The content differs.
    Changed(TextDiff),
    /// Only the permission bits differ.
    Mode {
        /// The former bits.
        then: u32,
        /// The current bits.
        now: u32,
    },
    /// The file existed and is missing now.
    Missing,
    /// The file did not exist and exists now.
    New,
    /// The file was not captured, or cannot be read now.
    Skipped(Skipped),
    /// The former content cannot be read any more.
    Unavailable(Error),
}

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDiff {
    /// Hunks in unified format, without the lines that name the files.
    Hunks(String),
    /// At least one of them is not text.
    Binary,
    /// Too long to be compared line by line.
    TooLarge,
}

const TOO_LARGE: usize = 8 << 20;
const AROUND: usize = 3;
/// Maximum number of changed lines before the whole middle counts as changed; memory grows with its
/// square.
const MOST_CHANGES: usize = 1000;

impl Checkpoints {
    /// Compares the former state of files with the current one, by path.
    pub fn diff(&self, state: &State, root: &Path) -> Vec<(String, FileDiff)> {
        let disk = self.disk.as_ref();
        let compare = |(path, tracked): (&str, &super::Tracked)| {
            (
                path.to_owned(),
                self.compare(&tracked.then, project_path::read(disk, root, path)),
            )
        };
        state.files().map(compare).collect()
    }

    fn compare(&self, then: &Captured, now: Found) -> FileDiff {
        match (then, now) {
            (Captured::Skipped(why), _) => FileDiff::Skipped(*why),
            (_, Found::Skipped(why)) => FileDiff::Skipped(why),
            (Captured::Absent, Found::Absent) => FileDiff::Unchanged,
            (Captured::Absent, Found::File { .. }) => FileDiff::New,
            (Captured::File { .. }, Found::Absent) => FileDiff::Missing,
            (Captured::File { blob, mode, .. }, Found::File { bytes, mode: now }) => {
                if BlobId::of(&bytes) != *blob {
                    return match self.blobs.get(blob) {
                        Ok(old) => FileDiff::Changed(text_diff(&old, &bytes)),
                        Err(error) => FileDiff::Unavailable(error),
                    };
                }
                if *mode == now {
                    FileDiff::Unchanged
                } else {
                    FileDiff::Mode { then: *mode, now }
                }
            }
        }
    }
}

/// Compares two texts line by line.
pub fn text_diff(old: &[u8], new: &[u8]) -> TextDiff {
    if old.contains(&0) || new.contains(&0) {
        return TextDiff::Binary;
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return TextDiff::Binary;
    };
    if old.len() + new.len() > TOO_LARGE {
        return TextDiff::TooLarge;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    TextDiff::Hunks(hunks(&script(&old, &new)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// Returns all lines of both texts, in an order that converts one into the other.
fn script<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (
        old.get(head..).unwrap_or(&[]),
        new.get(head..).unwrap_or(&[]),
    );
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or(&[]);
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or(&[]);
    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    match shortest(old_middle, new_middle) {
        Some(middle) => lines.extend(middle),
        None => {
            lines.extend(old_middle.iter().map(|line| Line::Old(line)));
            lines.extend(new_middle.iter().map(|line| Line::New(line)));
        }
    }
    lines.extend(
        old_rest
            .iter()
            .skip(old_middle.len())
            .map(|line| Line::Same(line)),
    );
    lines
}

/// Myers' greedy search: for each number of changes the furthest point on each diagonal. `None`
/// beyond the limit.
fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Line<'a>>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for changes in 0..=(old.len() + new.len()).min(MOST_CHANGES) {
        let mut row = Vec::with_capacity(changes + 1);
        for i in 0..=changes {
            // Diagonal i has taken i more old lines than it has skipped: x - y = 2i - changes.
            let mut x = from(rows.last(), i, changes).0;
            let mut y = (x + changes).checked_sub(2 * i)?;
            while x < old.len() && y < new.len() && old.get(x) == new.get(y) {
                (x, y) = (x + 1, y + 1);
            }
            row.push(x);
            if x >= old.len() && y >= new.len() {
                rows.push(row);
                return walk_back(&rows, i, old, new);
            }
        }
        rows.push(row);
    }
    None
}

/// Returns where diagonal `i` of a row starts, and the diagonal of the previous row that it comes
/// from.
fn from(before: Option<&Vec<usize>>, i: usize, changes: usize) -> (usize, usize) {
    let Some(before) = before.filter(|_| changes > 0) else {
        return (0, 0);
    };
    let down = before.get(i).copied();
    let right = i
        .checked_sub(1)
        .and_then(|left| before.get(left))
        .map(|x| x + 1);
    match (down, right) {
        (Some(down), Some(right)) if right > down => (right, i - 1),
        (Some(down), _) => (down, i),
        (None, right) => (right.unwrap_or(0), i.saturating_sub(1)),
    }
}

fn walk_back<'a>(
    rows: &[Vec<usize>],
    end: usize,
    old: &[&'a str],
    new: &[&'a str],
) -> Option<Vec<Line<'a>>> {
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let mut i = end;
    let mut x = old.len();
    for changes in (0..rows.len()).rev() {
        let before = changes.checked_sub(1).and_then(|row| rows.get(row));
        let (start, came_from) = from(before, i, changes);
        while x > start {
            x -= 1;
            lines.push(Line::Same(old.get(x)?));
        }
        if changes > 0 {
            if came_from == i {
                lines.push(Line::New(new.get((x + changes).checked_sub(2 * i + 1)?)?));
            } else {
                x = x.checked_sub(1)?;
                lines.push(Line::Old(old.get(x)?));
            }
            i = came_from;
        }
    }
    lines.reverse();
    Some(lines)
}

/// How many lines of a hunk are in the old file, and how many in the new one.
fn sides(hunk: &[Line<'_>]) -> (usize, usize) {
    let (mut olds, mut news) = (0, 0);
    for line in hunk {
        olds += usize::from(!matches!(line, Line::New(_)));
        news += usize::from(!matches!(line, Line::Old(_)));
    }
    (olds, news)
}

fn hunks(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let (mut at, mut old, mut new) = (0, 1, 1);
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        let close = rest
            .windows(2)
            .take_while(|pair| matches!(pair, [a, b] if b - a <= 2 * AROUND + 1))
            .count();
        let last = rest.get(close).unwrap_or(first);
        let start = first.saturating_sub(AROUND).max(at);
        let end = (last + AROUND + 1).min(lines.len());
        old += start - at;
        new += start - at;
        let hunk = lines.get(start..end).unwrap_or(&[]);
        let (olds, news) = sides(hunk);
        // An empty side is counted from the line before it.
        let number = |line: usize, count: usize| line - usize::from(count == 0);
        let _ = writeln!(
            out,
            "@@ -{},{olds} +{},{news} @@",
            number(old, olds),
            number(new, news)
        );
        hunk.iter().for_each(|line| show(*line, &mut out));
        (at, old, new) = (end, old + olds, new + news);
        rest = rest.get(close + 1..).unwrap_or(&[]);
    }
    out
}

fn show(line: Line<'_>, out: &mut String) {
    let (sign, text) = match line {
        Line::Same(text) => (' ', text),
        Line::Old(text) => ('-', text),
        Line::New(text) => ('+', text),
    };
    out.push(sign);
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_three_around_it() {
        let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let diff = text_diff(old.as_bytes(), old.replace("5\n", "five\n").as_bytes());
        assert_eq!(
            diff,
            TextDiff::Hunks("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n".to_owned())
        );
    }

    #[test]
    fn far_changes_make_two_hunks_and_a_missing_newline_is_said() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replacen("2\n", "", 1).trim_end().to_owned();
        let TextDiff::Hunks(text) = text_diff(old.as_bytes(), new.as_bytes()) else {
            panic!("text")
        };
        assert_eq!(
            text,
            "@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -17,4 +16,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
        );
        assert_eq!(
            text_diff(b"", b"a\n"),
            TextDiff::Hunks("@@ -0,0 +1,1 @@\n+a\n".to_owned())
        );
    }

    #[test]
    fn binary_is_said_to_be_binary() {
        assert_eq!(text_diff(b"a\0", b"b"), TextDiff::Binary);
        assert_eq!(text_diff(b"a", b"\xff"), TextDiff::Binary);
    }

    #[test]
    fn texts_with_nothing_in_common_are_still_compared() {
        let side = |c: char| (0..3000).map(|n| format!("{c}{n}\n")).collect::<String>();
        let TextDiff::Hunks(text) = text_diff(side('a').as_bytes(), side('b').as_bytes()) else {
            panic!("text")
        };
        assert_eq!(text.lines().count(), 6001);
    }

    proptest! {
        #[test]
        fn a_script_turns_one_text_into_the_other(
            old in proptest::collection::vec("[abc]", 0..30),
            new in proptest::collection::vec("[abc]", 0..30),
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let lines = script(&old, &new);
            let side = |skip: fn(&Line<'_>) -> bool| -> Vec<String> {
                lines.iter().filter(|line| !skip(line)).map(|line| match line {
                    Line::Same(text) | Line::Old(text) | Line::New(text) => (*text).to_owned(),
                }).collect()
            };
            prop_assert_eq!(side(|line| matches!(line, Line::New(_))), old);
            prop_assert_eq!(side(|line| matches!(line, Line::Old(_))), new);
        }
    }
}
