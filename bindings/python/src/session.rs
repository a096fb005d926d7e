//! Snapshots of sessions.

use std::sync::Arc;

use boswell_binding::{
    EntryFacts, EntryRange, Language, context_json, handed_messages, messages_text,
};
use boswell_store::blobs::Blobs;
use boswell_store::{Result, Session};
use pyo3::prelude::*;

use crate::entry::PyEntry;
use crate::error::{invalid, raise};
use crate::json::json_value;
use crate::own_process::OwnProcess;

/// A session as it was read: it does not change when others append.
#[pyclass(name = "Session", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PySession {
    inner: OwnProcess<(Arc<Session>, Option<Blobs>)>,
}

impl PySession {
    pub(crate) fn new(session: Arc<Session>, blobs: Option<Blobs>) -> PySession {
        PySession {
            inner: OwnProcess::new((session, blobs)),
        }
    }
}

#[pymethods]
impl PySession {
    /// Its id.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.inner.get(py)?.0.id().to_string())
    }

    /// The path of its log.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.inner.get(py)?.0.path().map(str::to_owned))
    }

    /// The revision of the log that was read.
    #[getter]
    fn revision(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.inner.get(py)?.0.revision().to_string())
    }

    /// Its title, if it has one.
    #[getter]
    fn title(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.inner.get(py)?.0.meta().title.clone())
    }

    /// The folder of its project.
    #[getter]
    fn project(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.inner.get(py)?.0.meta().project.clone())
    }

    /// The entry at which the conversation stands; `None` if it is empty or was reset.
    #[getter]
    fn leaf(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let (session, _) = self.inner.get(py)?;
        let leaf = py
            .detach(|| session.leaf())
            .map_err(|error| raise(py, &error))?;
        Ok(leaf.map(|slot| session.log().label(slot).into_owned()))
    }

    /// The messages that a model would be sent, at the leaf or at another entry: every tool call
    /// is followed by its result. Without `paired`, they are as they were written.
    #[pyo3(signature = (*, at = None, paired = true))]
    fn messages<'py>(
        &self,
        py: Python<'py>,
        at: Option<&str>,
        paired: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, _) = self.inner.get(py)?;
        let read = py.detach(|| -> Result<String> {
            let messages = handed_messages(session, at, paired)?;
            Ok(messages_text(&messages, Language::Python))
        });
        json_value(py, &read.map_err(|error| raise(py, &error))?)
    }

    /// What a model would be sent, in the form of the log: known roles, every tool call
    /// with its result, and the settings in force.
    #[pyo3(signature = (*, at = None))]
    fn context<'py>(&self, py: Python<'py>, at: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let (session, _) = self.inner.get(py)?;
        let read = py.detach(|| context_json(session, at).map(|made| made.to_string()));
        json_value(py, &read.map_err(|error| raise(py, &error))?)
    }

    /// A page of entries in the order of the log: after and before an entry, from the start or
    /// backwards from the end, of the whole log or of the current branch.
    #[pyo3(signature = (*, after = None, before = None, limit = None, backwards = false, branch = false))]
    fn entries(
        &self,
        py: Python<'_>,
        after: Option<&str>,
        before: Option<&str>,
        limit: Option<isize>,
        backwards: bool,
        branch: bool,
    ) -> PyResult<Vec<PyEntry>> {
        let (session, blobs) = self.inner.get(py)?;
        let limit = limit.map(usize::try_from).transpose().map_err(|_| {
            invalid(
                py,
                "a page has no negative number of entries",
                "give a limit of 0 or more",
            )
        })?;
        let range = EntryRange {
            after,
            before,
            limit,
            backwards,
            branch,
        };
        let read = py.detach(|| -> Result<Vec<EntryFacts>> {
            let slots = range.slots(session)?.into_iter();
            slots.map(|slot| EntryFacts::read(session, slot)).collect()
        });
        let read = read.map_err(|error| raise(py, &error))?.into_iter();
        Ok(read
            .map(|facts| PyEntry::new(facts, blobs.as_ref()))
            .collect())
    }

    /// The entry with that id.
    fn entry(&self, py: Python<'_>, id: &str) -> PyResult<PyEntry> {
        let (session, blobs) = self.inner.get(py)?;
        py.detach(|| EntryFacts::read(session, session.find(id)?))
            .map(|facts| PyEntry::new(facts, blobs.as_ref()))
            .map_err(|error| raise(py, &error))
    }

    /// How many entries the log has, its header included.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.inner.get(py)?.0.log().slots().len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Session(id={:?})", self.id(py)?))
    }
}
