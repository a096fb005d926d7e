//! Large values by the digest of their bytes.

use boswell_binding::blob_id;
use boswell_store::blobs::{BlobId, Blobs};
use boswell_store::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::own_process::OwnProcess;

/// Bytes that are stored once for each content. An id is `blob:sha256:` and the digest.
#[pyclass(name = "Blobs", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyBlobs {
    inner: OwnProcess<Option<Blobs>>,
}

impl PyBlobs {
    pub(crate) fn new(blobs: Option<Blobs>) -> PyBlobs {
        PyBlobs {
            inner: OwnProcess::new(blobs),
        }
    }

    fn blobs(&self, py: Python<'_>) -> PyResult<&Blobs> {
        self.inner.get(py)?.as_ref().ok_or_else(|| {
            let what = "a store in a database has no place for blobs";
            let hint = "keep the value in the entry";
            let error = Error::new(ErrorKind::Unsupported, what).advising(hint);
            raise(py, &error)
        })
    }
}

fn parsed(py: Python<'_>, id: &str) -> PyResult<BlobId> {
    blob_id(id).map_err(|error| raise(py, &error))
}

#[pymethods]
impl PyBlobs {
    /// Stores bytes, durably, and returns their id.
    fn put(&self, py: Python<'_>, data: &[u8]) -> PyResult<String> {
        let blobs = self.blobs(py)?;
        let id = py
            .detach(|| blobs.put(data))
            .map_err(|error| raise(py, &error))?;
        Ok(id.reference())
    }

    /// The bytes of a blob, checked against its digest.
    fn get<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (blobs, id) = (self.blobs(py)?, parsed(py, id)?);
        let bytes = py
            .detach(|| blobs.get(&id))
            .map_err(|error| raise(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Whether a blob exists; its bytes are not checked.
    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        let (blobs, id) = (self.blobs(py)?, parsed(py, id)?);
        py.detach(|| blobs.has(&id))
            .map_err(|error| raise(py, &error))
    }
}
