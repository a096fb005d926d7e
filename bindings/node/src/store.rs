//! The store of a home folder.

use std::sync::Arc;

use boswell_store::blobs::Blobs;
use boswell_store::model::json::Json;
use boswell_store::model::{EntryId, SessionRef};
use boswell_store::session::SessionCache;
use boswell_store::store::Summary;
use boswell_store::{Body, Draft, Follower, Home, NewSession, Result, SessionWriter};
use boswell_store::{Wait, WritableStore};
use napi_derive::napi;

use crate::blob_store::NodeBlobs;
use crate::call::{Promised, promise};
use crate::follower::NodeFollower;
use crate::receipt::{described, revision};
use crate::session::NodeSession;
use crate::waiter::{Answers, Waiter};
use crate::writer::NodeWriter;

/// How many sessions that were read are kept, so that only their new lines are read again.
const CACHED: usize = 16;

/// A folder with sessions.
#[napi(js_name = "NativeStore")]
#[derive(Debug)]
pub(crate) struct NodeStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    home: Home,
    store: WritableStore,
    blobs: Blobs,
    cache: SessionCache,
    waiter: Arc<Waiter>,
}

/// A session that is to be made. Without a project it belongs to no folder: `js/` gives the folder
/// in which the process runs.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub(crate) struct SessionRequest {
    pub project: Option<String>,
    pub id: Option<String>,
    pub title: Option<String>,
}

impl SessionRequest {
    fn new_session(self, project: impl FnOnce() -> Result<String>) -> Result<NewSession> {
        let project = self.project.map_or_else(project, Ok)?;
        let new = NewSession::in_project(project);
        let new = match self.id {
            Some(id) => new.with_id(id),
            None => new,
        };
        Ok(match self.title {
            Some(title) => new.titled(title),
            None => new,
        })
    }
}

impl NodeStore {
    fn over(home: Result<Home>, answers: Answers) -> Result<NodeStore> {
        let home = home?;
        Ok(NodeStore {
            inner: Arc::new(Inner {
                store: home.sessions()?,
                blobs: home.blobs(),
                cache: SessionCache::new(CACHED),
                waiter: Arc::new(Waiter::new(Arc::new(answers))),
                home,
            }),
        })
    }

    fn promise<T>(&self, work: impl FnOnce(&Inner) -> Result<T> + Send + 'static) -> Promised<T>
    where
        T: napi::bindgen_prelude::ToNapiValue + napi::bindgen_prelude::TypeName + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        promise(move || work(&inner))
    }

    fn writer_by(
        &self,
        open: impl FnOnce(&Inner) -> Result<SessionWriter> + Send + 'static,
    ) -> Promised<NodeWriter> {
        self.promise(move |inner| {
            let (blobs, waiter) = (inner.blobs.clone(), Arc::clone(&inner.waiter));
            Ok(NodeWriter::new(open(inner)?, blobs, waiter))
        })
    }
}

#[napi]
impl NodeStore {
    /// Opens a folder as a store; it is made if it is not there.
    #[napi]
    pub fn open(path: String, answers: Answers) -> Promised<NodeStore> {
        promise(move || NodeStore::over(Home::open(path), answers))
    }

    /// A store in memory: nothing is kept.
    #[napi]
    pub fn in_memory(answers: Answers) -> Promised<NodeStore> {
        promise(move || NodeStore::over(Home::in_memory(), answers))
    }

    /// Its folder.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.inner.home.path().to_string_lossy().into_owned()
    }

    /// Large values by their digests.
    #[napi(getter)]
    pub fn blobs(&self) -> NodeBlobs {
        NodeBlobs::new(self.inner.blobs.clone())
    }

    /// Makes a session. The writer holds its lease.
    #[napi]
    pub fn create(&self, request: SessionRequest) -> Promised<NodeWriter> {
        self.writer_by(move |inner| {
            let new = request.new_session(|| Ok(String::new()))?;
            inner.store.create(new)
        })
    }

    /// Opens a session for writing and takes its lease, or fails at once: a thread of the pool that
    /// waited would be missing for reads. With `shared`, it is opened without the lease, for
    /// several writers.
    #[napi]
    pub fn writer(&self, id: String, shared: bool) -> Promised<NodeWriter> {
        self.writer_by(move |inner| match shared {
            true => inner.store.shared_writer(&id),
            false => inner.store.writer(&id, Wait::No),
        })
    }

    /// Makes a new session from the branch of another one that ends at its leaf or at an entry.
    #[napi]
    pub fn fork(
        &self,
        id: String,
        at: Option<String>,
        request: SessionRequest,
    ) -> Promised<NodeWriter> {
        self.writer_by(move |inner| {
            let at = at.map(EntryId::from);
            let new = request.new_session(|| {
                let source = inner.store.session(&id)?;
                Ok(source.meta().project.clone().unwrap_or_default())
            })?;
            inner.store.fork(&id, at.as_ref(), new)
        })
    }

    /// The session as it is now. Of a session that was read before, only new lines are read.
    #[napi]
    pub fn session(&self, id: String) -> Promised<NodeSession> {
        self.promise(move |inner| {
            let session = inner.cache.session(&inner.store, &id)?;
            Ok(NodeSession::new(session, inner.blobs.clone()))
        })
    }

    /// Whether there is a session with that id.
    #[napi]
    pub fn has(&self, id: String) -> Promised<bool> {
        self.promise(move |inner| match inner.store.find(&id) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        })
    }

    /// The sessions as JSON, from their names alone; with `details`, title, project and times are
    /// read.
    #[napi]
    pub fn list(&self, details: bool) -> Promised<String> {
        self.promise(move |inner| {
            let mut infos = Vec::new();
            for location in inner.store.list()?.sessions {
                let summary = match details.then(|| inner.store.summary(&location)).transpose() {
                    Ok(summary) => summary,
                    // Another process may have deleted it since it was listed.
                    Err(error) if error.is_not_found() => continue,
                    Err(error) => return Err(error),
                };
                let modified = location.modified.map(|at| at.millis());
                infos.push(info(&location.id, location.size, modified, summary));
            }
            Ok(Json::Array(infos).to_string())
        })
    }

    /// Follows a session: from its first entry, from its end, or since a revision.
    #[napi]
    pub fn follow(
        &self,
        id: String,
        since: Option<String>,
        from_end: bool,
    ) -> Promised<NodeFollower> {
        self.promise(move |inner| {
            let follower = match since {
                Some(since) => Follower::since(&inner.store, &id, &revision(&since)?),
                None if from_end => Follower::from_end(&inner.store, &id),
                None => Follower::new(&inner.store, &id),
            };
            Ok(NodeFollower::new(follower?, inner.blobs.clone()))
        })
    }

    /// Gives a session a title, without its lease. Returns the receipt as JSON.
    #[napi]
    pub fn set_title(&self, id: String, title: String) -> Promised<String> {
        self.promise(move |inner| {
            let receipt = inner.store.annotate(&id, Draft::new(Body::Title(title)))?;
            Ok(described(&receipt).to_string())
        })
    }

    /// Deletes a session that no driver holds; the vault keeps a copy. Returns the operation, which
    /// `boswell undo` takes back.
    #[napi]
    pub fn delete(&self, id: String) -> Promised<String> {
        self.promise(move |inner| {
            let location = inner.store.find(&id)?;
            let runner = inner.home.runner();
            Ok(runner.delete_session(&inner.store, &location)?.id)
        })
    }

    /// Restores a session that was deleted.
    #[napi]
    pub fn restore(&self, id: String) -> Promised<()> {
        self.promise(move |inner| {
            let session = SessionRef::new(inner.store.dialect().name(), id);
            inner.home.runner().restore(&session).map(drop)
        })
    }
}

/// Describes a session of a list. Times are in milliseconds since 1970.
fn info(id: &str, size: u64, modified: Option<i64>, summary: Option<Summary>) -> Json {
    let last_active = summary.as_ref().and_then(Summary::last_active);
    let messages = summary.as_ref().map(|summary| summary.meta.messages);
    let meta = summary.map(|summary| summary.meta).unwrap_or_default();
    Json::object()
        .with("id", id)
        .with("size", size)
        .with_some("modified", modified)
        .with_some("title", meta.title)
        .with_some("project", meta.project)
        .with_some("created", meta.created.map(|at| at.millis()))
        .with_some("lastActive", last_active.map(|at| at.millis()))
        .with_some("messages", messages)
}
