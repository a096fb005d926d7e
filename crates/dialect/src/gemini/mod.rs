//! Gemini CLI: a log of operations for each session, or one document in older versions.
//!
//! The format is described in `docs/dialects/gemini.md`. Forks of the program write the same files
//! below another root.

mod check;
mod context;
mod dialect;
mod edit;
mod encode;
mod layout;
mod message;
mod meta;
mod record;
mod retention;
mod view;

pub use dialect::Gemini;
