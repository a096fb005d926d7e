//! OpenAI Codex CLI: one log per session below `sessions/YYYY/MM/DD`, which Codex calls a rollout.
//!
//! Every line is an envelope with `timestamp`, `type` and `payload`; before September 2025 the
//! items had no envelope. There are no ids and no parents: entries follow each other in file order,
//! and only `thread_rolled_back` goes back. A fork of a newer version continues the log of
//! another session, which its header names. `docs/dialects/codex.md` describes the format, and
//! where we differ from Codex.

mod context;
mod delete;
mod dialect;
mod encode;
mod event_messages;
#[cfg(test)]
mod fixture;
mod history_base;
mod injected;
mod item;
mod layout;
mod meta;
mod plan;
mod provider;
mod record;
mod rollback;
mod thread_rows;
mod view;

pub use dialect::Codex;
