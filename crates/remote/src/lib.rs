//! Boswell's sessions beyond one machine: rows in PostgreSQL, large values in object storage.
//!
//! [`PostgresBackend`] implements the reading and the writing traits of
//! [`boswell_store::backend`]: what is written is durable in the server when its receipt is
//! returned, a lease ends by the server's clock, and a tenant sees nothing of another one.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use boswell_dialect::by_name;
//! use boswell_remote::{PostgresBackend, PostgresOptions, Tenant};
//! use boswell_store::disk::SystemIds;
//! use boswell_store::{Draft, NewSession, Store, WritableStore};
//!
//! # fn main() -> boswell_store::Result<()> {
//! let options = PostgresOptions::parse("postgres://app@db.example/agents", Tenant::new("team-a")?)?;
//! let backend = Arc::new(PostgresBackend::open(options)?);
//! let own = by_name("boswell").expect("boswell's own dialect");
//! let store = Store::on(own, backend.clone(), "postgres");
//! let store = WritableStore::on_logs(store, backend, Arc::new(SystemIds));
//! let writer = store.create(NewSession::in_project("/proj/demo"))?;
//! writer.append(Draft::user("hello"))?; // committed by the server when this returns
//! # Ok(())
//! # }
//! ```
//!
//! # What it is not
//!
//! It is no server for a team and knows no users: a program that has the database's password is
//! trusted with its tenant. It opens connections only to the server that it is given.

#[cfg(feature = "objects")]
mod objects;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "objects", feature = "postgres"))]
mod tenant;

#[cfg(any(feature = "objects", feature = "postgres"))]
pub use tenant::Tenant;

#[cfg(feature = "objects")]
pub use objects::{ObjectInfo, ObjectPage, Objects, ObjectsOptions, PutOutcome};

#[cfg(feature = "postgres")]
pub use postgres::{
    DatabaseReport, DatabaseSchema, PostgresBackend, PostgresOptions, STATEMENTS, SqlStatement,
};

#[cfg(all(feature = "objects", feature = "postgres"))]
pub use postgres::SweepReport;
