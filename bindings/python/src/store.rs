//! The store of a home folder, of memory or of a database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use boswell_binding::{BindingStore, ListedFacts, SearchHit, SearchQuery, Waiter, WantedSession};
use boswell_store::{Result, SessionWriter, Wait};
use pyo3::prelude::*;

use crate::blob_store::PyBlobs;
use crate::error::{invalid, raise};
use crate::follower::PyFollower;
use crate::own_process::OwnProcess;
use crate::receipt::PyReceipt;
use crate::reply::FutureReply;
use crate::session::PySession;
use crate::writer::PyWriter;

/// Sessions in a folder, in memory or in a database.
#[pyclass(name = "Store", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyStore {
    inner: OwnProcess<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: BindingStore,
    waiter: Arc<Waiter<FutureReply>>,
}

impl PyStore {
    fn over(py: Python<'_>, open: impl FnOnce() -> Result<BindingStore> + Send) -> PyResult<Self> {
        let store = py.detach(open).map_err(|error| raise(py, &error))?;
        let waiter = Arc::default();
        Ok(PyStore {
            inner: OwnProcess::new(Inner { store, waiter }),
        })
    }

    /// Calls the store while other threads of Python run.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&BindingStore) -> Result<T> + Send,
    ) -> PyResult<T> {
        let store = &self.inner.get(py)?.store;
        py.detach(|| call(store)).map_err(|error| raise(py, &error))
    }

    fn writer_by(
        &self,
        py: Python<'_>,
        open: impl FnOnce(&BindingStore) -> Result<SessionWriter> + Send,
    ) -> PyResult<PyWriter> {
        let writer = self.call(py, open)?;
        let inner = self.inner.get(py)?;
        let waiter = Arc::clone(&inner.waiter);
        Ok(PyWriter::new(writer, inner.store.blobs(), waiter))
    }
}

#[pymethods]
impl PyStore {
    /// Opens a folder as a store; it is made if it is not there.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<PyStore> {
        PyStore::over(py, || BindingStore::open(path))
    }

    /// A store in memory: nothing is kept.
    #[staticmethod]
    fn in_memory(py: Python<'_>) -> PyResult<PyStore> {
        PyStore::over(py, BindingStore::in_memory)
    }

    /// Makes the tables of a database, or brings older ones to this version, as their owner; `role`
    /// is the user that programs connect as, which owns nothing. Returns the version.
    #[staticmethod]
    #[pyo3(signature = (address, *, role = None))]
    fn make_tables(py: Python<'_>, address: &str, role: Option<&str>) -> PyResult<i32> {
        py.detach(|| BindingStore::make_tables(address, role))
            .map_err(|error| raise(py, &error))
    }

    /// Opens the sessions of a tenant in PostgreSQL. `make_tables` makes its tables.
    #[staticmethod]
    #[pyo3(signature = (address, *, tenant = "default"))]
    fn remote(py: Python<'_>, address: &str, tenant: &str) -> PyResult<PyStore> {
        PyStore::over(py, || BindingStore::remote(address, tenant))
    }

    /// Its folder; `None` for a database.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Option<PathBuf>> {
        Ok(self.inner.get(py)?.store.path().map(ToOwned::to_owned))
    }

    /// Large values by their digests.
    #[getter]
    fn blobs(&self, py: Python<'_>) -> PyResult<PyBlobs> {
        Ok(PyBlobs::new(self.inner.get(py)?.store.blobs()))
    }

    /// Makes a session. The writer holds its lease.
    #[pyo3(signature = (*, project = None, id = None, title = None, subject = None,
        expires_in = None))]
    fn create(
        &self,
        py: Python<'_>,
        project: Option<String>,
        id: Option<String>,
        title: Option<String>,
        subject: Option<String>,
        expires_in: Option<f64>,
    ) -> PyResult<PyWriter> {
        // A session without a project belongs to the folder in which the process runs.
        let folder: String = match project {
            Some(_) => String::new(),
            None => py.import("os")?.call_method0("getcwd")?.extract()?,
        };
        let wanted = WantedSession {
            project,
            id,
            title,
            subject,
            expires_in,
        };
        self.writer_by(py, move |store| store.create(wanted, &folder))
    }

    /// Opens a session for writing and takes its lease, waiting up to `wait` seconds for it; `None`
    /// waits as long as it takes. With `shared`, it is opened without the lease, for several
    /// writers.
    #[pyo3(signature = (id, *, wait = Some(0.0), shared = false))]
    fn writer(
        &self,
        py: Python<'_>,
        id: &str,
        wait: Option<f64>,
        shared: bool,
    ) -> PyResult<PyWriter> {
        let wait = match wait {
            None => Wait::Forever,
            Some(0.0) => Wait::No,
            Some(seconds) => Wait::For(Duration::try_from_secs_f64(seconds).map_err(|_| {
                invalid(
                    py,
                    "this is not a time to wait",
                    "give seconds, or `None` to wait forever",
                )
            })?),
        };
        self.writer_by(py, |store| store.writer(id, wait, shared))
    }

    /// Makes a new session from the branch of another one that ends at its leaf or at an entry.
    #[pyo3(signature = (id, *, at = None, new_id = None, project = None, title = None,
        expires_in = None))]
    #[expect(clippy::too_many_arguments, reason = "Python has keyword arguments")]
    fn fork(
        &self,
        py: Python<'_>,
        id: &str,
        at: Option<String>,
        new_id: Option<String>,
        project: Option<String>,
        title: Option<String>,
        expires_in: Option<f64>,
    ) -> PyResult<PyWriter> {
        let wanted = WantedSession {
            project,
            id: new_id,
            title,
            subject: None,
            expires_in,
        };
        self.writer_by(py, |store| store.fork(id, at, wanted))
    }

    /// The session as it is now. Of a session that was read before, only new lines are read.
    fn session(&self, py: Python<'_>, id: &str) -> PyResult<PySession> {
        let session = self.call(py, |store| store.session(id))?;
        Ok(PySession::new(session, self.inner.get(py)?.store.blobs()))
    }

    /// Whether there is a session with that id.
    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        self.call(py, |store| store.has(id))
    }

    /// The sessions, from their names alone; with `details`, title, project and times are read.
    /// With `subject`, only those that are about that person.
    #[pyo3(signature = (*, details = false, subject = None))]
    fn list(
        &self,
        py: Python<'_>,
        details: bool,
        subject: Option<&str>,
    ) -> PyResult<Vec<PySessionInfo>> {
        let listed = self.call(py, |store| store.list(details, subject))?;
        Ok(listed.into_iter().map(PySessionInfo::from).collect())
    }

    /// Text in the sessions of a folder: words, phrases and filters, as `boswell search` takes
    /// them.
    #[pyo3(signature = (query, *, session = None, limit = 20))]
    fn search(
        &self,
        py: Python<'_>,
        query: String,
        session: Option<String>,
        limit: usize,
    ) -> PyResult<Vec<PySearchHit>> {
        let query = SearchQuery {
            query,
            session,
            limit,
        };
        let found = self.call(py, |store| store.search(&query))?;
        Ok(found.into_iter().map(PySearchHit::from).collect())
    }

    /// Follows a session: from its first entry, from its end, or since a revision.
    #[pyo3(signature = (id, *, since = None, from_end = false))]
    fn follow(
        &self,
        py: Python<'_>,
        id: &str,
        since: Option<&str>,
        from_end: bool,
    ) -> PyResult<PyFollower> {
        let follower = self.call(py, |store| store.follow(id, since, from_end))?;
        Ok(PyFollower::new(follower, self.inner.get(py)?.store.blobs()))
    }

    /// Gives a session a title, without its lease.
    fn set_title(&self, py: Python<'_>, id: &str, title: String) -> PyResult<PyReceipt> {
        let receipt = self.call(py, |store| store.set_title(id, title))?;
        Ok(PyReceipt::from(receipt))
    }

    /// Sets after how many seconds from now a session expires; `None` means never.
    fn set_expiry(&self, py: Python<'_>, id: &str, expires_in: Option<f64>) -> PyResult<PyReceipt> {
        let receipt = self.call(py, |store| store.set_expiry(id, expires_in))?;
        Ok(PyReceipt::from(receipt))
    }

    /// Deletes the sessions that have expired, as `delete` does, and returns their ids. One that a
    /// program has open stays until the next call.
    fn expire(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.call(py, BindingStore::expire)
    }

    /// Erases everything about a person, with all copies, and returns the ids of the sessions.
    fn erase(&self, py: Python<'_>, subject: &str) -> PyResult<Vec<String>> {
        self.call(py, |store| store.erase(subject))
    }

    /// Deletes a session that no driver holds; the vault keeps a copy. Returns the operation, which
    /// `boswell undo` takes back; `None` for a database, whose rows are gone.
    fn delete(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        self.call(py, |store| store.delete(id))
    }

    /// Restores a session that was deleted.
    fn restore(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.call(py, |store| store.restore(id))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match self.inner.get(py)?.store.path() {
            Some(path) => format!("Store({path:?})"),
            None => "Store(database)".to_owned(),
        })
    }
}

/// A session in a list.
#[pyclass(name = "SessionInfo", module = "boswell_store", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct PySessionInfo {
    id: String,
    /// The length of its log in bytes.
    size: u64,
    /// When its log was last changed, in milliseconds since 1970.
    modified: Option<i64>,
    title: Option<String>,
    project: Option<String>,
    /// When it was created, in milliseconds since 1970.
    created: Option<i64>,
    /// The time of its last entry, in milliseconds since 1970.
    last_active: Option<i64>,
    messages: Option<u64>,
    /// The person whom it is about.
    subject: Option<String>,
    /// When it expires, in milliseconds since 1970.
    expires: Option<i64>,
}

impl From<ListedFacts> for PySessionInfo {
    fn from(facts: ListedFacts) -> Self {
        let (last_active, expires) = (facts.last_active(), facts.expires());
        let subject = facts.subject().map(str::to_owned);
        let messages = facts.summary.as_ref().map(|summary| summary.meta.messages);
        let meta = facts.summary.map(|summary| summary.meta);
        let meta = meta.unwrap_or_default();
        PySessionInfo {
            id: facts.id,
            size: facts.size,
            modified: facts.modified,
            title: meta.title,
            project: meta.project,
            created: meta.created.map(|at| at.millis()),
            last_active,
            messages,
            subject,
            expires,
        }
    }
}

#[pymethods]
impl PySessionInfo {
    fn __repr__(&self) -> String {
        format!("SessionInfo(id={:?}, title={:?})", self.id, self.title)
    }
}

/// A hit of a search.
#[pyclass(name = "SearchHit", module = "boswell_store", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct PySearchHit {
    session: String,
    entry: Option<String>,
    role: Option<String>,
    /// The text around the match.
    snippet: String,
    /// Relevance, higher is better.
    score: f64,
    /// The title of the session, or how else it is named.
    name: String,
}

impl From<SearchHit> for PySearchHit {
    fn from(hit: SearchHit) -> Self {
        let SearchHit {
            session,
            entry,
            role,
            snippet,
            score,
            name,
        } = hit;
        PySearchHit {
            session,
            entry,
            role,
            snippet,
            score,
            name,
        }
    }
}

#[pymethods]
impl PySearchHit {
    fn __repr__(&self) -> String {
        format!(
            "SearchHit(session={:?}, snippet={:?})",
            self.session, self.snippet
        )
    }
}
