//! Writes a conversation into memory with the target's own encoder.

use std::sync::Arc;

use boswell_dialect::conversion::DerivedIds;
use boswell_dialect::{
    Append, Body, ChatMessage, Depth, Draft, EditRequest, EntryStamp, IdSource, NewSession, Parent,
    Precondition, SessionFacts, Step, StoreRequest,
};
use boswell_model::{Error, ErrorKind, Instant, Remark, Result};

use super::PlannedImport;
use crate::backend::{BackendFiles, MemoryBackend};
use crate::{Session, Store};

/// A session that was written into memory, or as the document of an importer.
pub(super) struct Composed {
    /// Id of the session.
    pub(super) id: String,
    /// Steps that write its files.
    pub(super) steps: Vec<Step>,
    pub(super) preconditions: Vec<Precondition>,
    /// Bytes of its log.
    pub(super) log: Vec<u8>,
    pub(super) remarks: Vec<Remark>,
    /// What the target's agent would send.
    pub(super) sent: Vec<ChatMessage>,
    pub(super) import: Option<PlannedImport>,
}

/// Writes drafts as a new session of the target's agent.
pub(super) fn compose(
    target: &Store,
    new: NewSession,
    drafts: &[Draft],
    ids: Arc<DerivedIds>,
) -> Result<Composed> {
    let mut begun = match target.dialect().facts().creates_by_plan {
        true => begin_by_plan(target, new, &ids)?,
        false => begin_by_log(target, &new, &ids)?,
    };
    let memory = begun.memory(target, &ids);
    let session = session_in(&memory, &begun.id)?;
    let key = session.location().key.clone();
    let key = key.ok_or_else(|| lost("its log has no name"))?;
    let added = match target.dialect().powers().append {
        Some(append) => lines(append, &session, drafts, &*ids)?,
        None => planned_lines(&memory, &session, drafts, &key)?,
    };
    let log = begun.add(&key, added)?;
    let written = begun.memory(target, &ids);
    Ok(Composed {
        sent: session_in(&written, &begun.id)?.messages()?,
        import: None,
        id: begun.id,
        steps: begun.steps,
        preconditions: begun.preconditions,
        remarks: begun.remarks,
        log,
    })
}

/// A new session without messages.
struct Begun {
    id: String,
    steps: Vec<Step>,
    preconditions: Vec<Precondition>,
    remarks: Vec<Remark>,
}

impl Begun {
    /// Returns a store with the files that were written so far.
    fn memory(&self, target: &Store, ids: &Arc<DerivedIds>) -> Store {
        let mut backend = MemoryBackend::default();
        for step in &self.steps {
            if let Step::Put { key, bytes, .. } = step {
                backend.put(key, bytes.clone(), None);
            }
        }
        let ids: Arc<dyn IdSource> = ids.clone();
        Store::on(target.dialect(), Arc::new(backend), target.root()).with_ids(ids)
    }

    /// Adds lines to the log, and returns all of it.
    fn add(&mut self, log: &str, added: Vec<u8>) -> Result<Vec<u8>> {
        for step in &mut self.steps {
            if let Step::Put { key, bytes, .. } = step
                && key == log
            {
                bytes.extend(added);
                return Ok(bytes.clone());
            }
        }
        Err(lost("its log was not planned"))
    }
}

fn begin_by_plan(target: &Store, new: NewSession, ids: &Arc<DerivedIds>) -> Result<Begun> {
    let edits = target.dialect().planner()?;
    let files = BackendFiles(target.backend());
    let planned = edits.plan_store(&files, &StoreRequest::Create(new), &**ids)?;
    Ok(Begun {
        id: planned.session.ok_or_else(|| lost("it has no id"))?,
        steps: planned.plan.steps,
        preconditions: planned.plan.preconditions,
        remarks: Vec::new(),
    })
}

fn begin_by_log(target: &Store, new: &NewSession, ids: &Arc<DerivedIds>) -> Result<Begun> {
    let append = target.dialect().appender()?;
    let id = append.session_id(&**ids);
    let now = ids_time(ids);
    let mut log = append.new_log(new, &id, now)?;
    log.key = append.resolve_key(&BackendFiles(target.backend()), log.key)?;
    if let Some(title) = &new.title {
        let stamp = EntryStamp {
            id: &append.entry_id(&**ids),
            parent: None,
            at: now,
        };
        // Some agents keep the title in the header.
        if let Ok(record) = append.encoded(&Draft::new(Body::Title(title.clone())), stamp) {
            log.bytes.extend(record);
            log.bytes.push(b'\n');
        }
    }
    let key = log.key;
    Ok(Begun {
        id,
        preconditions: vec![Precondition::Absent { key: key.clone() }],
        steps: vec![Step::put(key, log.bytes)],
        remarks: Vec::new(),
    })
}

fn ids_time(ids: &Arc<DerivedIds>) -> Instant {
    use boswell_dialect::Clock as _;
    ids.now()
}

/// Encodes drafts behind the last entry, each as the child of the one before it.
fn lines(
    append: &dyn Append,
    session: &Session,
    drafts: &[Draft],
    ids: &dyn IdSource,
) -> Result<Vec<u8>> {
    let log = session.log();
    let last = log.heads.iter().rev().find_map(|head| head.id);
    let mut parent = match append.facts().parent_needs_full_log {
        true => append.parent_of_new(&session.view(), &Parent::Tip)?,
        false => last.map(|id| log.names.text(id).to_owned()),
    };
    let id = session.id();
    let facts = SessionFacts {
        id: id.as_str(),
        meta: session.meta(),
    };
    let mut bytes = Vec::new();
    for draft in drafts {
        let id = append.entry_id(ids);
        let stamp = EntryStamp {
            id: &id,
            parent: parent.as_deref(),
            at: draft.at.unwrap_or_else(|| ids.now()),
        };
        append.encode(draft, stamp, Some(facts), &mut bytes)?;
        bytes.push(b'\n');
        parent = Some(id);
    }
    Ok(bytes)
}

/// As [`lines`], for agents whose entries are added by a plan.
fn planned_lines(
    memory: &Store,
    session: &Session,
    drafts: &[Draft],
    log: &str,
) -> Result<Vec<u8>> {
    let request = EditRequest::Append(drafts.to_vec());
    let planned = memory.plan_for(session, &request)?;
    let mut added = Vec::new();
    for step in planned.plan.steps {
        match step {
            Step::Append { key, bytes } if key == log => added.extend(bytes),
            other if other.changes() => return Err(lost("its messages need other files")),
            _ => {}
        }
    }
    Ok(added)
}

pub(super) fn session_in(memory: &Store, id: &str) -> Result<Session> {
    let location = memory.find(id)?;
    memory.read_conversation(&location, Depth::Facts)
}

fn lost(why: &'static str) -> Error {
    Error::new(ErrorKind::Internal, "the new session cannot be written").because(why)
}
