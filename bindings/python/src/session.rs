//! Snapshots of sessions.

use std::sync::Arc;

use boswell_store::blobs::Blobs;
use boswell_store::model::json::Json;
use boswell_store::model::{Slot, Tip};
use boswell_store::{Result, Session};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::entry::PyEntry;
use crate::error::{invalid, raise};
use crate::message::{dictionary, json_value};
use crate::own_process::OwnProcess;

/// A session as it was read: it does not change when others append.
#[pyclass(name = "Session", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PySession {
    inner: OwnProcess<(Arc<Session>, Blobs)>,
}

impl PySession {
    pub(crate) fn new(session: Arc<Session>, blobs: Blobs) -> PySession {
        PySession {
            inner: OwnProcess::new((session, blobs)),
        }
    }
}

/// Which entries are read, and from which end.
struct Page<'a> {
    after: Option<&'a str>,
    before: Option<&'a str>,
    limit: Option<usize>,
    backwards: bool,
    branch: bool,
}

impl Page<'_> {
    /// Returns the entries of the page; nothing else is read.
    fn slots(&self, session: &Session) -> Result<Vec<Slot>> {
        let all: Vec<Slot> = if self.branch {
            session.branch(session.tip()?)?
        } else {
            session.log().slots().collect()
        };
        let at = |entry: &str| -> Result<usize> {
            let slot = session.find(entry)?;
            // An entry of another branch has no position on this one; its place in the log has.
            Ok(all.partition_point(|it| it.index() < slot.index()))
        };
        let is_there = |position: usize, entry: &str| -> Result<bool> {
            Ok(all.get(position) == Some(&session.find(entry)?))
        };
        let start = match self.after {
            Some(entry) => {
                let position = at(entry)?;
                position + usize::from(is_there(position, entry)?)
            }
            None => 0,
        };
        let end = self.before.map_or(Ok(all.len()), at)?;
        let page = all.get(start..end.max(start)).unwrap_or(&[]);
        let limit = self.limit.unwrap_or(usize::MAX);
        Ok(if self.backwards {
            page.iter().rev().take(limit).copied().collect()
        } else {
            page.iter().take(limit).copied().collect()
        })
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

    /// The messages that a model would be sent, at the leaf or at another entry.
    #[pyo3(signature = (*, at = None))]
    fn messages<'py>(&self, py: Python<'py>, at: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let (session, _) = self.inner.get(py)?;
        let read = py.detach(|| session.messages_at(tip(session, at)?));
        let messages = PyList::empty(py);
        for message in &read.map_err(|error| raise(py, &error))? {
            messages.append(dictionary(py, message)?)?;
        }
        Ok(messages)
    }

    /// What a model would be sent, in the form of the log: the messages as they were written, and
    /// the settings in force.
    #[pyo3(signature = (*, at = None))]
    fn context<'py>(&self, py: Python<'py>, at: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
        let (session, _) = self.inner.get(py)?;
        let read = py.detach(|| -> Result<_> {
            let context = session.context(tip(session, at)?)?;
            let mut texts = Vec::new();
            for item in &context.items {
                let message = session.render(item)?.message;
                let whole = message.native.unwrap_or_else(|| {
                    Json::object()
                        .with("role", message.role.as_str())
                        .with("content", Json::Array(message.content))
                });
                texts.push(whole.to_string());
            }
            Ok((texts, context.settings.model))
        });
        let (texts, model) = read.map_err(|error| raise(py, &error))?;
        let messages = PyList::empty(py);
        for text in &texts {
            messages.append(json_value(py, text)?)?;
        }
        let made = PyDict::new(py);
        made.set_item("messages", messages)?;
        made.set_item("model", model)?;
        Ok(made)
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
        let page = Page {
            after,
            before,
            limit,
            backwards,
            branch,
        };
        let read = py.detach(|| -> Result<Vec<PyEntry>> {
            let slots = page.slots(session)?.into_iter();
            slots
                .map(|slot| PyEntry::read(session, slot, blobs))
                .collect()
        });
        read.map_err(|error| raise(py, &error))
    }

    /// The entry with that id.
    fn entry(&self, py: Python<'_>, id: &str) -> PyResult<PyEntry> {
        let (session, blobs) = self.inner.get(py)?;
        py.detach(|| PyEntry::read(session, session.find(id)?, blobs))
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

fn tip(session: &Session, at: Option<&str>) -> Result<Tip> {
    match at {
        Some(entry) => Ok(Tip::At(session.find(entry)?)),
        None => session.tip(),
    }
}
