//! GitHub Copilot CLI: a log of events for each session, in a folder with its other files.
//!
//! The format is described in `docs/dialects/copilot.md`.

mod check;
mod context;
mod dialect;
mod edit;
mod event;
mod layout;
mod meta;
mod view;

pub use dialect::Copilot;
