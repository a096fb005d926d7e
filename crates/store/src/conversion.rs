//! Makes a session of one agent from the conversation of another, as a plan.
//!
//! The turns of the source are fitted to what the target takes, the target's own encoder writes
//! them into memory, and the target's dialect reads them back from there. Only then there is a
//! plan. Ids and times depend on the source alone, so the same conversation becomes the same bytes
//! each time. See `docs/adr/0026`.

mod compose;
mod imported;
mod turns;

pub use imported::PlannedImport;

use std::sync::Arc;

use boswell_dialect::conversion::{DerivedIds, Fitted, Loss, LossKind, differences, fit};
use boswell_dialect::{ChatMessage, Intake, LockSpec, NewSession, Plan, Surroundings, unsupported};
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Flags, Instant, Remark, Result, SessionRef, Slot, Tip,
};

use crate::backend::lock_name;
use crate::sha256::Digest;
use crate::{Session, Store};

/// The version of the rules by which sessions are made. A rule that changes the bytes of an
/// existing conversion makes it another session, so the version is a part of every derived id.
const RULES: &str = "1";

/// Which part of a conversation is carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConversionScope {
    /// What a model would be sent: after a compaction its summary and what followed.
    #[default]
    Context,
    /// The whole branch, also what came before a compaction.
    Branch,
}

impl ConversionScope {
    fn word(self) -> &'static str {
        match self {
            ConversionScope::Context => "context",
            ConversionScope::Branch => "branch",
        }
    }
}

/// How a conversation is carried over.
#[derive(Debug, Clone, Default)]
pub struct ConversionRequest {
    /// Which part of the conversation.
    pub scope: ConversionScope,
    /// Title of the new session; `None` for that of the source.
    pub title: Option<String>,
    /// Project folder of the new session, if the source states none.
    pub project: String,
    /// Folders that some agents abbreviate in the name of a project's folder.
    pub around: Surroundings,
}

/// A planned conversion.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// The session that is carried over.
    pub source: SessionRef,
    /// The last entry of the source that is carried over.
    pub entry: String,
    /// The session that is made.
    pub target: SessionRef,
    /// Whether the session exists already: then the plan has no steps.
    pub exists: bool,
    /// The plan.
    pub plan: Plan,
    /// The locks of the plan, which the runner takes.
    pub locks: Vec<LockSpec>,
    /// Number of messages of user and model, and of results.
    pub messages: u64,
    /// What is not carried over, or only changed.
    pub losses: Vec<Loss>,
    /// Remarks of the target's agent.
    pub remarks: Vec<Remark>,
    /// What the target's agent would send, as its dialect reads the new log.
    pub sent: Vec<ChatMessage>,
    /// Hash of `log`.
    pub sha256: Digest,
    /// Bytes of the new log, or of the document that is imported.
    pub log: Vec<u8>,
    /// How the agent's own program takes the session; `None` if files are written.
    pub import: Option<PlannedImport>,
}

impl Store {
    /// Plans a session of this store with the conversation of `source`. Nothing is written.
    ///
    /// # Errors
    ///
    /// `Unsupported` if no session of this agent can be made from others, or if what was encoded is
    /// read back differently; `Invalid` if there is nothing to carry over; an I/O error if the
    /// source cannot be read.
    pub fn plan_conversion(
        &self,
        source: &Session,
        request: &ConversionRequest,
    ) -> Result<Conversion> {
        let facts = self.dialect().facts();
        let intake = facts.intake.as_ref().ok_or_else(|| no_target(facts.name))?;
        let tip = source.tip()?;
        let entry = last_entry(source, tip)?;
        let began = began(source);
        let identity = [entry.as_str(), request.scope.word(), facts.name];
        let ids = derived_ids(source, identity, began);
        let carried = turns::of(source, tip, request.scope)?;
        let fitted = fitted((source, tip), carried, intake, began)?;
        let new = new_session(source, request, facts.is_own);
        let composed = match self.dialect().powers().import {
            Some(importer) => imported::compose(self, importer, &new, (&fitted.drafts, &ids)),
            None => compose::compose(self, new, &fitted.drafts, ids)?,
        };
        let sent = composed.sent;
        refuse_differences((&source.reference(), self), &sent, &fitted.drafts, intake)?;
        let target = SessionRef::new(facts.name, &composed.id);
        let exists = self.whole().find(&composed.id).is_ok();
        let title = format!("convert {} to {target}", source.reference());
        let mut plan = Plan::new("convert", title);
        if !exists {
            plan.preconditions = composed.preconditions;
            plan.steps = composed.steps;
        }
        Ok(Conversion {
            source: source.reference(),
            entry,
            exists,
            plan,
            locks: locks(&target),
            messages: fitted.drafts.len() as u64,
            losses: fitted.losses,
            remarks: composed.remarks,
            sent,
            sha256: Digest::of(&composed.log),
            log: composed.log,
            import: composed.import,
            target,
        })
    }
}

fn new_session(source: &Session, request: &ConversionRequest, is_own: bool) -> NewSession {
    let meta = source.meta();
    NewSession {
        project: meta
            .project
            .clone()
            .unwrap_or_else(|| request.project.clone()),
        title: request.title.clone().or_else(|| meta.title.clone()),
        // Only our own header has a place for a reference to a session of another agent.
        parent: is_own.then(|| source.reference().to_string()),
        around: request.around.clone(),
        ..NewSession::default()
    }
}

/// Returns the label of the last entry that is carried over.
fn last_entry(source: &Session, tip: Tip) -> Result<String> {
    let leaf = source.leaf()?.or(tip.slot());
    let leaf = leaf.ok_or_else(|| empty(source))?;
    Ok(source.log().label(leaf).into_owned())
}

/// Returns when the source began. Without any time it is 1970: a time of the machine would make
/// another session each time.
fn began(source: &Session) -> Instant {
    let stated = source.meta().created;
    let first = || {
        let mut heads = source.log().heads.iter();
        heads.find_map(|head| head.time).map(Instant::from)
    };
    stated.or_else(first).unwrap_or(Instant::from_millis(0))
}

/// Returns the messages of a source as a target takes them, with everything that is lost.
fn fitted(
    (source, tip): (&Session, Tip),
    carried: turns::Carried,
    intake: &Intake,
    began: Instant,
) -> Result<Fitted> {
    let mut fitted = fit(carried.turns, intake, began);
    if fitted.drafts.is_empty() {
        return Err(empty(source));
    }
    fitted.losses.extend(carried.losses);
    fitted.losses.extend(kept_back(source, tip)?);
    fitted.losses.sort_by_key(|loss| loss.kind);
    Ok(fitted)
}

/// Returns the ids of a new session, which depend on the source and the request alone.
fn derived_ids(source: &Session, identity: [&str; 3], began: Instant) -> Arc<DerivedIds> {
    let reference = source.reference().to_string();
    let [entry, scope, target] = identity;
    let identity = [RULES, reference.as_str(), entry, scope, target];
    Arc::new(DerivedIds::new(&identity, began))
}

/// Returns the locks under which a new session is written.
fn locks(target: &SessionRef) -> Vec<LockSpec> {
    let name = lock_name(target);
    vec![
        LockSpec::Os { name: name.clone() },
        LockSpec::Append { name },
    ]
}

/// The refusal of a dialect that no conversation can be carried over to.
fn no_target(dialect: &str) -> Error {
    unsupported(
        dialect,
        "be made from the conversation of another agent",
        Advice::SeeCapabilities,
    )
}

fn empty(source: &Session) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("{} has no messages to carry over", source.reference()),
    )
    .advising(Advice::show_records(source.reference()))
}

/// Returns what belongs to the source and has no place in another agent's session.
fn kept_back(source: &Session, tip: Tip) -> Result<Vec<Loss>> {
    let mut losses = Vec::new();
    let branch: std::collections::HashSet<Slot> = source.branch(tip)?.into_iter().collect();
    let mut elsewhere = source.log().entries().filter(|(slot, head)| {
        is_message(head.kind) && !head.flags.has(Flags::SIDECHAIN) && !branch.contains(slot)
    });
    if let Some((first, _)) = elsewhere.next() {
        losses.push(Loss {
            kind: LossKind::OtherBranches,
            count: 1 + elsewhere.count() as u64,
            entry: Some(source.log().label(first).into_owned()),
        });
    }
    if !source.meta().usage.total().is_unknown() {
        losses.push(Loss {
            kind: LossKind::Usage,
            count: 1,
            entry: None,
        });
    }
    Ok(losses)
}

fn is_message(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult
    )
}

fn refuse_differences(
    (source, target): (&SessionRef, &Store),
    read: &[ChatMessage],
    drafts: &[boswell_dialect::Draft],
    intake: &Intake,
) -> Result<()> {
    let differences = differences(drafts, read, intake);
    if differences.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} would not read the conversation as it is",
        target.dialect().facts().title
    );
    Err(Error::new(ErrorKind::Unsupported, what)
        .because(differences.join("\n"))
        .advising(Advice::Handoff {
            session: source.to_string(),
        }))
}
