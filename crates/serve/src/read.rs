//! Requests that read.

mod attachments;
mod blobs;
mod check;
mod entries;
mod files;
mod machine;
mod search;
mod session;
mod sessions;

pub(crate) use attachments::{attachment, attachments, media};
pub(crate) use blobs::blob;
pub(crate) use check::{check, check_session, plan_tag, repair_plan};
pub(crate) use entries::{entries, entry, heads, subagents};
pub(crate) use files::{blame, project_files};
pub(crate) use machine::{about, kept, memory, ops, projects, stores};
pub(crate) use search::{prompts, search, session_stats, stats};
pub(crate) use session::{context, export, files, resume, session, tree};
pub(crate) use sessions::sessions;
