//! open-agent-sdk: one log per session, a header and rows.
//!
//! The header may contain an API key, environment variables and OAuth tokens in clear text. They
//! are never copied into metadata or views; [`redact_header`] replaces them where a raw record is
//! shown.

mod dialect;
mod encode;
mod header;
mod index;
mod layout;
mod plan;
mod row;

pub use dialect::OpenAgentSdk;
pub use header::redact_header;
