//! What can be done with operations: list them, take them back, delete and restore through them.

mod archived;
mod becoming;
mod copies;
mod derive;
mod kept;
mod list;
mod purge;
mod scrub;
mod sweep;
mod undo;

pub use list::{LateLines, ListedOperation};
pub use purge::Purging;
pub use scrub::{CopyChange, Scrubbed, Scrubbing};
pub use sweep::Restored;
