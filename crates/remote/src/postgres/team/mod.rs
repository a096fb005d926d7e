//! [`TeamDatabase`]: people, projects and the sessions that they share, in the tables of version 4.
//!
//! Unlike the backend it is asynchronous: the server of a team calls it from its own runtime. Every
//! call names a [`TeamPerson`], whose name and readers are set for the transaction, so that
//! row-level security shows what this person may see and nothing else.

mod changes;
mod database;
mod names;
mod rows;
mod sharing;
mod statements;

pub use changes::{ErasureReceipt, ProjectRule, SweepCount};
pub use database::{TeamDatabase, TeamPerson};
pub use names::{person_name, project_name, shared_session_name};
pub use rows::{AuditLine, SharedFile, SharedManifest, SharedPage, SharedRow};
pub use sharing::{PublishOutcome, SharedManifestDraft};
pub use statements::TEAM_STATEMENTS;
