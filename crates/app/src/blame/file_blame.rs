//! Blame of a file: its events, replayed, and shown line by line.

use std::collections::HashMap;
use std::path::Path;

use boswell_dialect::by_name;
use boswell_find::Secrets;
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::Store;

use super::attributed_lines::{AttributedLine, AttributedLines};
use super::file_commits::{FileCommits, LARGEST, text_of};
use super::replay::{Event, LastState, replay};
use super::repository::{Repository, WorkingTrees};
use super::session_edits::SessionEdits;
use super::{BlameRequest, BlameShape, BlamedLine, BlamedPrompt, BlamedSession, real_file};
use crate::RequestContext;
use crate::redaction::redacted_name;
use crate::sessions::filter::SessionFilter;
use crate::shape::Maybe;
use crate::work_log::{LONGEST, redacted_beginning};

pub(super) fn blame(cx: &RequestContext, request: &BlameRequest) -> Result<BlameShape> {
    let file = real_file(cx, &request.file)?;
    let text = read(&file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let repository = Repository::of_files(&cx.env, folder);
    let lines = text.lines().count();
    let (first, last) = request.lines.unwrap_or((1, lines));
    if last > lines && request.lines.is_some() {
        let what = format!("`{}` has {lines} lines", file.display());
        return Err(Error::new(ErrorKind::Invalid, what));
    }
    let root = repository.as_ref().map_or(folder, |it| it.top.as_path());
    let place = (root, repository.as_ref());
    let whole = BlamedFile::read(cx, &request.filter, place, ("HEAD", None), (&file, &text))?;
    if !whole.edits.is_complete {
        cx.remark("not every call was looked at: there are too many with this name");
    }
    let shown = whole.lines.0.iter().enumerate();
    let shown = shown.skip(first - 1).take((last + 1).saturating_sub(first));
    let shown: Vec<BlamedLine> = shown
        .map(|(place, line)| whole.shape(place, line))
        .collect();
    let secrets = Secrets::new()?;
    Ok(BlameShape {
        file: file.display().to_string(),
        repository: repository.as_ref().map(|it| it.top.display().to_string()),
        prompts: whole.prompts(&shown, &secrets),
        sessions: whole.sessions(&shown, &secrets),
        unexplained: shown.iter().filter(|line| line.session.is_none()).count(),
        lines: shown,
    })
}

/// Reads the text of a file.
fn read(file: &Path) -> Result<String> {
    let shown = file.display().to_string();
    let wrong = |why: &str| Error::new(ErrorKind::Invalid, format!("`{shown}` {why}"));
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(wrong("is not a file"));
    };
    if !file.is_file() {
        return Err(wrong("is not a file"));
    }
    let own = by_name("boswell").ok_or_else(|| wrong("cannot be read"))?;
    let store = Store::in_folder(own, folder);
    let bytes = store.file(&name.to_string_lossy(), LARGEST as u64)?;
    text_of(&bytes.unwrap_or_default()).ok_or_else(|| wrong("is not a text"))
}

/// Returns files under their paths in every working tree.
fn everywhere(trees: &WorkingTrees, paths: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in paths {
        all.extend(trees.everywhere(&path));
    }
    all
}

/// A file with the authors of its lines.
#[derive(Debug)]
pub(super) struct BlamedFile<'c> {
    pub(super) lines: AttributedLines,
    pub(super) edits: SessionEdits<'c>,
    pub(super) commits: Vec<String>,
}

/// Returns the edits until a time and the commits, in the order in which they were made.
fn sorted(mut edits: Vec<Event>, until: Option<Instant>, commits: Vec<Event>) -> Vec<Event> {
    if let Some(until) = until {
        edits.retain(|event| event.at <= until.millis());
    }
    edits.extend(commits);
    // The sort is stable: in the same millisecond edits are before commits.
    edits.sort_by_key(|event| event.at);
    edits
}

impl<'c> BlamedFile<'c> {
    /// Replays what happened to a file until it had a text: the one in a commit, with what was done
    /// until then, or the present one, which follows the commit.
    pub(super) fn read(
        cx: &'c RequestContext,
        filter: &'c SessionFilter,
        (root, repository): (&'c Path, Option<&Repository>),
        (commit, until): (&str, Option<Instant>),
        (file, text): (&Path, &str),
    ) -> Result<BlamedFile<'c>> {
        let path = file.display().to_string();
        let trees = repository.map_or_else(WorkingTrees::default, |it| it.trees.clone());
        let mut commits = FileCommits::default();
        let mut edits = SessionEdits::new(cx, filter, root);
        let mut open = vec![path.clone()];
        while !open.is_empty() {
            let mut names = everywhere(&trees, open);
            if let Some(repository) = repository {
                let add = |commits: &mut FileCommits, name: &String| {
                    commits.add(&cx.env, repository, commit, name);
                };
                names.iter().for_each(|name| add(&mut commits, name));
                if commits.events.is_empty() && until.is_none() {
                    let former = commits.add_rename(&cx.env, repository, &path, text);
                    former.iter().for_each(|name| add(&mut commits, name));
                    names.extend(former);
                }
                let committed = commits.events.iter().map(|event| event.path.clone());
                names.extend(everywhere(&trees, committed.collect()));
            }
            names.sort();
            names.dedup();
            open = edits.add_names(names)?;
        }
        let events = sorted(edits.events(), until, commits.events);
        let last = LastState {
            path: &path,
            text,
            head: commits.head.as_deref(),
            trees: &trees,
        };
        Ok(BlamedFile {
            lines: replay(&events, &last),
            edits,
            commits: commits.ids,
        })
    }

    fn shape(&self, place: usize, line: &AttributedLine) -> BlamedLine {
        let edit = line.edit.and_then(|edit| self.edits.edits.get(edit));
        let session = edit.and_then(|edit| self.edits.sessions.get(edit.session));
        let commit = line.commit.and_then(|commit| self.commits.get(commit));
        BlamedLine {
            line: place + 1,
            text: line.text.to_string(),
            origin: match session {
                Some(_) => "session",
                None => "unexplained",
            },
            session: session.map(|it| it.reference.clone()),
            agent: session.map(|it| it.agent.clone()),
            entry: edit.map(|edit| edit.entry.clone()),
            prompt: edit.and_then(|edit| edit.prompt.clone()),
            when: edit.and_then(|edit| edit.at),
            commit: Maybe::from(commit.cloned()),
        }
    }

    /// The prompts that lines name, in the order of the lines.
    fn prompts(&self, lines: &[BlamedLine], secrets: &Secrets) -> Vec<BlamedPrompt> {
        let mut prompts: Vec<BlamedPrompt> = Vec::new();
        for line in lines {
            let (Some(session), Some(entry)) = (&line.session, &line.prompt) else {
                continue;
            };
            if prompts
                .iter()
                .any(|it| it.session == *session && it.entry == *entry)
            {
                continue;
            }
            let mut known = self.edits.sessions.iter();
            let known = known.find(|it| it.reference == *session);
            let (at, text) = known.and_then(|it| it.prompt(entry)).unwrap_or_default();
            prompts.push(BlamedPrompt {
                session: session.clone(),
                entry: entry.clone(),
                at,
                text: redacted_beginning(secrets, &text, LONGEST),
            });
        }
        prompts
    }

    /// The sessions that wrote lines, that of the most first.
    fn sessions(&self, lines: &[BlamedLine], secrets: &Secrets) -> Vec<BlamedSession> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for session in lines.iter().filter_map(|line| line.session.as_deref()) {
            *counts.entry(session).or_default() += 1;
        }
        let shape = |(session, lines): (&str, usize)| {
            let mut known = self.edits.sessions.iter();
            let known = known.find(|it| it.reference == session)?;
            Some(BlamedSession {
                session: session.to_owned(),
                agent: known.agent.clone(),
                name: redacted_name(secrets, &known.name),
                lines,
            })
        };
        let mut sessions: Vec<BlamedSession> = counts.into_iter().filter_map(shape).collect();
        sessions.sort_by(|a, b| (b.lines, &a.session).cmp(&(a.lines, &b.session)));
        sessions
    }
}
