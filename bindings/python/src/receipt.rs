//! Receipts and expectations.

use boswell_store::{Durability, Expect, Receipt, Revision};
use pyo3::prelude::*;

use crate::error::{invalid, raise};

/// The acknowledgement of an entry: it is as durable as `durability` says.
#[pyclass(name = "Receipt", module = "boswell_store", frozen, get_all)]
#[derive(Debug)]
pub(crate) struct PyReceipt {
    session: String,
    entry: String,
    revision: String,
    deduplicated: bool,
    durability: &'static str,
}

impl From<Receipt> for PyReceipt {
    fn from(receipt: Receipt) -> Self {
        PyReceipt {
            session: receipt.session.id.clone(),
            entry: receipt.entry.to_string(),
            revision: receipt.revision.to_string(),
            deduplicated: receipt.deduplicated,
            durability: receipt.durable.word(),
        }
    }
}

#[pymethods]
impl PyReceipt {
    fn __repr__(&self) -> String {
        format!(
            "Receipt(entry={:?}, revision={:?}, deduplicated={}, durability={:?})",
            self.entry,
            self.revision,
            if self.deduplicated { "True" } else { "False" },
            self.durability
        )
    }
}

/// Reads the state that a caller expects.
pub(crate) fn expectation(
    py: Python<'_>,
    revision: Option<&str>,
    leaf: Option<&str>,
) -> PyResult<Expect> {
    match (revision, leaf) {
        (None, None) => Ok(Expect::Any),
        (None, Some(leaf)) => Ok(Expect::Leaf(leaf.into())),
        (Some(text), None) => Ok(Expect::Revision(parse_revision(py, text)?)),
        (Some(_), Some(_)) => Err(invalid(
            py,
            "an append expects a revision or a leaf, not both",
            "leave one of `expect_revision` and `expect_leaf` out",
        )),
    }
}

pub(crate) fn parse_revision(py: Python<'_>, text: &str) -> PyResult<Revision> {
    text.parse().map_err(|error| raise(py, &error))
}

pub(crate) fn durability(py: Python<'_>, word: &str) -> PyResult<Durability> {
    match word {
        "fsync" => Ok(Durability::Fsync),
        "os" => Ok(Durability::Os),
        _ => Err(invalid(
            py,
            format!("`{}` is not a durability", word.escape_debug()),
            "write `fsync`, which survives a crash of the machine, or `os`",
        )),
    }
}
