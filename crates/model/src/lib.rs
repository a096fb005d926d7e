//! The one model of an agent's session.
//!
//! Every agent writes its sessions in its own way; this crate holds what they have in common, and
//! nothing else: bytes that tile into spans, records seen as entries, entries linked into a tree,
//! what a model would be sent for a leaf, and what is known about the session as a whole. It is
//! pure: no file, no clock, no environment. How a particular agent writes is the business of
//! `boswell-dialect`, where the bytes live that of `boswell-store`.

pub mod json;

mod context;
mod emoji;
mod entry;
mod error;
mod session_meta;
mod log;
mod interner;
mod tool_link;
mod problem;
mod session_ref;
mod cumulative_usage;
mod session;
mod shell_quote;
mod span;
mod time;
mod tree;
mod invisible_chars;
mod usage;
mod view;

pub use context::{Context, ContextForm, ContextItem, Message, Settings};
pub use entry::{EntryKind, Flags, Head, Millis, Slot};
pub use error::{Error, ErrorKind, Result};
pub use session_meta::{SessionMeta, PINNED, Stated};
pub use log::{ById, Log};
pub use interner::{Symbol, Interner};
pub use tool_link::ToolLink;
pub use problem::{Problem, ProblemKind, Repair};
pub use session_ref::SessionRef;
pub use cumulative_usage::CumulativeUsage;
pub use session::{Payloads, SessionView, Tip};
pub use shell_quote::{shell_literal, shell_option, shell_quote};
pub use span::{Framing, Gap, IsRecord, Line, Lines, SplitRecord, Span, SpanKind, Splitter};
pub use time::Instant;
pub use tree::Tree;
pub use invisible_chars::{Unseen, is_hostile, shows_nothing, unseen, without_hostile};
pub use usage::{UsageRecord, Said, Usage, UsageTally};
pub use view::{Block, MediaSource, View};
