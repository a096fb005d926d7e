//! Replaces secrets wherever boswell can reach them: in agents' own files, the vault, notes and
//! index. No copy of them is kept, and it cannot be undone.

mod replace;
mod target;

use std::collections::BTreeMap;

use boswell_find::Secrets;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::Wait;
use boswell_store::store::{Resolved, StoredSession};

use crate::delete::reference;
use crate::plan_token::PlanToken;
use crate::shape::shape;
use crate::text::one_line;
use crate::{App, AppResult, RequestContext};
use target::{FileScrub, Target, refuse_live, target};

/// Whose secrets to replace.
#[derive(Debug, Clone)]
pub struct ScrubRequest {
    /// The sessions; their subagents go with them.
    pub scope: ScrubScope,
    /// The plans that were shown; else everything that is found is replaced. With
    /// [`ScrubScope::All`], sessions that have none are left alone.
    pub shown: Option<Vec<PlanToken>>,
}

/// Sessions whose secrets are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrubScope {
    /// These: refs, beginnings of ids, paths, `@last` or `@here`.
    Named(Vec<String>),
    /// Every session that is found. One that is in use or cannot be read does not keep the others.
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

/// The events that the sink receives while plans are made.
#[derive(Debug, Clone)]
pub enum ScrubPlanning {
    /// How many sessions are examined. It comes first, once all that were named are found.
    Sessions(usize),
    /// What would be replaced in one of them.
    Planned(ScrubPlan),
}

/// What would be replaced in a session.
#[derive(Debug, Clone)]
pub struct ScrubPlan {
    /// What ties replacing to this plan.
    pub token: PlanToken,
    /// The session.
    pub session: SessionRef,
    /// Whether there is nothing to do.
    pub is_empty: bool,
    /// Files that would be changed.
    pub files: Vec<ScrubbedFile>,
    /// Copies in the vault.
    pub copies: usize,
    /// Notes and records.
    pub records: usize,
    /// Blobs that are replaced by others.
    pub blobs: usize,
    /// What may hold secrets and is not changed, with the reason, for people.
    pub unreached: Vec<String>,
}

/// A file in which secrets would be replaced.
#[derive(Debug, Clone)]
pub struct ScrubbedFile {
    /// Where it is.
    pub path: String,
    /// How many secrets it holds.
    pub secrets: usize,
    /// How many of each kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// How many of the blobs that it names are replaced.
    pub blobs: usize,
}

impl ScrubPlan {
    /// The shape of a file of it.
    pub fn file_step(&self, file: &ScrubbedFile) -> ScrubFileStep {
        ScrubFileStep {
            done: "would replace",
            session: self.session.to_string(),
            path: file.path.clone(),
            secrets: file.secrets,
            kinds: file.kinds.keys().copied().collect(),
        }
    }

    /// The shape of what is outside its files.
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

/// A session in which secrets were replaced.
#[derive(Debug, Clone)]
pub struct ScrubbedSession {
    /// The session.
    pub session: SessionRef,
    /// What was done.
    pub step: ScrubbedStep,
    /// Blobs that stay, because another session names them and holds the same secret.
    pub staying_blobs: Vec<String>,
}

/// How much of a request to replace secrets was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScrubOutcome {
    /// Sessions that were not changed; a notice contains the reason.
    pub refused: usize,
}

impl App {
    /// Calls the sink with what would be replaced, session by session, also of those in which there
    /// is nothing to replace. Nothing is changed.
    ///
    /// # Errors
    ///
    /// For sessions that were named: NotFound if there is none, Busy if its agent is at work on
    /// it, Conflict if it is archived. Invalid if none is named.
    pub fn plan_scrub(
        &self,
        scope: &ScrubScope,
        sink: &mut dyn FnMut(ScrubPlanning) -> Result<()>,
    ) -> AppResult<ScrubOutcome> {
        self.answer(|cx| plan_scrub(cx, scope, sink))
    }

    /// Replaces secrets. Each session is planned again once the lock is held, and handed over when
    /// it is done. A session that is interrupted is finished by asking for it again.
    ///
    /// # Errors
    ///
    /// As [`plan_scrub`](App::plan_scrub); Busy if another process replaces secrets, Conflict if a
    /// session that was named is not as it was shown. Sessions that were reported by then are
    /// done.
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

/// Of many, one that is in use or cannot be read must not keep the others.
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
                .hinting("try again when it has ended")
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

/// The sessions in which secrets are replaced: where plans were shown, no other ones.
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
        // Sessions that were begun since, and those that were refused and named then.
        found.retain(|it| shown.iter().any(|token| token.session == reference(it)));
        for token in shown {
            if !found.iter().any(|it| reference(it) == token.session) {
                let gone = format!("{} is not where it was any more", token.session);
                let hint = "look at the plan again";
                outcome.refused += 1;
                cx.fail(Error::new(ErrorKind::Conflict, gone).hinting(hint));
            }
        }
    }
    refuse_before(&request.scope, &found)?;
    Ok(found)
}

/// Of sessions that were named all or none are begun with.
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
        .hinting("name sessions, or replace them everywhere with `boswell secrets --scrub --all`")),
        ScrubScope::Named(names) => names.iter().map(|name| cx.resolve(name)).collect(),
        ScrubScope::All => Ok(every_session(cx)),
    }
}

/// Every session that has a log, without subagents: they go with the session that they belong to.
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

/// Files that could not be looked into, and databases of its agent.
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
