//! Purges sessions: removes them with every trace. No copy is kept, and there is no undo.

use std::path::PathBuf;

use boswell_dialect::{DialectFacts, SessionLocation, facts_of};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::disk::{Clock, IdSource, SystemIds};
use boswell_store::links::Conversation;
use boswell_store::operations::{Purging, Runner};
use boswell_store::store::Resolved;
use boswell_store::{Store, Wait, blobs};

use crate::delete::{RemovalPlan, in_vault, plan_removal, remove};
use crate::plan_token::PlanToken;
use crate::sessions::index::{Create, SessionIndex};
use crate::sessions::list::sides;
use crate::shape::shape;
use crate::store_change::ChangeStep;
use crate::{App, AppResult, RequestContext, purge_copies};

/// The sessions to purge.
#[derive(Debug, Clone, Default)]
pub struct PurgeRequest {
    /// Refs, beginnings of ids, paths, `@last` or `@here`; also sessions of which only copies or
    /// catalog rows are left.
    pub sessions: Vec<String>,
    /// The plans that were shown, in the order of `sessions`; `None` to purge everything that is
    /// found.
    pub shown: Option<Vec<PlanToken>>,
}

shape! {
    /// From `delete --purge`: a session that was purged.
    PurgeOp: "op" {
        /// id of the operation
        op: String,
        /// `purge`
        kind: &'static str,
        /// the session that was purged
        session: String,
        /// how many copies of it were removed
        purged: usize,
    }
}

/// The plan for purging a session.
#[derive(Debug, Clone)]
pub struct PurgePlan {
    /// The token that binds the execution to this plan.
    pub token: PlanToken,
    /// The session.
    pub session: SessionRef,
    /// The removal from its store; `None` if it is no longer in one.
    pub removal: Option<RemovalPlan>,
    /// Number of copies in the vault.
    pub copies: usize,
    /// Number of notes about it.
    pub notes: usize,
    /// Sessions of the same conversation in other stores, which are not purged.
    pub linked: Vec<SessionRef>,
}

impl PurgePlan {
    /// Returns the step before the removal from its store.
    pub fn opening(&self) -> ChangeStep {
        ChangeStep::new(format!(
            "purge {}: every copy goes, and it cannot be undone",
            self.session
        ))
    }

    /// Returns the steps after the removal from its store.
    pub fn rest(&self) -> Vec<ChangeStep> {
        let (copies, notes) = (self.copies, self.notes);
        let mut steps = vec![ChangeStep::new(format!(
            "remove {copies} copies in the vault, {notes} notes, and what operations, catalog and index hold of it"
        ))];
        let linked = self.linked.iter();
        steps.extend(
            linked.map(|other| {
                ChangeStep::new(format!("{other} is the same conversation, and stays"))
            }),
        );
        steps
    }
}

/// A purged session.
#[derive(Debug, Clone)]
pub struct PurgedSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: PurgeOp,
    /// Sessions of the same conversation in other stores, which are not purged.
    pub linked: Vec<SessionRef>,
    /// Files of its agent that may contain text of any session and were not examined.
    pub untied: Vec<UntiedPlace>,
}

/// A file that may contain text of any session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntiedPlace {
    /// Description of its contents for the user.
    pub what: &'static str,
    /// Path of the file.
    pub path: String,
}

impl App {
    /// Returns what a purge would remove. Nothing is changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session and no trace of it.
    pub fn plan_purge(&self, request: &PurgeRequest) -> AppResult<Vec<PurgePlan>> {
        self.answer(|cx| {
            let targets = targets(cx, request)?;
            targets.iter().map(|target| plan(cx, target)).collect()
        })
    }

    /// Purges sessions. They are resolved again once the purge lock is held, and each is passed to
    /// the sink when it is done. An interrupted purge is finished by the next request that writes.
    ///
    /// # Errors
    ///
    /// Busy if another process purges, or has a session open; Conflict if the plan differs from the
    /// shown one.
    pub fn purge(
        &self,
        request: &PurgeRequest,
        sink: &mut dyn FnMut(PurgedSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| purge(cx, request, sink))
    }
}

/// A session to purge.
struct Target {
    /// Location of the session; `None` if only copies or traces are left.
    found: Option<Resolved>,
    purging: Purging,
}

impl Target {
    fn token(&self) -> PlanToken {
        let purging = &self.purging;
        let parts = [
            purging.root.display().to_string(),
            purging.log.clone().unwrap_or_default(),
            format!("in its store: {}", self.found.is_some()),
        ];
        PlanToken::new(purging.session(), &parts)
    }
}

fn purge(
    cx: &RequestContext,
    request: &PurgeRequest,
    sink: &mut dyn FnMut(PurgedSession) -> Result<()>,
) -> Result<()> {
    cx.may_write()?;
    let runner = cx.runner()?;
    let _lock = runner
        .locks()
        .exclusive(purge_copies::LOCK, Wait::No)
        .map_err(|error| {
            error
                .because("another process is purging a session")
                .advising(Advice::RetryLater)
        })?;
    let targets = match &request.shown {
        Some(shown) => {
            let targets = cx.noticed_before(|| targets(cx, request))?;
            for (place, target) in targets.iter().enumerate() {
                target.token().require(shown.get(place))?;
            }
            targets
        }
        None => targets(cx, request)?,
    };
    for target in &targets {
        sink(purge_one(cx, &runner, target)?)?;
    }
    Ok(())
}

fn purge_one(cx: &RequestContext, runner: &Runner, target: &Target) -> Result<PurgedSession> {
    let purging = &target.purging;
    runner.begin_purge(purging)?;
    if let Some(found) = &target.found {
        let found = Resolved {
            store: cx.writable(found.store.clone())?,
            location: found.location.clone(),
        };
        if let Err(error) = remove(cx, &found) {
            // The started change was undone, or the next run finds the marker and finishes it.
            if runner.unfinished()?.is_empty() {
                runner.drop_purge(purging)?;
            }
            return Err(error);
        }
    }
    let purged = purge_copies::finish(cx, runner, purging).map_err(|error| {
        error.because(format!(
            "the files of {} are gone, and copies or notes of it may be left; any command that writes finishes the purge",
            purging.session()
        ))
    })?;
    let session = purging.session();
    Ok(PurgedSession {
        op: PurgeOp {
            op: purging.id.clone(),
            kind: "purge",
            session: session.to_string(),
            purged: purged.objects + purged.inodes,
        },
        linked: purging.linked.clone(),
        untied: untied(purging),
        session,
    })
}

/// Returns files that may contain text of the session, but not separable from that of others.
fn untied(purging: &Purging) -> Vec<UntiedPlace> {
    let files = facts_of(&purging.session().dialect).map_or(&[][..], |facts| facts.untied_files);
    let there = files
        .iter()
        .filter(|file| purging.root.join(file.path).exists());
    there
        .map(|file| UntiedPlace {
            what: file.what,
            path: purging.root.join(file.path).display().to_string(),
        })
        .collect()
}

fn targets(cx: &RequestContext, request: &PurgeRequest) -> Result<Vec<Target>> {
    let (conversations, _) = cx.conversations()?;
    let targets = request
        .sessions
        .iter()
        .map(|session| target(cx, session))
        .collect::<Result<Vec<Target>>>()?;
    Ok(with_linked(targets, &conversations))
}

/// Resolves a session: in its store, in the vault, or only in the catalog.
fn target(cx: &RequestContext, name: &str) -> Result<Target> {
    match cx.resolve_front(name) {
        Ok(found) => {
            let mut logs = vec![found.location.clone()];
            logs.extend(purge_copies::subagents(&found.store, &found.location.id)?);
            let is_archived = found.store.archived().is_some();
            let mut purging = purging_of(&found, &logs);
            (purging.blobs, purging.wholes) = purge_copies::named(cx, &found.store, &logs)?;
            add_copies(cx, &mut purging)?;
            Ok(Target {
                found: (!is_archived).then_some(found),
                purging,
            })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => match left_over(cx, name)? {
            Some((session, root)) => {
                let mut purging = Purging {
                    sessions: vec![session],
                    root,
                    ..nothing()
                };
                add_copies(cx, &mut purging)?;
                Ok(Target {
                    found: None,
                    purging,
                })
            }
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn nothing() -> Purging {
    Purging {
        id: SystemIds.hex16(),
        at: SystemIds.now(),
        sessions: Vec::new(),
        root: PathBuf::new(),
        log: None,
        paths: Vec::new(),
        blobs: Vec::new(),
        wholes: Vec::new(),
        linked: Vec::new(),
    }
}

/// Returns the marker of a session in its store, with the logs of its subagents after its own.
fn purging_of(found: &Resolved, logs: &[SessionLocation]) -> Purging {
    let store: &Store = &found.store;
    let mut sessions = vec![found.reference()];
    sessions.extend(
        logs.iter()
            .skip(1)
            .map(|it| SessionRef::new(store.dialect().name(), &it.id)),
    );
    let paths = logs
        .iter()
        .filter_map(|it| it.key.as_deref())
        .map(|key| store.backend().describe(key))
        .collect();
    Purging {
        sessions,
        root: store.root().to_owned(),
        log: logs.first().and_then(|it| it.key.clone()),
        paths,
        ..nothing()
    }
}

/// The root of the store that the copies of a session are of.
fn root_in_vault(runner: &Runner, session: &SessionRef) -> Result<Option<PathBuf>> {
    if let Some(record) = runner.vault().of(session)?.into_iter().next() {
        return Ok(Some(record.root));
    }
    let kept = runner.vault().kept()?;
    Ok(kept.of(session).first().map(|file| file.root.clone()))
}

/// Returns a session of which only copies in the vault or catalog rows are left.
fn left_over(cx: &RequestContext, name: &str) -> Result<Option<(SessionRef, PathBuf)>> {
    if cx.home.is_none() {
        return Ok(None);
    }
    let runner = cx.reading_runner()?;
    match in_vault(&runner, name) {
        Ok(session) => {
            let root = root_in_vault(&runner, &session)?;
            return Ok(root.map(|root| (session, root)));
        }
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let Some(mut session_index) = SessionIndex::open(cx, Create::No)? else {
        return Ok(None);
    };
    let fits = |session: &SessionRef| session.to_string() == name || session.id == name;
    let mut deleted_sessions = session_index
        .deleted_sessions(cx)?
        .into_iter()
        .filter(|deleted_session| fits(&deleted_session.reference));
    match (deleted_sessions.next(), deleted_sessions.next()) {
        (Some(deleted_session), None) => {
            Ok(Some((deleted_session.reference, deleted_session.root)))
        }
        (None, _) => Ok(None),
        (Some(a), Some(b)) => Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` fits several sessions", name.escape_debug()),
        )
        .because(format!("{}, {}", a.reference, b.reference))
        .advising(Advice::UseListedId)),
    }
}

/// Adds the blobs that copies in the vault name.
fn add_copies(cx: &RequestContext, purging: &mut Purging) -> Result<()> {
    if cx.home.is_none()
        || !facts_of(&purging.session().dialect).is_some_and(DialectFacts::has_blobs)
    {
        return Ok(());
    }
    let runner = cx.reading_runner()?;
    let (vault, kept) = (runner.vault(), runner.vault().kept()?);
    for session in purging.sessions.clone() {
        // The blobs of an unreadable copy are unknown.
        let copies = vault
            .of(&session)?
            .into_iter()
            .filter_map(|record| vault.restore(&record).ok());
        let kept = kept
            .of(&session)
            .into_iter()
            .filter_map(|file| vault.read_kept(file).ok());
        purging.blobs.extend(
            copies
                .chain(kept)
                .flat_map(|bytes| blobs::references(&bytes)),
        );
    }
    purging.blobs.sort_unstable();
    purging.blobs.dedup();
    Ok(())
}

/// Adds the sessions of the same conversations that are not purged.
fn with_linked(mut targets: Vec<Target>, conversations: &[Conversation]) -> Vec<Target> {
    let gone: Vec<SessionRef> = targets
        .iter()
        .flat_map(|it| it.purging.sessions.clone())
        .collect();
    for target in &mut targets {
        let session = target.purging.session();
        let mine = conversations
            .iter()
            .filter(|it| sides(it).any(|side| side.reference == session));
        let others = mine.flat_map(|it| sides(it).map(|side| side.reference.clone()));
        target.purging.linked = others.filter(|other| !gone.contains(other)).collect();
    }
    targets
}

fn plan(cx: &RequestContext, target: &Target) -> Result<PurgePlan> {
    let purging = &target.purging;
    let found = target.found.as_ref();
    let removal = found.map(plan_removal).transpose()?;
    let runner = cx.reading_runner()?;
    let mut copies = 0;
    for session in &purging.sessions {
        copies += runner.vault().of(session)?.len() + runner.vault().kept()?.of(session).len();
    }
    let notes = cx.notes()?;
    let notes = notes
        .list()
        .iter()
        .filter(|note| purging.sessions.contains(&note.session))
        .count();
    Ok(PurgePlan {
        token: target.token(),
        session: purging.session(),
        removal,
        copies,
        notes,
        linked: purging.linked.clone(),
    })
}
