//! Which sessions a face may show to another program.
//!
//! A person who names a session of an excluded project in full gets it; a program does not: for it,
//! such sessions do not exist.

use std::path::Path;

use boswell_model::{Advice, Error, ErrorKind, Instant, Result, SessionRef};

use crate::sessions::filter::is_within;
use crate::{App, AppResult, RequestContext};

/// The sessions that a program may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Those of every project that is not excluded.
    #[default]
    EveryProject,
    /// Those of the current folder, below it and in worktrees of it.
    CurrentFolder,
}

/// A session that a program may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachableSession {
    /// Which session it is.
    pub reference: SessionRef,
    /// Its project folder.
    pub project: Option<String>,
    /// Title, summary or first prompt.
    pub name: String,
}

impl App {
    /// Finds a session that a program names: by its ref, or by the beginning of its id. Never by a
    /// path, a number of a list or a place such as `@last`, which mean something to a person.
    ///
    /// # Errors
    ///
    /// Invalid if it is not such a name or if several sessions match; NotFound if there is no such
    /// session, or if it is out of reach.
    pub fn reachable_session(&self, name: &str, reach: Reach) -> AppResult<ReachableSession> {
        self.answer(|cx| reachable_session(cx, name, reach))
    }

    /// Whether sessions of a project may be seen.
    pub fn is_in_reach(&self, project: Option<&str>, reach: Reach) -> bool {
        let state = self.state();
        let is_excluded = state
            .exclusion
            .as_ref()
            .zip(project)
            .is_some_and(|(exclusion, project)| exclusion.excludes(project));
        let is_near = || match reach {
            Reach::EveryProject => true,
            Reach::CurrentFolder => project.is_some_and(|it| is_here(&state.env.cwd, it)),
        };
        !is_excluded && is_near()
    }

    /// Whether a project is the current folder, below it or a worktree of it.
    pub fn is_current_project(&self, project: Option<&str>) -> bool {
        project.is_some_and(|it| is_here(&self.state().env.cwd, it))
    }

    /// Returns the sessions that agents with one of these process ids have open, as far as agents
    /// record it.
    ///
    /// # Errors
    ///
    /// As a request that finds the stores.
    pub fn sessions_of_processes(&self, processes: &[u32]) -> AppResult<Vec<SessionRef>> {
        self.answer(|cx| {
            let mut found = Vec::new();
            for (_, store) in cx.stores.iter() {
                let dialect = store.dialect().name();
                // An agent whose registry cannot be read asks like one without a registry.
                let active = store.active_processes().unwrap_or_default().into_iter();
                let asking = active.filter(|it| processes.contains(&it.pid));
                found.extend(asking.map(|it| SessionRef::new(dialect, &it.session)));
            }
            Ok(found)
        })
    }

    /// Returns the current time of the application.
    pub fn now(&self) -> Instant {
        self.state().clock.now()
    }
}

fn is_here(cwd: &Path, project: &str) -> bool {
    is_within(project, &cwd.display().to_string())
}

fn reachable_session(cx: &RequestContext, name: &str, reach: Reach) -> Result<ReachableSession> {
    if name_fault(name).is_some() {
        let what = format!("`{}` is not the name of a session", shown(name));
        return Err(Error::new(ErrorKind::Invalid, what)
            .advising("name it DIALECT:ID, or by the beginning of its id"));
    }
    let found = cx.resolve(name)?;
    let mut summary = found.store.summary(&found.location)?;
    cx.add_notes(std::iter::once(&mut summary))?;
    let project = summary.meta.project.clone().filter(|it| !it.is_empty());
    let is_near = match reach {
        Reach::EveryProject => true,
        Reach::CurrentFolder => {
            (project.as_deref()).is_some_and(|project| is_here(&cx.env.cwd, project))
        }
    };
    if !is_near || !cx.shows(project.as_deref()) {
        let what = format!("no session is called `{}`", shown(name));
        return Err(Error::new(ErrorKind::NotFound, what).advising(Advice::list_all()));
    }
    Ok(ReachableSession {
        reference: found.reference(),
        name: summary.name(),
        project,
    })
}

/// Returns why a text cannot be the name of a session for another program: it names sessions by
/// their ref or the beginning of an id.
///
/// The command line also takes paths, `@last`, `@here` and numbers of the last list; none of these
/// may come from elsewhere.
pub fn name_fault(text: &str) -> Option<&'static str> {
    let id = text.split_once(':').map_or(text, |(_, id)| id);
    let begins = |c: char| text.starts_with(c) || id.starts_with(c);
    let is_path = |c: char| c.is_control() || matches!(c, '/' | '\\');
    if id.is_empty() {
        return Some("it is empty");
    }
    if text.len() > 512 {
        return Some("it is longer than 512 bytes");
    }
    if text.chars().any(is_path) {
        return Some("it is not a path");
    }
    if ['.', '@', '-', '~'].into_iter().any(begins) {
        return Some("no id of an agent begins like that");
    }
    if id.ends_with(".json") || id.ends_with(".jsonl") || id.contains(".jsonl.") {
        return Some("it is not a file");
    }
    let is_number = text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some("it is not a number of a list")
}

fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(80).collect();
    beginning.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_sessions_by_id_only() {
        for name in ["claude:5ac51f07", "5ac51f07-aa", "0b7e", "codex:a.b"] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        for name in [
            "",
            "claude:",
            "/etc/passwd",
            "a/b",
            "..",
            "@last",
            "12",
            "~",
            "x.jsonl",
            "claude:x.json",
            "x.jsonl.gz",
            "claude:../x",
            "-rf",
            "a\\b",
            "a\0b",
            "a\nb",
        ] {
            assert!(name_fault(name).is_some(), "{name}");
        }
    }
}
