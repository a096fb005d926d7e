//! Scrubs secrets wherever boswell can reach them: in agents' own files, the vault, notes and
//! index. No copy is kept, and there is no undo.

mod replace;
mod target;

use std::collections::BTreeMap;

use boswell_find::Secrets;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::Wait;
use boswell_store::store::{Resolved, StoredSession};

use crate::plan_token::PlanToken;
use crate::shape::shape;
use crate::text::one_line;
use crate::{App, AppResult, RequestContext};
use target::{FileScrub, Target, refuse_live, target};

/// A request to scrub secrets.
#[derive(Debug, Clone)]
pub struct ScrubRequest {
    /// The sessions; their subagents are included.
    pub scope: ScrubScope,
    /// The plans that were shown; `None` to replace everything that is found. With
    /// [`ScrubScope::All`], sessions without a shown plan are not changed.
    pub shown: Option<Vec<PlanToken>>,
}

/// The sessions to scrub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrubScope {
    /// These sessions as users name them: see `boswell_store::store::Selector`.
    Named(Vec<String>),
    /// Every session. One that is in use or unreadable does not stop the others.
    All,
}

shape! {
    /// From `secrets --scrub`: a file in which secrets would be replaced.
    ScrubFileStep: "step" {
        /// what would be done
        done: &'static str,
        /// the session
        session: String,
        /// the file
        path: String,
        /// how many secrets it contains
        secrets: usize,
        /// kinds of these secrets
        kinds: Vec<&'static str>,
    }

    /// From `secrets --scrub`: copies, notes and blobs in which secrets would be replaced.
    ScrubCopiesStep: "step" {
        /// what would be done
        done: &'static str,
        /// the session
        session: String,
        /// copies in the vault
        copies: usize,
        /// notes and records
        records: usize,
        /// blobs that would be replaced
        blobs: usize,
    }

    /// From `secrets --scrub`: a session in which secrets were replaced.
    ScrubbedStep: "step" {
        /// what was done
        done: &'static str,
        /// the session
        session: String,
        /// id of the operation that changed files; `null` if none was changed
        op: Option<String>,
        /// how many secrets were replaced in files
        secrets: usize,
    }
}

/// The events while plans are computed.
#[derive(Debug, Clone)]
pub enum ScrubPlanning {
    /// Number of sessions to examine. The first event, after all named sessions were found.
    Sessions(usize),
    /// The plan of one session.
    Planned(ScrubPlan),
}

/// The plan for scrubbing a session.
#[derive(Debug, Clone)]
pub struct ScrubPlan {
    /// The token that binds the execution to this plan.
    pub token: PlanToken,
    /// The session.
    pub session: SessionRef,
    /// Whether there is nothing to do.
    pub is_empty: bool,
    /// Files to change.
    pub files: Vec<ScrubbedFile>,
    /// Number of copies in the vault.
    pub copies: usize,
    /// Number of notes and records.
    pub records: usize,
    /// Number of replaced blobs.
    pub blobs: usize,
    /// Places that may contain secrets and are not changed, with the reason, for display.
    pub unreached: Vec<String>,
}

/// A file in which secrets are replaced.
#[derive(Debug, Clone)]
pub struct ScrubbedFile {
    /// Path of the file.
    pub path: String,
    /// Number of secrets in it.
    pub secrets: usize,
    /// Number of secrets of each kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Number of replaced blobs that it names.
    pub blobs: usize,
}

impl ScrubPlan {
    /// Returns the JSON shape of one of its files.
    pub fn file_step(&self, file: &ScrubbedFile) -> ScrubFileStep {
        ScrubFileStep {
            done: "would replace",
            session: self.session.to_string(),
            path: file.path.clone(),
            secrets: file.secrets,
            kinds: file.kinds.keys().copied().collect(),
        }
    }

    /// Returns the JSON shape of the changes outside its files.
    pub fn copies_step(&self) -> ScrubCopiesStep {
        ScrubCopiesStep {
            done: "would replace",
            session: self.session.to_string(),
            copies: self.copies,
            records: self.records,
            blobs: self.blobs,
        }
    }
}

/// A scrubbed session.
#[derive(Debug, Clone)]
pub struct ScrubbedSession {
    /// The session.
    pub session: SessionRef,
    /// The JSON shape.
    pub step: ScrubbedStep,
    /// Blobs that stay, because another session names them and contains the same secret.
    pub staying_blobs: Vec<String>,
}

/// The totals of a scrub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScrubOutcome {
    /// Sessions that were not changed; a notice contains the reason.
    pub refused: usize,
}

impl App {
    /// Passes the plan of each session to the sink, including those without secrets. Nothing is
    /// changed.
    ///
    /// # Errors
    ///
    /// For named sessions: NotFound if there is none, Busy if its agent has it open, Conflict if it
    /// is archived. Invalid if none is named.
    pub fn plan_scrub(
        &self,
        scope: &ScrubScope,
        sink: &mut dyn FnMut(ScrubPlanning) -> Result<()>,
    ) -> AppResult<ScrubOutcome> {
        self.answer(|cx| plan_scrub(cx, scope, sink))
    }

    /// Scrubs secrets. Each session is planned again once the lock is held, and passed to the sink
    /// when it is done. An interrupted session is finished by the same request again.
    ///
    /// # Errors
    ///
    /// As [`plan_scrub`](App::plan_scrub); Busy if another process scrubs, Conflict if a named
    /// session differs from its shown plan. Sessions that were already reported are done.
    pub fn scrub(
        &self,
        request: &ScrubRequest,
        sink: &mut dyn FnMut(ScrubbedSession) -> Result<()>,
    ) -> AppResult<ScrubOutcome> {
        self.answer(|cx| scrub(cx, request, sink))
    }
}

fn plan_scrub(
    cx: &RequestContext,
    scope: &ScrubScope,
    sink: &mut dyn FnMut(ScrubPlanning) -> Result<()>,
) -> Result<ScrubOutcome> {
    let secrets = Secrets::new()?;
    let mut outcome = ScrubOutcome::default();
    let found = sessions(cx, scope)?;
    sink(ScrubPlanning::Sessions(found.len()))?;
    for it in found {
        match target(cx, &secrets, it) {
            Ok(target) => sink(ScrubPlanning::Planned(plan(&target)))?,
            Err(error) => refuse(cx, scope, error, &mut outcome)?,
        }
    }
    Ok(outcome)
}

/// If many sessions are scrubbed, one that is in use or unreadable must not stop the others.
fn refuse(
    cx: &RequestContext,
    scope: &ScrubScope,
    error: Error,
    outcome: &mut ScrubOutcome,
) -> Result<()> {
    if *scope != ScrubScope::All {
        return Err(error);
    }
    outcome.refused += 1;
    cx.fail(error);
    Ok(())
}

fn scrub(
    cx: &RequestContext,
    request: &ScrubRequest,
    sink: &mut dyn FnMut(ScrubbedSession) -> Result<()>,
) -> Result<ScrubOutcome> {
    cx.may_write()?;
    let (secrets, runner) = (Secrets::new()?, cx.runner()?);
    let _lock = runner
        .locks()
        .exclusive("scrub", Wait::No)
        .map_err(|error| {
            error
                .because("another process is replacing secrets")
                .advising(Advice::RetryLater)
        })?;
    let mut outcome = ScrubOutcome::default();
    for it in agreed(cx, request, &mut outcome)? {
        let target = match target(cx, &secrets, it) {
            Ok(target) => target,
            Err(error) => {
                refuse(cx, &request.scope, error, &mut outcome)?;
                continue;
            }
        };
        if target.is_empty() {
            continue;
        }
        if let Some(shown) = &request.shown {
            let token = target.token();
            let shown = shown.iter().find(|it| it.session == token.session);
            if let Err(error) = token.require(shown) {
                refuse(cx, &request.scope, error, &mut outcome)?;
                continue;
            }
        }
        sink(replace::replace(cx, &secrets, &runner, &target)?)?;
    }
    Ok(outcome)
}

/// Returns the sessions to scrub: if plans were shown, no others.
fn agreed(
    cx: &RequestContext,
    request: &ScrubRequest,
    outcome: &mut ScrubOutcome,
) -> Result<Vec<Resolved>> {
    let Some(shown) = &request.shown else {
        let found = sessions(cx, &request.scope)?;
        refuse_before(&request.scope, &found)?;
        return Ok(found);
    };
    let mut found = cx.noticed_before(|| sessions(cx, &request.scope))?;
    if request.scope == ScrubScope::All {
        // Drops sessions that are newer than the plans, and those that were refused then.
        found.retain(|it| shown.iter().any(|token| token.session == it.reference()));
        for token in shown {
            if !found.iter().any(|it| it.reference() == token.session) {
                let gone = format!("{} was moved or removed", token.session);
                outcome.refused += 1;
                cx.fail(Error::new(ErrorKind::Conflict, gone).advising("look at the plan again"));
            }
        }
    }
    refuse_before(&request.scope, &found)?;
    Ok(found)
}

/// Refuses named sessions all together, before any is changed.
fn refuse_before(scope: &ScrubScope, found: &[Resolved]) -> Result<()> {
    match scope {
        ScrubScope::Named(_) => found.iter().try_for_each(refuse_live),
        ScrubScope::All => Ok(()),
    }
}

fn sessions(cx: &RequestContext, scope: &ScrubScope) -> Result<Vec<Resolved>> {
    match scope {
        ScrubScope::Named(names) if names.is_empty() => Err(Error::new(
            ErrorKind::Invalid,
            "no session is named whose secrets are to be replaced",
        )
        .advising(Advice::from("name sessions").or(Advice::ReplaceSecrets { session: None }))),
        ScrubScope::Named(names) => names.iter().map(|name| cx.resolve(name)).collect(),
        ScrubScope::All => Ok(every_session(cx)),
    }
}

/// Returns every session with a log, without subagents, which are scrubbed with their parent
/// session.
fn every_session(cx: &RequestContext) -> Vec<Resolved> {
    let (held, errors) = cx.stores.held();
    errors.into_iter().for_each(|(_, error)| cx.fail(error));
    let with_store = |held: StoredSession| {
        Some(Resolved {
            store: cx.stores.get(held.store)?.clone(),
            location: held.location,
        })
    };
    held.into_iter()
        .filter(|held| held.location.key.is_some() && held.location.owner.is_none())
        .filter_map(with_store)
        .collect()
}

fn plan(target: &Target) -> ScrubPlan {
    ScrubPlan {
        token: target.token(),
        session: target.session(),
        is_empty: target.is_empty(),
        files: target.files.iter().map(|it| file(target, it)).collect(),
        copies: target.elsewhere.copies,
        records: target.elsewhere.lines,
        blobs: target.stale.len(),
        unreached: unreached(target),
    }
}

fn file(target: &Target, file: &FileScrub) -> ScrubbedFile {
    let mut kinds = BTreeMap::new();
    file.all()
        .for_each(|it| *kinds.entry(it.kind).or_default() += 1);
    ScrubbedFile {
        path: target.found.store.backend().describe(&file.key),
        secrets: file.all().count(),
        kinds,
        blobs: file.blobs.len(),
    }
}

/// Returns files that could not be examined, and databases of its agent.
fn unreached(target: &Target) -> Vec<String> {
    let store = &target.found.store;
    let untied = store.dialect().facts().untied_files.iter();
    let databases = untied
        .filter(|file| file.is_database && store.root().join(file.path).exists())
        .map(|file| {
            let path = store.root().join(file.path).display().to_string();
            format!("the database `{}` of its agent", one_line(&path))
        });
    target.unreached.iter().cloned().chain(databases).collect()
}
