//! Errors as exceptions: one class for each kind, with reason, hint and details.
//!
//! The classes are Python code (`errors.py`), so that they can be pickled and subclassed.

use boswell_binding::{ErrorReport, Language, refused};
use boswell_store::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Makes the exception of an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|failed| failed)
}

/// Makes the exception of a request that is not valid before the library sees it.
pub(crate) fn invalid(py: Python<'_>, what: impl Into<String>, hint: &'static str) -> PyErr {
    raise(py, &refused(what, hint))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let report = ErrorReport::new(error, Language::Python);
    let class = py.import("boswell_store.errors")?.getattr(report.class)?;
    let details = PyDict::new(py);
    details.set_item("reason", report.reason)?;
    details.set_item("hint", report.hint)?;
    if let Some(expected) = report.expected {
        details.set_item("expected", expected)?;
        details.set_item("actual", report.actual)?;
    }
    if let Some(entries) = report.in_doubt {
        details.set_item("in_doubt", entries)?;
    }
    if let Some(pid) = report.holder_pid {
        details.set_item("holder_pid", pid)?;
    }
    let value = class.call((report.message,), Some(&details))?;
    Ok(PyErr::from_value(value))
}
