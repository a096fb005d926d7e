//! Objects that belong to the process that made them.
//!
//! `os.fork` copies locks, open files and the memory of writers, but not their threads. A child
//! that used them would write at positions of the parent, and dropping them there could release a
//! lock that the parent holds. So a child is refused, and what it inherited is never dropped.

use boswell_store::{Error, ErrorKind, Result};
use pyo3::prelude::*;

use crate::error::raise;

/// A value that only the process that made it may use or drop.
#[derive(Debug)]
pub(crate) struct OwnProcess<T> {
    /// `None` only while it is dropped.
    value: Option<T>,
    process: u32,
}

impl<T> OwnProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        OwnProcess {
            value: Some(value),
            process: std::process::id(),
        }
    }

    /// Returns the value, if this process made it.
    pub(crate) fn checked(&self) -> Result<&T> {
        if let Some(value) = self.value.as_ref().filter(|_| self.is_own()) {
            return Ok(value);
        }
        Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "this object was made in process {} and is used in its fork {}",
                self.process,
                std::process::id()
            ),
        )
        .because("locks, positions and threads of a store are not shared with a fork")
        .advising("open the store again in the child, after the fork"))
    }

    /// As [`checked`](OwnProcess::checked), with an exception.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&T> {
        self.checked().map_err(|error| raise(py, &error))
    }

    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }
}

impl<T> Drop for OwnProcess<T> {
    fn drop(&mut self) {
        if !self.is_own() {
            std::mem::forget(self.value.take());
        }
    }
}
