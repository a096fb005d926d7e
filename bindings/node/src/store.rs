//! The store of a home folder, of memory or of a database.

use std::sync::Arc;

use boswell_binding::{BindingStore, SearchQuery, Waiter, WantedSession};
use boswell_store::model::json::Json;
use boswell_store::{Result, SessionWriter, Wait};
use napi_derive::napi;

use crate::blob_store::NodeBlobs;
use crate::call::{Promised, promise};
use crate::follower::NodeFollower;
use crate::receipt::described;
use crate::reply::Answers;
use crate::session::NodeSession;
use crate::writer::{NodeWriter, Queue};

/// Sessions in a folder, in memory or in a database.
#[napi(js_name = "NativeStore")]
#[derive(Debug)]
pub(crate) struct NodeStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: BindingStore,
    queue: Queue,
}

/// A session that is to be made. Without a project it belongs to no folder: `js/` gives the folder
/// in which the process runs.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub(crate) struct SessionRequest {
    pub project: Option<String>,
    pub id: Option<String>,
    pub title: Option<String>,
    pub subject: Option<String>,
    /// In milliseconds.
    pub expires_in: Option<f64>,
}

impl From<SessionRequest> for WantedSession {
    fn from(request: SessionRequest) -> WantedSession {
        WantedSession {
            project: request.project,
            id: request.id,
            title: request.title,
            subject: request.subject,
            expires_in: request.expires_in.map(|millis| millis / 1000.0),
        }
    }
}

impl NodeStore {
    fn over(
        open: impl FnOnce() -> Result<BindingStore> + Send + 'static,
        answers: Answers,
    ) -> Promised<NodeStore> {
        promise(move || {
            let queue = Queue {
                waiter: Arc::new(Waiter::default()),
                answers: Arc::new(answers),
            };
            let inner = Inner {
                store: open()?,
                queue,
            };
            Ok(NodeStore {
                inner: Arc::new(inner),
            })
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
        open: impl FnOnce(&BindingStore) -> Result<SessionWriter> + Send + 'static,
    ) -> Promised<NodeWriter> {
        self.promise(move |inner| {
            let (blobs, queue) = (inner.store.blobs(), inner.queue.clone());
            Ok(NodeWriter::new(open(&inner.store)?, blobs, queue))
        })
    }
}

#[napi]
impl NodeStore {
    /// Opens a folder as a store; it is made if it is not there.
    #[napi]
    pub fn open(path: String, answers: Answers) -> Promised<NodeStore> {
        NodeStore::over(move || BindingStore::open(path), answers)
    }

    /// A store in memory: nothing is kept.
    #[napi]
    pub fn in_memory(answers: Answers) -> Promised<NodeStore> {
        NodeStore::over(BindingStore::in_memory, answers)
    }

    /// Makes the tables of a database, or brings older ones to this version; `role` is the user
    /// that programs connect as. Returns the version.
    #[napi]
    pub fn make_tables(address: String, role: Option<String>) -> Promised<i32> {
        promise(move || BindingStore::make_tables(&address, role.as_deref()))
    }

    /// Opens the sessions of a tenant in PostgreSQL.
    #[napi]
    pub fn remote(address: String, tenant: String, answers: Answers) -> Promised<NodeStore> {
        NodeStore::over(move || BindingStore::remote(&address, &tenant), answers)
    }

    /// Its folder; none for a database.
    #[napi(getter)]
    pub fn path(&self) -> Option<String> {
        let path = self.inner.store.path();
        path.map(|path| path.to_string_lossy().into_owned())
    }

    /// Large values by their digests.
    #[napi(getter)]
    pub fn blobs(&self) -> NodeBlobs {
        NodeBlobs::new(self.inner.store.blobs())
    }

    /// Makes a session. The writer holds its lease.
    #[napi]
    pub fn create(&self, request: SessionRequest) -> Promised<NodeWriter> {
        self.writer_by(move |store| store.create(request.into(), ""))
    }

    /// Opens a session for writing and takes its lease, or fails at once: a thread of the pool that
    /// waited would be missing for reads. With `shared`, it is opened without the lease, for
    /// several writers.
    #[napi]
    pub fn writer(&self, id: String, shared: bool) -> Promised<NodeWriter> {
        self.writer_by(move |store| store.writer(&id, Wait::No, shared))
    }

    /// Makes a new session from the branch of another one that ends at its leaf or at an entry.
    #[napi]
    pub fn fork(
        &self,
        id: String,
        at: Option<String>,
        request: SessionRequest,
    ) -> Promised<NodeWriter> {
        self.writer_by(move |store| store.fork(&id, at, request.into()))
    }

    /// The session as it is now. Of a session that was read before, only new lines are read.
    #[napi]
    pub fn session(&self, id: String) -> Promised<NodeSession> {
        self.promise(move |inner| {
            let session = inner.store.session(&id)?;
            Ok(NodeSession::new(session, inner.store.blobs()))
        })
    }

    /// Whether there is a session with that id.
    #[napi]
    pub fn has(&self, id: String) -> Promised<bool> {
        self.promise(move |inner| inner.store.has(&id))
    }

    /// The sessions as JSON, from their names alone; with `details`, title, project and times are
    /// read. With a subject, only those that are about that person.
    #[napi]
    pub fn list(&self, details: bool, subject: Option<String>) -> Promised<String> {
        self.promise(move |inner| {
            let listed = inner.store.list(details, subject.as_deref())?;
            let listed = listed.iter().map(|facts| facts.to_json());
            Ok(Json::Array(listed.collect()).to_string())
        })
    }

    /// Hits of a search in the sessions of a folder, as JSON.
    #[napi]
    pub fn search(&self, query: String, session: Option<String>, limit: u32) -> Promised<String> {
        self.promise(move |inner| {
            let query = SearchQuery {
                query,
                session,
                limit: limit as usize,
            };
            let hits = inner.store.search(&query)?;
            let hits = hits.iter().map(|hit| hit.to_json());
            Ok(Json::Array(hits.collect()).to_string())
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
            let follower = inner.store.follow(&id, since.as_deref(), from_end)?;
            Ok(NodeFollower::new(follower, inner.store.blobs()))
        })
    }

    /// Gives a session a title, without its lease. Returns the receipt as JSON.
    #[napi]
    pub fn set_title(&self, id: String, title: String) -> Promised<String> {
        self.promise(move |inner| {
            let receipt = inner.store.set_title(&id, title)?;
            Ok(described(&receipt).to_string())
        })
    }

    /// Sets after how many milliseconds from now a session expires; none means never. Returns the
    /// receipt as JSON.
    #[napi]
    pub fn set_expiry(&self, id: String, expires_in: Option<f64>) -> Promised<String> {
        self.promise(move |inner| {
            let seconds = expires_in.map(|millis| millis / 1000.0);
            let receipt = inner.store.set_expiry(&id, seconds)?;
            Ok(described(&receipt).to_string())
        })
    }

    /// Deletes the sessions that have expired, and returns their ids.
    #[napi]
    pub fn expire(&self) -> Promised<Vec<String>> {
        self.promise(|inner| inner.store.expire())
    }

    /// Erases everything about a person, with all copies, and returns the ids of the sessions.
    #[napi]
    pub fn erase(&self, subject: String) -> Promised<Vec<String>> {
        self.promise(move |inner| inner.store.erase(&subject))
    }

    /// Deletes a session that no driver holds; the vault keeps a copy. Returns the operation, which
    /// `boswell undo` takes back; none for a database, whose rows are gone.
    #[napi]
    pub fn delete(&self, id: String) -> Promised<Option<String>> {
        self.promise(move |inner| inner.store.delete(&id))
    }

    /// Restores a session that was deleted.
    #[napi]
    pub fn restore(&self, id: String) -> Promised<()> {
        self.promise(move |inner| inner.store.restore(&id))
    }
}
