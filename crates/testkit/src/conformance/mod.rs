//! Conformance suites for backends and dialects, which other crates can run too.
//!
//! [`DialectSuite`] is the suite for dialects; the rest of this page is about backends.
//!
//! Each function takes a way to create a backend and fails the test at the first broken guarantee.
//! None of them assumes that a position is a byte offset, that a lease is a lock, or that there is
//! a disk.
//!
//! A read-only backend implements [`Backend`](boswell_store::backend::Backend) and passes
//! [`backend_reads`]. A writable one also implements
//! [`LogBackend`](boswell_store::backend::LogBackend) and passes [`backend_writes`]; that function
//! gets a [`WritePlace`], which opens stores on the backend and, if it can, simulates crashes,
//! expired leases and failed appends:
//!
//! ```
//! use std::sync::Arc;
//!
//! use boswell_dialect::by_name;
//! use boswell_store::{Store, WritableStore};
//! use boswell_store::disk::SystemIds;
//! use boswell_testkit::conformance::{self, WritePlace};
//! use boswell_testkit::rows::RowBackend; // replace this by yours
//!
//! struct Place(RowBackend);
//!
//! impl WritePlace for Place {
//!     fn store(&self) -> WritableStore {
//!         let backend = Arc::new(self.0.clone());
//!         let own = by_name("boswell").expect("boswell's own dialect");
//!         let store = Store::on(own, backend.clone(), "rows");
//!         WritableStore::on_logs(store, backend, Arc::new(SystemIds))
//!     }
//!
//!     fn expire_leases(&self) -> bool {
//!         self.0.expire_leases();
//!         true
//!     }
//! }
//!
//! conformance::backend_writes(&|| Box::new(Place(RowBackend::default())));
//! ```

mod dialect;
mod place;
mod reading;
mod row_source;
mod words;
mod writing;

use boswell_model::Error;

pub use dialect::{DialectRule, DialectSample, DialectSuite, RuleFinding};
pub use place::{Failure, MakePlace, WritePlace};
pub use reading::{
    Make, backend_reads, exports, names_and_objects, positions, revisions, sessions, summaries,
};
pub use row_source::{MakeRows, row_source};
pub use writing::{
    acknowledged_survives, backend_writes, batches, conversations, creation, deletion,
    expectations, failures, found_by_id, leases, lost_leases, many_writers, others_add, pages,
    receipts, same_ids, visibility, what_is_said_comes_back,
};

#[expect(
    clippy::panic,
    reason = "a conformance test stops at the first broken promise"
)]
fn ok<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
