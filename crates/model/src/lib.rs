//! The one model of an agent's session.
//!
//! Every agent writes its sessions in its own way; this crate holds what they have in common, and
//! nothing else: bytes that tile into spans, records seen as entries, entries linked into a tree,
//! what a model would be sent for a leaf, and what is known about the session as a whole. It is
//! pure: no file, no clock, no environment. How a particular agent writes is the business of
//! `boswell-dialect`, where the bytes live that of `boswell-store`.

pub mod json;

mod context;
mod cumulative_usage;
mod emoji;
mod entry;
mod error;
mod interner;
mod invisible_chars;
mod log;
mod problem;
mod revision;
mod session;
mod session_meta;
mod session_ref;
mod shell_quote;
mod span;
mod time;
mod tool_link;
mod tree;
mod usage;
mod view;

pub use context::{Context, ContextForm, ContextItem, Message, Settings};
pub use cumulative_usage::CumulativeUsage;
pub use entry::{EntryKind, Flags, Head, Millis, Slot};
pub use error::{Error, ErrorKind, Result};
pub use interner::{Interner, Symbol};
pub use invisible_chars::{Unseen, is_hostile, shows_nothing, unseen, without_hostile};
pub use log::{ById, Log};
pub use problem::{Problem, ProblemKind, Repair};
pub use revision::Revision;
pub use session::{Payloads, SessionView, Tip};
pub use session_meta::{PINNED, SessionMeta, Stated};
pub use session_ref::SessionRef;
pub use shell_quote::{shell_literal, shell_option, shell_quote};
pub use span::{Framing, Gap, IsRecord, Line, Lines, Span, SpanKind, SplitRecord, Splitter};
pub use time::Instant;
pub use tool_link::ToolLink;
pub use tree::Tree;
pub use usage::{Said, Usage, UsageRecord, UsageTally};
pub use view::{Block, MediaSource, View};
