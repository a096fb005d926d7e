//! The store of a home folder.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use boswell_store::blobs::Blobs;
use boswell_store::model::{EntryId, SessionRef};
use boswell_store::session::SessionCache;
use boswell_store::store::Summary;
use boswell_store::{Body, Draft, Follower, Home, NewSession, Result, Wait, WritableStore};
use pyo3::prelude::*;

use crate::blob_store::PyBlobs;
use crate::error::{invalid, raise};
use crate::follower::PyFollower;
use crate::own_process::OwnProcess;
use crate::receipt::{PyReceipt, parse_revision};
use crate::session::PySession;
use crate::waiter::Waiter;
use crate::writer::PyWriter;

/// How many sessions that were read are kept, so that only their new lines are read again.
const CACHED: usize = 16;

/// A folder with sessions.
#[pyclass(name = "Store", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyStore {
    inner: OwnProcess<Inner>,
}

#[derive(Debug)]
struct Inner {
    home: Home,
    store: WritableStore,
    blobs: Blobs,
    cache: SessionCache,
    waiter: Arc<Waiter>,
}

impl PyStore {
    fn over(home: Result<Home>, py: Python<'_>) -> PyResult<PyStore> {
        let made = py.detach(|| -> Result<Inner> {
            let home = home?;
            Ok(Inner {
                store: home.sessions()?,
                blobs: home.blobs(),
                cache: SessionCache::new(CACHED),
                waiter: Arc::default(),
                home,
            })
        });
        Ok(PyStore {
            inner: OwnProcess::new(made.map_err(|error| raise(py, &error))?),
        })
    }

    fn writer_by(
        &self,
        py: Python<'_>,
        open: impl FnOnce(&Inner) -> Result<boswell_store::SessionWriter> + Send,
    ) -> PyResult<PyWriter> {
        let inner = self.inner.get(py)?;
        let writer = py.detach(|| open(inner));
        let writer = writer.map_err(|error| raise(py, &error))?;
        Ok(PyWriter::new(
            writer,
            inner.blobs.clone(),
            Arc::clone(&inner.waiter),
        ))
    }
}

#[pymethods]
impl PyStore {
    /// Opens a folder as a store; it is made if it is not there.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<PyStore> {
        let home = py.detach(|| Home::open(path));
        PyStore::over(home, py)
    }

    /// A store in memory: nothing is kept.
    #[staticmethod]
    fn in_memory(py: Python<'_>) -> PyResult<PyStore> {
        PyStore::over(Home::in_memory(), py)
    }

    /// Its folder.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<PathBuf> {
        Ok(self.inner.get(py)?.home.path().to_owned())
    }

    /// Large values by their digests.
    #[getter]
    fn blobs(&self, py: Python<'_>) -> PyResult<PyBlobs> {
        Ok(PyBlobs::new(self.inner.get(py)?.blobs.clone()))
    }

    /// Makes a session. The writer holds its lease.
    #[pyo3(signature = (*, project = None, id = None, title = None))]
    fn create(
        &self,
        py: Python<'_>,
        project: Option<String>,
        id: Option<String>,
        title: Option<String>,
    ) -> PyResult<PyWriter> {
        let new = new_session(py, project, id, title)?;
        self.writer_by(py, |inner| inner.store.create(new))
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
        if shared {
            return self.writer_by(py, |inner| inner.store.shared_writer(id));
        }
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
        self.writer_by(py, |inner| inner.store.writer(id, wait))
    }

    /// Makes a new session from the branch of another one that ends at its leaf or at an entry.
    #[pyo3(signature = (id, *, at = None, new_id = None, project = None, title = None))]
    fn fork(
        &self,
        py: Python<'_>,
        id: &str,
        at: Option<String>,
        new_id: Option<String>,
        project: Option<String>,
        title: Option<String>,
    ) -> PyResult<PyWriter> {
        let at = at.map(EntryId::from);
        let given = new_session(py, project.clone(), new_id, title)?;
        self.writer_by(py, |inner| {
            let of_source = || -> Result<Option<String>> {
                Ok(inner.store.session(id)?.meta().project.clone())
            };
            let project = match project {
                Some(_) => given.project.clone(),
                None => of_source()?.unwrap_or_else(|| given.project.clone()),
            };
            inner
                .store
                .fork(id, at.as_ref(), NewSession { project, ..given })
        })
    }

    /// The session as it is now. Of a session that was read before, only new lines are read.
    fn session(&self, py: Python<'_>, id: &str) -> PyResult<PySession> {
        let inner = self.inner.get(py)?;
        let session = py.detach(|| inner.cache.session(&inner.store, id));
        let session = session.map_err(|error| raise(py, &error))?;
        Ok(PySession::new(session, inner.blobs.clone()))
    }

    /// Whether there is a session with that id.
    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        let inner = self.inner.get(py)?;
        match py.detach(|| inner.store.find(id)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(raise(py, &error)),
        }
    }

    /// The sessions, from their names alone; with `details`, title, project and times are read.
    #[pyo3(signature = (*, details = false))]
    fn list(&self, py: Python<'_>, details: bool) -> PyResult<Vec<PySessionInfo>> {
        let inner = self.inner.get(py)?;
        let listed = py.detach(|| -> Result<Vec<PySessionInfo>> {
            let mut infos = Vec::new();
            for location in inner.store.list()?.sessions {
                let summary = if details {
                    match inner.store.summary(&location) {
                        Ok(summary) => Some(summary),
                        // Another process may have deleted it since it was listed.
                        Err(error) if error.is_not_found() => continue,
                        Err(error) => return Err(error),
                    }
                } else {
                    None
                };
                let modified = location.modified.map(|at| at.millis());
                infos.push(PySessionInfo::new(
                    location.id,
                    location.size,
                    modified,
                    summary,
                ));
            }
            Ok(infos)
        });
        listed.map_err(|error| raise(py, &error))
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
        let inner = self.inner.get(py)?;
        let since = since.map(|text| parse_revision(py, text)).transpose()?;
        let follower = py.detach(|| match since {
            Some(revision) => Follower::since(&inner.store, id, &revision),
            None if from_end => Follower::from_end(&inner.store, id),
            None => Follower::new(&inner.store, id),
        });
        let follower = follower.map_err(|error| raise(py, &error))?;
        Ok(PyFollower::new(follower, inner.blobs.clone()))
    }

    /// Gives a session a title, without its lease.
    fn set_title(&self, py: Python<'_>, id: &str, title: String) -> PyResult<PyReceipt> {
        let inner = self.inner.get(py)?;
        let receipt = py.detach(|| inner.store.annotate(id, Draft::new(Body::Title(title))));
        receipt
            .map(PyReceipt::from)
            .map_err(|error| raise(py, &error))
    }

    /// Deletes a session that no driver holds; the vault keeps a copy. Returns the operation, which
    /// `boswell undo` takes back.
    fn delete(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        let inner = self.inner.get(py)?;
        let deleted = py.detach(|| {
            let location = inner.store.find(id)?;
            inner.home.runner().delete_session(&inner.store, &location)
        });
        Ok(deleted.map_err(|error| raise(py, &error))?.id)
    }

    /// Restores a session that was deleted.
    fn restore(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        let inner = self.inner.get(py)?;
        let session = SessionRef::new(inner.store.dialect().name(), id);
        py.detach(|| inner.home.runner().restore(&session))
            .map(drop)
            .map_err(|error| raise(py, &error))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Store({:?})", self.inner.get(py)?.home.path()))
    }
}

/// A session without a project belongs to the folder in which the process runs.
fn new_session(
    py: Python<'_>,
    project: Option<String>,
    id: Option<String>,
    title: Option<String>,
) -> PyResult<NewSession> {
    let project = match project {
        Some(project) => project,
        None => py.import("os")?.call_method0("getcwd")?.extract()?,
    };
    let new = NewSession::in_project(project);
    let new = match id {
        Some(id) => new.with_id(id),
        None => new,
    };
    Ok(match title {
        Some(title) => new.titled(title),
        None => new,
    })
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
}

impl PySessionInfo {
    fn new(id: String, size: u64, modified: Option<i64>, summary: Option<Summary>) -> Self {
        let last_active = summary.as_ref().and_then(Summary::last_active);
        let messages = summary.as_ref().map(|summary| summary.meta.messages);
        let meta = summary.map(|summary| summary.meta).unwrap_or_default();
        PySessionInfo {
            id,
            size,
            modified,
            title: meta.title,
            project: meta.project,
            created: meta.created.map(|at| at.millis()),
            last_active: last_active.map(|at| at.millis()),
            messages,
        }
    }
}

#[pymethods]
impl PySessionInfo {
    fn __repr__(&self) -> String {
        format!("SessionInfo(id={:?}, title={:?})", self.id, self.title)
    }
}
