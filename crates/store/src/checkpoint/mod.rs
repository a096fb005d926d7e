//! Checkpoints: project files as they were before an agent changed them.
//!
//! An agent captures files before each edit, and after it if it can: bytes are stored in blobs, and
//! the snapshot in the session as the data of a `custom` entry. The entries of a branch give the
//! [`State`] at any of them, which can be compared with the disk and restored. Changes that were
//! not captured (by a shell command, by the user) are not seen; they show up as a conflict when
//! files are restored.

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

/// The `customType` of entries with a snapshot.
pub const CUSTOM_TYPE: &str = "boswell.checkpoint";
