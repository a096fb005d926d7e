//! Snapshots of sessions.

use std::sync::Arc;

use boswell_store::blobs::Blobs;
use boswell_store::model::json::Json;
use boswell_store::model::{Slot, Tip};
use boswell_store::{Result, Session};
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::entry_page::{Collected, EntryPage};
use crate::error::thrown;
use crate::message::described;

/// A session as it was read: it does not change when others append.
#[napi(js_name = "NativeSession")]
#[derive(Debug)]
pub(crate) struct NodeSession {
    session: Arc<Session>,
    blobs: Blobs,
}

/// Which entries are read, and from which end.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub(crate) struct PageRequest {
    pub after: Option<String>,
    pub before: Option<String>,
    pub limit: Option<u32>,
    pub backwards: Option<bool>,
    pub branch: Option<bool>,
}

impl PageRequest {
    /// Returns the entries of the page; nothing else is read.
    fn slots(&self, session: &Session) -> Result<Vec<Slot>> {
        let all: Vec<Slot> = if self.branch == Some(true) {
            session.branch(session.tip()?)?
        } else {
            session.log().slots().collect()
        };
        let at = |entry: &str| -> Result<usize> {
            let slot = session.find(entry)?;
            // An entry of another branch has no position on this one; its place in the log has.
            Ok(all.partition_point(|it| it.index() < slot.index()))
        };
        let start = match self.after.as_deref() {
            Some(entry) => {
                let position = at(entry)?;
                let is_there = all.get(position) == Some(&session.find(entry)?);
                position + usize::from(is_there)
            }
            None => 0,
        };
        let end = self.before.as_deref().map_or(Ok(all.len()), at)?;
        let page = all.get(start..end.max(start)).unwrap_or(&[]);
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(if self.backwards == Some(true) {
            page.iter().rev().take(limit).copied().collect()
        } else {
            page.iter().take(limit).copied().collect()
        })
    }
}

impl NodeSession {
    pub(crate) fn new(session: Arc<Session>, blobs: Blobs) -> NodeSession {
        NodeSession { session, blobs }
    }
}

#[napi]
impl NodeSession {
    /// What is known without reading the log again, as JSON.
    #[napi]
    pub fn facts(&self) -> napi::Result<String> {
        let session = &self.session;
        let leaf = session.leaf().map_err(|error| thrown(&error))?;
        let facts = Json::object()
            .with("id", session.id().to_string())
            .with_some("path", session.path())
            .with("revision", session.revision().to_string())
            .with_some("title", session.meta().title.as_deref())
            .with_some("project", session.meta().project.as_deref())
            .with_some("leaf", leaf.map(|slot| session.log().label(slot)))
            .with("length", session.log().slots().len());
        Ok(facts.to_string())
    }

    /// The messages that a model would be sent, at the leaf or at another entry, as JSON.
    #[napi]
    pub fn messages(&self, at: Option<String>) -> Promised<String> {
        let session = Arc::clone(&self.session);
        promise(move || {
            let read = session.messages_at(tip(&session, at.as_deref())?)?;
            Ok(Json::Array(read.iter().map(described).collect()).to_string())
        })
    }

    /// What a model would be sent, in the form of the log, as JSON: the messages as they were
    /// written, and the settings in force.
    #[napi]
    pub fn context(&self, at: Option<String>) -> Promised<String> {
        let session = Arc::clone(&self.session);
        promise(move || {
            let context = session.context(tip(&session, at.as_deref())?)?;
            let mut messages = Vec::new();
            for item in &context.items {
                let message = session.render(item)?.message;
                messages.push(message.native.unwrap_or_else(|| {
                    Json::object()
                        .with("role", message.role.as_str())
                        .with("content", Json::Array(message.content))
                }));
            }
            let made = Json::object()
                .with("messages", Json::Array(messages))
                .with("model", context.settings.model);
            Ok(made.to_string())
        })
    }

    /// A page of entries in the order of the log: after and before an entry, from the start or
    /// backwards from the end, of the whole log or of the current branch.
    #[napi]
    pub fn entries(&self, request: PageRequest) -> Promised<EntryPage> {
        let (session, blobs) = (Arc::clone(&self.session), self.blobs.clone());
        promise(move || {
            let mut collected = Collected::default();
            for slot in request.slots(&session)? {
                collected.read(&session, slot, &blobs)?;
            }
            Ok(collected.page(0))
        })
    }

    /// The entry with that id.
    #[napi]
    pub fn entry(&self, id: String) -> Promised<EntryPage> {
        let (session, blobs) = (Arc::clone(&self.session), self.blobs.clone());
        promise(move || {
            let mut collected = Collected::default();
            collected.read(&session, session.find(&id)?, &blobs)?;
            Ok(collected.page(0))
        })
    }
}

fn tip(session: &Session, at: Option<&str>) -> Result<Tip> {
    match at {
        Some(entry) => Ok(Tip::At(session.find(entry)?)),
        None => session.tip(),
    }
}
