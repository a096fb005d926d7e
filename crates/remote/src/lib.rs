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
//! It is no server: a program that has the database's password is trusted with its tenant. It opens
//! connections only to the database that it is given. [`TeamDatabase`] has the tables of a team,
//! and `boswell-team` the server on top of it.

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
    AuditLine, DatabaseReport, DatabaseSchema, ErasureReceipt, PostgresBackend, PostgresOptions,
    ProjectRule, PublishOutcome, STATEMENTS, SharedFile, SharedManifest, SharedManifestDraft,
    SharedPage, SharedRow, SqlStatement, SweepCount, TEAM_STATEMENTS, TeamDatabase, TeamPerson,
    person_name, project_name, shared_session_name,
};

#[cfg(all(feature = "objects", feature = "postgres"))]
pub use postgres::SweepReport;
