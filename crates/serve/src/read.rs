//! Requests that read.

mod attachments;
mod check;
mod entries;
mod machine;
mod search;
mod session;
mod sessions;

pub(crate) use attachments::{attachment, attachments};
pub(crate) use check::{check, check_session, plan_tag, repair_plan};
pub(crate) use entries::{entries, entry, heads};
pub(crate) use machine::{about, memory, ops, projects, stores};
pub(crate) use search::{prompts, search, session_stats, stats};
pub(crate) use session::{context, export, files, resume, session, tree};
pub(crate) use sessions::sessions;
