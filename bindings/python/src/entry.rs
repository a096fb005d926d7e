//! Entries as they are read.

use boswell_binding::EntryFacts;
use boswell_store::blobs::Blobs;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::json::json_value;

/// An entry of a session.
#[pyclass(name = "Entry", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyEntry {
    facts: EntryFacts,
    blobs: Option<Blobs>,
}

impl PyEntry {
    pub(crate) fn new(facts: EntryFacts, blobs: Option<&Blobs>) -> PyEntry {
        PyEntry {
            facts,
            blobs: blobs.cloned(),
        }
    }

    /// The record with its large values, and the blobs that could not be read.
    fn whole(&self, py: Python<'_>) -> PyResult<(Vec<u8>, Vec<String>)> {
        let read = py.detach(|| self.facts.whole(self.blobs.as_ref()));
        Ok(match read.map_err(|error| raise(py, &error))? {
            Some(whole) => (whole.record, whole.missing),
            None => (self.facts.bytes.to_vec(), Vec::new()),
        })
    }
}

#[pymethods]
impl PyEntry {
    /// Its id; `#line` if the record has none.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.facts.id.as_deref()
    }

    /// The id of the entry that it follows; `None` for a root.
    #[getter]
    fn parent(&self) -> Option<&str> {
        self.facts.parent.as_deref()
    }

    /// What it is: `user`, `assistant`, `tool`, `custom`, …
    #[getter]
    fn kind(&self) -> &'static str {
        self.facts.kind
    }

    /// The text of a message; empty for other entries.
    #[getter]
    fn text(&self) -> &str {
        self.facts.text.as_deref().unwrap_or_default()
    }

    /// The revision of the log up to this entry, if a follower returned it.
    #[getter]
    fn revision(&self) -> Option<&str> {
        self.facts.revision.as_deref()
    }

    /// The record as JSON, with values that are stored as blobs.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.whole(py)?.0))
    }

    /// The record exactly as it is in the log.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.facts.bytes)
    }

    /// Blobs that the record names and that are missing or damaged; then their references are in
    /// the record, and not their values.
    #[getter]
    fn missing_blobs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.whole(py)?.1)
    }

    /// The parsed record.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_value(py, &String::from_utf8_lossy(&self.whole(py)?.0))
    }

    fn __repr__(&self) -> String {
        format!("Entry(id={:?}, kind={:?})", self.id(), self.facts.kind)
    }
}
