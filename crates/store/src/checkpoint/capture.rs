//! Captures the current state of project files.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::IdSource;
use boswell_model::Result;

use super::{Captured, CapturedFile, FileSnapshot, Moment, Skipped, project_path};
use crate::blobs::Blobs;
use crate::disk::Disk;

/// Captures project files, compares them and restores them.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    /// The disk of the project.
    pub(super) disk: Arc<dyn Disk>,
    /// The source of times, and of names of temporary files.
    pub(super) id_source: Arc<dyn IdSource>,
    pub(super) blobs: Blobs,
}

impl Checkpoints {
    /// Creates checkpoints of projects on `disk`, which store the content of files in these blobs.
    /// An agent gets them from [`Home::checkpoints`](crate::Home::checkpoints).
    pub fn new(disk: Arc<dyn Disk>, id_source: Arc<dyn IdSource>, blobs: Blobs) -> Self {
        Checkpoints {
            disk,
            id_source,
            blobs,
        }
    }

    /// Captures the current state of project files. Their bytes are durable when this returns; the
    /// snapshot is not: append it.
    ///
    /// Paths are relative to `root`, or absolute and below it. A file that cannot be captured is
    /// recorded with the reason.
    ///
    /// # Errors
    ///
    /// An I/O error if the content of a file cannot be stored: then the edit must not continue.
    pub fn capture(&self, root: &Path, paths: &[&Path], moment: Moment) -> Result<FileSnapshot> {
        let at = self.id_source.now();
        let mut files: Vec<CapturedFile> = Vec::with_capacity(paths.len());
        for path in paths {
            let (name, content) = match project_path::relative(root, path) {
                Some(name) => {
                    let content = self.capture_one(root, &name)?;
                    (name, content)
                }
                None => (
                    path.to_string_lossy().into_owned(),
                    Captured::Skipped(Skipped::Outside),
                ),
            };
            if !files.iter().any(|file| file.path == name) {
                files.push(CapturedFile {
                    path: name,
                    content,
                });
            }
        }
        Ok(FileSnapshot { files, moment, at })
    }

    fn capture_one(&self, root: &Path, name: &str) -> Result<Captured> {
        match project_path::read(self.disk.as_ref(), root, name) {
            project_path::Found::Absent => Ok(Captured::Absent),
            project_path::Found::Skipped(why) => Ok(Captured::Skipped(why)),
            // A blob that cannot be stored is an error: the edit must not continue, because it
            // could not be undone.
            project_path::Found::File { bytes, mode } => Ok(Captured::File {
                blob: self.blobs.put(&bytes)?,
                mode,
                len: bytes.len() as u64,
            }),
        }
    }
}
