//! What can be done with operations: list them, take them back, delete and restore through them.

mod archived;
mod overlay;
mod restore_from_vault;
mod rebuild_derived;
mod restore_kept;
mod list;
mod purge;
mod scrub;
mod agent_cleanup;
mod undo;

pub use list::{LateLines, ListedOperation};
pub use purge::Purging;
pub use scrub::{CopyChange, Scrubbed, Scrubbing};
pub use agent_cleanup::RestoredCleanup;
