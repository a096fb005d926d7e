//! Files as they were before an agent changed them.
//!
//! An agent captures files before each edit, and after it if it can: bytes go to blobs, and what is known goes into the
//! session as the data of a `custom` entry. From the entries on a branch follows the [`State`] at any of them, which can
//! be compared with the disk and put back. What changes without being captured (by a shell command, by the user) is not
//! seen; it shows as a conflict when files are put back.

mod diff;
mod place;
mod restore;
mod snapshot;
mod state;

use std::path::Path;

use boswell_model::{Instant, Result};

use crate::blobs::Blobs;
use crate::disk::Disk;

pub use diff::{FileDiff, TextDiff, text_diff};
pub use restore::{Done, OnConflict, Refusal, Restored};
pub use snapshot::{Captured, CapturedFile, Moment, Skipped, Snapshot};
pub use state::{OnBranch, State, Tracked};

/// The `customType` of entries that hold a snapshot.
pub const CUSTOM_TYPE: &str = "boswell.checkpoint";

/// Captures files, compares them and puts them back.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    blobs: Blobs,
}

impl Checkpoints {
    /// Checkpoints that keep the content of files in these blobs.
    pub fn new(blobs: Blobs) -> Self {
        Checkpoints { blobs }
    }

    /// Keeps files of a project as they are now. Their bytes are durable when this returns; the snapshot is not: append it.
    ///
    /// Paths are relative to `root`, or absolute and below it. What cannot be kept is recorded with the reason.
    pub fn capture(
        &self,
        disk: &dyn Disk,
        root: &Path,
        paths: &[&Path],
        moment: Moment,
        at: Instant,
    ) -> Result<Snapshot> {
        let mut files: Vec<CapturedFile> = Vec::with_capacity(paths.len());
        for path in paths {
            let (name, content) = match place::relative(root, path) {
                Some(name) => {
                    let content = self.capture_one(disk, root, &name)?;
                    (name, content)
                }
                None => (path.to_string_lossy().into_owned(), Captured::Skipped(Skipped::Outside)),
            };
            if !files.iter().any(|file| file.path == name) {
                files.push(CapturedFile { path: name, content });
            }
        }
        Ok(Snapshot { files, moment, at })
    }

    fn capture_one(&self, disk: &dyn Disk, root: &Path, name: &str) -> Result<Captured> {
        match place::read(disk, root, name) {
            place::Found::Absent => Ok(Captured::Absent),
            place::Found::Skipped(why) => Ok(Captured::Skipped(why)),
            // A blob that cannot be kept is an error: the edit must not go on as if it could be taken back.
            place::Found::File { bytes, mode } => {
                Ok(Captured::File { blob: self.blobs.put(&bytes)?, mode, len: bytes.len() as u64 })
            }
        }
    }
}
