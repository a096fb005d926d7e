//! Files as they were before an agent changed them.
//!
//! An agent captures files before each edit, and after it if it can: bytes go to blobs, and what is
//! known goes into the session as the data of a `custom` entry. From the entries on a branch
//! follows the [`State`] at any of them, which can be compared with the disk and put back. What
//! changes without being captured (by a shell command, by the user) is not seen; it shows as a
//! conflict when files are put back.

mod capture;
mod diff;
mod lookup;
mod project_path;
mod restore;
mod snapshot;
mod state;

pub use capture::Checkpoints;
pub use diff::{FileDiff, TextDiff, text_diff};
pub use lookup::SessionState;
pub use restore::{Done, OnConflict, RestoreRefusal, Restored};
pub use snapshot::{Captured, CapturedFile, FileSnapshot, Moment, Skipped};
pub use state::{OnBranch, State, Tracked};

/// The `customType` of entries that hold a snapshot.
pub const CUSTOM_TYPE: &str = "boswell.checkpoint";
