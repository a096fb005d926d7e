//! Blame of commits: the sessions that wrote their lines, and those that worked meanwhile.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use boswell_find::Secrets;
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::file_blame::BlamedFile;
use super::file_commits::{RAW, RawChange, raw_changes, texts};
use super::repository::Repository;
use super::{CommitBlameRequest, CommitBlameShape, CommitSession};
use crate::RequestContext;
use crate::git_command::GitCommand;
use crate::list::{self, ListRequest};
use crate::redaction::redacted_name;
use crate::sessions::filter::SessionFilter;

/// How a session had part in a commit.
pub(super) const EDITS: &str = "edits";
const TIME: &str = "time";
/// Maximum number of commits of a range, the newest ones.
const MOST: &str = "--max-count=100";
/// Id, time, parents and subject. A commit begins with a byte that none of them contains.
const FORMAT: &str = "--format=%x01%H%x00%ct%x00%P%x00%s%x00";
/// Sessions that ended longer before a commit have no part in it by their time alone.
const LONGEST: i64 = 24 * 60 * 60 * 1000;

pub(super) fn blame(
    cx: &RequestContext,
    request: &CommitBlameRequest,
) -> Result<Vec<CommitBlameShape>> {
    let repository = Repository::of_commits(&cx.env, &cx.env.cwd).ok_or_else(|| {
        let what = format!("`{}` is in no repository of git", cx.env.cwd.display());
        Error::new(ErrorKind::NotFound, what).advising("name a file, or change to a repository")
    })?;
    let git = repository.git(&cx.env);
    let commits = commits(&git, &request.commits)?;
    let parents = times(&git, commits.iter().filter_map(|it| it.parent.as_deref()));
    let secrets = Secrets::new()?;
    let blobs = commits.iter().flat_map(|commit| &commit.changes);
    let blobs: Vec<&str> = blobs.map(|change| change.new.as_str()).collect();
    let blamed = CommitBlame {
        cx,
        filter: &request.filter,
        repository: &repository,
        texts: texts(&git, &blobs),
        secrets,
    };
    let mut shapes = Vec::new();
    for commit in &commits {
        if cx.cancel.is_cancelled() {
            break;
        }
        let before = commit
            .parent
            .as_ref()
            .and_then(|parent| parents.get(parent));
        shapes.push(blamed.shape(commit, before.copied())?);
    }
    Ok(shapes)
}

/// A commit, and what it changes against its first parent.
#[derive(Debug, PartialEq, Eq)]
struct ParsedCommit {
    id: String,
    at: Instant,
    parent: Option<String>,
    subject: String,
    changes: Vec<RawChange>,
}

/// Returns the commits that a person names, oldest first.
fn commits(git: &GitCommand<'_>, name: &str) -> Result<Vec<ParsedCommit>> {
    let missing = || {
        let what = format!(
            "there is no commit `{}`, and no such file",
            name.escape_debug()
        );
        Error::new(ErrorKind::NotFound, what)
    };
    if name.is_empty() || name.starts_with('-') {
        return Err(missing());
    }
    let mut args = vec![
        "log",
        "-m",
        "--first-parent",
        "--no-show-signature",
        "--no-notes",
    ];
    args.extend(RAW);
    match name.contains("..") {
        true => args.extend([MOST, "--no-merges"]),
        false => args.push("--max-count=1"),
    }
    args.extend([FORMAT, name, "--"]);
    let printed = git.text(&args).ok_or_else(missing)?;
    let mut commits = parse(&printed);
    commits.reverse();
    Ok(commits)
}

fn parse(printed: &str) -> Vec<ParsedCommit> {
    let commit = |part: &str| {
        let mut fields = part.splitn(5, '\0');
        let (id, seconds) = (fields.next()?, fields.next()?);
        let (parents, subject) = (fields.next()?, fields.next()?);
        let seconds: i64 = seconds.parse().ok()?;
        Some(ParsedCommit {
            id: id.to_owned(),
            at: Instant::from_millis(seconds.saturating_mul(1000)),
            parent: parents
                .split(' ')
                .next()
                .filter(|it| !it.is_empty())
                .map(str::to_owned),
            subject: subject.to_owned(),
            changes: raw_changes(fields.next().unwrap_or_default()),
        })
    };
    printed.split('\u{1}').skip(1).filter_map(commit).collect()
}

/// Returns when commits were made.
fn times<'i>(git: &GitCommand<'_>, ids: impl Iterator<Item = &'i str>) -> HashMap<String, Instant> {
    let mut args = vec![
        "log",
        "--no-walk",
        "--no-patch",
        "--no-show-signature",
        "--format=%H%x20%ct",
    ];
    let known = args.len();
    args.extend(ids);
    if args.len() == known {
        return HashMap::new();
    }
    args.push("--");
    let printed = git.text(&args).unwrap_or_default();
    let time = |line: &str| {
        let (id, seconds) = line.split_once(' ')?;
        let seconds: i64 = seconds.parse().ok()?;
        Some((
            id.to_owned(),
            Instant::from_millis(seconds.saturating_mul(1000)),
        ))
    };
    printed.lines().filter_map(time).collect()
}

struct CommitBlame<'c> {
    cx: &'c RequestContext,
    filter: &'c SessionFilter,
    repository: &'c Repository,
    texts: HashMap<String, String>,
    secrets: Secrets,
}

/// What a session did for a commit.
#[derive(Debug, Default)]
struct Share {
    agent: String,
    name: String,
    lines: usize,
    files: BTreeSet<String>,
    entries: Vec<String>,
}

impl Share {
    fn add_line(&mut self, path: &str, entry: &String) {
        self.lines += 1;
        self.files.insert(path.to_owned());
        if !self.entries.contains(entry) {
            self.entries.push(entry.clone());
        }
    }
}

impl CommitBlame<'_> {
    fn shape(&self, commit: &ParsedCommit, before: Option<Instant>) -> Result<CommitBlameShape> {
        let mut shares: BTreeMap<String, Share> = BTreeMap::new();
        let (mut added, mut explained) = (0, 0);
        for change in &commit.changes {
            if let Some(text) = self.texts.get(&change.new) {
                let (all, ours) = self.add(commit, change, text, &mut shares)?;
                added += all;
                explained += ours;
            }
        }
        let mut sessions: Vec<CommitSession> = shares
            .into_iter()
            .map(|(session, share)| self.session(session, share, EDITS))
            .collect();
        sessions.sort_by_key(|session| Reverse(session.lines));
        let meanwhile = self.meanwhile(commit, before, &sessions)?;
        sessions.extend(meanwhile);
        Ok(CommitBlameShape {
            commit: commit.id.clone(),
            at: Some(commit.at),
            subject: self.secrets.redact(&commit.subject).into_owned(),
            added,
            unexplained: added - explained,
            sessions,
        })
    }

    fn session(&self, session: String, share: Share, by: &'static str) -> CommitSession {
        CommitSession {
            session,
            agent: share.agent,
            name: redacted_name(&self.secrets, &share.name),
            by,
            lines: share.lines,
            files: share.files.into_iter().collect(),
            entries: share.entries,
        }
    }

    /// Adds the lines that a commit adds to a file; returns how many there are, and how many of
    /// them sessions wrote.
    fn add(
        &self,
        commit: &ParsedCommit,
        change: &RawChange,
        text: &str,
        shares: &mut BTreeMap<String, Share>,
    ) -> Result<(usize, usize)> {
        let top = self.repository.top.as_path();
        let file = top.join(&change.path);
        // What was done in the same second may be in the commit.
        let until = Instant::from_millis(commit.at.millis() + 999);
        let blamed = BlamedFile::read(
            self.cx,
            self.filter,
            (top, Some(self.repository)),
            (&commit.id, Some(until)),
            (&file, text),
        )?;
        let own = blamed.commits.iter().position(|id| *id == commit.id);
        let lines = blamed.lines.0.iter();
        let lines: Vec<_> = lines
            .filter(|it| own.is_some() && it.commit == own)
            .collect();
        let mut explained = 0;
        for edit in lines.iter().filter_map(|line| line.edit) {
            let Some(edit) = blamed.edits.edits.get(edit) else {
                continue;
            };
            let Some(session) = blamed.edits.sessions.get(edit.session) else {
                continue;
            };
            let share = shares
                .entry(session.reference.clone())
                .or_insert_with(|| Share {
                    agent: session.agent.clone(),
                    name: session.name.clone(),
                    ..Share::default()
                });
            explained += 1;
            share.add_line(&change.path, &edit.entry);
        }
        Ok((lines.len(), explained))
    }

    /// Sessions of the project that were active between two commits, without those that
    /// wrote lines.
    fn meanwhile(
        &self,
        commit: &ParsedCommit,
        before: Option<Instant>,
        known: &[CommitSession],
    ) -> Result<Vec<CommitSession>> {
        let earliest = commit.at.millis() - LONGEST;
        let since = before.map_or(earliest, |before| before.millis().max(earliest));
        let mut filter = self.filter.clone();
        let top = &self.repository.top;
        filter.project.get_or_insert(top.display().to_string());
        let request = ListRequest {
            filter,
            ..ListRequest::default()
        };
        let mut sessions = Vec::new();
        for row in list::list(self.cx, &request)?.rows {
            let (store, summary) = &row.conversation.front;
            let created = summary.meta.created.map_or(i64::MAX, Instant::millis);
            let ended = summary.last_active().map_or(i64::MIN, Instant::millis);
            let reference = summary.reference.to_string();
            let is_meanwhile = created <= commit.at.millis() + 999 && ended > since;
            if is_meanwhile && !known.iter().any(|it| it.session == reference) {
                let own = self.cx.stores.get(*store);
                let own = own.map_or("", |store| store.dialect().facts().agent);
                let share = Share {
                    agent: summary.meta.agent.clone().unwrap_or_else(|| own.to_owned()),
                    name: summary.name(),
                    ..Share::default()
                };
                sessions.push(self.session(reference, share, TIME));
            }
        }
        Ok(sessions)
    }
}
