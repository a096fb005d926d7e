//! Kimi Code: a log of operations for each agent of a session.
//!
//! The format is described in `docs/dialects/kimi.md`.

mod context;
mod dialect;
mod edit;
mod layout;
mod meta;
mod record;
mod view;

pub use dialect::Kimi;
