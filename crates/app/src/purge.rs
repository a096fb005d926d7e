//! Removes sessions and every trace of them: no copy is kept, and it cannot be undone.

use std::path::PathBuf;

use boswell_dialect::{DialectFacts, SessionLocation, facts_of};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::operations::{Purging, Runner};
use boswell_store::store::Resolved;
use boswell_store::system_ids::{Clock, IdSource, SystemIds};
use boswell_store::{Store, Wait, blobs};

use crate::delete::{RemovalPlan, in_vault, plan_removal, reference, remove};
use crate::plan_token::PlanToken;
use crate::sessions::index::{Create, SessionIndex};
use crate::sessions::list::sides;
use crate::shape::shape;
use crate::store_change::ChangeStep;
use crate::{App, AppResult, RequestContext, purge_copies};

/// Which sessions to purge.
#[derive(Debug, Clone, Default)]
pub struct PurgeRequest {
    /// Refs, beginnings of ids, paths, `@last` or `@here`; also sessions of which only copies, or
    /// what the catalog remembers, are left.
    pub sessions: Vec<String>,
    /// The plans that were shown, in the order of `sessions`; else everything
    /// that is found is purged.
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

/// What purging a session would remove.
#[derive(Debug, Clone)]
pub struct PurgePlan {
    /// What ties the purge to this plan.
    pub token: PlanToken,
    /// The session.
    pub session: SessionRef,
    /// What is removed from its store; none if it is not in one any more.
    pub removal: Option<RemovalPlan>,
    /// Copies in the vault.
    pub copies: usize,
    /// Notes of it.
    pub notes: usize,
    /// Sessions in other stores that are the same conversation, and stay.
    pub linked: Vec<SessionRef>,
}

impl PurgePlan {
    /// What comes before the removal from its store.
    pub fn opening(&self) -> ChangeStep {
        ChangeStep::new(format!(
            "purge {}: every copy goes, and it cannot be undone",
            self.session
        ))
    }

    /// What comes after the removal from its store.
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

/// A session that was purged.
#[derive(Debug, Clone)]
pub struct PurgedSession {
    /// The session.
    pub session: SessionRef,
    /// The operation.
    pub op: PurgeOp,
    /// Sessions in other stores that are the same conversation, and stay.
    pub linked: Vec<SessionRef>,
    /// Files of its agent that may hold text of any session, and were not looked into.
    pub untied: Vec<UntiedPlace>,
}

/// A file that may hold text of any session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntiedPlace {
    /// Description of its contents for the user.
    pub what: &'static str,
    /// Where it is.
    pub path: String,
}

impl App {
    /// What purging sessions would remove. Nothing is changed.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session and nothing is left of it.
    pub fn plan_purge(&self, request: &PurgeRequest) -> AppResult<Vec<PurgePlan>> {
        self.answer(|cx| {
            let targets = targets(cx, request)?;
            targets.iter().map(|target| plan(cx, target)).collect()
        })
    }

    /// Purges sessions. They are looked for again once the lock of purges is held, and each is
    /// handed over when it is done. A purge that is interrupted is finished by the next request
    /// that writes.
    ///
    /// # Errors
    ///
    /// Busy if another process purges, or works on a session; Conflict if what was shown is not
    /// what would be purged now.
    pub fn purge(
        &self,
        request: &PurgeRequest,
        sink: &mut dyn FnMut(PurgedSession) -> Result<()>,
    ) -> AppResult<()> {
        self.answer(|cx| purge(cx, request, sink))
    }
}

/// A session that is to be purged.
struct Target {
    /// Where it is; none if only copies or traces of it are left.
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
                .hinting("try again when it has ended")
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
            // What was begun was undone, or is settled by the next run, which finds the marker.
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

/// What may contain text of the session that cannot be distinguished from that of others.
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

/// The session that is meant: in its store, in the vault, or only remembered.
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

/// The marker of a session that is in its store, with the logs of its subagents behind its own.
fn purging_of(found: &Resolved, logs: &[SessionLocation]) -> Purging {
    let store: &Store = &found.store;
    let mut sessions = vec![reference(found)];
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

/// A session of which only copies in the vault, or what the catalog remembers, are left.
fn left_over(cx: &RequestContext, name: &str) -> Result<Option<(SessionRef, PathBuf)>> {
    if cx.home.is_none() {
        return Ok(None);
    }
    let runner = cx.reading_runner()?;
    match in_vault(&runner, name) {
        Ok(session) => {
            let records = runner
                .vault()
                .of(&session)?
                .into_iter()
                .map(|record| record.root);
            let kept = runner.vault().kept()?;
            let root = records
                .chain(kept.of(&session).into_iter().map(|file| file.root.clone()))
                .next();
            return Ok(root.map(|root| (session, root)));
        }
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let Some(session_index) = SessionIndex::open(cx, Create::No)? else {
        return Ok(None);
    };
    let fits = |session: &SessionRef| session.to_string() == name || session.id == name;
    let mut deleted_sessions = session_index
        .catalog()
        .deleted_sessions()?
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
        .hinting("give the ref as `boswell list --hidden` shows it")),
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
        // A copy that cannot be read names nothing that could be found.
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

/// Adds sessions that are one conversation with those that go, and stay.
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
    let removal = found.map(|found| plan_removal(cx, found)).transpose()?;
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
