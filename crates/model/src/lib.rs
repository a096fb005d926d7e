//! The data model of an agent session, shared by all dialects.
//!
//! Every agent writes its sessions in its own format. This crate contains what they have in common:
//! bytes divided into spans, records read as entries, entries linked into a tree, the context for a
//! leaf, and the metadata of the session as a whole. It is pure: no files, no clock, no
//! environment.
//!
//! It knows no agent's format (`boswell-dialect` does) and no storage (`boswell-store` does).

pub mod json;

mod advice;
mod context;
mod cumulative_usage;
mod emoji;
mod entry;
mod error;
mod error_details;
mod id;
mod interner;
mod invisible_chars;
mod log;
mod part;
mod problem;
mod remark;
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

pub use advice::{Advice, RequestInput};
pub use context::{Context, ContextForm, ContextItem, Message, Settings};
pub use cumulative_usage::CumulativeUsage;
pub use entry::{EntryKind, Flags, Head, Millis, Slot};
pub use error::{Error, ErrorKind, Result};
pub use error_details::{ErrorDetails, LockHolder};
pub use id::{EntryId, SessionId};
pub use interner::{Interner, Symbol};
pub use invisible_chars::{Unseen, is_hostile, shows_nothing, unseen, without_hostile};
pub use log::{ById, Log};
pub use part::{MediaSource, Part, ToolInput};
pub use problem::{Problem, ProblemKind, Repair};
pub use remark::Remark;
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
pub use view::View;
