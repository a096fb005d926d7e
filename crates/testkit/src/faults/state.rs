//! The visible state after a command: files of agents and projects, and the output of reading
//! commands.
//!
//! Ids and times differ between runs. A word with a digit that is not in the fixture becomes `•`,
//! so that two runs of the same command give the same state.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::known_words::Known;
use super::lab::FaultLab;
use crate::disk;

/// Paths and contents in order. A path may occur several times (normalised new names).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) items: Vec<(String, String)>,
}

impl State {
    /// Reads everything: files, then `list`, `ops` and `check`.
    pub(super) fn see(place: &FaultLab, known: &Known) -> Result<State, String> {
        let mut state = State::of_files(place, known);
        for (name, args) in [
            ("list", &["list", "--hidden", "--json"][..]),
            ("ops", &["ops", "--json"]),
            ("check", &["check", "--json"]),
        ] {
            let ran = place.run(args)?;
            if !matches!(ran.code, Some(0 | 1)) {
                return Err(format!(
                    "`{name}` ended with {:?}: {}",
                    ran.code,
                    ran.said()
                ));
            }
            // The next command that needs the lock of a killed process breaks it.
            let lines = ran
                .stdout
                .lines()
                .filter(|line| !line.contains(r#""problem":"stale_lock""#));
            let normal = |line: &str| match name {
                "ops" => known.operation_shown(line),
                _ => known.normal(&without_size(&without_file(&without_expiry(line)))),
            };
            state
                .items
                .extend(lines.map(|line| (name.to_owned(), normal(line))));
        }
        state.items.sort();
        Ok(state)
    }

    /// Reads only files, and the recorded operations.
    pub(super) fn of_files(place: &FaultLab, known: &Known) -> State {
        let mut items = Vec::new();
        for (path, bytes) in files(&place.live(), is_visible) {
            let text = known.content(&path, &bytes);
            if path == OPERATIONS {
                // In any order, because the next command may have come first; a torn line is
                // ignored. Parsed first, because normalising may leave a line that is not JSON.
                let lines = String::from_utf8_lossy(&bytes).into_owned();
                let operations = lines.lines().filter_map(operation);
                items.extend(
                    operations.map(|line| ("op".to_owned(), known.content(&path, line.as_bytes()))),
                );
            } else if !is_litter(&path) {
                items.push((known.normal(&path), text));
            }
        }
        items.sort();
        State { items }
    }

    fn answers(&self, name: &str) -> impl Iterator<Item = &(String, String)> {
        self.items.iter().filter(move |(place, _)| place == name)
    }

    fn only_files(&self) -> impl Iterator<Item = &(String, String)> + Clone {
        self.items
            .iter()
            .filter(|(place, _)| !matches!(place.as_str(), "list" | "ops" | "op" | "check"))
    }

    /// Whether this is the old state with the beginning of one line at the end of a file: an append
    /// that stopped in the middle. Its bytes stay, readers report them, and the next writer starts
    /// a new line.
    pub(super) fn is_torn(&self, old: &State) -> bool {
        let was: HashSet<&(String, String)> = old.only_files().collect();
        let changed: Vec<&(String, String)> = self
            .only_files()
            .filter(|item| !was.contains(item))
            .collect();
        let [(place, text)] = changed[..] else {
            return false;
        };
        let Some((_, before)) = old.only_files().find(|(other, _)| other == place) else {
            return false;
        };
        let torn = text.strip_prefix(before.as_str());
        self.only_files().count() == old.only_files().count()
            && torn.is_some_and(|torn| !torn.trim().contains('\n'))
    }

    /// Returns the first differences to another state, on one line.
    pub(super) fn differs(&self, other: &State) -> String {
        let (mine, its) = (self.counts(), other.counts());
        let mut shown = differences('+', &mine, &its);
        shown.extend(differences('-', &its, &mine));
        shown.truncate(4);
        shown.join(" | ")
    }

    fn counts(&self) -> Counts<'_> {
        let mut counts = Counts::new();
        for (place, text) in &self.items {
            *counts.entry((place, text)).or_default() += 1;
        }
        counts
    }

    /// Whether this is another state with one torn line in between.
    pub(super) fn is_with_torn_line(&self, other: &State) -> bool {
        let pairs = self.only_files().zip(other.only_files());
        let same_places = pairs.clone().all(|((place, _), (its, _))| place == its);
        let mut changed = pairs.filter(|(mine, its)| mine != its);
        let (Some(((_, mine), (_, its))), None) = (changed.next(), changed.next()) else {
            return false;
        };
        let mut lines = mine.lines().peekable();
        let mut torn = 0;
        for line in its.lines() {
            while lines.peek().is_some_and(|mine| *mine != line) {
                lines.next();
                torn += 1;
            }
            if lines.next().is_none() {
                return false;
            }
        }
        same_places && self.items.len() == other.items.len() && torn + lines.count() == 1
    }

    /// Whether every file and operation belongs to the old or the new state, and no common path is
    /// missing. A file of lines may contain some of the new lines.
    pub(super) fn is_between(&self, old: &State, new: &State) -> bool {
        let both: HashSet<&(String, String)> = old.items.iter().chain(&new.items).collect();
        let here: HashSet<&str> = self.only_files().map(|(place, _)| place.as_str()).collect();
        let new_places: HashSet<&str> = new.only_files().map(|(place, _)| place.as_str()).collect();
        let mut kept = old
            .only_files()
            .map(|(place, _)| place.as_str())
            .filter(|place| new_places.contains(place));
        let fits = |item: &(String, String)| both.contains(item) || has_some_lines(item, old, new);
        kept.all(|place| here.contains(place))
            && self.only_files().all(fits)
            && self.answers("ops").chain(self.answers("op")).all(fits)
    }
}

/// How many times each place has each text.
type Counts<'s> = BTreeMap<(&'s str, &'s str), usize>;

/// Returns what `these` have more often than `those`, each with the most similar text of the same
/// path.
fn differences(sign: char, these: &Counts<'_>, those: &Counts<'_>) -> Vec<String> {
    let mut shown = Vec::new();
    for (item @ (place, what), count) in these {
        if those.get(item).unwrap_or(&0) < count {
            let others = those.keys().filter(|(other, _)| other == place);
            let near = others.max_by_key(|(_, text)| alike(what, text));
            let near = near.map_or("", |(_, text)| text);
            shown.push(format!("{sign}{place}: {}", around_difference(what, near)));
        }
    }
    shown
}

fn has_some_lines((place, text): &(String, String), old: &State, new: &State) -> bool {
    let of = |state: &State| {
        state
            .items
            .iter()
            .find(|(other, _)| other == place)
            .map(|(_, text)| text.clone())
    };
    let (Some(was), Some(becomes)) = (of(old).or(Some(String::new())), of(new)) else {
        return false;
    };
    let lines: HashSet<&str> = becomes.lines().collect();
    // The last line may be torn; readers report it.
    let added = text.strip_prefix(was.as_str());
    added.is_some_and(|added| {
        added
            .split_inclusive('\n')
            .all(|line| lines.contains(line.trim_end()) || !line.ends_with('\n'))
    })
}

/// Returns a line of `list` without the expiry of the session: it depends on the file's time, which
/// an undone change moves.
fn without_expiry(line: &str) -> String {
    let Some((before, rest)) = line.split_once(r#""expires":"#) else {
        return line.to_owned();
    };
    let after = rest.find(r#","subagents""#).map_or("", |at| &rest[at..]);
    format!("{before}\"expires\":null{after}")
}

/// Returns a line of `list` whose revision contains only the end of the log: an undone change may
/// leave a copy in place of the file.
fn without_file(line: &str) -> Cow<'_, str> {
    let start = r#""revision":""#;
    let cut = line.split_once(start).and_then(|(before, rest)| {
        let (revision, after) = rest.split_once('"')?;
        let (end, _) = revision.split_once('-')?;
        Some(format!("{before}{start}{end}\"{after}"))
    });
    cut.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// Returns a line of `list` without the size of clinvoker's documents, which is also their
/// revision: it varies with the digits of times, and the files themselves are compared.
fn without_size(line: &str) -> Cow<'_, str> {
    if !line.contains(r#""dialect":"clinvoker""#) {
        return Cow::Borrowed(line);
    }
    let Ok(mut session) = serde_json::from_str::<serde_json::Value>(line) else {
        return Cow::Borrowed(line);
    };
    for size in ["revision", "bytes"] {
        session[size] = "size".into();
    }
    Cow::Owned(session.to_string())
}

/// Returns an operation without the times of its files, which an undone change moves.
fn operation(line: &str) -> Option<String> {
    let op = serde_json::from_str::<serde_json::Value>(line).ok()?;
    Some(
        ["kind", "ref", "title", "undoes"]
            .map(|key| op[key].to_string())
            .join(" "),
    )
}

/// Returns the length of the common prefix in characters.
fn alike(text: &str, other: &str) -> usize {
    text.chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count()
}

/// Returns a part of a text from where it differs from another.
fn around_difference(text: &str, other: &str) -> String {
    text.chars()
        .skip(alike(text, other).saturating_sub(20))
        .take(90)
        .collect::<String>()
        .replace('\n', "⏎")
}

const OPERATIONS: &str = "d/own/ops.jsonl";

/// Whether a file is visible to a user or an agent, or is the list of operations. The others are
/// derived, or shown by commands.
fn is_visible(path: &str) -> bool {
    // A demo that a case creates has a boswell home as well.
    let path = &path.replacen("d/out/own", "d/own", 1);
    let inside = [
        "d/own/catalog.db",
        "d/own/index",
        "d/own/locks",
        "d/own/ops/",
        "d/own/vault",
        "tmp",
    ];
    path != "d/own/ops"
        && !inside.iter().any(|start| path.starts_with(start))
        && !is_agents_lock(path)
}

/// Whether a path is a lock of an agent. The next process that needs the lock of a dead one breaks
/// it.
fn is_agents_lock(path: &str) -> bool {
    let locks = [
        "d/home/.myagents/sessions.lock",
        "d/home/.myagents/session-locks",
        "d/home/.clinvk/sessions/store.lock",
    ];
    locks.iter().any(|start| path.starts_with(start))
}

/// Whether a path is a hidden temporary file of ours, which no reader uses. A killed process leaves
/// it.
pub(super) fn is_litter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with('.') && name.ends_with(".tmp")
}

/// Whether a path is derived data or a lock: neither is promised to survive.
pub(super) fn is_derived(path: &str) -> bool {
    // The next change removes remaining staged bytes and intents.
    let passing = [
        "d/own/catalog.db",
        "d/own/index",
        "d/own/locks",
        "d/own/ops/stage-",
        "d/own/ops/intent-",
        "tmp/",
    ];
    passing.iter().any(|start| path.starts_with(start)) || is_agents_lock(path)
}

/// Returns the remaining temporary files.
pub(super) fn litter(place: &FaultLab) -> Vec<String> {
    let seen = files(&place.live(), |path| {
        !path.starts_with("d/own/ops/") && !path.starts_with("d/own/vault/")
    });
    seen.into_iter()
        .map(|(path, _)| path)
        .filter(|path| is_litter(path))
        .collect()
}

/// Returns every selected file below a folder, by its relative path.
pub(super) fn files(root: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for path in disk::list(&folder) {
            let below = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            if !wanted(&below) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                waiting.push(path);
            } else if path.is_file() {
                found.push((below, disk::read(&path)));
            } else {
                found.push((below, b"not a regular file".to_vec()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_between_takes_each_item_from_one_side() {
        let state = |items: &[(&str, &str)]| State {
            items: items
                .iter()
                .map(|(place, what)| ((*place).to_owned(), (*what).to_owned()))
                .collect(),
        };
        let (old, new) = (
            state(&[("a", "1"), ("b", "1")]),
            state(&[("a", "2"), ("b", "2"), ("c", "2")]),
        );
        assert!(state(&[("a", "2"), ("b", "1")]).is_between(&old, &new));
        assert!(
            !state(&[("a", "2"), ("b", "3")]).is_between(&old, &new),
            "torn"
        );
        assert!(!state(&[("a", "2")]).is_between(&old, &new), "lost");
    }
}
