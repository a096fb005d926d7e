//! What a user can see after a command: files of agents and projects, and the answers of reading commands.
//!
//! Ids and times differ from run to run. A word with a digit in it that the fixture does not hold becomes `•`, so that two runs of
//! the same command give the same state.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::place::Place;
use crate::disk;

/// Words of the fixture, which stay as they are.
#[derive(Debug, Default)]
pub(super) struct Known(HashSet<String>);

impl Known {
    /// Learns every word of the fixture that is live now.
    pub(super) fn of(place: &Place) -> Result<Known, String> {
        let mut known = Known::default();
        for (path, bytes) in files(&place.live(), |_| true) {
            known.learn(&path);
            known.learn(&String::from_utf8_lossy(&bytes));
        }
        for args in [&["list", "--hidden", "--json"][..], &["ops", "--json"], &["check", "--json"]] {
            known.learn(&place.run(args)?.stdout);
        }
        Ok(known)
    }

    fn learn(&mut self, text: &str) {
        self.0.extend(words(text).filter(|word| varies(word)).map(str::to_owned));
    }

    pub(super) fn normal(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (head, tail) = rest.split_at(word);
            out.push_str(if varies(head) && !self.0.contains(head) { "•" } else { head });
            let gap = tail.find(is_word).unwrap_or(tail.len());
            out.push_str(&tail[..gap]);
            rest = &tail[gap..];
        }
        out
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// Ids, times and hashes; short numbers are counts, and those must be the same.
fn varies(word: &str) -> bool {
    word.len() >= 8 && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// What is seen: where, and what, in order. One place may be there several times (new names that were made equal).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) items: Vec<(String, String)>,
}

impl State {
    /// Looks at everything: files, then `list`, `ops` and `check`.
    pub(super) fn see(place: &Place, known: &Known) -> Result<State, String> {
        let mut state = State::of_files(place, known);
        for (name, args) in
            [("list", &["list", "--hidden", "--json"][..]), ("ops", &["ops", "--json"]), ("check", &["check", "--json"])]
        {
            let ran = place.run(args)?;
            if !matches!(ran.code, Some(0 | 1)) {
                return Err(format!("`{name}` ended with {:?}: {}", ran.code, ran.said()));
            }
            state.items.extend(ran.stdout.lines().map(|line| (name.to_owned(), known.normal(line))));
        }
        state.items.sort();
        Ok(state)
    }

    /// Only files.
    pub(super) fn of_files(place: &Place, known: &Known) -> State {
        let seen = files(&place.live(), |path| !is_inside(path));
        let mut items: Vec<(String, String)> = seen
            .into_iter()
            .map(|(path, bytes)| (known.normal(&path), known.normal(&String::from_utf8_lossy(&bytes))))
            .collect();
        items.sort();
        State { items }
    }

    /// The first differences to another state, on one line.
    pub(super) fn differs(&self, other: &State) -> String {
        let count = |state: &State| {
            let mut counts: BTreeMap<(String, String), i64> = BTreeMap::new();
            state.items.iter().for_each(|item| *counts.entry(item.clone()).or_default() += 1);
            counts
        };
        let (mine, its) = (count(self), count(other));
        let extra = mine.iter().filter(|(item, n)| its.get(item).unwrap_or(&0) < n).map(|(item, _)| ("+", item));
        let lacking = its.iter().filter(|(item, n)| mine.get(item).unwrap_or(&0) < n).map(|(item, _)| ("-", item));
        let shown = extra.chain(lacking).take(4).map(|(sign, (place, what))| {
            let counterpart = if sign == "+" { &its } else { &mine };
            let others = counterpart.keys().filter(|(other, _)| other == place).map(|(_, text)| text.as_str());
            let near = others.max_by_key(|text| alike(what, text)).unwrap_or("");
            format!("{sign}{place}: {}", around_difference(what, near))
        });
        shown.collect::<Vec<_>>().join(" | ")
    }

    /// Whether every item is one of the old or of the new state, and each place that both hold is there.
    pub(super) fn is_between(&self, old: &State, new: &State) -> bool {
        let both: HashSet<&(String, String)> = old.items.iter().chain(&new.items).collect();
        let here: HashSet<&str> = self.items.iter().map(|(place, _)| place.as_str()).collect();
        let new_places: HashSet<&str> = new.items.iter().map(|(place, _)| place.as_str()).collect();
        let kept = old.items.iter().map(|(place, _)| place.as_str()).filter(|place| new_places.contains(place));
        self.items.iter().all(|item| both.contains(item)) && kept.into_iter().all(|place| here.contains(place))
    }
}

/// How many characters two texts begin with in common.
fn alike(text: &str, other: &str) -> usize {
    text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// A piece of text from where it begins to differ from another.
fn around_difference(text: &str, other: &str) -> String {
    text.chars().skip(alike(text, other).saturating_sub(20)).take(90).collect::<String>().replace('\n', "⏎")
}

/// What only boswell looks at: shown by commands, or derived.
pub(super) fn is_inside(path: &str) -> bool {
    let inside = ["d/own/catalog.db", "d/own/index", "d/own/locks", "d/own/ops", "d/own/vault", "tmp/"];
    inside.iter().any(|start| path.starts_with(start))
}

/// What can be made again at any time, and locks: none of it is promised to survive.
pub(super) fn is_derived(path: &str) -> bool {
    // Staged bytes and intents that stay are removed by the next change.
    let passing = ["d/own/catalog.db", "d/own/index", "d/own/locks", "d/own/ops/stage-", "d/own/ops/intent-", "tmp/"];
    passing.iter().any(|start| path.starts_with(start))
}

/// Every file that is wanted below a folder, by its path from there.
pub(super) fn files(root: &Path, wanted: impl Fn(&str) -> bool) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for path in disk::list(&folder) {
            let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
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
    fn new_ids_and_times_are_made_equal_and_everything_else_stays() {
        let mut known = Known::default();
        known.learn("id 01a1e494-c409-7567-92ec-2f04c3325c8d");
        let text = "01a1e494-c409-7567-92ec-2f04c3325c8d at 2026-11-16T13:35:47.020Z said \"hello\" 12 times to b1946ac92492d234";
        assert_eq!(
            known.normal(text),
            "01a1e494-c409-7567-92ec-2f04c3325c8d at • said \"hello\" 12 times to •"
        );
    }

    #[test]
    fn a_state_between_takes_each_item_from_one_side() {
        let state = |items: &[(&str, &str)]| State {
            items: items.iter().map(|(place, what)| ((*place).to_owned(), (*what).to_owned())).collect(),
        };
        let (old, new) = (state(&[("a", "1"), ("b", "1")]), state(&[("a", "2"), ("b", "2"), ("c", "2")]));
        assert!(state(&[("a", "2"), ("b", "1")]).is_between(&old, &new));
        assert!(!state(&[("a", "2"), ("b", "3")]).is_between(&old, &new), "torn");
        assert!(!state(&[("a", "2")]).is_between(&old, &new), "lost");
    }
}
