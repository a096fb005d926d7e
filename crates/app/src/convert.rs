//! Converts a session: makes a session of another agent with the same conversation.
//!
//! What is carried over and what is lost is decided below: `dialect/conversion` fits the
//! conversation to what the target takes, `store/conversion` encodes it and reads it back. Here the
//! stores are chosen, the plan is executed with undo, and the lineage is noted on both sides. The
//! session that a plan was shown for is the one that is made: see [`PlanToken`].

pub(crate) mod importer;

use boswell_dialect::conversion::Loss;
use boswell_dialect::{Capability, Depth, Support, Surroundings, by_name};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::notes::{Note, NoteKind};
pub use boswell_store::operations::ConversionScope;
use boswell_store::operations::Operation;
use boswell_store::operations::{Conversion, ConversionRequest};
use boswell_store::store::Resolved;
use boswell_store::vault::Reason;
use boswell_store::{Session, Store, WritableStore};

use crate::gaps::{require_conversation, warn_about_history};
use crate::plan_token::PlanToken;
use crate::planned_change::OperationShape;
use crate::shape::{self, SessionShape, shape};
use crate::{App, AppResult, RequestContext};

/// The kind of the operation that makes a session of another agent.
const CONVERT: &str = "convert";

/// A request to make a session of another agent.
#[derive(Debug, Clone, Default)]
pub struct ConvertRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The agent that the new session is for, by the name of its dialect.
    pub to: String,
    /// Which part of the conversation.
    pub scope: ConversionScope,
    /// Title of the new session; `None` for that of the source.
    pub title: Option<String>,
    /// The plan that was shown; needed to execute it.
    pub shown: Option<PlanToken>,
}

shape! {
    /// From `convert`: a session of another agent with the same conversation, planned or made.
    ConversionShape: "conversion" {
        /// the session that is carried over
        source: String,
        /// the last entry of the source that is carried over
        entry: String,
        /// the session that is made; its id is the same each time
        target: String,
        /// whether it was made before, so that nothing is written
        exists: bool,
        /// messages of user and model, and results of tools, that are carried over
        messages: u64,
        /// what is not carried over, or only changed
        losses: Vec<ConversionLoss>,
        /// SHA-256 of the log as it is or was written
        sha256: String,
    }

    /// Something that a conversion does not carry over, or only changed.
    ConversionLoss {
        /// kind of loss, such as `thinking` or `other_branches`
        kind: &'static str,
        /// how often
        count: u64,
        /// what happens to it
        text: &'static str,
        /// the first entry of the source where it occurs
        entry: Option<String>,
    }
}

/// An agent that can go on with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentForSession {
    /// Name of the agent's dialect.
    pub agent: &'static str,
    /// Name of the agent for display.
    pub title: &'static str,
    /// Whether it is the agent of the session itself; others get a conversion.
    pub own: bool,
}

/// A planned conversion.
#[derive(Debug, Clone)]
pub struct ConversionPlan {
    /// The conversion in its JSON shape.
    pub conversion: ConversionShape,
    /// The session that is made.
    pub target: SessionRef,
    /// Name of the target's agent for display.
    pub title: &'static str,
    /// The steps, one line each; empty if the session exists.
    pub steps: Vec<String>,
    /// Names the plan, for [`ConvertRequest::shown`].
    pub token: PlanToken,
}

/// A session that was made, or that existed already.
#[derive(Debug)]
pub struct ConvertedSession {
    /// The session.
    pub reference: SessionRef,
    /// The session in its JSON shape.
    pub session: SessionShape,
    /// The operation; `None` if the session existed already.
    pub op: Option<OperationShape>,
}

impl App {
    /// Plans a session of another agent with the same conversation, and lists what is lost. Nothing
    /// is written.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or no store of the agent, Invalid for an agent that
    /// does not exist or that the session is of already, Unsupported if the agent takes no sessions
    /// of others, or would read the conversation differently.
    pub fn plan_conversion(&self, request: &ConvertRequest) -> AppResult<ConversionPlan> {
        self.answer(|cx| {
            let planned = Conversions::plan(cx, request)?;
            Ok(planned.shown(request))
        })
    }

    /// Makes the session that was planned; if it exists already, nothing is written.
    ///
    /// # Errors
    ///
    /// As [`plan_conversion`](App::plan_conversion); Conflict if the plan is not the one that was
    /// shown, Denied if nothing may be written.
    pub fn convert(&self, request: &ConvertRequest) -> AppResult<ConvertedSession> {
        self.answer(|cx| convert(cx, request))
    }

    /// Returns the agents that can go on with a session: its own first, then those that a session
    /// can be made for and whose stores exist.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session.
    pub fn agents_for(&self, session: &str) -> AppResult<Vec<AgentForSession>> {
        self.answer(|cx| agents_for(cx, session))
    }
}

/// A conversion with the stores that it goes from and to.
struct Conversions {
    target: Store,
    conversion: Conversion,
}

impl Conversions {
    fn plan(cx: &RequestContext, request: &ConvertRequest) -> Result<Conversions> {
        let found = cx.resolve(&request.session)?;
        let target = target_store(cx, &request.to)?;
        refuse_same(&found, &target)?;
        let session = read(cx, &found)?;
        let wanted = ConversionRequest {
            scope: request.scope,
            title: request.title.clone().or_else(|| title(cx, &session)),
            project: cx.env.cwd.display().to_string(),
            around: Surroundings::of(&cx.env),
        };
        let mut conversion = target.plan_conversion(&session, &wanted)?;
        importer::find_earlier(cx, &target, &mut conversion);
        Ok(Conversions { target, conversion })
    }

    fn shown(self, request: &ConvertRequest) -> ConversionPlan {
        let token = self.token(request);
        let import = importer::step(&self.target, &self.conversion);
        let conversion = self.conversion;
        let steps = conversion.plan.steps.iter().map(ToString::to_string);
        ConversionPlan {
            steps: steps.chain(import).collect(),
            title: self.target.dialect().facts().title,
            target: conversion.target.clone(),
            conversion: conversion.into(),
            token,
        }
    }

    fn token(&self, request: &ConvertRequest) -> PlanToken {
        let it = &self.conversion;
        let parts = [
            it.target.to_string(),
            it.sha256.to_string(),
            request.title.clone().unwrap_or_default().replace('\n', " "),
        ];
        PlanToken::new(it.source.clone(), &parts)
    }
}

impl From<Conversion> for ConversionShape {
    fn from(it: Conversion) -> ConversionShape {
        ConversionShape {
            source: it.source.to_string(),
            entry: it.entry,
            target: it.target.to_string(),
            exists: it.exists,
            messages: it.messages,
            losses: it.losses.into_iter().map(ConversionLoss::from).collect(),
            sha256: it.sha256.to_string(),
        }
    }
}

impl From<Loss> for ConversionLoss {
    fn from(loss: Loss) -> ConversionLoss {
        ConversionLoss {
            kind: loss.kind.word(),
            count: loss.count,
            text: loss.kind.text(),
            entry: loss.entry,
        }
    }
}

fn convert(cx: &RequestContext, request: &ConvertRequest) -> Result<ConvertedSession> {
    cx.may_write()?;
    // The notices were returned with the plan.
    let planned = cx.noticed_before(|| Conversions::plan(cx, request))?;
    planned.token(request).require(request.shown.as_ref())?;
    let Conversions {
        target,
        mut conversion,
    } = planned;
    let writable = cx.writable(target)?;
    let op = match conversion.exists {
        true => None,
        false => {
            let operation = make(cx, &writable, &mut conversion)?;
            note_lineage(cx, &conversion)?;
            let (id, kind) = (&operation.id, &operation.kind);
            Some(OperationShape::new(id, kind, &conversion.target))
        }
    };
    let location = writable.whole().find(&conversion.target.id)?;
    let mut summary = writable.summary(&location)?;
    cx.add_notes(std::iter::once(&mut summary))?;
    Ok(ConvertedSession {
        session: shape::session(&summary, Some(&writable)),
        reference: conversion.target,
        op,
    })
}

/// Writes the files of the new session, or has the agent's program import it.
fn make(
    cx: &RequestContext,
    store: &WritableStore,
    conversion: &mut Conversion,
) -> Result<Operation> {
    if let Some(importer) = store.dialect().powers().import {
        return importer::import(cx, store, importer, conversion);
    }
    cx.runner()?.run_with(
        store.root(),
        &conversion.target,
        Reason::Before,
        &conversion.locks,
        &|| Ok(conversion.plan.clone()),
    )
}

fn read(cx: &RequestContext, found: &Resolved) -> Result<Session> {
    let session = found
        .store
        .read_conversation(&found.location, Depth::Facts)?;
    require_conversation(&session)?;
    warn_about_history(cx, &session);
    Ok(session)
}

/// Returns the title that a note gives the session; otherwise its log states it.
fn title(cx: &RequestContext, session: &Session) -> Option<String> {
    cx.notes().ok()?.of(&session.reference()).title
}

/// Returns the store for sessions of an agent: the named or discovered one, for boswell its home.
pub(crate) fn target_store(cx: &RequestContext, agent: &str) -> Result<Store> {
    let dialect = by_name(agent).ok_or_else(|| {
        let what = format!("there is no agent `{}`", agent.escape_debug());
        Error::new(ErrorKind::Invalid, what).advising(Advice::ListStores)
    })?;
    let is_it = |store: &Store| store.dialect().name() == agent && store.archived().is_none();
    if let Some((_, store)) = cx.stores.iter().find(|(_, store)| is_it(store)) {
        return Ok(store.clone());
    }
    if dialect.facts().is_own {
        return Ok(Store::in_folder(dialect, cx.home()?));
    }
    let what = format!("no sessions of {} were found", dialect.facts().title);
    Err(
        Error::new(ErrorKind::NotFound, what).advising(Advice::NameStore {
            dialect: Some(agent.to_owned()),
        }),
    )
}

fn refuse_same(found: &Resolved, target: &Store) -> Result<()> {
    if found.store.dialect().name() != target.dialect().name() {
        return Ok(());
    }
    let session = found.reference();
    let what = format!(
        "{session} is a session of {} already",
        target.dialect().facts().title
    );
    Err(Error::new(ErrorKind::Invalid, what).advising(Advice::Fork {
        session: Some(session.to_string()),
        at: None,
    }))
}

/// Notes on both sides what was made from what.
fn note_lineage(cx: &RequestContext, conversion: &Conversion) -> Result<()> {
    let note = |session: &SessionRef, kind: NoteKind| Note {
        session: session.clone(),
        at: cx.now,
        kind,
    };
    let (source, target) = (&conversion.source, &conversion.target);
    let from = NoteKind::ConvertedFrom {
        source: source.clone(),
        entry: conversion.entry.clone(),
    };
    cx.notes()?.add_all(vec![
        note(source, NoteKind::ConvertedTo(target.clone())),
        note(target, from),
    ])
}

/// Takes the lineage back of a conversion that was undone.
pub(crate) fn forget_lineage(cx: &RequestContext, undone: &Operation) -> Result<()> {
    if undone.kind != CONVERT {
        return Ok(());
    }
    let mut notes = cx.notes()?;
    let target = &undone.session;
    let Some((source, _)) = notes.of(target).converted_from else {
        return Ok(());
    };
    let note = |session: &SessionRef, other: &SessionRef| Note {
        session: session.clone(),
        at: cx.now,
        kind: NoteKind::NotConverted(other.clone()),
    };
    notes.add_all(vec![note(&source, target), note(target, &source)])
}

fn agents_for(cx: &RequestContext, session: &str) -> Result<Vec<AgentForSession>> {
    let found = cx.resolve(session)?;
    let own = found.store.dialect().facts();
    let resumes = |capabilities: &boswell_dialect::Capabilities| {
        capabilities.support(Capability::Resume) != Support::No
    };
    let mut ways = Vec::new();
    if resumes(&own.capabilities) {
        ways.push(AgentForSession {
            agent: own.name,
            title: own.title,
            own: true,
        });
    }
    for (_, store) in cx.stores.iter() {
        let facts = store.dialect().facts();
        let is_known = facts.name == own.name || ways.iter().any(|way| way.agent == facts.name);
        if facts.intake.is_none() || is_known || !resumes(&facts.capabilities) {
            continue;
        }
        ways.push(AgentForSession {
            agent: facts.name,
            title: facts.title,
            own: false,
        });
    }
    Ok(ways)
}
