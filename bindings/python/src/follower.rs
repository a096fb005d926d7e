//! Followers: new entries of a session while others write to it.

use std::sync::{Mutex, PoisonError};

use boswell_binding::poll_all;
use boswell_store::Follower;
use boswell_store::blobs::Blobs;
use pyo3::prelude::*;

use crate::entry::PyEntry;
use crate::error::raise;
use crate::own_process::OwnProcess;

/// Returns the entries of one session as they are written. Nothing blocks: the caller polls.
#[pyclass(name = "Follower", module = "boswell_store", frozen)]
#[derive(Debug)]
pub(crate) struct PyFollower {
    inner: OwnProcess<(Mutex<Follower>, Option<Blobs>)>,
}

impl PyFollower {
    pub(crate) fn new(follower: Follower, blobs: Option<Blobs>) -> PyFollower {
        PyFollower {
            inner: OwnProcess::new((Mutex::new(follower), blobs)),
        }
    }
}

#[pymethods]
impl PyFollower {
    /// Everything new since the last poll: the generation, and the entries. The generation grows
    /// when the log was replaced; entries of earlier generations are void then.
    fn poll(&self, py: Python<'_>) -> PyResult<(u64, Vec<PyEntry>)> {
        let (follower, blobs) = self.inner.get(py)?;
        let polled = py.detach(|| {
            let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
            poll_all(&mut follower)
        });
        let (generation, entries) = polled.map_err(|error| raise(py, &error))?;
        let entries = entries.into_iter();
        let entries = entries.map(|facts| PyEntry::new(facts, blobs.as_ref()));
        Ok((generation, entries.collect()))
    }
}
