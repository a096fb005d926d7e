//! Snapshots of sessions.

use std::sync::Arc;

use boswell_binding::{
    EntryFacts, EntryRange, Language, context_json, handed_messages, messages_text,
};
use boswell_store::Session;
use boswell_store::blobs::Blobs;
use boswell_store::model::json::Json;
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::entry_page::{Collected, EntryPage};
use crate::error::thrown;

/// A session as it was read: it does not change when others append.
#[napi(js_name = "NativeSession")]
#[derive(Debug)]
pub(crate) struct NodeSession {
    session: Arc<Session>,
    blobs: Option<Blobs>,
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
    fn range(&self) -> EntryRange<'_> {
        EntryRange {
            after: self.after.as_deref(),
            before: self.before.as_deref(),
            limit: self.limit.map(|limit| limit as usize),
            backwards: self.backwards == Some(true),
            branch: self.branch == Some(true),
        }
    }
}

impl NodeSession {
    pub(crate) fn new(session: Arc<Session>, blobs: Option<Blobs>) -> NodeSession {
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

    /// The messages that a model would be sent, at the leaf or at another entry, as JSON: every
    /// tool call is followed by its result. Without `paired`, they are as they were written.
    #[napi]
    pub fn messages(&self, at: Option<String>, paired: Option<bool>) -> Promised<String> {
        let session = Arc::clone(&self.session);
        promise(move || {
            let messages = handed_messages(&session, at.as_deref(), paired.unwrap_or(true))?;
            Ok(messages_text(&messages, Language::JavaScript))
        })
    }

    /// What a model would be sent, in the form of the log, as JSON: known roles, every
    /// tool call with its result, and the settings in force.
    #[napi]
    pub fn context(&self, at: Option<String>) -> Promised<String> {
        let session = Arc::clone(&self.session);
        promise(move || Ok(context_json(&session, at.as_deref())?.to_string()))
    }

    /// A page of entries in the order of the log: after and before an entry, from the start or
    /// backwards from the end, of the whole log or of the current branch.
    #[napi]
    pub fn entries(&self, request: PageRequest) -> Promised<EntryPage> {
        let (session, blobs) = (Arc::clone(&self.session), self.blobs.clone());
        promise(move || {
            let mut collected = Collected::new(blobs.as_ref());
            for slot in request.range().slots(&session)? {
                collected.add(&EntryFacts::read(&session, slot)?)?;
            }
            Ok(collected.page(0))
        })
    }

    /// The entry with that id.
    #[napi]
    pub fn entry(&self, id: String) -> Promised<EntryPage> {
        let (session, blobs) = (Arc::clone(&self.session), self.blobs.clone());
        promise(move || {
            let mut collected = Collected::new(blobs.as_ref());
            collected.add(&EntryFacts::read(&session, session.find(&id)?)?)?;
            Ok(collected.page(0))
        })
    }
}
