//! open-agent-sdk: a header and rows.
//!
//! The header may hold an API key, an environment and OAuth tokens in clear text. They are
//! never taken over: not into facts, not into views; [`redact_header`] hides them where a
//! record is shown raw.

mod dialect;
mod encode;
mod header;
mod index;
mod layout;
mod plan;
mod row;

pub use dialect::OpenAgentSdk;
pub use header::redact_header;
