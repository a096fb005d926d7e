//! Sessions as rows in PostgreSQL.
//!
//! `sql/` has the tables and functions. Every call is one round trip: `BEGIN`, the tenant, one
//! statement and `COMMIT` are sent together (`link.rs`). A call whose connection is lost is sent
//! again for a while: reads change nothing, and an append compares the end of the log, so that of
//! two copies of it only one can be added (`appender.rs`).
//!
//! The traits are synchronous and the client is not: `bridge.rs` owns a small runtime.

mod appender;
mod backend;
mod blob_names;
mod bridge;
mod columns;
mod failure;
#[cfg(feature = "objects")]
mod large_values;
mod lease;
mod link;
mod logs;
mod options;
mod reader;
mod schema;
mod statements;
#[cfg(feature = "objects")]
mod sweep;
mod team;

pub use backend::PostgresBackend;
pub use options::PostgresOptions;
pub use schema::{DatabaseReport, DatabaseSchema};
pub use statements::{STATEMENTS, SqlStatement};
#[cfg(feature = "objects")]
pub use sweep::SweepReport;
pub use team::{
    AuditLine, ErasureReceipt, ProjectRule, PublishOutcome, SharedFile, SharedManifest,
    SharedManifestDraft, SharedPage, SharedRow, SweepCount, TEAM_STATEMENTS, TeamDatabase,
    TeamPerson, person_name, project_name, shared_session_name,
};
