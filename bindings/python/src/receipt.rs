//! Receipts.

use boswell_store::Receipt;
use pyo3::prelude::*;

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
