//! What a user can see after a command: files of agents and projects, and the answers
//! of reading commands.
//!
//! Ids and times differ from run to run. A word with a digit in it that the fixture does not hold
//! becomes `•`, so that two runs of the same command give the same state.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::known_words::Known;
use super::lab::FaultLab;
use crate::disk;

/// What is seen: where, and what, in order. One place may be there several times (new names
/// that were made equal).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) items: Vec<(String, String)>,
}

impl State {
    /// Looks at everything: files, then `list`, `ops` and `check`.
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
            // A lock of a process that was killed is broken by the next command that needs it.
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

    /// Only files, and the operations that are written down.
    pub(super) fn of_files(place: &FaultLab, known: &Known) -> State {
        let mut items = Vec::new();
        for (path, bytes) in files(&place.live(), is_visible) {
            let text = known.content(&path, &bytes);
            if path == OPERATIONS {
                // In any order, for the next command may have come first; a torn line says nothing.
                // Parsed first: what makes ids and times equal may leave a line that is not JSON.
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

    /// Whether it is the old state with the beginning of one line behind a file: an append that
    /// stopped in the middle. Its bytes stay, readers report them, and the next writer puts its
    /// line on one of its own.
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

    /// The first differences to another state, on one line.
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

    /// Whether it is another state with one torn line in between.
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

    /// Whether every file and operation is one of the old or of the new state, and each place that
    /// both hold is there. A file of lines may hold some of the new lines.
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

/// What `these` have more often than `those`, each beside the most similar text of that place.
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

/// A line of `list` without the time at which its agent deletes the session: that follows the
/// file's own time, which a change that was taken back moves.
fn without_expiry(line: &str) -> String {
    let Some((before, rest)) = line.split_once(r#""expires":"#) else {
        return line.to_owned();
    };
    let after = rest.find(r#","subagents""#).map_or("", |at| &rest[at..]);
    format!("{before}\"expires\":null{after}")
}

/// A line of `list` whose revision says only where the log ends: a change that was taken back may
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

/// A line of `list` without the size of clinvoker's documents, which is also their revision: it
/// varies with the digits of the time in them, and the files themselves are compared.
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

/// What an operation did. The times of files in it are left out: one that was taken
/// back has moved them.
fn operation(line: &str) -> Option<String> {
    let op = serde_json::from_str::<serde_json::Value>(line).ok()?;
    Some(
        ["kind", "ref", "title", "undoes"]
            .map(|key| op[key].to_string())
            .join(" "),
    )
}

/// How many characters two texts begin with in common.
fn alike(text: &str, other: &str) -> usize {
    text.chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count()
}

/// A piece of text from where it begins to differ from another.
fn around_difference(text: &str, other: &str) -> String {
    text.chars()
        .skip(alike(text, other).saturating_sub(20))
        .take(90)
        .collect::<String>()
        .replace('\n', "⏎")
}

const OPERATIONS: &str = "d/own/ops.jsonl";

/// What a user or an agent looks at, and the list of operations. The rest is derived,
/// or shown by commands.
fn is_visible(path: &str) -> bool {
    // A demo that a case makes has a folder of boswell's own as well.
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

/// Locks of agents. Those of a process that is gone are broken by the next one that needs them.
fn is_agents_lock(path: &str) -> bool {
    let locks = [
        "d/home/.myagents/sessions.lock",
        "d/home/.myagents/session-locks",
        "d/home/.clinvk/sessions/store.lock",
    ];
    locks.iter().any(|start| path.starts_with(start))
}

/// A hidden temporary file of ours, which no reader takes for anything. A process that was
/// killed leaves it behind.
pub(super) fn is_litter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with('.') && name.ends_with(".tmp")
}

/// What can be made again at any time, and locks: none of it is promised to survive.
pub(super) fn is_derived(path: &str) -> bool {
    // Staged bytes and intents that stay are removed by the next change.
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

/// Temporary files that are still there.
pub(super) fn litter(place: &FaultLab) -> Vec<String> {
    let seen = files(&place.live(), |path| {
        !path.starts_with("d/own/ops/") && !path.starts_with("d/own/vault/")
    });
    seen.into_iter()
        .map(|(path, _)| path)
        .filter(|path| is_litter(path))
        .collect()
}

/// Every file that is wanted below a folder, by its path from there.
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
