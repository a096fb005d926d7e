//! Applies what a call does to the lines of a file, and takes it back.
//!
//! The old text of a call that succeeded was in the file. Where it is not in the lines, they are
//! not those that the call saw: a formatter or a hand changed them, and the old text says how.

use std::collections::HashMap;
use std::ops::Range;

use similar::DiffOp;

use super::attributed_lines::{AttributedLines, Cause, is_telling, without_space};
use super::comparison::line_ops;
use super::file_edit::{EditKind, Hunk, Replacement};

/// How well the old text of an edit must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is there once.
    Exact,
    /// Its lines are there once, with other white space.
    Spaces,
    /// It is there several times, and a patch takes the first one.
    First,
    /// Most of its lines are there, in one place.
    Rough,
}

/// Applies a change of a part of a file; `None` if it does not fit.
pub(super) fn applied(
    lines: &AttributedLines,
    kind: &EditKind,
    cause: Cause,
    fit: Fit,
) -> Option<AttributedLines> {
    let mut after = lines.clone();
    match kind {
        EditKind::Edit(edits) => {
            for edit in edits {
                replace(&mut after, edit, cause, fit)?;
            }
        }
        EditKind::Patch(hunks) => {
            let mut from = 0;
            for hunk in hunks {
                from = patch(&mut after, hunk, from, (cause, fit))?;
            }
        }
        EditKind::Append(text) => {
            let end = after.0.len();
            after.splice(end..end, text, cause);
        }
        EditKind::Insert(line, text) => {
            let at = Some(*line).filter(|line| *line <= after.0.len())?;
            after.splice(at..at, text, cause);
        }
        EditKind::Write(_) | EditKind::Remove | EditKind::Rename(_) => {}
        EditKind::Read | EditKind::ReadPart => {}
    }
    Some(after)
}

fn replace(lines: &mut AttributedLines, edit: &Replacement, cause: Cause, fit: Fit) -> Option<()> {
    let (old, new) = (unix(&edit.old), unix(&edit.new));
    if old.is_empty() {
        // This creates a file, or fills an empty one.
        let is_blank = lines.0.iter().all(|line| line.text.trim().is_empty());
        is_blank.then(|| *lines = lines.become_text(&new, cause))?;
        return Some(());
    }
    let text = lines.text();
    let mut places: Vec<usize> = text.match_indices(&old).map(|(place, _)| place).collect();
    if places.is_empty() {
        let wanted: Vec<&str> = old.lines().collect();
        let range = located(lines, &wanted, fit)?;
        become_seen(lines, range, &wanted, new.as_str(), cause);
        return Some(());
    }
    if places.len() > 1 && !edit.all {
        return None;
    }
    // From the end, so that places before stay valid.
    places.reverse();
    for place in places {
        replace_at(lines, (place, &old), &new, cause);
    }
    Some(())
}

/// Lines become what an edit saw, and then what it made of them.
fn become_seen(
    lines: &mut AttributedLines,
    range: Range<usize>,
    seen: &[&str],
    new: &str,
    cause: Cause,
) {
    let start = range.start;
    lines.splice(range, &joined(seen), Cause::Unknown);
    lines.splice(start..start + seen.len(), new, cause);
}

/// Finds lines that are there in another form.
fn located(lines: &AttributedLines, wanted: &[&str], fit: Fit) -> Option<Range<usize>> {
    let there: Vec<&str> = lines.0.iter().map(|line| &*line.text).collect();
    match fit {
        Fit::Exact | Fit::First => None,
        Fit::Spaces => {
            let keys: Vec<String> = there.iter().map(|line| without_space(line)).collect();
            let wanted: Vec<String> = wanted.iter().map(|line| without_space(line)).collect();
            let mut places = keys.windows(wanted.len().max(1)).enumerate();
            let mut places = places
                .by_ref()
                .filter(|(_, window)| *window == wanted.as_slice());
            let (place, _) = places.next()?;
            places.next().is_none().then(|| place..place + wanted.len())
        }
        Fit::Rough => region_of(wanted, &there),
    }
}

fn replace_at(lines: &mut AttributedLines, (start, old): (usize, &str), new: &str, cause: Cause) {
    let mut begin = 0;
    let mut first = 0;
    for line in &lines.0 {
        let next = begin + line.text.len() + 1;
        if next > start {
            break;
        }
        (begin, first) = (next, first + 1);
    }
    let stop = start + old.len();
    let (mut end, mut last) = (begin, first);
    while let Some(line) = lines.0.get(last).filter(|_| end < stop) {
        end += line.text.len() + 1;
        last += 1;
    }
    let mut text = region(lines, first..last, begin, (start, stop), new);
    if !text.is_empty() && !text.ends_with('\n') && last < lines.0.len() {
        // Without its line end the last line becomes the beginning of the next one.
        last += 1;
        text = region(lines, first..last, begin, (start, stop), new);
    }
    // With white space before it, the old text may be a line that was formatted since.
    let head: usize = start - begin;
    let is_indented = head > 0 && text.get(..head).is_some_and(|head| head.trim().is_empty());
    let cause = match cause {
        Cause::Edit(edit) if is_indented => Cause::Rewrite(edit),
        cause => cause,
    };
    lines.splice(first..last, &text, cause);
}

/// The text of some lines after the replacement.
fn region(
    lines: &AttributedLines,
    range: Range<usize>,
    begin: usize,
    (start, stop): (usize, usize),
    new: &str,
) -> String {
    let mut text = String::new();
    for line in lines.0.get(range).unwrap_or(&[]) {
        text.push_str(&line.text);
        text.push('\n');
    }
    let (start, stop) = (start - begin, (stop - begin).min(text.len()));
    let head = text.get(..start).unwrap_or_default();
    let tail = text.get(stop..).unwrap_or_default();
    format!("{head}{new}{tail}")
}

/// Applies a hunk behind the one before; returns the line behind it.
fn patch(
    lines: &mut AttributedLines,
    hunk: &Hunk,
    from: usize,
    (cause, fit): (Cause, Fit),
) -> Option<usize> {
    let from = match &hunk.after {
        Some(context) => {
            let is_context = |line: &str| line.trim() == context.trim();
            let texts = lines.0.iter().enumerate().skip(from);
            let mut found = texts.filter(|(_, line)| is_context(&line.text));
            // The line may be part of the hunk itself.
            found.next().map_or(from, |(place, _)| place)
        }
        None => from,
    };
    let wanted: Vec<&str> = hunk.old.iter().map(String::as_str).collect();
    let new: Vec<&str> = hunk.new.iter().map(String::as_str).collect();
    let place = match wanted.is_empty() {
        true if hunk.after.is_some() => (from + 1).min(lines.0.len()),
        true => lines.0.len(),
        false => match find(lines, &hunk.old, from).or_else(|| find(lines, &hunk.old, 0)) {
            Some(place) => place,
            None => {
                let range = located(lines, &wanted, fit)?;
                let start = range.start;
                become_seen(lines, range, &wanted, &joined(&new), cause);
                return Some(start + new.len());
            }
        },
    };
    // Lines that are not those that the patch saw may have the text in another place too.
    let is_sure = matches!(fit, Fit::First | Fit::Rough) || hunk.after.is_some();
    if !is_sure && !wanted.is_empty() && find(lines, &hunk.old, place + 1).is_some() {
        return None;
    }
    lines.splice(place..place + wanted.len(), &joined(&new), cause);
    Some(place + new.len())
}

/// The first place of lines at or behind a line: exactly, else but for white space at their ends.
fn find(lines: &AttributedLines, wanted: &[String], from: usize) -> Option<usize> {
    let end = (lines.0.len() + 1).saturating_sub(wanted.len());
    let first = |trim: fn(&str) -> &str| {
        (from..end).find(|place| {
            let there = lines.0.get(*place..).unwrap_or(&[]);
            let mut pairs = there.iter().zip(wanted);
            pairs.all(|(line, wanted)| trim(&line.text) == trim(wanted))
        })
    };
    first(|line| line.trim_end_matches('\r')).or_else(|| first(str::trim_end))
}

/// Returns the text before a change; `None` if it cannot be told.
pub(super) fn taken_back(text: &str, kind: &EditKind) -> Option<String> {
    let mut text = text.to_owned();
    match kind {
        EditKind::Edit(edits) => {
            for edit in edits.iter().rev() {
                let (old, new) = (unix(&edit.old), unix(&edit.new));
                text = without_edit(text, &old, &new, edit.all)?;
            }
        }
        EditKind::Patch(hunks) => {
            for hunk in hunks.iter().rev() {
                let line = |lines: &[String]| -> String {
                    lines.iter().map(|line| format!("{line}\n")).collect()
                };
                text = without_edit(text, &line(&hunk.old), &line(&hunk.new), false)?;
            }
        }
        EditKind::Append(added) => {
            let added = unix(added);
            let before = text.trim_end().strip_suffix(added.trim_end());
            text = before?.to_owned();
        }
        EditKind::Insert(_, added) => {
            let added = format!("{}\n", unix(added).trim_end_matches('\n'));
            text = without_edit(text, "", &added, false)?;
        }
        EditKind::Read | EditKind::ReadPart => {}
        EditKind::Write(_) | EditKind::Remove | EditKind::Rename(_) => return None,
    }
    Some(text)
}

fn without_edit(text: String, old: &str, new: &str, all: bool) -> Option<String> {
    if new.trim().is_empty() {
        // What was removed is gone; nothing says where it was.
        return Some(text);
    }
    match text.match_indices(new).count() {
        0 => without_changed_edit(&text, old, new),
        1 => Some(text.replacen(new, old, 1)),
        _ if all => Some(text.replace(new, old)),
        _ => None,
    }
}

/// Takes back an edit whose text was changed since, if enough of it is still in one place.
fn without_changed_edit(text: &str, old: &str, new: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = new.lines().collect();
    let range = region_of(&wanted, &lines)?;
    let old: Vec<&str> = old.lines().collect();
    let head = joined(lines.get(..range.start).unwrap_or(&[]));
    let tail = joined(lines.get(range.end..).unwrap_or(&[]));
    Some(format!("{head}{}{tail}", joined(&old)))
}

/// Finds the region of a text that most of some lines are in, but for white space.
fn region_of(wanted: &[&str], lines: &[&str]) -> Option<Range<usize>> {
    let key = |line: &&str| without_space(line);
    let wanted: Vec<String> = wanted.iter().map(key).collect();
    let lines: Vec<String> = lines.iter().map(key).collect();
    let (old, new) = numbered(&wanted, &lines);
    let mut found: Option<Range<usize>> = None;
    let mut known = 0;
    for op in line_ops(&old, &new) {
        let DiffOp::Equal { new_index, len, .. } = op else {
            continue;
        };
        let same = lines.get(new_index..new_index + len).unwrap_or(&[]);
        let telling = same.iter().filter(|line| is_telling(line)).count();
        if telling > 0 {
            known += telling;
            let start = found.map_or(new_index, |found| found.start);
            found = Some(start..new_index + len);
        }
    }
    let found = found?;
    let all = wanted.iter().filter(|line| is_telling(line)).count();
    let is_one_place = found.len() <= wanted.len() * 2 + 8;
    (known * 2 >= all && is_one_place).then_some(found)
}

/// Gives each line a number, equal lines the same.
fn numbered(old: &[String], new: &[String]) -> (Vec<usize>, Vec<usize>) {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for line in old.iter().chain(new) {
        let next = ids.len();
        ids.entry(line).or_insert(next);
    }
    let id = |line: &String| ids.get(line.as_str()).copied().unwrap_or_default();
    (old.iter().map(id).collect(), new.iter().map(id).collect())
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text with the line ends of Unix: files are compared without theirs.
pub(super) fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, kind: &EditKind) -> Option<Vec<(String, Option<usize>)>> {
        after_as(text, kind, Fit::Exact)
    }

    fn after_as(text: &str, kind: &EditKind, fit: Fit) -> Option<Vec<(String, Option<usize>)>> {
        let lines = AttributedLines::written(text, Cause::Edit(1));
        let after = applied(&lines, kind, Cause::Edit(2), fit)?;
        let line = |line: super::super::attributed_lines::AttributedLine| {
            (line.text.to_string(), line.edit)
        };
        Some(after.0.into_iter().map(line).collect())
    }

    fn edit(old: &str, new: &str, all: bool) -> EditKind {
        EditKind::Edit(vec![Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            all,
        }])
    }

    fn lines(lines: &[(&str, usize)]) -> Option<Vec<(String, Option<usize>)>> {
        let line = |(text, edit): &(&str, usize)| (text.to_string(), Some(*edit));
        Some(lines.iter().map(line).collect())
    }

    #[test]
    fn an_edit_changes_the_lines_that_it_touches() {
        let text = "one\ntwo\nthree\nfour\n";
        assert_eq!(
            after(text, &edit("wo", "wice", false)),
            lines(&[("one", 1), ("twice", 2), ("three", 1), ("four", 1)])
        );
        assert_eq!(
            after(text, &edit("two\nthree\n", "two\n2.5\nthree\n", false)),
            lines(&[
                ("one", 1),
                ("two", 1),
                ("2.5", 2),
                ("three", 1),
                ("four", 1)
            ])
        );
        assert_eq!(
            after(text, &edit("two\n", "", false)),
            lines(&[("one", 1), ("three", 1), ("four", 1)])
        );
        assert_eq!(
            after(text, &edit("two\n", "2 ", false)),
            lines(&[("one", 1), ("2 three", 2), ("four", 1)])
        );
        assert_eq!(
            after(text, &edit("four", "four\nfive", false)),
            lines(&[
                ("one", 1),
                ("two", 1),
                ("three", 1),
                ("four", 1),
                ("five", 2)
            ])
        );
        assert_eq!(
            after(text, &edit("o", "0", false)),
            None,
            "it is there twice"
        );
        assert_eq!(
            after("a x\nb\nc x\n", &edit("x", "y", true)),
            lines(&[("a y", 2), ("b", 1), ("c y", 2)])
        );
        assert_eq!(after(text, &edit("six", "6", false)), None);
    }

    #[test]
    fn hunks_are_applied_in_order_behind_their_context() {
        let hunk = |after: Option<&str>, old: &[&str], new: &[&str]| Hunk {
            after: after.map(str::to_owned),
            old: old.iter().map(|it| it.to_string()).collect(),
            new: new.iter().map(|it| it.to_string()).collect(),
        };
        let text = "fn a\n  x\nfn b\n  x\nend\n";
        assert_eq!(
            after(
                text,
                &EditKind::Patch(vec![hunk(Some("fn b"), &["  x"], &["  y"])])
            ),
            lines(&[("fn a", 1), ("  x", 1), ("fn b", 1), ("  y", 2), ("end", 1)])
        );
        let two = vec![
            hunk(None, &["  x"], &["  1"]),
            hunk(None, &["  x"], &["  2"]),
        ];
        assert_eq!(
            after(text, &EditKind::Patch(two.clone())),
            None,
            "it is there twice"
        );
        assert_eq!(
            after_as(text, &EditKind::Patch(two), Fit::First),
            lines(&[("fn a", 1), ("  1", 2), ("fn b", 1), ("  2", 2), ("end", 1)])
        );
        assert_eq!(
            after(text, &EditKind::Patch(vec![hunk(None, &["z"], &[])])),
            None
        );
    }

    #[test]
    fn an_edit_is_taken_back_even_if_a_line_of_it_was_changed_since() {
        let kind = edit("old body\n", "first new\nsecond new\nthird new\n", false);
        let text = "top\nfirst new\nsecond by hand\nthird new\nend\n";
        assert_eq!(
            taken_back(text, &kind).as_deref(),
            Some("top\nold body\nend\n")
        );
        let exact = "top\nfirst new\nsecond new\nthird new\nend\n";
        assert_eq!(
            taken_back(exact, &kind).as_deref(),
            Some("top\nold body\nend\n")
        );
        assert_eq!(taken_back("top\nend\n", &kind), None);
    }

    #[test]
    fn an_edit_says_how_the_lines_that_it_saw_were_formatted_or_changed() {
        let before = AttributedLines::written("alpha\nbeta\ngamma\n", Cause::Edit(1));
        let shown = |old: &str, new: &str, fit: Fit| {
            let after = applied(&before, &edit(old, new, false), Cause::Edit(2), fit)?;
            Some(after.0.iter().map(|line| line.edit).collect::<Vec<_>>())
        };
        let (old, new) = ("  beta\n  gamma\n", "  beta\n  new\n  gamma\n");
        assert_eq!(shown(old, new, Fit::Exact), None);
        let lines = shown(old, new, Fit::Spaces);
        assert_eq!(lines, Some(vec![Some(1), Some(1), Some(2), Some(1)]));
        let (old, new) = ("beta\nby hand\ngamma\n", "beta\nby hand\nnew\ngamma\n");
        assert_eq!(shown(old, new, Fit::Spaces), None);
        let lines = shown(old, new, Fit::Rough);
        assert_eq!(lines, Some(vec![Some(1), Some(1), None, Some(2), Some(1)]));
    }
}
