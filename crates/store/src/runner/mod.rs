//! The runner: carries plans out so that a crash leaves the old state or the new one, and
//! everything can be taken back.
//!
//! In this order: one runner at a time per home; unfinished operations of earlier runs are settled;
//! the plan's locks; its conditions; every step played through in memory; what will change is
//! copied to the vault; bytes to write are staged and an intent is made durable; then the changes,
//! each durable before the next; then the result is verified and the operation recorded. The intent
//! goes last. A step that fails takes back those before it; a crash is settled by the next run.
//!
//! An intent is written for single changes as well: without it a crash could leave a change that no
//! operation speaks of.

mod apply;
mod change;
mod compile;
mod merge_shared;
mod operation;
mod paths;
mod preconditions;
mod recover;
mod run;

pub use change::FileFacts;
pub use operation::{FileChange, Operation};
pub use preconditions::Watcher;
pub use recover::{Recovered, RecoveryOutcome};
pub use run::Runner;

pub(crate) use apply::inode_name;
pub(crate) use change::{Change, State, States};
pub(crate) use compile::{Content, Lowered, lower, read_state};
pub(crate) use merge_shared::merge;
pub(crate) use operation::{PURGE, SCRUB};
pub(crate) use paths::{place, shown};
pub(crate) use run::Start;
