//! Four toy agents, one per way in which agents store their sessions.
//!
//! Each is a dialect as a newcomer would write it, in one folder of at most 250 lines, and runs
//! through the real store and the conformance suite. `docs/adding-an-agent.md` walks through
//! [`jsonl`].
//!
//! * [`jsonl`]: a log of lines that name their parents; it can be appended to and resumed.
//! * [`rows`]: rows of a database.
//! * [`operations`]: lines that replace, rewind and compact what earlier lines say.
//! * [`document`]: one document a session, rewritten as a whole, with an index next to it.

pub mod document;
pub mod jsonl;
pub mod operations;
pub mod rows;
pub mod samples;
