//! The history of a file in git: its text in each commit, followed through renames.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use boswell_dialect::Environment;

use super::replay::{Act, CommittedText, Event};
use super::repository::Repository;
use crate::git_command::{GitCommand, GitFailure};

/// Maximum number of commits of a file, the newest ones.
const MOST: &str = "--max-count=400";
/// Larger texts are not compared.
pub(super) const LARGEST: usize = 4 << 20;
/// Id, time, parents. A commit begins with a byte that none of them contains.
const FORMAT: &str = "--format=%x01%H%x00%ct%x00";
/// Options of every command that compares commits: raw, from the first parent or each, and without
/// programs.
pub(super) const RAW: [&str; 8] = [
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-M",
    "--ignore-submodules=all",
];

/// The commits of a file.
#[derive(Debug, Default)]
pub(super) struct FileCommits {
    /// Ids of the commits; events have their numbers.
    pub(super) ids: Vec<String>,
    /// The file in each commit, oldest first.
    pub(super) events: Vec<Event>,
    /// Id of its text in the newest one.
    pub(super) head: Option<String>,
}

/// How a commit changes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawChange {
    pub(super) old: String,
    pub(super) new: String,
    /// The first letter of its status.
    pub(super) status: char,
    /// The path before, if it is another one.
    pub(super) from: Option<String>,
    pub(super) path: String,
}

impl FileCommits {
    /// Adds the history of a file, as of a commit. `path` is absolute.
    pub(super) fn add(
        &mut self,
        env: &Environment,
        repository: &Repository,
        commit: &str,
        path: &str,
    ) {
        let top = repository.top.as_path();
        let below = Path::new(path).strip_prefix(top).map(PathBuf::from);
        let Ok(below) = below else {
            return;
        };
        let git = repository.git(env);
        let below = below.to_string_lossy();
        let mut args = vec!["log", "--follow", "-m", "--no-show-signature", "--no-notes"];
        args.extend(RAW);
        args.extend([MOST, FORMAT, commit, "--", &*below]);
        let commits = git
            .text(&args)
            .map(|printed| parse(&printed))
            .unwrap_or_default();
        let blobs: Vec<&str> = commits
            .iter()
            .flat_map(|(_, _, changes)| changes.iter().map(|change| change.new.as_str()))
            .collect();
        let texts = texts(&git, &blobs);
        let mut latest = i64::MIN;
        let mut head = None;
        for (id, seconds, changes) in commits.into_iter().rev() {
            let Some(change) = changes.first() else {
                continue;
            };
            // Git keeps whole seconds: what was done in the same one may be in the commit.
            latest = latest.max(seconds.saturating_mul(1000).saturating_add(999));
            let text = texts.get(&change.new);
            if change.status == 'D' || text.is_some() {
                head = text.map(|_| change.new.clone());
                self.add_commit(top, (id, latest), &changes, text);
            }
        }
        self.head = self.head.take().or(head);
        self.events.sort_by_key(|event| event.at);
    }

    fn add_commit(
        &mut self,
        top: &Path,
        (id, at): (String, i64),
        changes: &[RawChange],
        text: Option<&String>,
    ) {
        let Some(change) = changes.first() else {
            return;
        };
        let below = |path: &str| top.join(path).display().to_string();
        let path = below(&change.path);
        let commit = self.ids.iter().position(|known| *known == id);
        let commit = commit.unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        });
        let is_known = |event: &Event| {
            let is_same = matches!(&event.act, Act::Commit(it) if it.commit == commit);
            is_same && event.path == path
        };
        if self.events.iter().any(is_known) {
            return;
        }
        self.events.push(Event {
            at,
            act: Act::Commit(CommittedText {
                commit,
                text: text.cloned(),
                blob: change.new.clone(),
                parents: changes.iter().map(|change| change.old.clone()).collect(),
                from: change.from.as_deref().map(below),
            }),
            path,
        });
    }

    /// Adds the former name of a file that no commit has, if a hand renamed it since; returns it.
    pub(super) fn add_rename(
        &mut self,
        env: &Environment,
        repository: &Repository,
        path: &str,
        text: &str,
    ) -> Option<String> {
        let (git, top) = (repository.git(env), repository.top.as_path());
        let below = Path::new(path).strip_prefix(top).ok()?.to_string_lossy();
        let from = staged_name(&git, &below).or_else(|| missing_name(&git, top, text))?;
        let from = top.join(from).display().to_string();
        self.events.push(Event {
            at: i64::MAX,
            path: path.to_owned(),
            act: Act::Renamed(from.clone()),
        });
        Some(from)
    }
}

/// The former name of a file whose rename is in the index.
fn staged_name(git: &GitCommand<'_>, path: &str) -> Option<String> {
    let mut args = vec!["diff-index", "--cached"];
    args.extend(RAW);
    args.extend(["HEAD", "--"]);
    let changes = raw_changes(&git.text(&args)?);
    let own = changes.into_iter().find(|change| change.path == path);
    own.and_then(|change| change.from)
}

/// The file of the index that is gone and has most lines of a text.
fn missing_name(git: &GitCommand<'_>, top: &Path, text: &str) -> Option<String> {
    let printed = git.text(&["ls-files", "--stage", "-z"])?;
    let entry = |entry: &str| {
        let (facts, path) = entry.split_once('\t')?;
        let blob = facts.split(' ').nth(1)?;
        (!top.join(path).exists()).then(|| (blob.to_owned(), path.to_owned()))
    };
    let missing: Vec<(String, String)> = printed.split('\0').filter_map(entry).collect();
    let blobs: Vec<&str> = missing.iter().map(|(blob, _)| blob.as_str()).collect();
    let texts = texts(git, &blobs);
    let present: HashSet<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shared = |blob: &String| {
        let lines = texts
            .get(blob)?
            .lines()
            .filter(|line| !line.trim().is_empty());
        let (mut all, mut same) = (0, 0);
        for line in lines {
            all += 1;
            same += usize::from(present.contains(line));
        }
        (same * 2 > all).then_some(same)
    };
    let candidates = missing
        .iter()
        .filter_map(|(blob, path)| Some((shared(blob)?, path)));
    candidates.max().map(|(_, path)| path.clone())
}

/// A commit, its time in seconds, and its changes.
type ParsedCommit = (String, i64, Vec<RawChange>);

/// Reads commits, newest first. A merge is listed once for each parent, one behind the other.
fn parse(printed: &str) -> Vec<ParsedCommit> {
    let mut commits: Vec<ParsedCommit> = Vec::new();
    for part in printed.split('\u{1}').skip(1) {
        let mut fields = part.splitn(3, '\0');
        let (Some(id), Some(at)) = (fields.next(), fields.next()) else {
            continue;
        };
        let changes = raw_changes(fields.next().unwrap_or_default());
        match commits.last_mut() {
            Some((known, _, more)) if known == id => more.extend(changes),
            _ => commits.push((id.to_owned(), at.parse().unwrap_or_default(), changes)),
        }
    }
    commits
}

/// Reads the changes of a commit, as `--raw -z` prints them.
pub(super) fn raw_changes(printed: &str) -> Vec<RawChange> {
    let mut changes = Vec::new();
    let mut fields = printed.split('\0');
    while let Some(field) = fields.next() {
        let Some(facts) = field.trim_start_matches('\n').strip_prefix(':') else {
            continue;
        };
        let facts: Vec<&str> = facts.split(' ').collect();
        let &[_, mode, old, new, status] = facts.as_slice() else {
            continue;
        };
        let status = status.chars().next().unwrap_or_default();
        let first = fields.next().unwrap_or_default().to_owned();
        let (from, path) = match status {
            'R' | 'C' => (Some(first), fields.next().unwrap_or_default().to_owned()),
            _ => (None, first),
        };
        // Links and submodules have no lines.
        if mode.starts_with("100") || status == 'D' {
            changes.push(RawChange {
                old: old.to_owned(),
                new: new.to_owned(),
                status,
                from,
                path,
            });
        }
    }
    changes
}

/// Returns the texts with these ids.
pub(super) fn texts(git: &GitCommand<'_>, blobs: &[&str]) -> HashMap<String, String> {
    let mut wanted: Vec<&str> = blobs.to_vec();
    wanted.retain(|blob| blob.chars().any(|it| it != '0'));
    wanted.sort_unstable();
    wanted.dedup();
    let mut texts = HashMap::new();
    let mut open = vec![wanted.as_slice()];
    while let Some(some) = open.pop().filter(|some| !some.is_empty()) {
        let input = some.join("\n") + "\n";
        match git.bytes(&["cat-file", "--batch"], input.into_bytes()) {
            Ok(printed) => add_texts(&printed, &mut texts),
            // Together they are too long. One that is too long alone is not compared.
            Err(GitFailure::TooLong) if some.len() > 1 => {
                let (one, other) = some.split_at(some.len() / 2);
                open.extend([one, other]);
            }
            Err(_) => {}
        }
    }
    texts
}

/// Reads texts as `cat-file --batch` prints them.
fn add_texts(printed: &[u8], texts: &mut HashMap<String, String>) {
    let mut rest = printed;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (head, body) = rest.split_at(end);
        let head = String::from_utf8_lossy(head).into_owned();
        let words: Vec<&str> = head.split(' ').collect();
        let &[id, kind, size] = words.as_slice() else {
            // A text that is missing has no size.
            rest = body.get(1..).unwrap_or_default();
            continue;
        };
        let size: usize = size.parse().unwrap_or_default();
        let Some(bytes) = body.get(1..1 + size) else {
            break;
        };
        if kind == "blob"
            && let Some(text) = text_of(bytes)
        {
            texts.insert(id.to_owned(), text);
        }
        rest = body.get(size + 2..).unwrap_or_default();
    }
}

/// The text of a file; `None` if it is not text, or too large.
pub(super) fn text_of(bytes: &[u8]) -> Option<String> {
    let is_text = bytes.len() <= LARGEST && !bytes.contains(&0);
    is_text.then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_and_their_changes_are_read() {
        let printed = "\u{1}aa\x0020\x00\x00\n:100644 100644 o1 n1 M\0b\0\
                       \u{1}aa\x0020\x00\x00\n:100644 100644 o2 n1 M\0b\0\
                       \u{1}bb\x0010\x00\x00\n:100644 100644 o0 o1 R090\0a\0b\0";
        let commits = parse(printed);
        assert_eq!(commits.len(), 2);
        let (id, at, changes) = &commits[0];
        assert_eq!((id.as_str(), *at, changes.len()), ("aa", 20, 2));
        assert_eq!(changes[1].old, "o2");
        let rename = &commits[1].2[0];
        assert_eq!(rename.from.as_deref(), Some("a"));
        assert_eq!((rename.status, rename.path.as_str()), ('R', "b"));
    }
}
