//! Resumes a conversation with the agent's own command.
//!
//! It finds the command (`resume` of the dialect), the folder, and the variables that make the
//! agent use the session's own store and account (`store_environment`). `@last` and `continue` skip
//! sessions that no agent can resume.

mod ways;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

pub use boswell_dialect::Permissions;
use boswell_dialect::resume_decision::Probe;
use boswell_dialect::{
    Depth, ResumeCommand, SessionLink, SessionLocation, StoreEnvironment, store_environment,
};
use boswell_model::{Advice, Error, ErrorKind, Problem, Result, SessionRef, shell_quote};
use boswell_store::links::Conversation;
use boswell_store::session::TerminalId;
use boswell_store::store::{Resolved, Selector, Side};
use boswell_store::{Session, Store};

use crate::sessions::linked_transcript::{self, LinkedTranscript};
use crate::sessions::list::last_active;
use crate::shape::{Map, ResumeShape, shape};
use crate::system::is_new_or_empty;
use crate::{App, AppResult, RequestContext, hosts};

pub use ways::{ResumeWay, ResumeWayKind, WaysRequest};

/// A request to resume a conversation.
#[derive(Debug, Clone)]
pub struct ResumeRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// What the agent may do without asking.
    pub permissions: Permissions,
}

impl Default for ResumeRequest {
    fn default() -> ResumeRequest {
        ResumeRequest {
            session: "@last".to_owned(),
            permissions: Permissions::default(),
        }
    }
}

/// The command that resumes a conversation.
#[derive(Debug, Clone)]
pub struct ResumePlan {
    /// The session that it resumes.
    pub session: SessionRef,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working folder; `None` for the current one.
    pub cwd: Option<String>,
    /// Variables to set; `None` as a value unsets a variable.
    pub env: StoreEnvironment,
    /// The host that the session is on; `None` for this machine.
    pub host: Option<String>,
    /// Path of the log, if the session has one.
    log: Option<PathBuf>,
    /// Whether the agent may delete the session after it resumed it.
    pub(crate) endangers: bool,
}

shape! {
    /// The command that resumes a session.
    ResumeLine: "resume" {
        /// program and arguments
        argv: Vec<String>,
        /// working folder of the command
        cwd: Option<String>,
        /// environment variables to set; `null` for one to unset
        env: Map<Option<String>>,
    }
}

impl ResumePlan {
    /// The plan for a session of a host: a command of ssh.
    pub(crate) fn on_host(host: String, session: SessionRef, argv: Vec<String>) -> ResumePlan {
        ResumePlan {
            session,
            argv,
            cwd: None,
            env: StoreEnvironment::new(),
            host: Some(host),
            log: None,
            endangers: false,
        }
    }

    /// Returns the JSON shape.
    pub fn shape(&self) -> ResumeLine {
        let command = ResumeCommand {
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
        };
        let ResumeShape { argv, cwd, env } = (command, self.env.clone()).into();
        ResumeLine { argv, cwd, env }
    }

    /// Returns the command as it can be pasted into a POSIX shell.
    pub fn command_line(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| shell_quote(word)).collect();
        let cd = self.cwd.as_deref().map(change_folder).unwrap_or_default();
        format!("{cd}{}{}", self.assignments(), words.join(" "))
    }

    /// Returns what is written before the command in a POSIX shell.
    fn assignments(&self) -> String {
        let unset = self.env.iter().filter(|(_, value)| value.is_none());
        let unset: String = unset.map(|(name, _)| format!("-u {name} ")).collect();
        let set = self.env.iter();
        let set = set.filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let set: String = set
            .map(|(name, path)| format!("{name}={} ", shell_quote(&path.display().to_string())))
            .collect();
        if unset.is_empty() {
            set
        } else {
            format!("env {unset}{set}")
        }
    }
}

/// Returns the shell command that changes into a folder, with its name quoted.
fn change_folder(folder: &str) -> String {
    // `--` ends the options. `cd -` and CDPATH would still lead elsewhere: a path that is not
    // absolute begins with `./`.
    let here = if folder.starts_with('/') { "" } else { "./" };
    format!("cd -- {} && ", shell_quote(&format!("{here}{folder}")))
}

impl App {
    /// Returns the agent's own command that resumes a conversation. Nothing is started.
    ///
    /// `@last` skips a session that no agent would resume.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Conflict if it is archived, Unsupported if its agent
    /// has no command for it.
    pub fn resume(&self, request: &ResumeRequest) -> AppResult<ResumePlan> {
        self.answer(|cx| resume(cx, request))
    }

    /// Whether a session was resumed before, as far as terminals were recorded. True where none can
    /// be recorded, so that a face that asks once does not ask always.
    pub fn has_resumed(&self) -> bool {
        let state = self.state();
        let (Some(home), Some(_)) = (&state.home, TerminalId::of(&state.env)) else {
            return true;
        };
        !is_new_or_empty(&home.join("terminal-sessions")).unwrap_or(false)
    }

    /// Records that this terminal is used for a session from now on, for `@last`. A face calls it
    /// just before it runs the command.
    ///
    /// Best effort: write errors are ignored.
    pub fn note_terminal(&self, plan: &ResumePlan) {
        let here = self.environment().cwd.as_path();
        if let Some(log) = &plan.log {
            let cwd = plan.cwd.as_deref().map_or(here, Path::new);
            self.state().note_terminal(log, cwd);
        }
    }
}

fn resume(cx: &RequestContext, request: &ResumeRequest) -> Result<ResumePlan> {
    if let Some((host, session)) = cx.named_on_host(&request.session) {
        return hosts::resume_plan(cx, (&host, &session), request.permissions);
    }
    let found = cx.resolve(&request.session)?;
    cx.refuse_archived(&found.store)?;
    let (found, (command, env)) = match command_of(cx, &found, request.permissions) {
        Err(error) if request.session == "@last" && error.kind() == ErrorKind::Unsupported => {
            let other = last_that_resumes(cx).ok_or(error)?;
            let command = command_of(cx, &other, request.permissions)?;
            let passed = found.reference();
            cx.remark(format!("skipped {passed}, which no agent can resume"));
            (other, command)
        }
        command => (found, command?),
    };
    if let LinkedTranscript::Gone(other) = linked_transcript::of(cx, &found)? {
        cx.remark(linked_transcript::gone(&found.location.id, &other));
    }
    let cwd = command.cwd.or_else(|| source_project(cx, &found));
    let key = found.location.key.as_deref();
    let endangers = found.store.dialect().facts().resume_endangers;
    Ok(ResumePlan {
        endangers,
        session: found.reference(),
        argv: command.argv,
        cwd,
        env,
        host: None,
        log: key.map(|key| PathBuf::from(found.store.backend().describe(key))),
    })
}

/// Returns the project of the session that this one was made from, for agents that state the
/// project of a session only once they have opened it.
fn source_project(cx: &RequestContext, found: &Resolved) -> Option<String> {
    let (source, _) = cx.notes().ok()?.of(&found.reference()).converted_from?;
    let selector = Selector::Ref(source.dialect, source.id);
    let source = cx.stores.resolve(&selector, &cx.env.cwd, Side::Fuller);
    let source = source.ok()?;
    source.store.summary(&source.location).ok()?.meta.project
}

/// A command, and its environment variables.
pub type Starting = (ResumeCommand, StoreEnvironment);

/// Returns the environment variables with which the agent of a session uses the store of that
/// session.
pub(crate) fn environment_of(
    cx: &RequestContext,
    store: &Store,
    location: &SessionLocation,
) -> StoreEnvironment {
    store_environment(
        store.dialect(),
        &cx.env,
        (store.root(), location.key.as_deref()),
        &|a, b| cx.real_folders.are_same(a, b),
    )
}

/// Returns the agent's own command that resumes a session.
fn resume_command(session: &Session, permissions: Permissions) -> Option<ResumeCommand> {
    let runtime = session.dialect().powers().runtime?;
    runtime.resume(session.meta(), session.location(), permissions)
}

/// Returns the command for a session, with the environment that selects its store.
pub(crate) fn command_of(
    cx: &RequestContext,
    found: &Resolved,
    permissions: Permissions,
) -> Result<Starting> {
    let session = found.store.read(&found.location, Depth::Facts)?;
    if let Some(command) = resume_command(&session, permissions) {
        return Ok((command, environment_of(cx, &found.store, &found.location)));
    }
    // The command is the engine's, so the environment must select the store with the engine's
    // transcript.
    let engine = RefCell::new(StoreEnvironment::new());
    let look = |link: &SessionLink| {
        let (found, env) = probe(cx, link);
        *engine.borrow_mut() = env;
        found
    };
    if let Some(runtime) = session.dialect().powers().runtime
        && let Some(command) = runtime.resume_by(session.location(), &look)?
    {
        return Ok((command, engine.take()));
    }
    // A front program may leave the command to the engine with the transcript.
    for link in session
        .dialect()
        .linked_sessions(session.meta(), &found.location.id)
    {
        let other = cx.stores.resolve(
            &Selector::Ref(link.dialect.to_owned(), link.id),
            &cx.env.cwd,
            Side::Fuller,
        );
        let Ok(other) = other else { continue };
        let session = other.store.read(&other.location, Depth::Facts)?;
        if let Some(command) = resume_command(&session, permissions) {
            return Ok((command, environment_of(cx, &other.store, &other.location)));
        }
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        format!(
            "session {} cannot be resumed from a command line",
            session.reference()
        ),
    )
    .because(format!(
        "{} has no command for it, or the session lacks what it needs",
        session.dialect().facts().title
    ))
    .advising(Advice::check(session.reference()).or(Advice::show(session.reference()))))
}

/// Looks for a session in an engine's store; returns the result and the environment for the engine.
/// A missing store contains none.
fn probe(cx: &RequestContext, link: &SessionLink) -> (Probe, StoreEnvironment) {
    let selector = Selector::Ref(link.dialect.to_owned(), link.id.clone());
    match cx.stores.resolve(&selector, &cx.env.cwd, Side::Fuller) {
        Ok(other) if other.location.size > 0 => (
            Probe::Found,
            environment_of(cx, &other.store, &other.location),
        ),
        Ok(_) => (Probe::Absent, StoreEnvironment::new()),
        Err(error) if error.is_not_found() => (Probe::Absent, StoreEnvironment::new()),
        Err(error) => (
            Probe::Failed(Problem::unreadable(&error).detail),
            StoreEnvironment::new(),
        ),
    }
}

/// Returns the last conversation that an agent would resume: of this project, else of any.
pub(crate) fn last_that_resumes(cx: &RequestContext) -> Option<Resolved> {
    let cwd = cx.env.cwd.canonicalize().ok();
    let here = |conversation: &Conversation| {
        let project = conversation
            .front
            .1
            .meta
            .project
            .as_deref()
            .map(std::path::Path::new);
        cwd.is_some() && project.and_then(|project| project.canonicalize().ok()) == cwd
    };
    let (conversations, _) = cx.stores.conversations();
    let newest = conversations
        .into_iter()
        .filter(|it| it.front.1.hidden().is_none() && command_for(cx, it).is_some())
        .max_by_key(|it| (here(it), last_active(it)))?;
    let (store, summary) = newest.front;
    Some(Resolved {
        store: cx.stores.get(store)?.clone(),
        location: summary.location,
    })
}

/// Returns the command for a conversation of a list: of its first side that has one.
pub(crate) fn command_for(cx: &RequestContext, conversation: &Conversation) -> Option<Starting> {
    std::iter::once(&conversation.front)
        .chain(&conversation.linked)
        .filter_map(|(store, summary)| {
            Some((
                cx.stores.get(*store).filter(|it| it.archived().is_none())?,
                summary,
            ))
        })
        .find_map(|(store, summary)| {
            let runtime = store.dialect().powers().runtime?;
            let command = runtime.resume(&summary.meta, &summary.location, Permissions::Asked)?;
            Some((command, environment_of(cx, store, &summary.location)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_never_taken_for_an_option() {
        assert_eq!(change_folder("/w/a b"), "cd -- '/w/a b' && ");
        assert_eq!(change_folder("-rf"), "cd -- ./-rf && ");
        assert_eq!(change_folder("-"), "cd -- ./- && ");
        assert_eq!(
            change_folder("/w/\u{61c}x\n"),
            "cd -- $'/w/\\xd8\\x9cx\\x0a' && "
        );
    }
}
