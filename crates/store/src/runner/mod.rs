//! The runner: executes plans so that a crash leaves the old state or the new one, and every change
//! can be undone.
//!
//! The order of steps, each durable before the next:
//!
//! 1. Take the runner lock: one runner at a time per home.
//! 2. Recover: finish or take back operations that a crash interrupted (`recover.rs`,
//!    `position.rs`).
//! 3. Take the plan's locks, then check its preconditions (`preconditions.rs`).
//! 4. Compile: simulate every step in memory, so that a plan that cannot work fails before anything
//!    is written (`compile.rs`).
//! 5. Copy to the vault what will change.
//! 6. Stage the bytes to be written, and write the intent.
//! 7. Apply the changes (`apply.rs`), then verify the result.
//! 8. Append the operation to `ops.jsonl`, then remove the intent.
//!
//! If a change fails, those before it are taken back; after a crash the next run recovers. The
//! intent is written for single changes too: without it a crash could leave a change that no
//! operation records.

mod apply;
mod change;
mod compile;
pub(crate) mod execute;
mod merge_shared;
mod operation;
mod paths;
mod position;
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
