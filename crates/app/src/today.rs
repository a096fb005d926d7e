//! What was done since a time, by project: prompts, changed files, commands that failed last,
//! commits and cost.
//!
//! It contains only text of sessions and commits: no model writes it. Secrets are redacted.
//! Worktrees and folders of one repository are one project.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use boswell_dialect::Depth;
use boswell_find::Secrets;
use boswell_model::{Instant, Result};
use boswell_store::links::Conversation;
use boswell_store::store::{Resolved, Side};

use crate::git_log::{CommitShape, GitLog};
use crate::list::{self, ListRequest};
use crate::outline::{EditedFile, FailureShape, add_subagents};
use crate::redaction::redacted_name;
use crate::sessions::filter::SessionFilter;
use crate::sessions::linked_transcript::{self, LinkedTranscript};
use crate::shape::{Maybe, shape};
use crate::stats::{self, By, StatsRequest};
use crate::work_log::{Author, Said, WorkLog};
use crate::{App, AppResult, Cancel, RequestContext, git_repository, time};

/// A request for what was done since a time.
#[derive(Debug, Clone, Default)]
pub struct TodayRequest {
    /// Since when: `2026-01-31`, `12h`, `yesterday`; `None` for today.
    pub since: Option<String>,
    /// Before when; `None` for now.
    pub until: Option<String>,
    /// The sessions to look at. Its times are those above.
    pub filter: SessionFilter,
}

shape! {
    /// From `today`: what was done in a project since a time.
    TodayShape: "today" {
        /// the folder, or the main checkout of its repository; `null` for sessions that name none
        project: Option<String>,
        /// since when
        since: Instant,
        /// before when
        until: Instant,
        /// sessions with entries in that time
        sessions: Vec<TodaySession>,
        /// the prompts in order
        prompts: Vec<TodayPrompt>,
        /// files that tools changed
        files: Vec<EditedFile>,
        /// commands whose last run failed
        failures: Vec<FailureShape>,
        /// commits of the user on local branches; `null` if it is not a repository of git
        commits: Option<Vec<CommitShape>>,
        /// cost of the local days of that time, as recorded or computed from prices
        cost_usd: Option<f64>,
    }

    /// A session of a project.
    TodaySession {
        /// reference for other commands: DIALECT:ID
        reference as "ref": String,
        /// title, else summary, else first prompt
        name: String,
        /// the agent that wrote it
        agent: String,
    }

    /// A prompt in a time.
    TodayPrompt {
        /// the session
        session: String,
        /// the entry
        entry: String,
        /// time of the prompt
        at: Option<Instant>,
        /// its text, or the beginning of it
        text: String,
    }
}

impl App {
    /// Returns what was done since a time, by project; the one that was active last comes first.
    ///
    /// # Errors
    ///
    /// Invalid for a time that is not valid.
    pub fn today(&self, request: &TodayRequest, cancel: &Cancel) -> AppResult<Vec<TodayShape>> {
        self.answer_with(cancel.clone(), |cx| today(cx, request))
    }
}

/// A time between two instants.
#[derive(Debug, Clone, Copy)]
struct TimeSpan {
    since: Instant,
    until: Instant,
}

fn today(cx: &RequestContext, request: &TodayRequest) -> Result<Vec<TodayShape>> {
    let since = request.since.as_deref().unwrap_or("today");
    let until = request.until.as_deref().unwrap_or("now");
    let span = TimeSpan {
        since: time::parse(since, cx.now, &cx.zone)?,
        until: time::parse(until, cx.now, &cx.zone)?,
    };
    // A session that is still active contains entries of an earlier time too.
    let filter = SessionFilter {
        since: Some(since.to_owned()),
        until: None,
        ..request.filter.clone()
    };
    let secrets = Secrets::new()?;
    let mut projects = Projects::new(cx, &secrets, span);
    let listed = ListRequest {
        filter: filter.clone(),
        ..ListRequest::default()
    };
    for row in list::list(cx, &listed)?.rows {
        if cx.cancel.is_cancelled() {
            break;
        }
        if let Err(error) = projects.add(row.conversation) {
            cx.warn(error);
        }
    }
    if projects.all.is_empty() {
        return Ok(Vec::new());
    }
    let costs = projects.costs(filter)?;
    Ok(projects.shapes(&costs))
}

/// The projects in the order of the list.
struct Projects<'a> {
    cx: &'a RequestContext,
    secrets: &'a Secrets,
    span: TimeSpan,
    all: Vec<(Option<String>, Vec<TodaySession>, WorkLog<'a>)>,
    /// The repository of each folder: many sessions share one.
    repositories: HashMap<String, String>,
}

impl<'a> Projects<'a> {
    fn new(cx: &'a RequestContext, secrets: &'a Secrets, span: TimeSpan) -> Projects<'a> {
        Projects {
            cx,
            secrets,
            span,
            all: Vec::new(),
            repositories: HashMap::new(),
        }
    }

    /// Adds the entries of a conversation that are in the time.
    fn add(&mut self, conversation: Conversation) -> Result<()> {
        let (store, summary) = &conversation.front;
        let own = self.cx.stores.get(*store);
        let own = own.map_or("", |store| store.dialect().facts().agent);
        let shown = TodaySession {
            reference: summary.reference.to_string(),
            name: redacted_name(self.secrets, &summary.name()),
            agent: (summary.meta.agent.clone()).unwrap_or_else(|| own.to_owned()),
        };
        let folder = summary.meta.project.clone().filter(|it| !it.is_empty());
        let project = folder.map(|folder| self.repository(&folder));
        let found = self.fuller(conversation)?;
        let session = found
            .store
            .read_conversation(&found.location, Depth::Heads)?;
        let TimeSpan { since, until } = self.span;
        let is_wanted = |at: Option<Instant>| at.is_some_and(|at| since <= at && at < until);
        if !session
            .log()
            .heads
            .iter()
            .any(|head| is_wanted(head.instant()))
        {
            return Ok(());
        }
        let place = self.place(project);
        let Some((_, sessions, work)) = self.all.get_mut(place) else {
            return Ok(());
        };
        sessions.push(shown);
        // Work on a branch that was left later was done all the same: every entry counts.
        work.add(&session, session.log().slots(), Author::Session, &is_wanted)?;
        add_subagents(&found, &session, work, &is_wanted)
    }

    /// Returns the side of a conversation that has its messages.
    fn fuller(&self, conversation: Conversation) -> Result<Resolved> {
        let stores = &self.cx.stores;
        let found = stores.side_of(conversation, Side::Fuller, |_, _| None)?;
        match linked_transcript::of(self.cx, &found)? {
            LinkedTranscript::There(there) => Ok(*there),
            _ => Ok(found),
        }
    }

    /// Returns the index of a project.
    fn place(&mut self, project: Option<String>) -> usize {
        let known = self.all.iter().position(|(it, ..)| *it == project);
        known.unwrap_or_else(|| {
            let work = WorkLog::new(self.secrets);
            self.all.push((project, Vec::new(), work));
            self.all.len() - 1
        })
    }

    /// Returns the main checkout of a folder, or the folder itself.
    fn repository(&mut self, folder: &str) -> String {
        let known = self.repositories.entry(folder.to_owned());
        let look = || main_checkout(folder).unwrap_or_else(|| folder.to_owned());
        known.or_insert_with(look).clone()
    }

    /// Returns what the projects cost on the days of the time.
    fn costs(&mut self, filter: SessionFilter) -> Result<BTreeMap<String, f64>> {
        let request = StatsRequest {
            by: By::Project,
            then: Some(By::Day),
            filter,
            session: None,
        };
        let zone = &self.cx.zone;
        let last = Instant::from_millis(self.span.until.millis() - 1);
        let days = zone.day(self.span.since)..=zone.day(last);
        let mut costs = BTreeMap::new();
        for sum in stats::stats(self.cx, &request)?.sums {
            let Maybe::Given(Some(day)) = &sum.then_key else {
                continue;
            };
            if let Some(cost) = sum.cost_usd.filter(|_| days.contains(day)) {
                let project = sum.key.map(|folder| self.repository(&folder));
                *costs.entry(project.unwrap_or_default()).or_default() += cost;
            }
        }
        Ok(costs)
    }

    fn shapes(self, costs: &BTreeMap<String, f64>) -> Vec<TodayShape> {
        let TimeSpan { since, until } = self.span;
        let (cx, secrets) = (self.cx, self.secrets);
        let commits = |folder: &Path| {
            let commits = GitLog::of(&cx.env, folder).commits(since, until)?;
            let redacted = commits.into_iter().map(|commit| CommitShape {
                subject: secrets.redact(&commit.subject).into_owned(),
                ..commit
            });
            Some(redacted.collect())
        };
        let shape =
            |(project, sessions, mut work): (Option<String>, Vec<TodaySession>, WorkLog<'_>)| {
                let folder = project.as_ref().map(PathBuf::from);
                work.prompts.sort_by_key(|prompt| prompt.at);
                TodayShape {
                    cost_usd: costs.get(project.as_deref().unwrap_or_default()).copied(),
                    commits: folder.and_then(|folder| commits(&folder)),
                    failures: failed_commands(&mut work),
                    prompts: work.prompts.into_iter().map(Into::into).collect(),
                    files: work.files.into_iter().map(Into::into).collect(),
                    project,
                    since,
                    until,
                    sessions,
                }
            };
        self.all.into_iter().map(shape).collect()
    }
}

fn failed_commands(work: &mut WorkLog<'_>) -> Vec<FailureShape> {
    let failures = work.failures().into_iter();
    let commands = failures.filter(|failure| failure.is_command);
    commands.map(Into::into).collect()
}

fn main_checkout(folder: &str) -> Option<String> {
    let main = git_repository::main_checkout(Path::new(folder))?;
    Some(main.display().to_string())
}

impl From<Said> for TodayPrompt {
    fn from(said: Said) -> TodayPrompt {
        TodayPrompt {
            session: said.session,
            entry: said.entry,
            at: said.at,
            text: said.text,
        }
    }
}
