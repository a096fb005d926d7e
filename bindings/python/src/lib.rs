//! The native module of the Python package `boswell-store`.
//!
//! It offers the store, its writers and its readers, and nothing of any framework: adapters are
//! Python code above it, because their interfaces change more often than this module should.
//!
//! * Every call that may block releases the interpreter (`Python::detach`).
//! * An asynchronous append is handed to the one waiter thread of its store (`reply.rs`), so that
//!   appends which are awaited together share one `fsync`.
//! * Errors become exceptions by kind, with reason and hint (`error.rs`).
//! * An object that was made before `os.fork` is refused in the child (`own_process.rs`).

mod blob_store;
mod draft_item;
mod entry;
mod error;
mod follower;
mod json;
mod own_process;
mod receipt;
mod reply;
mod session;
mod store;
mod writer;

use pyo3::prelude::*;

/// The native part of `boswell_store`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<store::PyStore>()?;
    module.add_class::<store::PySessionInfo>()?;
    module.add_class::<store::PySearchHit>()?;
    module.add_class::<writer::PyWriter>()?;
    module.add_class::<writer::PyTicket>()?;
    module.add_class::<receipt::PyReceipt>()?;
    module.add_class::<session::PySession>()?;
    module.add_class::<entry::PyEntry>()?;
    module.add_class::<follower::PyFollower>()?;
    module.add_class::<blob_store::PyBlobs>()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
