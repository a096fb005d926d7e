//! Large values by the digest of their bytes.

use boswell_store::blobs::{BlobId, Blobs};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{invalid, raise};
use crate::own_process::OwnProcess;

/// Bytes that are stored once for each content. An id is `blob:sha256:` and the digest.
#[pyclass(name = "Blobs", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyBlobs {
    inner: OwnProcess<Blobs>,
}

impl PyBlobs {
    pub(crate) fn new(blobs: Blobs) -> PyBlobs {
        PyBlobs {
            inner: OwnProcess::new(blobs),
        }
    }
}

#[pymethods]
impl PyBlobs {
    /// Stores bytes, durably, and returns their id.
    fn put(&self, py: Python<'_>, data: &[u8]) -> PyResult<String> {
        let blobs = self.inner.get(py)?;
        let id = py
            .detach(|| blobs.put(data))
            .map_err(|error| raise(py, &error))?;
        Ok(id.reference())
    }

    /// The bytes of a blob, checked against its digest.
    fn get<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (blobs, id) = (self.inner.get(py)?, parsed(py, id)?);
        let bytes = py
            .detach(|| blobs.get(&id))
            .map_err(|error| raise(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Whether a blob exists; its bytes are not checked.
    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        let (blobs, id) = (self.inner.get(py)?, parsed(py, id)?);
        py.detach(|| blobs.has(&id))
            .map_err(|error| raise(py, &error))
    }
}

fn parsed(py: Python<'_>, id: &str) -> PyResult<BlobId> {
    BlobId::from_reference(id)
        .or_else(|| BlobId::parse(id))
        .ok_or_else(|| {
            invalid(
                py,
                format!("`{}` is not the id of a blob", id.escape_debug()),
                "give what `put` returned",
            )
        })
}
