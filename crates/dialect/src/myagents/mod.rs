//! MyAgents: an index array, and a line log per session.
//!
//! Three generations share one layout (`sessions.json`, `sessions/<id>.jsonl`,
//! `attachments/<id>/`), and the newest is a superset of the others. The engine writes a transcript
//! of its own in Claude's or Codex's store: see [`links`](crate::Runtime::links). Besides reading,
//! this folder contains the rules that a writer must follow, each as a pure function: [`id`],
//! [`title`], [`preview`], [`visibility`], [`rewind_intent`], [`lock_owner`].

mod attachment;
mod content;
mod dialect;
mod encode;
mod indent;
mod index;
mod index_file;
mod layout;
mod leftovers;
mod message;
mod plan;
mod reminder;
mod resume;
mod row;
mod stats;
mod v2;

pub mod id;
pub mod lock_owner;
pub mod preview;
pub mod rewind_intent;
pub mod title;
pub mod visibility;

pub use dialect::MyAgents;
