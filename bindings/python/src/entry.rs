//! Entries as they are read.

use std::sync::Arc;

use boswell_store::Session;
use boswell_store::blobs::{Blobs, references};
use boswell_store::model::Slot;
use boswell_store::session::NewEntry;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::message::json_value;

/// An entry of a session.
#[pyclass(name = "Entry", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyEntry {
    id: Option<String>,
    parent: Option<String>,
    kind: &'static str,
    text: String,
    revision: Option<String>,
    bytes: Arc<[u8]>,
    blobs: Blobs,
}

impl PyEntry {
    /// Reads the entry of a snapshot.
    pub(crate) fn read(
        session: &Session,
        slot: Slot,
        blobs: &Blobs,
    ) -> boswell_store::Result<PyEntry> {
        let entry = session.entry(slot)?;
        let parent = session.tree().parent(slot);
        Ok(PyEntry {
            id: Some(entry.id.to_string()),
            parent: parent.map(|slot| session.log().label(slot).into_owned()),
            kind: entry.kind.word(),
            text: entry.view.map(|view| view.text()).unwrap_or_default(),
            revision: None,
            bytes: entry.bytes.into(),
            blobs: blobs.clone(),
        })
    }

    /// Takes an entry that a follower returned.
    pub(crate) fn new(entry: NewEntry, blobs: &Blobs) -> PyEntry {
        PyEntry {
            id: entry.label.map(String::from),
            parent: entry.parent.map(String::from),
            kind: entry.kind.word(),
            text: entry.view.text(),
            revision: Some(entry.revision.to_string()),
            bytes: entry.bytes,
            blobs: blobs.clone(),
        }
    }

    /// The record with its large values, and the blobs that could not be read. Their references
    /// stay in the record: a text may also only quote one.
    fn whole(&self, py: Python<'_>) -> PyResult<(Vec<u8>, Vec<String>)> {
        if references(&self.bytes).is_empty() {
            return Ok((self.bytes.to_vec(), Vec::new()));
        }
        let read = py
            .detach(|| self.blobs.internalise(&self.bytes))
            .map_err(|error| raise(py, &error))?;
        let missing = read.unresolved.iter().map(|(id, _)| id.reference());
        Ok((read.record, missing.collect()))
    }
}

#[pymethods]
impl PyEntry {
    /// Its id; `#line` if the record has none.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The id of the entry that it follows; `None` for a root.
    #[getter]
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// What it is: `user`, `assistant`, `tool`, `custom`, …
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// The text of a message; empty for other entries.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The revision of the log up to this entry, if a follower returned it.
    #[getter]
    fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// The record as JSON, with values that are stored as blobs.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.whole(py)?.0))
    }

    /// The record exactly as it is in the log.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
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
        format!("Entry(id={:?}, kind={:?})", self.id(), self.kind)
    }
}
