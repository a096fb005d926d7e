//! Replays what happened to a file, from the oldest event to its present text.
//!
//! Between two events a hand or another program may have changed the file. Known states show that:
//! commits, reads, copies that agents made, and in the end the file itself. What changed between an
//! edit and a known state is unexplained. A text that may be a state, but is not for certain,
//! cannot claim a line for a session; it can only withdraw a claim.

use std::collections::{HashMap, HashSet};

use super::apply::{Fit, applied, taken_back, unix};
use super::attributed_lines::{AttributedLines, Cause, Union};
use super::file_edit::EditKind;
use super::repository::WorkingTrees;

/// Maximum number of texts of a file that may be its state.
const MOST_UNSURE: usize = 8;

/// Something that happened to a file.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// Milliseconds since 1970.
    pub(super) at: i64,
    /// The file: its absolute path.
    pub(super) path: String,
    pub(super) act: Act,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A session changed it.
    Edit {
        /// Number of the edit.
        edit: usize,
        kind: EditKind,
        /// Its text before, if that was recorded.
        before: Option<String>,
    },
    /// Its text was read.
    Seen { text: String, extent: SeenExtent },
    /// It was committed.
    Commit(CommittedText),
    /// It had another name before.
    Renamed(String),
}

/// How much of a file a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenExtent {
    /// All of it for certain.
    Whole,
    /// All of it, unless the tool cut it or added something.
    Likely,
    /// Some of its lines.
    Part,
}

/// The text of a file in a commit.
#[derive(Debug, Clone)]
pub(super) struct CommittedText {
    /// Number of the commit.
    pub(super) commit: usize,
    /// `None` if the commit removes it.
    pub(super) text: Option<String>,
    /// Id of the text.
    pub(super) blob: String,
    /// Ids of the texts before it; several for a merge.
    pub(super) parents: Vec<String>,
    /// The path that it had before, if the commit renames it.
    pub(super) from: Option<String>,
}

/// The present text of a file, or that of a commit.
#[derive(Debug, Clone)]
pub(super) struct LastState<'e> {
    pub(super) path: &'e str,
    pub(super) text: &'e str,
    /// Id of the text in the last commit.
    pub(super) head: Option<&'e str>,
    /// The working trees of its repository.
    pub(super) trees: &'e WorkingTrees,
}

/// Replays events, which are sorted by time, and returns the lines of the last state.
pub(super) fn replay(events: &[Event], last: &LastState<'_>) -> AttributedLines {
    let mut replay = Replay {
        events,
        last: last.clone(),
        files: HashMap::new(),
        unsure: HashMap::new(),
        commits: HashMap::new(),
        done: HashSet::new(),
        edited: edited_paths(events),
    };
    for place in 0..events.len() {
        replay.step(place);
    }
    let known = replay.files.get(last.path);
    let head = last.head.and_then(|blob| replay.commits.get(blob));
    let states: Vec<&AttributedLines> = known.into_iter().chain(head).collect();
    AttributedLines::merged(&states, last.text, Union::Sequence)
}

/// The paths that sessions worked with.
fn edited_paths(events: &[Event]) -> HashSet<String> {
    let is_work = |event: &&Event| matches!(event.act, Act::Edit { .. } | Act::Seen { .. });
    let events = events.iter().filter(is_work);
    events.map(|event| event.path.clone()).collect()
}

/// Returns a text with edits taken back, the last one first; all of them, or as many as possible.
fn without(mut text: String, edits: &[&EditKind], all: bool) -> Option<String> {
    for kind in edits.iter().rev() {
        text = match taken_back(&text, kind) {
            Some(before) => before,
            None if all => return None,
            None => text,
        };
    }
    Some(text)
}

struct Replay<'e> {
    events: &'e [Event],
    last: LastState<'e>,
    /// The lines of each file, by path.
    files: HashMap<String, AttributedLines>,
    /// Other lines that a file may have, by path.
    unsure: HashMap<String, Vec<AttributedLines>>,
    /// The lines of committed texts, by their ids.
    commits: HashMap<String, AttributedLines>,
    /// Events that were replayed before their turn.
    done: HashSet<usize>,
    /// Paths that sessions worked with.
    edited: HashSet<String>,
}

impl<'e> Replay<'e> {
    fn step(&mut self, place: usize) {
        let Some(event) = self.events.get(place).filter(|_| self.done.insert(place)) else {
            return;
        };
        match &event.act {
            Act::Edit { edit, kind, before } => {
                self.commit_before(place);
                self.change(place, event, (*edit, kind), before.as_deref());
            }
            Act::Seen { text, extent } => self.see(&event.path, text, *extent),
            Act::Commit(commit) => self.commit(&event.path, commit),
            Act::Renamed(from) => self.rename(from, &event.path),
        }
    }

    /// Takes the lines of a file to its new name, unless that has lines already.
    fn rename(&mut self, from: &str, to: &str) {
        let moved = self.files.remove(from);
        if let (Some(moved), false) = (moved, self.files.contains_key(to)) {
            self.files.insert(to.to_owned(), moved);
        }
        self.rename_rest(from, to);
    }

    /// Takes along what else is known of a file.
    fn rename_rest(&mut self, from: &str, to: &str) {
        if self.edited.contains(from) {
            self.edited.insert(to.to_owned());
        }
        if let Some(moved) = self.unsure.remove(from) {
            self.unsure.entry(to.to_owned()).or_default().extend(moved);
        }
    }

    /// Notes lines that a file may have.
    fn add_unsure(&mut self, path: &str, lines: AttributedLines) {
        let all = self.unsure.entry(path.to_owned()).or_default();
        if all.len() < MOST_UNSURE && !all.contains(&lines) {
            all.push(lines);
        }
    }

    /// The file that a commit changed, if sessions worked with it in one working tree only.
    fn only_place(&self, committed: &str) -> Option<String> {
        let mut places = self.last.trees.everywhere(committed);
        places.retain(|place| self.edited.contains(place));
        places.pop().filter(|_| places.is_empty())
    }

    /// Whether an event is about a file: a commit also if it was made in another working tree.
    fn is_about(&self, event: &Event, path: &str) -> bool {
        let is_shared = matches!(event.act, Act::Commit(_)) && !self.last.trees.is_one();
        event.path == path || is_shared && self.only_place(&event.path).as_deref() == Some(path)
    }

    /// Replays the next commit before an edit, if the file is as the commit has it. Git keeps whole
    /// seconds, and a commit that was made again later has a later time.
    fn commit_before(&mut self, place: usize) {
        let Some(event) = self.events.get(place) else {
            return;
        };
        let mut next = self.events.iter().enumerate().skip(place + 1);
        let next = next.find_map(|(place, next)| match &next.act {
            Act::Commit(commit)
                if self.is_about(next, &event.path) && !self.done.contains(&place) =>
            {
                Some((place, commit))
            }
            _ => None,
        });
        let Some((place, commit)) = next else {
            return;
        };
        let lines = self.files.get(&event.path);
        let is_now = lines.zip(commit.text.as_deref());
        if is_now.is_some_and(|(lines, text)| lines.is_text(text)) {
            self.step(place);
        }
    }

    fn change(
        &mut self,
        place: usize,
        event: &Event,
        (edit, kind): (usize, &EditKind),
        before: Option<&str>,
    ) {
        self.follow_later_rename(place, &event.path);
        if let Some(before) = before {
            self.become_known(&event.path, before);
        }
        let cause = Cause::Edit(edit);
        match kind {
            EditKind::Rename(to) => {
                if let Some(lines) = self.files.remove(&event.path) {
                    self.files.insert(to.clone(), lines);
                }
                self.rename_rest(&event.path, to);
            }
            EditKind::Remove => {
                self.files.remove(&event.path);
                self.unsure.remove(&event.path);
            }
            EditKind::Write(text) => self.write(&event.path, text, edit),
            _ => {
                for lines in self.unsure.get_mut(&event.path).into_iter().flatten() {
                    if let Some(after) = applied(lines, kind, cause, Fit::Exact) {
                        *lines = after;
                    }
                }
                if let Some(after) = self.edited(place, &event.path, kind, cause) {
                    self.files.insert(event.path.clone(), after);
                }
            }
        }
    }

    /// A session writes the whole file. It may write again what it saw there: what a hand may have
    /// written before is not claimed.
    fn write(&mut self, path: &str, text: &str, edit: usize) {
        let cause = Cause::Rewrite(edit);
        let mut lines = match self.files.get(path) {
            Some(lines) => lines.become_text(text, cause),
            None => AttributedLines::written(text, cause),
        };
        for other in self.unsure.remove(path).into_iter().flatten() {
            lines.withdraw_unsupported(&other.become_text(text, cause));
        }
        self.files.insert(path.to_owned(), lines);
    }

    /// The lines after an edit of a part of the file, wherever it fits.
    fn edited(
        &mut self,
        place: usize,
        path: &str,
        kind: &EditKind,
        cause: Cause,
    ) -> Option<AttributedLines> {
        let apply =
            |replay: &Replay<'e>, fit: Fit| applied(replay.files.get(path)?, kind, cause, fit);
        if let Some(after) = apply(self, Fit::Exact).or_else(|| apply(self, Fit::Spaces)) {
            return Some(after);
        }
        let known = self.files.get(path).cloned();
        if let Some(text) = self.text_before(place, known.is_some()) {
            self.become_text(path, &text);
            if let Some(after) = apply(self, Fit::Exact) {
                return Some(after);
            }
            if let Some(known) = known {
                self.files.insert(path.to_owned(), known);
            }
        }
        apply(self, Fit::First).or_else(|| apply(self, Fit::Rough))
    }

    /// The text before an edit: the next known state, with the edits between taken back; all of
    /// them, or as many as possible.
    fn text_before(&self, place: usize, all: bool) -> Option<String> {
        let mut path = self.events.get(place)?.path.as_str();
        let mut edits: Vec<&EditKind> = Vec::new();
        let mut text = None;
        for (later, event) in self.events.iter().enumerate().skip(place) {
            if !self.is_about(event, path) || (later > place && self.done.contains(&later)) {
                continue;
            }
            match &event.act {
                Act::Edit { before, kind, .. } => {
                    if let Some(before) = before.as_ref().filter(|_| later > place) {
                        text = Some(before.as_str());
                        break;
                    }
                    match kind {
                        EditKind::Rename(to) => path = to,
                        EditKind::Write(_) | EditKind::Remove => return None,
                        kind => edits.push(kind),
                    }
                }
                Act::Seen {
                    text: seen,
                    extent: SeenExtent::Whole,
                } => {
                    text = Some(seen.as_str());
                    break;
                }
                Act::Seen { .. } | Act::Renamed(_) => {}
                Act::Commit(commit) => {
                    text = Some(commit.text.as_deref()?);
                    break;
                }
            }
        }
        let text = match text {
            Some(text) => text,
            None if path == self.last.path => self.last.text,
            None => return None,
        };
        without(unix(text), &edits, all)
    }

    /// A file that is edited under a name that only a later commit explains.
    fn follow_later_rename(&mut self, place: usize, path: &str) {
        if self.files.contains_key(path) {
            return;
        }
        let mut later = self.events.iter().skip(place);
        let from = later.find_map(|event| match &event.act {
            Act::Commit(commit) if self.is_about(event, path) => {
                let from = commit.from.as_deref();
                Some(from.map(|from| self.last.trees.in_tree_of(from, path)))
            }
            Act::Renamed(from) if event.path == path => Some(Some(from.clone())),
            _ => None,
        });
        if let Some(from) = from.flatten() {
            self.rename(&from, path);
        }
    }

    fn see(&mut self, path: &str, text: &str, extent: SeenExtent) {
        let known = self.files.get(path);
        let shown = match known {
            Some(lines) => lines.become_text(text, Cause::Unknown),
            None => AttributedLines::written(text, Cause::Unknown),
        };
        let is_trusted = match extent {
            SeenExtent::Whole => true,
            SeenExtent::Likely => known.is_none_or(|lines| is_plausible(lines, &shown)),
            SeenExtent::Part => false,
        };
        match is_trusted {
            true => self.become_known(path, text),
            false => self.add_unsure(path, shown),
        }
    }

    /// The file has a text for certain.
    fn become_known(&mut self, path: &str, text: &str) {
        self.unsure.remove(path);
        self.become_text(path, text);
    }

    fn become_text(&mut self, path: &str, text: &str) {
        let lines = match self.files.get(path) {
            Some(lines) if lines.is_text(text) => return,
            Some(lines) => lines.become_text(text, Cause::Unknown),
            None => AttributedLines::written(text, Cause::Unknown),
        };
        self.files.insert(path.to_owned(), lines);
    }

    fn commit(&mut self, path: &str, commit: &CommittedText) {
        let places = self.last.trees.everywhere(path);
        if let Some(from) = &commit.from {
            for place in &places {
                let from = self.last.trees.in_tree_of(from, place);
                self.rename(&from, place);
            }
        }
        let own = self.committed_place(&places, commit.text.as_deref());
        let Some(text) = &commit.text else {
            self.files.remove(path);
            self.files.remove(&own);
            return;
        };
        let known = self.files.get(&own);
        let mut lines = match known {
            Some(lines) if lines.is_text(text) => lines.clone(),
            known => self.merged(known, commit, text),
        };
        lines.committed(commit.commit);
        self.commits.insert(commit.blob.clone(), lines.clone());
        for place in places {
            let is_edited = self.edited.contains(&place);
            let is_here = place == own || (!is_edited && place == path);
            if is_here || (is_edited && self.is_unchanged(&place, commit)) {
                self.unsure.remove(&place);
                self.files.insert(place, lines.clone());
            } else if is_edited {
                // It may have been committed there; or the file is still another one there.
                self.add_unsure(&place, lines.clone());
            }
        }
    }

    /// Returns the lines of a commit from those of the file and of the commit's parents.
    fn merged(
        &self,
        known: Option<&AttributedLines>,
        commit: &CommittedText,
        text: &str,
    ) -> AttributedLines {
        let union = match commit.parents.len() {
            0 | 1 => Union::Sequence,
            _ => Union::Merge,
        };
        let parents = commit.parents.iter();
        let parents = parents.filter_map(|blob| self.commits.get(blob));
        let states: Vec<&AttributedLines> = known.into_iter().chain(parents).collect();
        AttributedLines::merged(&states, text, union)
    }

    /// Whether a file is as it was before a commit, so that the commit can simply be taken over.
    fn is_unchanged(&self, path: &str, commit: &CommittedText) -> bool {
        let parents = commit.parents.iter();
        let mut parents = parents.filter_map(|blob| self.commits.get(blob));
        let lines = self.files.get(path);
        lines.is_none_or(|lines| parents.any(|parent| parent.has_text_of(lines)))
    }

    /// The file that a commit was made of: the one that sessions worked with; of several the one
    /// that resembles it most.
    fn committed_place(&self, places: &[String], text: Option<&str>) -> String {
        if let [only] = places {
            return only.clone();
        }
        let kept = |place: &&String| {
            let lines = self.files.get(place.as_str()).zip(text);
            lines.map_or(0, |(lines, text)| lines.kept_in(text))
        };
        let places = places.iter();
        let edited = places.clone().filter(|it| self.edited.contains(*it));
        // Of equal ones `max_by_key` takes the last: the own working tree is preferred.
        let nearest = edited.rev().max_by_key(kept);
        let own = nearest.or(places.clone().next());
        own.cloned().unwrap_or_default()
    }
}

/// Whether a text that a tool showed is all of a file: a tool may show a part of it, or say
/// something about it.
fn is_plausible(known: &AttributedLines, shown: &AttributedLines) -> bool {
    let claimed =
        |lines: &AttributedLines| lines.0.iter().filter(|line| line.edit.is_some()).count();
    let (last, ends) = (known.last_text(), shown.last_text());
    last.is_some() && last == ends && claimed(shown) * 2 >= claimed(known)
}

#[cfg(test)]
mod tests;
