//! The lines of a file, each with the edit that wrote it, carried from one state of the file to the
//! next.
//!
//! A diff can often be read in two ways: of two equal lines, one of which is new, nothing says
//! which. A line is claimed for a session only if it is the session's in every reading, so that
//! what a hand wrote is never claimed.

use std::rc::Rc;

use similar::DiffOp;

use super::comparison::Comparison;

/// How many letters and digits say where a line belongs.
const TELLING: usize = 3;
/// So many telling lines in a row say where they belong even if none of them is unique.
pub(super) const TELLING_ROW: usize = 3;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AttributedLine {
    pub(super) text: Rc<str>,
    /// Number of the edit that wrote it; `None` if no session explains it.
    pub(super) edit: Option<usize>,
    /// Number of the commit that has it first.
    pub(super) commit: Option<usize>,
}

/// The lines of a file at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AttributedLines(pub(super) Vec<AttributedLine>);

/// How the new state of a file came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// An edit of a session.
    Edit(usize),
    /// A session wrote the whole file again: lines in which only white space is new may have been
    /// formatted before.
    Rewrite(usize),
    /// A hand, a formatter, another program: no session.
    Unknown,
}

/// How several states of a file became one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Union {
    /// By a merge of commits: each has lines that the others lack.
    Merge,
    /// One followed the other. Lines of an earlier state may have been restored, but more often a
    /// hand wrote an equal line.
    Sequence,
}

impl Cause {
    fn edit(self) -> Option<usize> {
        match self {
            Cause::Edit(edit) | Cause::Rewrite(edit) => Some(edit),
            Cause::Unknown => None,
        }
    }

    /// What of a line is compared. A formatter changes nothing but white space.
    pub(super) fn key(self, line: &str) -> String {
        match self {
            Cause::Edit(_) => line.to_owned(),
            Cause::Rewrite(_) | Cause::Unknown => without_space(line),
        }
    }

    /// Whether two lines are the same in what is compared.
    pub(super) fn is_same(self, one: &str, other: &str) -> bool {
        match self {
            Cause::Edit(_) => one == other,
            Cause::Rewrite(_) | Cause::Unknown => one == other || visible(one).eq(visible(other)),
        }
    }
}

impl AttributedLines {
    /// A text that has one author.
    pub(super) fn written(text: &str, cause: Cause) -> AttributedLines {
        let line = |line: &str| AttributedLine {
            text: Rc::from(line),
            edit: cause.edit(),
            commit: None,
        };
        AttributedLines(text.lines().map(line).collect())
    }

    /// The text, with a line end behind every line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.0 {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    pub(super) fn is_text(&self, text: &str) -> bool {
        self.0.iter().map(|line| &*line.text).eq(text.lines())
    }

    pub(super) fn has_text_of(&self, other: &AttributedLines) -> bool {
        let texts = other.0.iter().map(|line| &line.text);
        self.0.iter().map(|line| &line.text).eq(texts)
    }

    /// The last line that is not blank.
    pub(super) fn last_text(&self) -> Option<&str> {
        let mut lines = self.0.iter().rev().map(|line| &*line.text);
        lines.find(|line| !line.trim().is_empty())
    }

    /// How many of the lines a text has.
    pub(super) fn kept_in(&self, text: &str) -> usize {
        let carried = carried(&self.0, text, Cause::Unknown);
        carried.is_new.iter().filter(|is_new| !**is_new).count()
    }

    /// Replaces some of the lines.
    pub(super) fn splice(&mut self, range: std::ops::Range<usize>, text: &str, cause: Cause) {
        let before: Vec<AttributedLine> = self.0.get(range.clone()).unwrap_or(&[]).to_vec();
        let after = carried(&before, text, cause);
        self.0.splice(range, after.lines);
    }

    /// Returns the lines after the file got another text.
    pub(super) fn become_text(&self, text: &str, cause: Cause) -> AttributedLines {
        AttributedLines(carried(&self.0, text, cause).lines)
    }

    /// As [`become_text`](Self::become_text), where several states came together: lines that only a
    /// later one of them has keep their author too, if they say by themselves that they are from
    /// there.
    pub(super) fn merged(states: &[&AttributedLines], text: &str, union: Union) -> AttributedLines {
        let mut lines: Option<Carried> = None;
        for state in states {
            let now = carried(&state.0, text, Cause::Unknown);
            match &mut lines {
                Some(known) => known.adopt(&now, union),
                None => lines = Some(now),
            }
        }
        match lines {
            Some(carried) => AttributedLines(carried.lines),
            None => AttributedLines::written(text, Cause::Unknown),
        }
    }

    /// Withdraws the claims that another history of the same text does not support.
    pub(super) fn withdraw_unsupported(&mut self, other: &AttributedLines) {
        for (line, other) in self.0.iter_mut().zip(&other.0) {
            if other.edit.is_none() {
                line.edit = None;
            }
        }
    }

    /// Notes that a commit has these lines.
    pub(super) fn committed(&mut self, commit: usize) {
        for line in &mut self.0 {
            line.commit.get_or_insert(commit);
        }
    }
}

/// Lines of a new state, and which of them the old one does not have.
pub(super) struct Carried {
    pub(super) lines: Vec<AttributedLine>,
    pub(super) is_new: Vec<bool>,
}

impl Carried {
    /// No session claims a line any longer.
    pub(super) fn disown(&mut self, place: usize) {
        if let Some(line) = self.lines.get_mut(place) {
            line.edit = None;
        }
    }

    /// Takes over the lines that another state has and this one lacks.
    fn adopt(&mut self, other: &Carried, union: Union) {
        let is_missing = |known: &Carried, place: usize| {
            known.is_new.get(place) == Some(&true) && other.is_new.get(place) == Some(&false)
        };
        let mut start = 0;
        while start < self.lines.len() {
            let missing = (start..self.lines.len()).take_while(|place| is_missing(self, *place));
            let end = start + missing.count();
            if self.is_from_elsewhere(start..end, union) {
                for place in start..end {
                    if let Some(line) = other.lines.get(place) {
                        self.lines[place] = line.clone();
                        self.is_new[place] = false;
                    }
                }
            }
            start = end.max(start + 1);
        }
    }

    /// Whether lines in a row say by themselves that they are from another state.
    fn is_from_elsewhere(&self, row: std::ops::Range<usize>, union: Union) -> bool {
        let row = self.lines.get(row).unwrap_or(&[]);
        let mut telling = row.iter().filter(|line| is_telling(&line.text));
        match union {
            Union::Sequence => telling.count() >= TELLING_ROW,
            Union::Merge => telling.any(|line| {
                let same = self.lines.iter().filter(|it| it.text == line.text);
                same.count() == 1
            }),
        }
    }
}

fn carried(old: &[AttributedLine], text: &str, cause: Cause) -> Carried {
    let new: Vec<&str> = text.lines().collect();
    let comparison = Comparison::new(old, &new, cause);
    let mut carried = Carried {
        lines: Vec::with_capacity(new.len()),
        is_new: vec![false; new.len()],
    };
    for op in &comparison.ops {
        for place in op.new_range() {
            let from = match op {
                DiffOp::Equal {
                    old_index,
                    new_index,
                    ..
                } => old.get(old_index + place - new_index),
                _ => None,
            };
            let text = new.get(place).copied().unwrap_or_default();
            carried.lines.push(match from {
                Some(line) if *line.text == *text => line.clone(),
                from => AttributedLine {
                    text: Rc::from(text),
                    edit: from.map_or(cause.edit(), |line| line.edit),
                    commit: None,
                },
            });
            carried.is_new[place] = from.is_none();
        }
    }
    comparison.withdraw_claims(&mut carried);
    comparison.withdraw_unsure(&mut carried);
    comparison.follow_line_breaks(&mut carried);
    carried
}

/// Whether a line says where it belongs; a brace or an empty line does not.
pub(super) fn is_telling(line: &str) -> bool {
    line.chars().filter(|it| it.is_alphanumeric()).count() >= TELLING
}

/// A line without its white space.
pub(super) fn without_space(line: &str) -> String {
    visible(line).collect()
}

fn visible(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|it| !it.is_whitespace())
}

#[cfg(test)]
mod tests;
